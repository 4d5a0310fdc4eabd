"""Doubles for the runner's tests: a scripted box, a scripted user and a gateway door that only remembers."""

import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path, PurePosixPath

import structlog

from adapters.oneshot import OneShotAdapter
from records.capture import CopyReport, FileEntry
from records.decision import GOALS, Action, BlockReason, Decision, DecisionRecord, Observation
from records.errors import LostError
from records.paths import AttemptPaths, RunPaths
from records.session import AgentEvent
from records.strategy import Belief, Item, Options, Strategy
from records.task import Conditions, Scope, Task
from runner.attempt import Attempt
from runner.stop import Stop
from runner.store import AttemptStore
from sandbox.protocol import ExecResult, StopProof

HELLO = b'{"message": "hello"}\n'


def conditions(**changes: object) -> Conditions:
    values: dict[str, object] = {
        "t_cut": date(2021, 12, 31),
        "start_hint": date(2013, 1, 2),
        "channels": ("fmp-mcp",),
        "max_turns": 3,
        "turn_limit_s": 60,
    }
    return Conditions.model_validate(values | changes)


def task(**changes: object) -> Task:
    return Task(
        id="amber-otter",
        persona="generalist_analyst",
        scope=Scope(kind="basket", symbols=("AAPL", "MSFT")),
        opening="I would like a backtest.",
        conditions=conditions(**changes),
    )


def strategy() -> Strategy:
    item = Item(
        id="stock_selection/mom_12_1", component="stock_selection", option="mom_12_1", text="winners keep winning"
    )
    options = Options(
        factors=("mom_12_1",),
        market_timing="always_invested",
        weighting="equal",
        covariance="none",
        risk_control="none",
        execution="next_open",
        transaction_cost="none",
    )
    return Strategy(
        task_id="amber-otter",
        seed=6,
        salt="s",
        grammar_sha256="0" * 64,
        belief=Belief(options=options, values={}, items=(item,)),
        opening_items=(item.id,),
        difficulty=1,
        nonce="NONCE-never-voiced",
    )


def result(stdout: bytes = HELLO, *, exit_code: int | None = 0, timed_out: bool = False) -> ExecResult:
    return ExecResult(exit_code=exit_code, timed_out=timed_out, duration_s=0.1, stdout=stdout, stderr=b"")


@dataclass
class ScriptedSandbox:
    """Answers exec from a list; writes what it would deliver; remembers every call in order."""

    runs: Sequence[ExecResult | Exception | Callable[["ScriptedSandbox"], ExecResult]] = (result(),)
    delivered: dict[str, bytes] = field(default_factory=dict)
    start_error: Exception | None = None
    close_error: Exception | None = None
    calls: list[str] = field(default_factory=list)
    stdin: list[bytes] = field(default_factory=list)
    timeouts: list[float] = field(default_factory=list)
    cancelled: threading.Event = field(default_factory=threading.Event)
    id: str = "box-1"

    def start(self) -> None:
        self.calls.append("start")
        if self.start_error is not None:
            raise self.start_error

    def thaw(self) -> None:
        self.calls.append("thaw")

    def exec(self, argv: list[str], *, timeout_s: float, stdin: bytes = b"", **_: object) -> ExecResult:
        done = self.calls.count("exec")
        self.calls.append("exec")
        self.stdin.append(stdin)
        self.timeouts.append(timeout_s)
        run = self.runs[min(done, len(self.runs) - 1)]
        if isinstance(run, Exception):
            raise run
        return run if isinstance(run, ExecResult) else run(self)

    def freeze(self) -> StopProof:
        self.calls.append("freeze")
        if self.cancelled.is_set():
            raise LostError("container box-1 is gone")
        return StopProof(survivors=(), swept=0, duration_s=0.0)

    def copy_out(self, source: PurePosixPath, destination: Path) -> CopyReport:
        self.calls.append("copy_out")
        destination.mkdir(parents=True)
        for name, body in self.delivered.items():
            (destination / name).write_bytes(body)
        return CopyReport(
            files=tuple(
                FileEntry(path=name, size=len(body), sha256=hashlib.sha256(body).hexdigest())
                for name, body in self.delivered.items()
            )
        )

    def archive(self, source: PurePosixPath, destination: Path) -> CopyReport:
        self.calls.append("archive")
        destination.write_bytes(b"workspace")
        return CopyReport()

    def cancel(self) -> None:
        self.calls.append("cancel")
        self.cancelled.set()

    def close(self) -> None:
        self.calls.append("close")
        if self.close_error is not None:
            raise self.close_error


def decision(action: Action, message: str = "go on", block_reason: BlockReason | None = None) -> Decision:
    observations = tuple(Observation(goal=goal, status="missing") for goal in GOALS)
    return Decision(action=action, observations=observations, message=message, block_reason=block_reason)


@dataclass
class ScriptedUser:
    """Decides from a list; the last decision repeats."""

    decisions: Sequence[Decision | Exception]
    seen: list[AgentEvent] = field(default_factory=list)

    def decide(self, turn: AgentEvent) -> DecisionRecord:
        self.seen.append(turn)
        choice = self.decisions[min(len(self.seen), len(self.decisions)) - 1]
        if isinstance(choice, Exception):
            raise choice
        return DecisionRecord(turn=turn.turn, backend="scripted", decision=choice, raised=())


@dataclass
class FakeDoor:
    """A gateway that always listens; `failure` is what a witness would say."""

    failure: Exception | None = None
    opened: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)

    def open(self, session: str, paths: AttemptPaths) -> Path:
        self.opened.append(session)
        paths.calls.write_text("", encoding="utf-8")
        return paths.root

    def close(self, session: str) -> None:
        self.closed.append(session)

    def check(self, session: str) -> None:
        if self.failure is not None:
            raise self.failure


def clock() -> Callable[[], datetime]:
    ticks = iter(range(10_000))
    return lambda: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=next(ticks))


def attempt(
    root: Path,
    sandbox: ScriptedSandbox,
    user: ScriptedUser,
    *,
    door: FakeDoor | None = None,
    stop: Stop | None = None,
    number: int = 1,
    agent: str = "null",
    repeat: int = 1,
    **changes: object,
) -> Attempt:
    the_task = task(**changes)
    store = AttemptStore(RunPaths(root).attempt(agent, the_task.id, repeat, number))
    store.create(the_task, strategy())
    return Attempt(
        session=f"session-{agent}-{repeat}-{number}",
        task=the_task,
        store=store,
        door=door or FakeDoor(),
        adapter=OneShotAdapter(name=agent, argv=("agent",), instruction="INSTRUCTION "),
        make_sandbox=lambda _: sandbox,
        make_user=lambda _: user,
        stop=stop or Stop(),
        now=clock(),
        log=structlog.get_logger(),
    )
