"""One session, read as the story: start the box and the agent, let user and agent talk until one ends it, capture, stop.

What the agent did comes back as an EndReason. What we broke is an exception and passes through; `runner.engines`
decides about voids and retries. Knows no back end by name and grades nothing.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from structlog.typing import FilteringBoundLogger

from adapters.protocol import Adapter, AgentReply
from records.capture import CopyReport
from records.decision import DecisionRecord
from records.errors import LostError, SandboxError
from records.session import AgentEvent, EndEvent, EndReason, UserEvent
from records.task import Task
from runner.stop import Stop
from runner.store import AttemptStore
from sandbox.protocol import DELIVER, WORKSPACE, Sandbox, StopProof
from simulator import end_reason


class User(Protocol):
    """The simulated user of one session; it sees each agent turn once, in order."""

    def decide(self, turn: AgentEvent) -> DecisionRecord:
        """Return what the user does after this agent turn. Raises SimulatorError when no valid decision was found."""


@dataclass(frozen=True)
class Parts:
    """What one attempt is made of; the session owns sandbox and adapter from here on and lets go of both."""

    session: str
    task: Task
    sandbox: Sandbox
    adapter: Adapter
    user: User
    store: AttemptStore
    now: Callable[[], datetime]
    log: FilteringBoundLogger
    stop: Stop
    witness: Callable[[], None] = lambda: None
    """Raises an EvalError when something outside the box saw our side fail."""

    def watch(self) -> None:
        """Raise when the operator stopped the run or our side failed."""
        self.stop.check()
        self.witness()


def run_session(parts: Parts) -> EndEvent:
    """Run one attempt to its end and write everything it left behind.

    Raises: EvalError: our side failed; turns captured so far stay on disk, box and agent are gone all the same.
    """
    parts.store.append(UserEvent(turn=0, at=parts.now(), text=parts.task.opening))
    try:
        parts.sandbox.start()
        parts.log.info("sandbox_started", container=parts.sandbox.id)
        try:
            parts.adapter.start(parts.sandbox, session=parts.session)
            keep = capture
            try:
                reason, detail = converse(parts)
            except LostError as error:
                reason, detail = EndReason.AGENT_ERROR, lost_by_agent(parts, error)
                keep = capture_what_is_left
        except BaseException:
            parts.adapter.finalize()
            if not parts.stop.is_set():
                capture_what_is_left(parts)
            raise
        parts.adapter.finalize()
        keep(parts)
    finally:
        close(parts)
    end = EndEvent(at=parts.now(), reason=reason, detail=detail)
    parts.store.append(end)
    parts.log.info("session_ended", reason=reason.value, detail=detail)
    return end


def capture(parts: Parts) -> None:
    """Keep the whole workspace of the frozen box for auditors and violation checks."""
    parts.store.note_capture(parts.sandbox.archive(WORKSPACE, parts.store.paths.workspace))


def capture_what_is_left(parts: Parts) -> None:
    """Keep the workspace where the box still allows it; the error that ended the session is the one to tell."""
    with suppress(SandboxError, OSError):
        parts.sandbox.freeze()
        capture(parts)


def close(parts: Parts) -> None:
    """Remove the box. What could not be removed is said in the log; it does not make a measured session void."""
    try:
        parts.sandbox.close()
    except SandboxError as error:
        parts.log.error("cleanup_failed", detail=str(error))


def converse(parts: Parts) -> tuple[EndReason, str]:
    """Alternate agent and user turns until an end reason is reached."""
    message = parts.task.opening
    for turn in range(1, parts.task.conditions.max_turns + 1):
        event = take_turn(parts, message, turn)
        if event.failure is not None:
            return EndReason.AGENT_ERROR, event.failure
        record = parts.user.decide(event)
        parts.store.append_decision(record)
        decision = record.decision
        parts.log.info("user_decided", turn=turn, action=decision.action)
        end = end_reason(decision)
        if end is None and turn == parts.task.conditions.max_turns:
            # Nobody will read this message, so it is no part of the conversation.
            return EndReason.TURN_LIMIT, f"{turn} agent turns used"
        if decision.message:
            parts.store.append(UserEvent(turn=turn, at=parts.now(), text=decision.message))
        if end is not None:
            return end, ""
        message = decision.message
    raise AssertionError("a task has at least one turn")


def lost_by_agent(parts: Parts, error: LostError) -> str:
    """Return why the box ended when that is the agent's doing; raise what is ours, a stop and a witnessed fault first."""
    if not error.agent_caused:
        raise error
    parts.watch()
    parts.log.warning("box_lost_by_agent", detail=str(error))
    return str(error)


def take_turn(parts: Parts, message: str, turn: int) -> AgentEvent:
    """Thaw the box for one agent turn, freeze it with proof that nothing runs on, and copy out what was delivered."""
    parts.watch()
    started = parts.now()
    parts.sandbox.thaw()
    reply = parts.adapter.send(
        message,
        turn=turn,
        limit_s=parts.task.conditions.turn_limit_s,
        log_dir=parts.store.paths.turn(turn),
    )
    proof = parts.sandbox.freeze()
    ended = parts.now()
    parts.watch()
    copied = parts.sandbox.copy_out(DELIVER, parts.store.paths.deliver(turn))
    parts.store.write_message(turn, reply.text)
    event = AgentEvent(
        turn=turn,
        started_at=started,
        ended_at=ended,
        text=reply.text,
        cut=reply.cut,
        exit_code=reply.exit_code,
        failure=reply.failure,
        files=copied.files,
        notes=turn_notes(reply, proof, copied),
        usage=reply.usage,
    )
    parts.store.append(event)
    parts.log.info("turn_ended", turn=turn, cut=reply.cut, files=len(copied.files), swept=proof.swept)
    return event


def turn_notes(reply: AgentReply, proof: StopProof, copied: CopyReport) -> tuple[str, ...]:
    """Return in words what was left out of a turn or killed in it."""
    oom = (f"{proof.oom_kills} processes were killed at the memory limit",) if proof.oom_kills else ()
    return (*reply.notes, *oom, *copied.notes)
