"""A report as files: the rows of sessions as CSV, the tables with their sentences as Markdown."""

import csv
import io
from collections.abc import Sequence

from records.grade import SCORED_CATEGORIES
from reports.summary import SessionRow
from reports.table import Report

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins so is run as a formula by spreadsheet programs (OWASP, CSV injection)."""


def as_csv(rows: Sequence[tuple[str, SessionRow]]) -> str:
    """Return (run id, session) rows as CSV, full precision, an empty cell where there is no number."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        (
            "run", "agent", "task", "seed", "repeat", "end", "measured", "turns", "cut_turns", "quality",
            *SCORED_CATEGORIES, "score", "accepted", "vetoes_failed", "vetoes_not_run", "clarification_coverage",
            "voids", "wall_s",
        )
    )  # fmt: skip
    for run, row in rows:
        writer.writerow(
            (
                _cell(run), _cell(row.agent), _cell(row.task), row.seed, row.repeat, row.end, row.measured, row.turns,
                row.cut_turns, row.quality, *(row.categories[name] for name in SCORED_CATEGORIES), row.score,
                row.accepted, " ".join(row.vetoes_failed), " ".join(row.vetoes_not_run), row.clarification_coverage,
                row.voids, row.wall_s,
            )
        )  # fmt: skip
    return out.getvalue()


def as_markdown(report: Report, *, title: str) -> str:
    """Return the tables of a report, each under its title, and the sentences that must stand beside them."""
    parts = [f"# {_plain(title)}"]
    for table in report.tables:
        lines = [f"## {_plain(table.title)}", "", _line(table.columns), _line(["---"] * len(table.columns))]
        parts.append("\n".join([*lines, *map(_line, table.rows)]))
    parts.append("\n".join(f"- {_plain(note)}" for note in report.notes))
    return "\n\n".join(parts) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_plain(cell) for cell in cells)} |"


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
