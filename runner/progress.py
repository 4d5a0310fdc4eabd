"""What a person watching a launch sees: a bar on a terminal, one line per session in a log. Writes to standard error."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from runner.engines.outcome import CellOutcome
from runner.plan import Cell
from runner.terminal import safe


class Watch:
    """The events of a run as lines and a bar; safe to call from any thread."""

    def __init__(self, console: Console, cells: int) -> None:
        self._console = console
        self._lock = threading.Lock()
        self._running: dict[Cell, int] = {}
        self._bar = Progress(
            TextColumn("sessions"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[running]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("sessions", total=cells, running="", start=False)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the bar while the block runs."""
        self._bar.start_task(self._task)
        with self._bar:
            yield

    def say(self, text: str) -> None:
        """Print one line above the bar."""
        self._console.print(Text(safe(text)))

    def cell_started(self, cell: Cell, attempt: int) -> None:
        """Note that an attempt runs."""
        with self._lock:
            self._running[cell] = attempt
            self._show_running()

    def cell_ended(self, outcome: CellOutcome) -> None:
        """Print how a cell ended and move the bar."""
        with self._lock:
            self._running.pop(outcome.cell, None)
            self._show_running()
            self._bar.advance(self._task)
        self.say(line(outcome))

    def _show_running(self) -> None:
        self._bar.update(self._task, running=", ".join(cell.label for cell in self._running))


def line(outcome: CellOutcome) -> str:
    """Return one line about a cell that ended."""
    parts = [f"{outcome.cell.label}: {outcome.reason.value}"]
    if outcome.detail:
        parts.append(outcome.detail)
    if outcome.voids:
        parts.append(f"{outcome.voids} void")
    if outcome.ungraded:
        parts.append(f"not graded: {outcome.ungraded}")
    return " · ".join(parts)
