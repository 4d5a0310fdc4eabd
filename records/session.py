"""What happens in a session, as an append-only list of events (session.jsonl)."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from records.base import Record
from records.capture import FileEntry
from records.usage import Usage


class EndReason(StrEnum):
    """Why a session ended (evaluator.md 2.3). The last three are written by the engine, never returned by session code."""

    SATISFIED = "satisfied"
    USER_LEFT = "user_left"
    AGENT_GAVE_UP = "agent_gave_up"
    TURN_LIMIT = "turn_limit"
    RESOURCE_LIMIT = "resource_limit"
    AGENT_ERROR = "agent_error"
    SIMULATOR_VOID = "simulator_void"
    ENVIRONMENT_ERROR = "environment_error"
    CANCELLED = "cancelled"

    @property
    def is_valid(self) -> bool:
        """Whether the session counts as measured."""
        return self not in VOID_REASONS

    @property
    def scores_zero(self) -> bool:
        """Whether the session is graded for diagnosis only and its Score is 0."""
        return self in (EndReason.TURN_LIMIT, EndReason.RESOURCE_LIMIT)


VOID_REASONS = (EndReason.SIMULATOR_VOID, EndReason.ENVIRONMENT_ERROR, EndReason.CANCELLED)


class UserEvent(Record):
    """u_t: what the user said after agent turn `turn` (0 is the opening)."""

    kind: Literal["user"] = "user"
    turn: int
    at: datetime
    text: str


class AgentEvent(Record):
    """a_t: the agent's message and what lay in /workspace/deliver when the turn ended."""

    kind: Literal["agent"] = "agent"
    turn: int
    started_at: datetime
    ended_at: datetime
    text: str
    cut: bool = Field(default=False, description="the turn was stopped at its time limit")
    exit_code: int | None = Field(
        default=None, description="of the agent program; None when it lives across turns or was killed"
    )
    failure: str | None = Field(default=None, description="why the turn counts as agent_error; None when it does not")
    files: tuple[FileEntry, ...] = ()
    notes: tuple[str, ...] = Field(default=(), description="what copy-out or stream capping left out")
    usage: tuple[Usage, ...] | None = Field(
        default=None, description="tokens of the turn, one entry per model; None when the agent reports none"
    )


class EndEvent(Record):
    """How the session ended."""

    kind: Literal["end"] = "end"
    at: datetime
    reason: EndReason
    detail: str = ""


Event = Annotated[UserEvent | AgentEvent | EndEvent, Field(discriminator="kind")]
EVENT: TypeAdapter[UserEvent | AgentEvent | EndEvent] = TypeAdapter(Event)
