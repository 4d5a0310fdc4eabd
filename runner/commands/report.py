"""runner report: one table over one run or several, in the terminal, as CSV and as Markdown."""

from dataclasses import asdict
from pathlib import Path

import click

from records.errors import UsageError
from reports.collect import read_run
from reports.comparable import refuse_different
from reports.files import as_csv, as_markdown
from reports.several import labelled_rows, several
from reports.summary import agent_rows_of
from runner.terminal import print_json, print_report


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for report.csv and report.md.  [default: first RUN]"
)
@click.option("--mix", is_flag=True, help="Put runs together although they are not comparable; the table says so.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def report(runs: tuple[Path, ...], *, out: Path | None, mix: bool, as_json: bool) -> None:
    """Report on RUNS: terminal table, report.csv and report.md.

    Runs of different evaluator versions, judges, users, conditions or data are refused unless --mix is given.
    """
    views = [read_run(root) for root in dict.fromkeys(runs)]
    if not mix:
        refuse_different(views)
    made = several(views)
    rows = labelled_rows(views)
    folder = runs[0] if out is None else out
    title = f"Report on {', '.join(view.record.run_id for view in views)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.csv").write_text(as_csv(rows), encoding="utf-8")
        (folder / "report.md").write_text(as_markdown(made, title=title), encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"report folder '{folder}' cannot be written ({error.strerror}); give --out another"
        ) from error
    if as_json:
        agents = agent_rows_of([cell for view in views for cell in view.cells])
        print_json(
            {
                "sessions": [{"run": run} | asdict(row) for run, row in rows],
                "agents": [asdict(row) for row in agents],
                "notes": made.notes,
            }
        )
        return
    print_report(made)
    print(f"Written: {folder / 'report.csv'}, {folder / 'report.md'}")
