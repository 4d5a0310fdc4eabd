"""FakeSandbox: a box for tests that need no engine.

It keeps the contract of `sandbox.protocol` on a temporary folder: programs are Python functions by name, files lie under
`root`, copies go through the same keepers as the real box's. It seals nothing; `tests/contract/` runs both alike.
"""

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from records.capture import CopyReport
from records.errors import LostError, SandboxError, StartError
from records.limits import DEFAULT_LIMITS, Limits
from sandbox.capped import CappedStream
from sandbox.keep import ArchiveKeeper, Caps, FolderKeeper, Keeper
from sandbox.protocol import DELIVER, WORKSPACE, ExecResult, StopProof
from sandbox.tree import open_below, read_tree

MISSING = 127
KILLED = 137
LOST_BY_TEST = "gone, as the test asked"


@dataclass(frozen=True)
class Call:
    """One command as a program of the fake sees it."""

    argv: list[str]
    stdin: bytes
    env: Mapping[str, str]
    root: Path
    """Host folder that plays the box's root."""
    cwd: Path
    """Host folder that plays the working directory."""
    stop: threading.Event
    """Set at the deadline, on freeze and on cancel; a program that waits, waits on it."""

    def path(self, inside: PurePosixPath | str) -> Path:
        """Return the host path of a path inside the box."""
        return self.root / PurePosixPath(inside).relative_to("/")


@dataclass(frozen=True)
class Outcome:
    """What a program printed and returned."""

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int = 0


Program = Callable[[Call], Outcome]


@dataclass
class FakeSandbox:
    """A box of functions. `programs` maps a name, as in argv[0], to what it does."""

    programs: Mapping[str, Program] = field(default_factory=dict)
    limits: Limits = DEFAULT_LIMITS
    id: str = "fake"
    dies_at_call: int | None = None
    """The box is gone from this exec on, counted from 1; None: never."""
    dies_by_agent: bool = False
    """Whether that end is the agent's doing."""
    fails_to_start: bool = False
    calls: list[Call] = field(default_factory=list)
    """Every command so far, oldest first."""
    events: list[str] = field(default_factory=list)
    """start, thaw, exec, freeze, copy_out, archive, cancel, close, in order."""
    _root: Path | None = None
    _frozen: bool = False
    _gone: str | None = None
    _stop: threading.Event = field(default_factory=threading.Event)
    _running: list[str] = field(default_factory=list)

    @property
    def root(self) -> Path:
        """The host folder that plays the box's root. Raises LostError when the box is not there."""
        if self._gone is not None or self._root is None:
            raise LostError(
                f"box {self.id} is {self._gone or 'not started'}; start another one",
                container_id=self.id,
                agent_caused=self._gone == LOST_BY_TEST and self.dies_by_agent,
            )
        return self._root

    def host(self, inside: PurePosixPath) -> Path:
        """Return the host path of a path inside the box, for tests that put or read files."""
        return self.root / inside.relative_to("/")

    def start(self) -> None:
        """Make the workspace, frozen. Raises StartError."""
        self.events.append("start")
        if self.fails_to_start:
            self._gone = "closed"
            raise StartError("the fake was told not to start; start another one", container_id=self.id)
        self._root = Path(tempfile.mkdtemp(prefix="fake-sandbox-"))
        self.host(DELIVER).mkdir(parents=True)
        self._frozen = True

    def thaw(self) -> None:
        """Let the box run again."""
        self.events.append("thaw")
        _ = self.root
        self._frozen = False
        self._stop.clear()

    def exec(
        self,
        argv: list[str],
        *,
        timeout_s: float,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        cwd: PurePosixPath = WORKSPACE,
        stdout_path: Path | None = None,
        stderr_path: Path | None = None,
    ) -> ExecResult:
        """Run one program by name; one that is not there is exit code 127."""
        self.events.append("exec")
        if self.dies_at_call is not None and len(self.calls) + 1 >= self.dies_at_call:
            self._lose(LOST_BY_TEST)
        root = self.root
        if self._frozen:
            raise SandboxError(f"box {self.id} is frozen, a command needs it thawed; call thaw first")
        call = Call(list(argv), stdin, dict(env or {}), root, self.host(cwd), threading.Event())
        self.calls.append(call)
        started = time.monotonic()
        outcome, timed_out = self._run(call, timeout_s)
        _ = self.root
        with (
            CappedStream(self.limits.stream_bytes, stdout_path) as out,
            CappedStream(self.limits.stream_bytes, stderr_path) as err,
        ):
            out.write(outcome.stdout)
            err.write(outcome.stderr)
            stdout, stdout_missing = out.result()
            stderr, stderr_missing = err.result()
        code = None if timed_out and outcome.exit_code == KILLED else outcome.exit_code
        took = time.monotonic() - started
        return ExecResult(code, timed_out, took, stdout, stderr, stdout_missing, stderr_missing)

    def _run(self, call: Call, timeout_s: float) -> tuple[Outcome, bool]:
        """Run a program in a thread of its own; one that does not stop when told is left behind as killed."""
        program = self.programs.get(call.argv[0])
        if program is None:
            return Outcome(stderr=f"{call.argv[0]}: not found\n".encode(), exit_code=MISSING), False
        done: list[Outcome | BaseException] = []

        def run() -> None:
            try:
                done.append(program(call))
            except BaseException as exc:  # noqa: BLE001 (handed to the caller's thread below)
                done.append(exc)

        thread = threading.Thread(target=run, daemon=True)
        self._running.append(" ".join(call.argv))
        thread.start()
        until = time.monotonic() + timeout_s
        while thread.is_alive() and time.monotonic() < until and not self._stop.is_set():
            thread.join(0.005)
        timed_out = thread.is_alive() and not self._stop.is_set()
        call.stop.set()
        thread.join(self.limits.stop_grace_s)
        self._running.clear()
        ended = done[0] if done else Outcome(exit_code=KILLED)
        if isinstance(ended, BaseException):
            raise ended
        return ended, timed_out

    def freeze(self) -> StopProof:
        """Stop what runs and freeze."""
        self.events.append("freeze")
        _ = self.root
        swept = len(self._running)
        self._stop.set()
        self._frozen = True
        return StopProof((), swept, 0.0)

    def copy_out(self, source: PurePosixPath, destination: Path) -> CopyReport:
        """Copy a folder of the frozen box to the host."""
        self.events.append("copy_out")
        keeper = FolderKeeper(destination, Caps(self.limits.deliver_bytes, self.limits.deliver_files))
        self._read(source, keeper)
        return keeper.finish()

    def archive(self, source: PurePosixPath, destination: Path) -> CopyReport:
        """Write a folder of the frozen box as .tar.zst."""
        self.events.append("archive")
        with ArchiveKeeper(destination, Caps(self.limits.workspace_bytes, self.limits.workspace_inodes)) as keeper:
            self._read(source, keeper)
            return keeper.finish()

    def _read(self, source: PurePosixPath, keeper: Keeper) -> None:
        """Give the keeper what lies in the box."""
        root = self.root
        if not self._frozen:
            raise SandboxError(f"box {self.id} runs, copying needs it frozen; call freeze first")
        handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            folder = open_below(handle, source)
        finally:
            os.close(handle)
        if folder is not None:
            try:
                read_tree(folder, keeper)
            finally:
                os.close(folder)

    def cancel(self) -> None:
        """Kill without grace."""
        self.events.append("cancel")
        self._lose("cancelled")

    def _lose(self, reason: str) -> None:
        """Make the box gone."""
        self._gone = self._gone or reason
        self._stop.set()

    def close(self) -> None:
        """Remove the folder. Idempotent."""
        self.events.append("close")
        self._lose("closed")
        if self._root is not None:
            shutil.rmtree(self._root, ignore_errors=True)
            self._root = None
