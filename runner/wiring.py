"""Names to objects: the only place that knows back ends. Heavy rooms are imported late, so that `--help` stays quick."""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from structlog.typing import FilteringBoundLogger

from adapters.backends import null, reference
from adapters.instruction import Instruction
from adapters.protocol import Adapter
from records.chat import ChatModel
from records.decision import DecisionRecord
from records.errors import PrerequisiteError, SandboxError
from records.limits import Limits
from records.paths import RunPaths
from records.session import AgentEvent, EndEvent
from records.strategy import Strategy
from records.task import Task
from runner.attempt import Attempt, Door
from runner.grade import Grading, grade_attempt
from runner.grading import Grader
from runner.judging import Judge, JudgeKind
from runner.order import USER_MODEL, Order, Plan
from runner.plan import Cell
from runner.preflight import check_key
from runner.rerun import Rerunner, no_guard
from runner.rerun_box import rerun_limits
from runner.session import User
from runner.stop import Stop
from runner.store import AttemptStore, read_events
from sandbox.job import Job, JobEngine, JobResult
from sandbox.protocol import Sandbox, SandboxSpec

if TYPE_CHECKING:
    from modelgate.client import Client
    from sandbox.engine.engine import Engine
    from simulator import Simulator, UserSimulator

EVALUATOR_IMAGE = "evaluator"
LIVE_FMP = "https://financialmodelingprep.com/stable/"
"""The data service; FMP_BASE_URL names another one."""
SWEEP_S = 10.0
"""A box that its own session is just removing is refused to a second remover for as long as that takes."""
LABEL_RUN = "fincosmos.run"
LABEL_OWNER = "fincosmos.owner"


@dataclass(frozen=True)
class Agent:
    """One agent that can be launched."""

    name: str
    image: str
    model: str
    what: str
    build: Callable[[str], Adapter]
    """Takes the filled instruction text."""


AGENTS = {
    module.NAME: Agent(module.NAME, module.IMAGE, module.MODEL, (module.__doc__ or "").splitlines()[0], module.build)
    for module in (reference, null)
}


def images_of(plan: Plan) -> tuple[str, ...]:
    """Return the images a plan needs, the forwarder's and the evaluator's included."""
    return tuple(dict.fromkeys(("base", *(AGENTS[name].image for name in plan.agents), EVALUATOR_IMAGE)))


@contextmanager
def open_door(plan: Plan, data: Path | None, environ: Mapping[str, str], limits: Limits) -> Iterator[Door]:
    """Run the services of a plan while the block runs.

    Raises: PrerequisiteError: a service did not come up, or the live data service refused the key.
    """
    from runner.door import Upstream, open_services

    live = None if plan.order.offline else Upstream(environ.get("FMP_BASE_URL", LIVE_FMP), check_key(environ))
    log_to = plan.out / "gateway.log"
    tools = plan.order.fmp_tools
    with open_services(data, plan.conditions, live=live, limits=limits, log_to=log_to, fmp_tools=tools) as door:
        yield door


@contextmanager
def open_models(
    models: tuple[str, ...], environ: Mapping[str, str], limits: Limits, *, out: Path | None, stop: Stop
) -> Iterator["Client | None"]:
    """Run the sealed-side model process while the block runs; None when no model is asked.

    Its `logging_to(file)` gives the same model with its calls logged elsewhere; without, they go to out/sealed/, and
    nowhere when `out` is None.
    Args: models: ids that will be asked for; each is tried with the key before the block begins. stop: ends it at once.
    Raises: PrerequisiteError: there is no key, the service refused it or a model, or it does not answer.
    """
    if not models:
        yield None
        return
    from modelgate import process

    log_to = out / "sealed" / "model.log" if out else None
    with process.open_models(process.find_access(environ), log_to=log_to, limits=limits) as running:
        running.client.check(models)
        with stop.kills("model process", running.end):
            yield running.client.logging_to(log_to.with_name("model-calls.jsonl")) if log_to else running.client


def without_model_keys(environ: MutableMapping[str, str]) -> AbstractContextManager[None]:
    """Take the sealed side's key out of an environment while the block runs, so that no child gets it."""
    from modelgate.process import without_keys

    return without_keys(environ)


def check_model_key(environ: Mapping[str, str]) -> str:
    """Return the variable that holds the sealed side's key. Raises PrerequisiteError when there is none."""
    from modelgate.process import find_access

    return find_access(environ).key_variable


def make_judge(
    kind: JudgeKind, model_id: str, models: "Client | None", limits: Limits, *, stop: Stop | None = None
) -> Judge:
    """Return who judges meaning. Args: models: the model process, for judge `llm`; stop: the operator's, if any."""
    return Judge(
        kind,
        model_id,
        open_model=None if models is None else models.logging_to,
        calls=limits.judge_calls,
        check=(stop or Stop()).check,
    )


def user_name(order: Order) -> str:
    """Return how the user of an order is named in every output."""
    if order.user == "rules":
        return "rules"
    from simulator import llm

    return llm.user_name(order.user_model)


def user_prompt_sha256(order: Order) -> str:
    """Return the hash of the user's prompt texts; empty for a user that is told nothing."""
    if order.user == "rules":
        return ""
    from simulator import llm

    return llm.prompt_sha256()


def offline_data(say: Callable[[str], None]) -> Path:
    """Return the prepared offline tables, making them when they are not there. Raises PrerequisiteError."""
    from offline.data import ensure

    return ensure(on_line=say)


def user_weights() -> str:
    """Return where the weights lie with which the user reads sentences. Raises PrerequisiteError when there are none."""
    from simulator.encoder import model_folder

    return str(model_folder())


def stand_ins(*, offline: bool) -> tuple[str, ...]:
    """Return one sentence per stand-in that a run uses."""
    if not offline:
        return ()
    from offline.data import STANDINS

    return STANDINS


def today(*, offline: bool) -> date:
    """Return the date an agent is told; frozen offline, where the data ends."""
    if not offline:
        return datetime.now(UTC).date()
    from offline.data.standins import FROZEN_TODAY

    return date.fromisoformat(FROZEN_TODAY)


def all_images() -> tuple[str, ...]:
    """Return every image that some launch needs."""
    return tuple(dict.fromkeys(("base", *(agent.image for agent in AGENTS.values()), EVALUATOR_IMAGE)))


def build_images(names: list[str], *, force: bool, on_line: Callable[[str], None]) -> dict[str, str]:
    """Build images; return their ids. Raises PrerequisiteError, UsageError."""
    from sandbox.engine import images

    return images.build(names, force=force, on_line=on_line)


def offline_data_state() -> str:
    """Return where the prepared offline data lies. Raises PrerequisiteError when it is not prepared yet."""
    from offline.data.cache import data_dir, default_cache_dir

    folder = data_dir(default_cache_dir())
    if not (folder / "manifest.json").exists():
        raise PrerequisiteError(
            f"not prepared in {folder.parent}; the first launch --offline does it, in about a minute"
        )
    return str(folder)


def grader(limits: Limits, *, machine: "DockerMachine | None", run: str | None = None) -> Grader:
    """Return where the evaluator runs: its image on this machine's engine, else, without one, a confined child process.

    Raises: PrerequisiteError: the engine does not answer, or the image is not built.
    """
    if machine is None:
        return Grader(jobs=None, limits=limits)
    from sandbox.engine import images

    machine.image_ids((EVALUATOR_IMAGE,))
    return Grader(machine.jobs(run), images.reference(EVALUATOR_IMAGE), limits)


class DockerMachine:
    """The local Docker engine, connected when first asked."""

    @cached_property
    def _engine(self) -> "Engine":
        from sandbox.engine import images
        from sandbox.engine.engine import connect

        return connect(base_image=images.reference("base"))

    def engine_version(self) -> str:
        """Return the engine's version. Raises PrerequisiteError."""
        return self._engine.version()

    def image_ids(self, names: Iterable[str]) -> dict[str, str]:
        """Return the ids of these images. Raises PrerequisiteError naming one that is not built."""
        from sandbox.engine import images

        return images.require(list(names), client=self._engine.client)

    def sandbox(self, spec: SandboxSpec) -> Sandbox:
        """Return a box that is not started yet."""
        return self._engine.sandbox(spec)

    def jobs(self, run: str | None) -> JobEngine:
        """Return the engine for one-command containers, labelled so that a sweep of this run finds them."""
        from sandbox.engine.oneshot import DockerJobs
        from sandbox.engine.owner import this_owner

        labels = {LABEL_OWNER: this_owner()} | ({LABEL_RUN: run} if run else {})
        return _LabelledJobs(DockerJobs(self._engine.client), labels)

    def free_disk(self) -> int:
        """Return the free bytes where images and workspaces lie. Raises PrerequisiteError or LostError."""
        return self._engine.free_disk()

    def workspace_cap(self) -> str:
        """Return in words whether a workspace's size limit is enforced on this machine."""
        cap = self._engine.workspace_cap()
        return "enforced by a file system of its own" if cap == "hard" else f"{cap}: watched, not enforced"

    def remove_leftovers(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Remove what dead runs left; return what was removed and what stays, in words."""
        from sandbox.engine.sweep import sweep

        swept = sweep(self._engine.client)
        return swept.removed, swept.remaining

    def remove_mine(self) -> None:
        """Remove every container and volume that this process made. Raises SandboxError naming what is left."""
        from sandbox.engine.owner import is_alive, this_owner
        from sandbox.engine.sweep import sweep

        mine = this_owner()
        until = time.monotonic() + SWEEP_S
        while True:
            swept = sweep(self._engine.client, alive=lambda owner: owner != mine and is_alive(owner))
            if not swept.remaining:
                return
            if time.monotonic() > until:
                raise SandboxError("; ".join(swept.remaining))
            time.sleep(0.2)


@dataclass(frozen=True)
class _LabelledJobs:
    jobs: JobEngine
    labels: Mapping[str, str]

    def run(self, job: Job) -> JobResult:
        return self.jobs.run(replace(job, labels={**job.labels, **self.labels}))


@dataclass(frozen=True)
class Sessions:
    """The work of a run: makes attempts and grades them."""

    plan: Plan
    paths: RunPaths
    door: Door
    machine: DockerMachine
    grading: Grading
    stop: Stop
    limits: Limits
    log: FilteringBoundLogger
    models: "Client | None" = None
    """The sealed-side models; None where neither user nor judge asks one."""

    def attempt(self, cell: Cell, number: int) -> Attempt:
        """Make the folder of a new attempt and all that its session needs."""
        from sandbox.engine import images

        task, strategy = self.plan.tasks[cell.seed]
        agent = AGENTS[cell.agent]
        session = f"s{secrets.token_hex(6)}"
        again = rerunner(
            self.machine,
            self.limits,
            run=self.plan.run_id,
            session=session,
            attempt=number,
            guard=lambda box: self.stop.kills(session, box.cancel),
        )
        store = AttemptStore(self.paths.attempt(cell.agent, task.id, cell.repeat, number))
        store.create(task, strategy)
        spec = SandboxSpec(
            image=images.reference(agent.image),
            run=self.plan.run_id,
            session=session,
            attempt=number,
            gateway_dir=Path(),
            lifetime_s=task.conditions.max_turns * task.conditions.turn_limit_s + self.limits.container_slack_s,
            limits=self.limits,
        )
        return Attempt(
            session=session,
            task=task,
            store=store,
            door=self.door,
            adapter=agent.build(self._instruction(task)),
            make_sandbox=lambda folder: self.machine.sandbox(replace(spec, gateway_dir=folder)),
            make_user=lambda where: self._user(task, strategy, where),
            stop=self.stop,
            now=lambda: datetime.now(UTC),
            log=self.log.bind(session=session, agent=cell.agent, task=task.id, repeat=cell.repeat, attempt=number),
            rerun=again.rerun,
        )

    def grade(self, attempt: Attempt) -> None:
        """Grade a finished attempt from disk."""
        grade = grade_attempt(attempt.paths, self.grading)
        attempt.log.info("session_graded", quality=grade.quality, score=grade.score, accepted=grade.accepted)

    def _user(self, task: Task, strategy: Strategy, store: AttemptStore) -> User:
        if self.plan.order.user == "rules":
            return rules_user(task, strategy, store, self.limits)
        return llm_user(task, strategy, store, self.limits, chat=self._chat(store), model=self.plan.order.user_model)

    def _chat(self, store: AttemptStore) -> ChatModel:
        if self.models is None:
            raise PrerequisiteError(
                "user `llm`: expected a model process, found none; open one with wiring.open_models"
            )
        return self.models.logging_to(store.paths.model_calls)

    def _instruction(self, task: Task) -> str:
        return Instruction(
            today=today(offline=self.plan.order.offline),
            turn_limit_s=task.conditions.turn_limit_s,
            web="web" in task.conditions.channels,
        ).render()


def rerunner(
    machine: DockerMachine,
    limits: Limits,
    *,
    run: str,
    session: str = "rerun",
    attempt: int = 1,
    guard: Callable[[Sandbox], AbstractContextManager[None]] = no_guard,
) -> Rerunner:
    """Return what runs delivered code again in boxes of the agents' base image. Raises PrerequisiteError when first used."""
    from sandbox.engine import images

    spec = SandboxSpec(
        image=images.reference("base"),
        run=run,
        session=session,
        attempt=attempt,
        gateway_dir=Path(),
        lifetime_s=limits.rerun_s + limits.container_slack_s,
        limits=rerun_limits(limits),
    )
    return Rerunner(lambda folder: machine.sandbox(replace(spec, gateway_dir=folder)), limits, guard)


def rules_user(task: Task, strategy: Strategy, store: AttemptStore, limits: Limits) -> User:
    """Return the embedded user of one session."""
    return _ReadingUser(simulator(task, strategy, limits, chat=None), store, limits)


def llm_user(
    task: Task, strategy: Strategy, store: AttemptStore, limits: Limits, *, chat: ChatModel, model: str = USER_MODEL
) -> User:
    """Return the user of one session as a model plays it."""
    return _ReadingUser(simulator(task, strategy, limits, chat=chat, model=model), store, limits)


def simulator(
    task: Task, strategy: Strategy, limits: Limits, *, chat: ChatModel | None, model: str = USER_MODEL
) -> "UserSimulator":
    """Return the simulated user: the rules without a model, else the model's back end under the same validator."""
    from simulator import LlmBackend, UserSimulator

    backend: Simulator | None = (
        LlmBackend(task, strategy, chat, model=model, limits=limits) if chat is not None else None
    )
    return UserSimulator(task, strategy, backend, limits)


@dataclass(frozen=True)
class _ReadingUser:
    """A user who reads the conversation back from disk before each decision."""

    simulator: "UserSimulator"
    store: AttemptStore
    limits: Limits

    def decide(self, turn: AgentEvent) -> DecisionRecord:
        """Return the user's decision on the agent turn that was just written."""
        del turn
        from simulator import build_view

        events = [event for event in read_events(self.store.paths) if not isinstance(event, EndEvent)]
        return self.simulator.reply(build_view(events, deliver=self.store.paths.deliver, limits=self.limits))
