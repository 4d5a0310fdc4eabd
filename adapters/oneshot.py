"""Drives an agent program that is started once per turn: message on stdin, reply as the last JSON line of stdout."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from adapters.protocol import AgentReply
from records.errors import LaunchError
from records.limits import DEFAULT_LIMITS, Limits
from sandbox.protocol import ExecResult, Sandbox

INVALID_REPLIES = 3
"""A turn is the agent's own failure after this many unreadable replies (evaluator.md 2.3)."""
_NOT_STARTED = (126, 127)
"""Exit codes of a program that could not be executed or was not found."""


@dataclass
class OneShotAdapter:
    """An agent that keeps its state in the workspace and lives for one turn at a time."""

    name: str
    argv: tuple[str, ...]
    instruction: str
    """Filled text in front of the first message; empty for an agent that reads the bare conversation."""
    limits: Limits = DEFAULT_LIMITS
    now: Callable[[], float] = time.monotonic
    _sandbox: Sandbox | None = field(default=None, init=False)

    def start(self, sandbox: Sandbox, *, session: str) -> None:
        """Remember the box; a program of one turn has nothing to start. `session` names no file in the box."""
        del session
        self._sandbox = sandbox

    def send(self, message: str, *, turn: int, limit_s: float, log_dir: Path) -> AgentReply:
        """Run the program, again while its reply is unreadable, until the turn's time is used up.

        Raises: LaunchError: the program could not be started for the very first message. LostError: the box is gone.
        """
        if self._sandbox is None:
            raise LaunchError(f"agent '{self.name}': expected start() before send(); start a new session")
        text = self.instruction + message if turn == 1 else message
        deadline = self.now() + limit_s
        notes: list[str] = []
        for attempt in range(1, INVALID_REPLIES + 1):
            result = self._run(text, limit_s=deadline - self.now(), log_dir=log_dir)
            if turn == 1 and attempt == 1 and result.exit_code in _NOT_STARTED and not result.stdout:
                raise LaunchError(_not_started(self.name, self.argv, result))
            notes += _stream_notes(result)
            reply = last_message(result.stdout)
            if result.timed_out:
                return self._reply(reply or "", result, notes, cut=True)
            if reply is not None:
                return self._answered(reply, result, notes, log_dir)
            if result.exit_code != 0:
                how = "was killed" if result.exit_code is None else f"died with exit code {result.exit_code}"
                failure = f"the agent program {how} and left no reply"
                return AgentReply("", exit_code=result.exit_code, failure=failure, notes=tuple(notes))
            notes.append(f"reply {attempt} was unreadable: the last line of stdout is no JSON object with a message")
            if deadline - self.now() <= 0:
                return AgentReply("", cut=True, exit_code=0, notes=tuple(notes))
        return AgentReply("", exit_code=0, failure=f"{INVALID_REPLIES} unreadable replies", notes=tuple(notes))

    def finalize(self) -> None:
        """Let go of the box."""
        self._sandbox = None

    def _run(self, text: str, *, limit_s: float, log_dir: Path) -> ExecResult:
        assert self._sandbox is not None  # noqa: S101 - send() checked it
        log_dir.mkdir(parents=True, exist_ok=True)
        return self._sandbox.exec(
            list(self.argv),
            timeout_s=limit_s,
            stdin=text.encode(),
            stdout_path=log_dir / "stdout",
            stderr_path=log_dir / "stderr",
        )

    def _answered(self, reply: str, result: ExecResult, notes: list[str], log_dir: Path) -> AgentReply:
        events = [line for line in result.stdout.decode(errors="replace").splitlines() if _is_object(line)]
        (log_dir / "agent.jsonl").write_text("".join(line + "\n" for line in events), encoding="utf-8")
        return self._reply(reply, result, notes, cut=False)

    def _reply(self, text: str, result: ExecResult, notes: list[str], *, cut: bool) -> AgentReply:
        most = self.limits.reply_chars
        if len(text) > most:
            notes.append(f"the reply has {len(text):,} characters; the first {most:,} were kept")
        return AgentReply(text[:most], cut=cut, exit_code=result.exit_code, notes=tuple(notes))


def last_message(stdout: bytes) -> str | None:
    """Return the message of the last non-empty line of stdout; None when that line is no `{"message": text}` object."""
    lines = stdout.decode(errors="replace").strip().splitlines()
    if not lines:
        return None
    try:
        reply = json.loads(lines[-1])
    except (ValueError, RecursionError):
        return None
    message = reply.get("message") if isinstance(reply, dict) else None
    if not isinstance(message, str) or not message.strip():
        return None
    # A lone surrogate is legal JSON and no UTF-8: kept as it is, it would break our own files.
    return message.encode("utf-8", "backslashreplace").decode()


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _stream_notes(result: ExecResult) -> list[str]:
    streams = (("stdout", result.stdout_missing), ("stderr", result.stderr_missing))
    return [f"{missing:,} bytes of {name} are missing between head and tail" for name, missing in streams if missing]


def _not_started(name: str, argv: tuple[str, ...], result: ExecResult) -> str:
    said = result.stderr.decode(errors="replace").strip()[-200:]
    return (
        f"agent '{name}': expected {' '.join(argv)} to run in its image, found exit code {result.exit_code}"
        f"{' (' + said + ')' if said else ''}; rebuild it: runner images build"
    )
