"""Reads a run back from disk; everything a table shows comes through here. Writes nothing, never opens sealed/."""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from records.errors import UsageError
from records.grade import Grade
from records.jsonl import read_lines
from records.paths import AttemptPaths, RunPaths
from records.run import PlannedCell, RunRecord
from records.session import EVENT, AgentEvent, EndEvent, EndReason, UserEvent


@dataclass(frozen=True)
class AttemptView:
    """One attempt as it lies on disk."""

    paths: AttemptPaths
    number: int
    started_at: datetime | None
    turns: tuple[AgentEvent, ...]
    end: EndEvent | None
    """None while it runs, or when the run was killed in it."""
    grade: Grade | None

    @property
    def wall_s(self) -> float | None:
        """Seconds from the opening to the end; None without both."""
        if self.started_at is None or self.end is None:
            return None
        return (self.end.at - self.started_at).total_seconds()


@dataclass(frozen=True)
class CellView:
    """One cell with all its attempts, oldest first."""

    planned: PlannedCell
    attempts: tuple[AttemptView, ...]

    @property
    def last(self) -> AttemptView | None:
        """The attempt that counts; None when the cell never began."""
        return self.attempts[-1] if self.attempts else None

    @property
    def reason(self) -> EndReason | None:
        """How the cell ended; None while it has not."""
        return self.last.end.reason if self.last and self.last.end else None

    @property
    def grade(self) -> Grade | None:
        """The newest grade of the attempt that counts."""
        return self.last.grade if self.last else None

    @property
    def voids(self) -> int:
        """Attempts in which our side failed."""
        void = (EndReason.SIMULATOR_VOID, EndReason.ENVIRONMENT_ERROR)
        return sum(attempt.end is not None and attempt.end.reason in void for attempt in self.attempts)

    @property
    def cut_turns(self) -> int:
        """Turns of the attempt that counts which were stopped at their time limit."""
        return sum(turn.cut for turn in self.last.turns) if self.last else 0


@dataclass(frozen=True)
class RunView:
    """A run as it lies on disk."""

    paths: RunPaths
    record: RunRecord
    cells: tuple[CellView, ...]

    ended_at: datetime | None
    """Time of the last line of the run's log; None without one."""

    @property
    def wall_s(self) -> float | None:
        """Seconds from the start of the run to its last event, gradings included; None when nothing was logged."""
        return None if self.ended_at is None else (self.ended_at - self.record.created_at).total_seconds()


def read_run(root: Path, *, grading: str | None = None) -> RunView:
    """Read a run's plan and what became of it.

    Args: grading: show the grades of this grading alone (`records.paths.grading_name`); None: each session's newest.
    Raises: UsageError: `root` is no run or its record is damaged.
    """
    paths = RunPaths(root)
    try:
        record = RunRecord.model_validate_json(paths.run.read_bytes())
    except OSError as error:
        raise UsageError(f"'{root}': expected a run directory, found no readable run.json; see: ls runs") from error
    except ValidationError as error:
        raise UsageError(f"'{paths.run}': expected the run record of this version, found {_first(error)}") from error
    cells = tuple(CellView(cell, _attempts(paths, cell, grading)) for cell in record.cells)
    return RunView(paths, record, cells, _last_event(paths))


def read_attempt(paths: AttemptPaths, *, grading: str | None = None) -> AttemptView:
    """Read one attempt, with its newest grade or that of one grading. Raises UsageError when a line of its log is no event."""
    try:
        events = [EVENT.validate_json(line) for line in read_lines(paths.session)]
    except ValidationError as error:
        raise UsageError(f"'{paths.session}': expected session events, found {_first(error)}") from error
    opening = next((event for event in events if isinstance(event, UserEvent)), None)
    return AttemptView(
        paths=paths,
        number=int(paths.root.name.removeprefix("attempt-")),
        started_at=opening.at if opening else None,
        turns=tuple(event for event in events if isinstance(event, AgentEvent)),
        end=next((event for event in events if isinstance(event, EndEvent)), None),
        grade=_newest_grade(paths, grading or "*"),
    )


def _attempts(paths: RunPaths, cell: PlannedCell, grading: str | None) -> tuple[AttemptView, ...]:
    views: list[AttemptView] = []
    while True:
        attempt = paths.attempt(cell.agent, cell.task_id, cell.repeat, len(views) + 1)
        if not attempt.root.is_dir():
            return tuple(views)
        views.append(read_attempt(attempt, grading=grading))


def _last_event(paths: RunPaths) -> datetime | None:
    """Return when the last event was logged; the log is for people, so a line without a time is no fault."""
    lines = read_lines(paths.events)
    try:
        return datetime.fromisoformat(json.loads(lines[-1])["timestamp"]) if lines else None
    except (ValueError, KeyError, TypeError):
        return None


def _newest_grade(paths: AttemptPaths, folders: str) -> Grade | None:
    files = sorted(
        paths.graded.glob(f"{folders}/grade.json"), key=lambda path: (path.stat().st_mtime_ns, path.parent.name)
    )
    if not files:
        return None
    try:
        return Grade.model_validate_json(files[-1].read_bytes())
    except ValidationError as error:
        raise UsageError(f"'{files[-1]}': expected a grade of this version, found {_first(error)}") from error


def _first(error: ValidationError) -> str:
    fault = error.errors()[0]
    return f"{'.'.join(map(str, fault['loc'])) or 'the record'}: {fault['msg']}"
