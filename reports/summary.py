"""Numbers per session and per agent, as pure functions of a run read from disk. A missing number is None, never 0."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from records.grade import SCORED_CATEGORIES, Grade
from reports.collect import CellView, RunView

RUNNING = "not ended"


@dataclass(frozen=True)
class SessionRow:
    """One session of the table."""

    agent: str
    seed: int
    repeat: int
    task: str
    end: str
    measured: bool
    turns: int
    cut_turns: int
    quality: float | None
    categories: dict[str, float | None]
    score: float | None
    accepted: str
    vetoes_failed: tuple[str, ...]
    vetoes_not_run: tuple[str, ...]
    clarification_coverage: float | None
    voids: int
    wall_s: float | None


@dataclass(frozen=True)
class AgentRow:
    """One agent of the table; means over its measured and graded sessions."""

    agent: str
    planned: int
    measured: int
    graded: int
    accepted: int
    quality: float | None
    categories: dict[str, float | None]
    score: float | None
    """None when any graded session has no score, because a veto did not run."""
    ends: dict[str, int]
    vetoes_failed: dict[str, int]
    vetoes_not_run: tuple[str, ...]
    cut_turns: int
    voids: int
    wall_s: float
    """Sum over the sessions; they run side by side."""


def session_rows(run: RunView) -> tuple[SessionRow, ...]:
    """Return one row per planned session, in plan order."""
    return tuple(_session_row(cell) for cell in run.cells)


def agent_rows(run: RunView) -> tuple[AgentRow, ...]:
    """Return one row per agent, in plan order."""
    return agent_rows_of(run.cells)


def agent_rows_of(cells: Sequence[CellView]) -> tuple[AgentRow, ...]:
    """Return one row per agent over cells of one run or several, in the order in which agents first appear."""
    agents = dict.fromkeys(cell.planned.agent for cell in cells)
    return tuple(_agent_row(agent, [cell for cell in cells if cell.planned.agent == agent]) for agent in agents)


def acceptance(grade: Grade | None) -> str:
    """Return the word of the acceptance column."""
    if grade is None:
        return "-"
    if grade.accepted:
        return "yes"
    return "no" if grade.grading_complete else "no (grading incomplete)"


def in_state(grade: Grade | None, state: str) -> tuple[str, ...]:
    """Return the vetoes in one state, in the rubric's order."""
    return () if grade is None else tuple(name for name, found in grade.vetoes.items() if found == state)


def _session_row(cell: CellView) -> SessionRow:
    grade = cell.grade
    last = cell.last
    return SessionRow(
        agent=cell.planned.agent,
        seed=cell.planned.seed,
        repeat=cell.planned.repeat,
        task=cell.planned.task_id,
        end=cell.reason.value if cell.reason else RUNNING,
        measured=cell.reason is not None and cell.reason.is_valid,
        turns=len(last.turns) if last else 0,
        cut_turns=cell.cut_turns,
        quality=grade.quality if grade else None,
        categories={name: grade.categories.get(name) if grade else None for name in SCORED_CATEGORIES},
        score=grade.score if grade else None,
        accepted=acceptance(grade),
        vetoes_failed=in_state(grade, "fail"),
        vetoes_not_run=in_state(grade, "not_run"),
        clarification_coverage=grade.clarification_coverage if grade else None,
        voids=cell.voids,
        wall_s=last.wall_s if last else None,
    )


def _agent_row(agent: str, cells: Sequence[CellView]) -> AgentRow:
    rows = [_session_row(cell) for cell in cells]
    grades = [cell.grade for cell in cells if cell.grade is not None]
    scores = [grade.score for grade in grades]
    return AgentRow(
        agent=agent,
        planned=len(cells),
        measured=sum(row.measured for row in rows),
        graded=len(grades),
        accepted=sum(grade.accepted for grade in grades),
        quality=_mean(grade.quality for grade in grades),
        categories={
            name: _mean(value for grade in grades if (value := grade.categories.get(name)) is not None)
            for name in SCORED_CATEGORIES
        },
        score=None if None in scores else _mean(score for score in scores if score is not None),
        ends=dict(Counter(row.end for row in rows)),
        vetoes_failed=dict(sorted(Counter(name for row in rows for name in row.vetoes_failed).items())),
        vetoes_not_run=tuple(dict.fromkeys(name for row in rows for name in row.vetoes_not_run)),
        cut_turns=sum(row.cut_turns for row in rows),
        voids=sum(row.voids for row in rows),
        wall_s=sum(row.wall_s for row in rows if row.wall_s is not None),
    )


def _mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return fmean(numbers) if numbers else None
