"""Run as a program: a whole session and its grading under an audit hook that reports who opens what under sealed/.

`python watched_session.py ROOT [leak]` prints one JSON object: the violations, and the rooms that opened sealed paths.
"""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

import structlog

from adapters.protocol import AgentReply
from evaluator.__main__ import main as evaluator
from generator import generate, offline_conditions
from records.limits import DEFAULT_LIMITS
from records.paths import RunPaths
from runner.attempt import Attempt
from runner.stop import Stop
from runner.store import AttemptStore
from runner.wiring import AGENTS, rules_user
from sandbox.fake import Call, FakeSandbox, Outcome
from sandbox.protocol import DELIVER, Sandbox

BLIND = ("gateway", "adapters", "sandbox", "offline", "evaluator.measure")
"""Rooms in whose frames no sealed path may be opened."""
violations: list[str] = []
openers: set[str] = set()


def rooms(frame: FrameType | None) -> list[str]:
    """Return the modules of all frames, innermost first."""
    found = []
    while frame is not None:
        found.append(str(frame.f_globals.get("__name__", "")))
        frame = frame.f_back
    return found


def watch(event: str, arguments: tuple[object, ...]) -> None:
    """Note every open of a path below a folder called sealed."""
    if event not in ("open", "os.listdir", "os.scandir") or "sealed" not in str(arguments[0]).split("/"):
        return
    stack = rooms(sys._getframe(1))
    openers.update(name.split(".")[0] for name in stack)
    violations.extend(
        f"{arguments[0]} opened under {name}"
        for name in stack
        if any(name == room or name.startswith(f"{room}.") for room in BLIND)
    )


class Leaking:
    """An adapter that reads the strategy: what the watch must catch. It claims to be part of the adapters."""

    name = "leaking"

    def __init__(self, strategy: Path) -> None:
        self._strategy = strategy

    def start(self, sandbox: Sandbox, *, session: str) -> None: ...

    def send(self, message: str, *, turn: int, limit_s: float, log_dir: Path) -> AgentReply:
        code = compile("text = open(path, encoding='utf-8').read()", "leak.py", "exec")
        exec(code, {"__name__": "adapters.backends.leaking", "path": self._strategy})  # noqa: S102
        return AgentReply("I know what you want.")

    def finalize(self) -> None: ...


def deliver(call: Call) -> Outcome:
    """Ask about everything, and deliver a small report."""
    (call.path(DELIVER) / "report.md").write_text("# Summary\nTotal return 10%.\n", encoding="utf-8")
    (call.path(DELIVER) / "prices.csv").write_text("date,symbol,close\n2021-01-04,AAPL,1\n", encoding="utf-8")
    question = "How should the positions be weighted, and which execution and cost do you want?"
    return Outcome(stdout=json.dumps({"message": question}).encode())


class NoDoor:
    """No gateway: its process is watched by the tests with Docker."""

    def open(self, session: str, paths: object) -> Path:
        return Path()

    def close(self, session: str) -> None: ...

    def check(self, session: str) -> None: ...


def main(root: Path, *, leak: bool) -> None:
    """Run and grade one session under the watch."""
    task, strategy = generate(6, conditions=offline_conditions(), offline=True)
    store = AttemptStore(RunPaths(root).attempt("null", task.id, 1, 1))
    sys.addaudithook(watch)
    store.create(task, strategy)
    adapter = Leaking(store.paths.strategy) if leak else AGENTS["null"].build("INSTRUCTION ")
    Attempt(
        session="s1",
        task=task,
        store=store,
        door=NoDoor(),
        adapter=adapter,
        make_sandbox=lambda _: FakeSandbox(programs={"python3": deliver}),
        make_user=lambda where: rules_user(task, strategy, where, DEFAULT_LIMITS),
        stop=Stop(),
        now=lambda: datetime.now(UTC),
        log=structlog.get_logger(),
    ).run()
    out, sealed_out = str(root / "out"), str(store.paths.sealed / "v1")
    capture = str(store.paths.public)
    codes = [evaluator(["measure", "--capture", capture, "--out", out])]
    compare = ["compare", "--capture", capture, "--measured", out, "--strategy", str(store.paths.strategy)]
    codes.append(evaluator([*compare, "--out", out, "--sealed-out", sealed_out]))
    sys.stdout.write(json.dumps({"violations": violations, "openers": sorted(openers), "codes": codes}) + "\n")


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    main(Path(sys.argv[1]), leak="leak" in sys.argv[2:])
