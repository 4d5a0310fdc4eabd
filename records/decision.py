"""The simulated user's structured decision and what it is made from (evaluator.md 6.1)."""

from typing import Literal

from pydantic import Field

from records.base import Record

Action = Literal["clarify", "follow_up", "challenge", "close", "block"]
Goal = Literal["backtest", "data_real", "metrics_trace", "report"]
GOALS: tuple[Goal, ...] = ("backtest", "data_real", "metrics_trace", "report")
BlockReason = Literal["walked_away", "agent_gave_up"]


class Observation(Record):
    """One goal as the user sees it; `met` cites messages (m1..) or files (f1..)."""

    goal: Goal
    status: Literal["met", "missing", "uncertain", "na"]
    evidence: tuple[str, ...] = ()


class Decision(Record):
    """What the user does next. `stated_items` is for audit only; the evaluator measures S from the text."""

    action: Action
    observations: tuple[Observation, ...]
    stated_items: tuple[str, ...] = ()
    message: str = ""
    block_reason: BlockReason | None = None


class ViewFile(Record):
    """A delivered file as the user may read it."""

    id: str = Field(description="f1.., newest first")
    path: str
    turn: int = Field(description="agent turn in which this content was first delivered")
    text: str | None = Field(description="capped text; None for a format the user does not read")
    truncated: bool = False


class ViewMessage(Record):
    """A message of the conversation: m1 is the opening."""

    id: str
    role: Literal["user", "agent"]
    turn: int
    text: str
    cut: bool = Field(default=False, description="agent message of a turn stopped at its limit")
    changed_files: tuple[str, ...] = Field(default=(), description="paths new or changed in this agent turn")


class View(Record):
    """All that the user sees when deciding: the whole conversation and the capped delivery."""

    messages: tuple[ViewMessage, ...]
    files: tuple[ViewFile, ...]


class DecisionRecord(Record):
    """One line of sealed/decisions.jsonl."""

    turn: int
    backend: str
    decision: Decision
    raised: tuple[str, ...] = Field(description="Q of this turn")
    undecided: tuple[str, ...] = ()
    rejected: tuple[str, ...] = Field(default=(), description="rule ids that rejected earlier tries")
    model: str | None = Field(default=None, description="id that the model's service reported; None without a model")
    prompt_sha256: str | None = Field(default=None, description="of the prompt whose answer this is")
