"""Rows to tables of text, with every stand-in said beside the numbers. Knows no terminal."""

from collections.abc import Sequence
from dataclasses import dataclass

from records.grade import SCORED_CATEGORIES, Grade
from reports.collect import RunView
from reports.comparable import differences, refuse_different
from reports.summary import AgentRow, SessionRow, agent_rows, agent_rows_of, session_rows

_HEADS = {
    "data": "data",
    "strategy": "strat.",
    "backtest": "backt.",
    "assessment": "assess.",
    "user_experience": "UX",
}


_OF_ONE_RUN = ("Wall clock:", "User:", "Evaluator version:")
"""Notes that hold for the run they come from and not for a table of several."""


@dataclass(frozen=True)
class Table:
    """A titled table; every cell is text, ready to print."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Report:
    """The tables of a run and the sentences that must stand beside them."""

    tables: tuple[Table, ...]
    notes: tuple[str, ...]


def run_report(run: RunView, *, mix: bool = False) -> Report:
    """Return the table of sessions, the table of agents, and what a reader must know to read them.

    Args: mix: put grades into one table although they are not comparable; a note says so.
    Raises: UsageError: the grades differ in version, judge or user, and `mix` is not set.
    """
    mixed = tuple(f"Not comparable, tabled together all the same: {phrase}." for phrase in differences([run]))
    if mixed and not mix:
        refuse_different([run])
    return Report(
        tables=(_sessions(session_rows(run)), _agents(agent_rows(run))),
        notes=(*mixed, *run_notes(run)),
    )


def pooled_report(runs: Sequence[RunView]) -> Report:
    """Return the same tables over several runs; an agent's row is over all of them."""
    cells = [cell for run in runs for cell in run.cells]
    labels = [run.record.run_id for run in runs for _ in run.cells]
    sessions = _sessions(tuple(row for run in runs for row in session_rows(run)))
    named = Table(
        sessions.title,
        ("run", *sessions.columns),
        tuple((label, *row) for label, row in zip(labels, sessions.rows, strict=True)),
    )
    notes = dict.fromkeys(
        f"{run.record.run_id}: {note}" if len(runs) > 1 and note.startswith(_OF_ONE_RUN) else note
        for run in runs
        for note in run_notes(run)
    )
    return Report((named if len(runs) > 1 else sessions, _agents(agent_rows_of(cells))), tuple(notes))


def run_notes(run: RunView) -> tuple[str, ...]:
    """Return the sentences on stand-ins, judge, gradings that are not complete, and time."""
    record = run.record
    notes = [f"Stand-in: {sentence}" for sentence in record.stand_ins]
    if record.stand_ins:
        notes.append("A run with stand-ins exercises the machine; it is no result and cannot be ranked.")
    grades = _grades(run)
    users = sorted({grade.user for grade in grades}) or [record.user]
    judges = sorted({grade.judge for grade in grades}) or [record.judge]
    notes.append(f"User: {', '.join(users)}. Judge: {', '.join(judges)}.")
    if any(not judge.startswith("llm:") for judge in judges):
        notes.append("A grading without a model judge is never ranked.")
    if any(not grade.grading_complete for grade in grades):
        notes.append("Grading incomplete: Q is over the dimensions that ran; a veto that did not run is no pass.")
    versions = sorted({grade.evaluator_version for grade in grades})
    if versions:
        notes.append(f"Evaluator version: {', '.join(versions)}.")
    if any(grade.engine == "process" for grade in grades):
        notes.append("Some grades were made by processes on this machine instead of containers.")
    if run.wall_s is not None:
        notes.append(f"Wall clock: {run.wall_s:.0f} s at concurrency {record.concurrency}.")
    return tuple(notes)


def _grades(run: RunView) -> list[Grade]:
    return [cell.grade for cell in run.cells if cell.grade is not None]


def _sessions(rows: tuple[SessionRow, ...]) -> Table:
    return Table(
        title="Sessions",
        columns=(
            "agent", "seed", "rep", "end", "turns", "cut", "Q", *_HEADS.values(), "score", "accepted",
            "vetoes failed", "not run", "voids", "s",
        ),
        rows=tuple(
            (
                row.agent,
                str(row.seed),
                str(row.repeat),
                row.end,
                str(row.turns),
                str(row.cut_turns),
                number(row.quality),
                *(number(row.categories[name]) for name in SCORED_CATEGORIES),
                number(row.score),
                row.accepted,
                " ".join(row.vetoes_failed) or "-",
                " ".join(row.vetoes_not_run) or "-",
                str(row.voids),
                number(row.wall_s),
            )
            for row in rows
        ),
    )  # fmt: skip


def _agents(rows: tuple[AgentRow, ...]) -> Table:
    return Table(
        title="Agents",
        columns=(
            "agent", "sessions", "measured", "accepted", "Q", *_HEADS.values(), "score", "end reasons",
            "vetoes failed", "not run", "cut", "voids", "s",
        ),
        rows=tuple(
            (
                row.agent,
                str(row.planned),
                str(row.measured),
                f"{row.accepted}/{row.measured}",
                number(row.quality),
                *(number(row.categories[name]) for name in SCORED_CATEGORIES),
                number(row.score),
                counts(row.ends),
                counts(row.vetoes_failed),
                " ".join(row.vetoes_not_run) or "-",
                str(row.cut_turns),
                str(row.voids),
                number(row.wall_s),
            )
            for row in rows
        ),
    )  # fmt: skip


def number(value: float | None) -> str:
    """Return a number with one decimal, or a dash when there is none."""
    return "-" if value is None else f"{value:.1f}"


def counts(values: dict[str, int]) -> str:
    """Return `name x count` pairs, or a dash when there are none."""
    return ", ".join(f"{name} x{count}" for name, count in values.items()) or "-"
