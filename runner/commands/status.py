"""runner status: how far a run is, read from disk."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path

import click

from reports.collect import read_run
from reports.summary import session_rows
from reports.table import run_report
from runner.terminal import print_json, print_report


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--mix", is_flag=True, help="Table grades of several versions, judges or users together.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(run: Path, *, mix: bool, as_json: bool) -> None:
    """Say how far RUN is and print its table."""
    view = read_run(run)
    rows = session_rows(view)
    ends = Counter(row.end for row in rows)
    if as_json:
        print_json({"run": view.record.run_id, "ends": ends, "sessions": [asdict(row) for row in rows]})
        return
    done = sum(cell.reason is not None for cell in view.cells)
    print(f"run {view.record.run_id}: {done} of {len(rows)} sessions ended")
    print_report(run_report(view, mix=mix))
