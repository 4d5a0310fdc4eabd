import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
import structlog

from records.errors import GeneratorError, GradingError, LostError, SimulatorError, StartError
from records.limits import DEFAULT_LIMITS
from records.session import EndEvent, EndReason
from runner.attempt import Attempt
from runner.engines.local import LocalEngine
from runner.engines.outcome import CellOutcome
from runner.plan import Cell, build_plan
from runner.stop import Cancelled, Stop
from runner.store import read_events
from sandbox.protocol import ExecResult
from tests.runner.fakes import ScriptedSandbox, ScriptedUser, attempt, decision, result

CLOSE = decision("close", "thanks")
ONE = (Cell("null", 6, 1),)


@dataclass
class ScriptedWork:
    """Makes attempts from a list of (sandbox, user); the last one repeats."""

    root: Path
    script: Sequence[tuple[ScriptedSandbox, ScriptedUser] | Exception]
    grading: Exception | None = None
    graded: list[str] = field(default_factory=list)
    made: list[Attempt] = field(default_factory=list)
    stop: Stop = field(default_factory=Stop)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def attempt(self, cell: Cell, number: int) -> Attempt:
        with self.lock:
            step = self.script[min(len(self.made), len(self.script) - 1)]
            if isinstance(step, Exception):
                raise step
            box, user = step
            made = attempt(
                self.root,
                box,
                user,
                stop=self.stop,
                number=number,
                agent=f"{cell.agent}{cell.seed}",
                repeat=cell.repeat,
            )
            self.made.append(made)
            return made

    def grade(self, attempt: Attempt) -> None:
        if self.grading is not None:
            raise self.grading
        self.graded.append(attempt.session)


class Silent:
    def cell_started(self, cell: Cell, attempt: int) -> None: ...

    def cell_ended(self, outcome: CellOutcome) -> None: ...


def engine(work: ScriptedWork, *, concurrency: int = 1, sweep: Callable[[], None] = lambda: None) -> LocalEngine:
    return LocalEngine(
        work=work,
        events=Silent(),
        stop=work.stop,
        limits=DEFAULT_LIMITS,
        concurrency=concurrency,
        now=lambda: datetime.now(UTC),
        log=structlog.get_logger(),
        remove_leftovers=sweep,
    )


def ok() -> tuple[ScriptedSandbox, ScriptedUser]:
    return ScriptedSandbox(), ScriptedUser([CLOSE])


def last(made: Attempt) -> EndEvent:
    end = read_events(made.paths)[-1]
    assert isinstance(end, EndEvent)
    return end


def test_finished_session_is_graded_once(tmp_path: Path) -> None:
    work = ScriptedWork(tmp_path, [ok()])

    (outcome,) = engine(work).run(ONE)

    assert outcome.reason is EndReason.SATISFIED
    assert (outcome.attempts, outcome.voids, outcome.ungraded) == (1, 0, None)
    assert len(work.graded) == 1


def test_void_attempt_is_recorded_and_the_cell_tried_again(tmp_path: Path) -> None:
    lost = (ScriptedSandbox(runs=[LostError("container gone")]), ScriptedUser([CLOSE]))
    work = ScriptedWork(tmp_path, [lost, ok()])

    (outcome,) = engine(work).run(ONE)

    assert outcome.reason is EndReason.SATISFIED
    assert (outcome.attempts, outcome.voids) == (2, 1)
    assert last(work.made[0]).reason is EndReason.ENVIRONMENT_ERROR
    assert last(work.made[0]).detail == "container gone"
    assert work.made[0].paths.manifest.exists()


def test_dead_container_is_void_not_zero_after_the_allowed_voids(tmp_path: Path) -> None:
    work = ScriptedWork(tmp_path, [(ScriptedSandbox(start_error=StartError("no")), ScriptedUser([CLOSE]))])

    (outcome,) = engine(work).run(ONE)

    assert outcome.reason is EndReason.ENVIRONMENT_ERROR
    assert outcome.voids == DEFAULT_LIMITS.max_voids
    assert work.graded == []


def test_user_without_a_valid_decision_is_a_simulator_void(tmp_path: Path) -> None:
    work = ScriptedWork(tmp_path, [(ScriptedSandbox(), ScriptedUser([SimulatorError("no valid decision in 6")]))])

    (outcome,) = engine(work).run(ONE)

    assert outcome.reason is EndReason.SIMULATOR_VOID
    assert last(work.made[-1]).reason is EndReason.SIMULATOR_VOID


def test_unknown_exception_is_void_and_not_tried_again(tmp_path: Path) -> None:
    work = ScriptedWork(tmp_path, [(ScriptedSandbox(runs=[ZeroDivisionError("boom")]), ScriptedUser([CLOSE]))])

    (outcome,) = engine(work).run(ONE)

    assert outcome.reason is EndReason.ENVIRONMENT_ERROR
    assert outcome.attempts == 1
    assert outcome.detail == "unexpected ZeroDivisionError: boom"


@pytest.mark.parametrize(
    "script",
    [
        (ScriptedSandbox(runs=[KeyError("risk_control/drawdown_stop")]), ScriptedUser([CLOSE])),
        (ScriptedSandbox(), ScriptedUser([SimulatorError("rejected: volunteers risk_control/drawdown_stop")])),
    ],
    ids=["unknown exception", "user without a decision"],
)
def test_words_of_our_failure_that_name_an_item_stay_out_of_public(
    tmp_path: Path, script: tuple[ScriptedSandbox, ScriptedUser]
) -> None:
    work = ScriptedWork(tmp_path, [script])

    (outcome,) = engine(work).run(ONE)
    public = [path for path in work.made[-1].paths.public.rglob("*") if path.is_file()]

    assert "drawdown_stop" in outcome.detail
    assert last(work.made[-1]).detail.endswith("see events.jsonl")
    assert not [path for path in public if b"drawdown_stop" in path.read_bytes()]


def test_task_that_cannot_be_made_voids_its_cell_and_spares_the_others(tmp_path: Path) -> None:
    work = ScriptedWork(tmp_path, [GeneratorError("frozen task 6 does not match its hash")])

    outcomes = engine(work).run(build_plan(("null",), (6, 7), 1))

    assert [outcome.reason for outcome in outcomes] == [EndReason.ENVIRONMENT_ERROR] * 2
    assert outcomes[0].folder is None


def test_grading_that_fails_leaves_the_session_valid_and_ungraded(tmp_path: Path) -> None:
    work = ScriptedWork(tmp_path, [ok()], grading=GradingError("measure ran out of memory"))

    (outcome,) = engine(work).run(ONE)

    assert outcome.reason is EndReason.SATISFIED
    assert outcome.ungraded == "measure ran out of memory"


def test_concurrent_cells_all_end(tmp_path: Path) -> None:
    work = ScriptedWork(tmp_path, [ok() for _ in range(12)])

    outcomes = engine(work, concurrency=4).run(build_plan(("a", "b"), range(6), 1))

    assert len({outcome.cell for outcome in outcomes}) == 12
    assert all(outcome.reason is EndReason.SATISFIED for outcome in outcomes)


def test_stop_cancels_what_runs_starts_nothing_more_and_sweeps(tmp_path: Path) -> None:
    swept: list[str] = []
    running = threading.Event()

    def until_killed(box: ScriptedSandbox) -> ExecResult:
        running.set()
        assert box.cancelled.wait(10)
        return result(b"", exit_code=None)

    boxes = [(ScriptedSandbox(runs=[until_killed]), ScriptedUser([CLOSE])) for _ in range(6)]
    work = ScriptedWork(tmp_path, boxes)
    operator = threading.Thread(target=lambda: (running.wait(10), work.stop.trip()))
    operator.start()

    outcomes = engine(work, concurrency=2, sweep=lambda: swept.append("run")).run(build_plan(("null",), range(6), 1))

    operator.join()
    assert [outcome.reason for outcome in outcomes] == [EndReason.CANCELLED] * len(outcomes)
    assert len(outcomes) <= 2
    assert all(last(made).reason is EndReason.CANCELLED for made in work.made)
    assert all(outcome.voids == 0 for outcome in outcomes)
    assert work.graded == []
    assert swept == ["run"]


def test_session_that_ignores_the_stop_is_left_to_the_sweep(tmp_path: Path) -> None:
    running = threading.Event()
    release = threading.Event()
    swept: list[str] = []

    def deaf(_: ScriptedSandbox) -> ExecResult:
        running.set()
        release.wait(30)
        raise LostError("container gone")

    def sweep() -> None:
        swept.append("run")
        release.set()

    work = ScriptedWork(tmp_path, [(ScriptedSandbox(runs=[deaf]), ScriptedUser([CLOSE]))])
    operator = threading.Thread(target=lambda: (running.wait(10), work.stop.trip()))
    operator.start()

    outcomes = engine(work, sweep=sweep).run(ONE)

    operator.join()
    assert swept == ["run"]
    assert [outcome.reason for outcome in outcomes] == [EndReason.CANCELLED]
    assert last(work.made[0]).reason is EndReason.CANCELLED


def test_stop_while_grading_keeps_the_session_and_leaves_it_ungraded(tmp_path: Path) -> None:
    work = ScriptedWork(tmp_path, [ok()])

    def stopped_grading(attempt: Attempt) -> None:
        work.stop.trip()
        raise GradingError("container killed")

    work.grade = stopped_grading  # type: ignore[method-assign]

    (outcome,) = engine(work).run(ONE)

    assert outcome.reason is EndReason.SATISFIED
    assert outcome.ungraded == "stopped by the operator"


def test_box_registered_after_the_stop_is_not_entered() -> None:
    stop = Stop()
    stop.trip()

    with pytest.raises(Cancelled), stop.kills("late", lambda: None):
        pytest.fail("entered")
