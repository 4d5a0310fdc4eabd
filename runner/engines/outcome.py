"""What became of a cell, and the one place that reads an exception as void, retry or cancelled."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from records.errors import EvalError, GeneratorError, SimulatorError
from records.session import EndReason
from runner.plan import Cell
from runner.stop import Cancelled


@dataclass(frozen=True)
class Verdict:
    """How an exception of ours is recorded."""

    reason: EndReason
    detail: str
    retry: bool
    public_detail: str | None = None
    """What public/session.jsonl may say of it; None: the detail itself."""

    @property
    def for_public(self) -> str:
        """The detail without what may quote the sealed side."""
        return self.detail if self.public_detail is None else self.public_detail


@dataclass(frozen=True)
class CellOutcome:
    """The end of one cell: the last attempt's reason, how often it was void and whether it was graded."""

    cell: Cell
    reason: EndReason
    detail: str
    attempts: int
    voids: int
    folder: Path | None
    ungraded: str | None = None
    """Why there is no grade; None when there is one or none was due."""


class Events(Protocol):
    """What a person watching a run is told; called from worker threads."""

    def cell_started(self, cell: Cell, attempt: int) -> None:
        """An attempt begins."""

    def cell_ended(self, outcome: CellOutcome) -> None:
        """A cell is done."""


def judge_error(error: BaseException, *, stopped: bool) -> Verdict:
    """Read an exception that ended an attempt.

    After a stop everything is `cancelled`: a box that was killed on purpose looks like a lost one. An exception
    outside the EvalError tree is void and not tried again, since it would most likely come back. Words of the simulator,
    the generator or an unknown exception may quote an item of the strategy, so public/ gets only their kind.
    """
    if stopped or isinstance(error, Cancelled):
        return Verdict(EndReason.CANCELLED, "stopped by the operator", retry=False)
    if isinstance(error, SimulatorError):
        public = "the simulated user reached no valid decision; see events.jsonl"
        return Verdict(EndReason.SIMULATOR_VOID, str(error), retry=error.retry, public_detail=public)
    if isinstance(error, EvalError):
        hidden = "the task could not be made; see events.jsonl" if isinstance(error, GeneratorError) else None
        return Verdict(EndReason.ENVIRONMENT_ERROR, str(error), retry=error.retry, public_detail=hidden)
    kind = f"unexpected {type(error).__name__}"
    return Verdict(
        EndReason.ENVIRONMENT_ERROR, f"{kind}: {error}", retry=False, public_detail=f"{kind}; see events.jsonl"
    )
