"""Launch, read as the story: plan, look whether everything is there, open the services, run and grade, report.

Nothing is written before pre-flight is done and the services answer, so that a refused launch leaves nothing behind.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from adapters.instruction import template_sha256
from evaluator.version import evaluator_version
from records.errors import EvalError, UsageError
from records.grammar import grammar_sha256
from records.limits import Limits
from records.paths import RunPaths
from records.run import RunRecord
from runner import preflight, wiring
from runner.engines.local import LocalEngine
from runner.engines.outcome import CellOutcome
from runner.grade import Grading
from runner.judging import Judge
from runner.log import open_log
from runner.order import Order, Plan, resolve
from runner.preflight import Check
from runner.progress import Watch
from runner.stop import Stop, stop_on_signals
from runner.terminal import console
from runner.versions import all_versions


@dataclass(frozen=True)
class Ground:
    """What pre-flight found."""

    engine: str
    images: dict[str, str]
    data: Path | None
    """Prepared tables of the offline data; None for a live run."""
    workspace_cap: str = ""
    """In words, whether a workspace's size limit is enforced on this machine."""


def launch(order: Order, *, limits: Limits) -> tuple[Plan, list[CellOutcome], bool]:
    """Run an order to its end; return the plan, what became of each cell, and whether the operator stopped it.

    Raises: UsageError, PrerequisiteError: nothing was started and nothing is left behind.
    """
    plan = resolve(order, known=wiring.AGENTS, now=datetime.now(UTC))
    watch = Watch(console(stderr=True), len(plan.cells))
    machine = wiring.DockerMachine()
    for check in checks(plan, machine, limits):
        check()
    environ = dict(os.environ)
    with wiring.without_model_keys(os.environ):
        ground = look(plan, machine, watch.say)
    stop = Stop()
    with (
        wiring.without_model_keys(os.environ),
        wiring.open_door(plan, ground.data, environ, limits) as door,
        wiring.open_models(plan.order.sealed_models, environ, limits, out=plan.out, stop=stop) as models,
        stop_on_signals(stop, watch.say),
    ):
        judge = wiring.make_judge(plan.order.judge, plan.order.judge_model, models, limits, stop=stop)
        paths = _make_run(plan, ground, limits, judge)
        log = open_log(paths.events).bind(run=plan.run_id)
        grading = Grading(
            wiring.grader(limits, machine=machine, run=plan.run_id),
            evaluator_version(),
            judge,
            wiring.user_name(plan.order),
            wiring.user_prompt_sha256(plan.order),
        )
        log.info("run_started", cells=len(plan.cells), concurrency=plan.concurrency, offline=plan.order.offline)
        engine = LocalEngine(
            work=wiring.Sessions(plan, paths, door, machine, grading, stop, limits, log, models),
            events=watch,
            stop=stop,
            limits=limits,
            concurrency=plan.concurrency,
            now=lambda: datetime.now(UTC),
            log=log,
            remove_leftovers=lambda: _sweep(machine, watch.say),
        )
        watch.say(f"run {plan.run_id}: {len(plan.cells)} sessions, {plan.concurrency} at a time, in {plan.out}")
        try:
            with watch.shown():
                outcomes = engine.run(plan.cells)
        finally:
            _sweep(machine, watch.say)
        log.info("run_ended", stopped=stop.is_set(), ended=len(outcomes))
    return plan, outcomes, stop.is_set()


def checks(plan: Plan, machine: preflight.Machine, limits: Limits) -> tuple[Check, ...]:
    """Return the pre-flight checks of a plan, quickest first."""
    live: tuple[Check, ...] = () if plan.order.offline else (lambda: preflight.check_key(os.environ),)
    models: tuple[Check, ...] = (lambda: wiring.check_model_key(os.environ),) if plan.order.sealed_models else ()
    return (
        *live,
        *models,
        lambda: preflight.check_out(plan.out),
        lambda: preflight.check_disk(plan.out, limits),
        wiring.user_weights,
        machine.engine_version,
        lambda: preflight.check_engine_disk(machine, limits),
        lambda: machine.image_ids(wiring.images_of(plan)),
    )


def look(plan: Plan, machine: preflight.Machine, say: Callable[[str], None]) -> Ground:
    """Return what the run stands on, preparing the offline data when it is not there yet."""
    return Ground(
        engine=machine.engine_version(),
        images=machine.image_ids(wiring.images_of(plan)),
        data=wiring.offline_data(say) if plan.order.offline else None,
        workspace_cap=machine.workspace_cap(),
    )


def is_success(plan: Plan, outcomes: list[CellOutcome], *, stopped: bool) -> bool:
    """Whether every planned session was measured and graded."""
    done = [outcome for outcome in outcomes if outcome.reason.is_valid and outcome.ungraded is None]
    return not stopped and len(done) == len(plan.cells)


def _make_run(plan: Plan, ground: Ground, limits: Limits, judge: Judge) -> RunPaths:
    paths = RunPaths(plan.out)
    record = RunRecord(
        run_id=plan.run_id,
        created_at=datetime.now(UTC),
        cells=plan.planned,
        conditions=plan.conditions,
        offline=plan.order.offline,
        private_salt=plan.order.salt is not None,
        fmp_tools=plan.order.fmp_tools,
        engine="local",
        concurrency=plan.concurrency,
        agents={name: wiring.AGENTS[name].model for name in plan.agents},
        user=wiring.user_name(plan.order),
        user_prompt_sha256=wiring.user_prompt_sha256(plan.order),
        judge=judge.name,
        judge_prompt_sha256=judge.prompt_sha256,
        images=ground.images,
        workspace_cap=ground.workspace_cap,
        instruction_sha256=template_sha256(),
        limits_sha256=limits.digest(),
        grammar_sha256=grammar_sha256(),
        evaluator_version=evaluator_version(),
        versions=all_versions() | {"docker engine": ground.engine},
        stand_ins=wiring.stand_ins(offline=plan.order.offline),
    )
    made = False
    try:
        paths.root.mkdir(parents=True)
        made = True
        paths.run.write_text(record.to_json(indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        if made:
            shutil.rmtree(paths.root, ignore_errors=True)
        raise UsageError(
            f"run directory '{plan.out}' cannot be made ({error.strerror}); give --out another path"
        ) from error
    return paths


def _sweep(machine: wiring.DockerMachine, say: Callable[[str], None]) -> None:
    try:
        machine.remove_mine()
    except EvalError as error:
        say(str(error))
