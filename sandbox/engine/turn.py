"""One command in a running box: its streams, its clock, its end (docs/adr/0004-exec-and-signal-semantics.md)."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from records.errors import LostError
from sandbox.capped import CappedStream
from sandbox.engine.attach import STDERR, Attachment
from sandbox.engine.container import Container, ExecState
from sandbox.engine.forwarder import SHELL
from sandbox.engine.hostconfig import AGENT
from sandbox.engine.stop import Stopper
from sandbox.protocol import WORKSPACE, ExecResult

STEP_S: Final = 0.1
LOOK_AFTER_S: Final = 0.5
"""Commands quicker than this are not looked at from outside; their stream's end is their end."""
ENGINE_GRACE_S: Final = 2.0
"""The engine waits so long for a child that keeps stdout open before it reports the end (moby 20.10, monitor.go)."""
HANG_UP_S: Final = 10.0
"""After its end was seen, or everything was killed, a stream that does not end is given up."""
REPORT_S: Final = 5.0
"""The engine reports an exit code so long after the stream ended, at most."""
BOX_END_S: Final = 0.5
"""Between the engine's report of a command's end and of its container's (40 ms seen)."""
KILLED: Final = 137
DISK_LOOK_S: Final = 2.0
NOT_STARTED: Final = 126
"""The runtime found nothing it may run, or no box to run it in."""
NOT_FOUND: Final = 127
NOT_FOUND_WORDS: Final = (b"executable file not found", b"no such file or directory")


@dataclass(frozen=True)
class Command:
    """What to run."""

    argv: list[str]
    timeout_s: float
    stdin: bytes
    env: Mapping[str, str]
    cwd: PurePosixPath


@dataclass
class Clock:
    """Where a running command stands; all times monotonic seconds, None when not yet."""

    started: float
    deadline: float
    ended: float | None = None
    """The command itself was seen to be gone; a child may still hold its streams."""
    interrupted: float | None = None
    killed: float | None = None
    looked: float = 0.0
    disk_looked: float = field(default=0.0)
    pid: int = 0


class Turn:
    """Runs one command to its end."""

    def __init__(self, container: Container, stopper: Stopper, *, soft_cap_bytes: int | None) -> None:
        """Take a running box; with a soft cap the workspace is measured while the command runs."""
        self._container = container
        self._stopper = stopper
        self._soft_cap_bytes = soft_cap_bytes

    def run(self, command: Command, stdout_path: Path | None, stderr_path: Path | None) -> ExecResult:
        """Run a command and wait for it. Raises LostError when the box goes away under it."""
        limit = self._stopper.limits.stream_bytes
        exec_id = self._container.exec_create(
            command.argv, user=AGENT, stdin=bool(command.stdin), env=command.env, cwd=command.cwd
        )
        started = time.monotonic()
        clock = Clock(started, started + command.timeout_s, disk_looked=started)
        with CappedStream(limit, stdout_path) as out, CappedStream(limit, stderr_path) as err:
            with self._container.attach(exec_id, command.stdin) as attachment:
                self._pump(attachment, exec_id, clock, out, err)
            ended = clock.ended or time.monotonic()
            code = self._exit_code(exec_id, clock)
            stdout, stdout_missing = out.result()
            stderr, stderr_missing = err.result()
        if code in {NOT_STARTED, NOT_FOUND} and self._is_missing_program(stdout):
            code, stdout, stderr = NOT_FOUND, b"", stdout
        return ExecResult(
            exit_code=code,
            timed_out=clock.interrupted is not None,
            duration_s=ended - started,
            stdout=stdout,
            stderr=stderr,
            stdout_missing=stdout_missing,
            stderr_missing=stderr_missing,
        )

    @staticmethod
    def _is_missing_program(stdout: bytes) -> bool:
        """Return whether the runtime, not the program, spoke: it found nothing to run."""
        return stdout.startswith(b"OCI runtime exec failed") and any(words in stdout for words in NOT_FOUND_WORDS)

    def _pump(self, attachment: Attachment, exec_id: str, clock: Clock, out: CappedStream, err: CappedStream) -> None:
        """Move bytes until the stream ends or is given up."""
        while True:
            frames = attachment.step(STEP_S)
            if frames is None:
                return
            for kind, data in frames:
                (err if kind == STDERR else out).write(data)
            now = time.monotonic()
            self._look(exec_id, clock, now)
            self._look_at_disk(clock, now, err)
            self._keep_time(clock, now)
            last = max(clock.ended or 0.0, clock.killed or 0.0)
            if last and now - last > HANG_UP_S:
                return

    def _look(self, exec_id: str, clock: Clock, now: float) -> None:
        """See from outside whether the command itself has ended; what a child holds open does not count as running."""
        near = self._stopper.near is not None
        due = now >= clock.deadline or (near and now - clock.looked > STEP_S and now - clock.started > LOOK_AFTER_S)
        if clock.ended is not None or clock.interrupted is not None or not due:
            return
        clock.looked = now
        if clock.pid == 0:
            clock.pid = self._container.exec_state(exec_id).pid
        if clock.pid and not self._stopper.is_alive(clock.pid):
            clock.ended = now

    def _keep_time(self, clock: Clock, now: float) -> None:
        """At the deadline SIGINT, after the grace SIGKILL, both to everything of the agent."""
        if clock.ended is not None or now < clock.deadline:
            return
        if clock.interrupted is None:
            clock.interrupted = now
            self._stopper.interrupt()
        elif clock.killed is None and now - clock.interrupted >= self._stopper.limits.stop_grace_s:
            self._stopper.kill()
            clock.killed = time.monotonic()

    def _look_at_disk(self, clock: Clock, now: float, err: CappedStream) -> None:
        """Where the workspace has no cap of its own, end a turn that filled it; it may overshoot by two seconds."""
        if self._soft_cap_bytes is None or now - clock.disk_looked < DISK_LOOK_S or clock.killed is not None:
            return
        clock.disk_looked = now
        words = self._container.output([SHELL[0], "du", "-sk", str(WORKSPACE)], user=AGENT).split()
        if words and words[0].isdigit() and int(words[0]) * 1024 > self._soft_cap_bytes:
            err.write(f"\n[workspace over its cap of {self._soft_cap_bytes} bytes; all processes ended]\n".encode())
            self._stopper.kill()
            clock.killed = time.monotonic()

    def _exit_code(self, exec_id: str, clock: Clock) -> int | None:
        """Return what the engine reports. Raises LostError when the box itself ended."""
        state = self._reported(exec_id)
        if state.exit_code in {NOT_STARTED, KILLED, None} and clock.killed is None and self._box_ended():
            raise self._container.why_gone()
        if state.exit_code == KILLED and clock.killed is not None:
            return None
        return state.exit_code

    def _box_ended(self) -> bool:
        """Return whether the box ended with the command; the engine tells the command's end a moment earlier."""
        until = time.monotonic() + BOX_END_S
        while self._container.state().running:
            if time.monotonic() > until:
                return False
            time.sleep(STEP_S / 2)
        return True

    def _reported(self, exec_id: str) -> ExecState:
        """Wait for the engine's own end of an exec whose stream has ended."""
        until = time.monotonic() + ENGINE_GRACE_S + REPORT_S
        pause_s = 0.002
        while (state := self._container.exec_state(exec_id)).running and time.monotonic() < until:
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, STEP_S)
        if state.running and state.exit_code is None and not self._container.state().running:
            raise LostError(f"container {self._container.name} ended under a command", container_id=self._container.id)
        return state
