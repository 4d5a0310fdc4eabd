"""Runs cells on threads of this process; a session mostly waits, so threads cost nothing that processes would save."""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from structlog.typing import FilteringBoundLogger

from records.errors import EvalError
from records.limits import Limits
from records.session import EndEvent, EndReason
from runner.attempt import Attempt
from runner.engines.outcome import CellOutcome, Events, judge_error
from runner.plan import Cell
from runner.stop import Stop

_POLL_S = 0.1
"""How often the main thread looks up from waiting, so that a signal is handled at once."""
STOP_S = 3.0
"""Time for sessions to end by themselves after a stop; what is left then is removed by label."""
_AFTER_SWEEP_S = 0.5
"""Time for a session to write how it ended once its box was removed under it."""


class Work(Protocol):
    """What an engine runs: attempts of cells, and gradings of finished ones."""

    def attempt(self, cell: Cell, number: int) -> Attempt:
        """Make the folder of a new attempt. Raises EvalError when the task cannot be made."""

    def grade(self, attempt: Attempt) -> None:
        """Grade a finished attempt from disk. Raises GradingError."""


@dataclass
class LocalEngine:
    """Threads of this process; `remove_leftovers` kills what still runs of this run after a stop."""

    work: Work
    events: Events
    stop: Stop
    limits: Limits
    concurrency: int
    now: Callable[[], datetime]
    log: FilteringBoundLogger
    remove_leftovers: Callable[[], None]
    _outcomes: list[CellOutcome] = field(default_factory=list, init=False)

    def run(self, cells: Sequence[Cell]) -> list[CellOutcome]:
        """Run all cells and return their outcomes, in the order they ended; after a stop only those that began."""
        todo: queue.SimpleQueue[Cell] = queue.SimpleQueue()
        for cell in cells:
            todo.put(cell)
        workers = [
            threading.Thread(target=self._drain, args=(todo,), name=f"cell-{number}", daemon=True)
            for number in range(min(self.concurrency, len(cells)))
        ]
        for worker in workers:
            worker.start()
        stopped_at: float | None = None
        while any(worker.is_alive() for worker in workers):
            for worker in workers:
                worker.join(_POLL_S / len(workers))
            if self.stop.is_set():
                stopped_at = stopped_at or time.monotonic()
                if time.monotonic() - stopped_at > STOP_S:
                    break
        if self.stop.is_set():
            self.remove_leftovers()
            for worker in workers:
                worker.join(_AFTER_SWEEP_S)
        return list(self._outcomes)

    def _drain(self, todo: "queue.SimpleQueue[Cell]") -> None:
        while not self.stop.is_set():
            try:
                cell = todo.get_nowait()
            except queue.Empty:
                return
            outcome = self._run_cell(cell)
            self._outcomes.append(outcome)
            self.events.cell_ended(outcome)

    def _run_cell(self, cell: Cell) -> CellOutcome:
        voids = 0
        number = 0
        while True:
            number += 1
            self.events.cell_started(cell, number)
            attempt, end, retry = self._run_attempt(cell, number)
            if end.reason.is_valid and attempt is not None:
                return self._graded(cell, attempt, end, voids)
            voids += end.reason is not EndReason.CANCELLED
            if not retry or voids >= self.limits.max_voids or self.stop.is_set():
                folder = attempt.paths.root if attempt is not None else None
                return CellOutcome(cell, end.reason, end.detail, number, voids, folder)

    def _run_attempt(self, cell: Cell, number: int) -> tuple[Attempt | None, EndEvent, bool]:
        attempt: Attempt | None = None
        try:
            attempt = self.work.attempt(cell, number)
            return attempt, attempt.run(), False
        except Exception as error:
            verdict = judge_error(error, stopped=self.stop.is_set())
            self.log.error(
                "attempt_void",
                cell=cell.label,
                attempt=number,
                reason=verdict.reason.value,
                detail=verdict.detail,
                exc_info=None if isinstance(error, EvalError) or self.stop.is_set() else error,
            )
            end = EndEvent(at=self.now(), reason=verdict.reason, detail=verdict.detail)
            if attempt is not None:
                self._record(attempt, end.model_copy(update={"detail": verdict.for_public}))
            return attempt, end, verdict.retry

    def _record(self, attempt: Attempt, end: EndEvent) -> None:
        try:
            attempt.record_void(end)
        except OSError as error:
            # A full disk is the likeliest cause of the void itself; the table still shows it.
            self.log.error("attempt_not_recorded", folder=str(attempt.paths.root), detail=str(error))

    def _graded(self, cell: Cell, attempt: Attempt, end: EndEvent, voids: int) -> CellOutcome:
        ungraded = None
        try:
            self.stop.check()
            self.work.grade(attempt)
        except Exception as error:
            ungraded = "stopped by the operator" if self.stop.is_set() else str(error)
            unexpected = not isinstance(error, EvalError) and not self.stop.is_set()
            self.log.error("grading_failed", cell=cell.label, detail=ungraded, exc_info=error if unexpected else None)
        return CellOutcome(cell, end.reason, end.detail, voids + 1, voids, attempt.paths.root, ungraded)
