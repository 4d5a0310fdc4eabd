"""What became of a cell, and the one place that reads an exception as void, retry or cancelled."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from records.errors import EvalError, SimulatorError
from records.session import EndReason
from runner.plan import Cell
from runner.stop import Cancelled


@dataclass(frozen=True)
class Verdict:
    """How an exception of ours is recorded."""

    reason: EndReason
    detail: str
    retry: bool


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
    outside the EvalError tree is void and not tried again, since it would most likely come back.
    """
    if stopped or isinstance(error, Cancelled):
        return Verdict(EndReason.CANCELLED, "stopped by the operator", retry=False)
    if isinstance(error, SimulatorError):
        return Verdict(EndReason.SIMULATOR_VOID, str(error), retry=error.retry)
    if isinstance(error, EvalError):
        return Verdict(EndReason.ENVIRONMENT_ERROR, str(error), retry=error.retry)
    return Verdict(EndReason.ENVIRONMENT_ERROR, f"unexpected {type(error).__name__}: {error}", retry=False)
