"""The tables of several runs as one report."""

from collections.abc import Sequence

from reports.collect import RunView
from reports.comparable import differences
from reports.summary import SessionRow, session_rows
from reports.table import Report, pooled_report


def several(runs: Sequence[RunView]) -> Report:
    """Return one report over runs; where they are not comparable a sentence says so first."""
    mixed = tuple(f"Not comparable, put together with --mix: {phrase}." for phrase in differences(runs))
    report = pooled_report(runs)
    return Report(report.tables, (*mixed, *report.notes))


def labelled_rows(runs: Sequence[RunView]) -> tuple[tuple[str, SessionRow], ...]:
    """Return (run id, session) of every planned session, run after run."""
    return tuple((run.record.run_id, row) for run in runs for row in session_rows(run))
