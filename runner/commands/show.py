"""runner show: one session in the terminal, from its public files and its grade."""

from pathlib import Path

import click

from records.errors import UsageError
from records.grade import Grade
from records.jsonl import read_lines
from records.paths import AttemptPaths
from records.session import AgentEvent, EndEvent, UserEvent
from reports.collect import read_attempt
from reports.summary import acceptance, in_state
from reports.table import number
from runner.store import read_events
from runner.terminal import print_json, safe


@click.command()
@click.argument("session", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(session: Path, *, as_json: bool) -> None:
    """Show one session: conversation, delivered files, calls and grade. SESSION is its folder in a run."""
    paths = find_attempt(session)
    view = read_attempt(paths)
    events = read_events(paths)
    calls = len(read_lines(paths.calls))
    if as_json:
        print_json(
            {
                "folder": str(paths.root),
                "events": [event.model_dump(mode="json") for event in events],
                "calls": calls,
                "grade": view.grade.model_dump(mode="json") if view.grade else None,
            }
        )
        return
    print(f"{paths.root}\n")
    for event in events:
        _print_event(event)
    print(f"{calls} calls through the gateway")
    print(describe(view.grade))


def find_attempt(folder: Path) -> AttemptPaths:
    """Return the attempt at `folder`, or the newest one below a cell's folder. Raises UsageError when there is none."""
    if (folder / "public").is_dir():
        return AttemptPaths(folder)
    attempts = sorted(folder.glob("attempt-*"), key=lambda path: int(path.name.removeprefix("attempt-") or 0))
    if not attempts:
        raise UsageError(
            f"'{folder}': expected a session's folder (sessions/<agent>/<task>/repeat-<k>), found none; see: runner status"
        )
    return AttemptPaths(attempts[-1])


def describe(grade: Grade | None) -> str:
    """Return a grade in a few lines."""
    if grade is None:
        return "no grade; run: runner grade SESSION"
    scores = ", ".join(f"{name} {score}" for name, score in grade.scores.items() if score is not None)
    lines = [
        f"Q {number(grade.quality)} · score {number(grade.score)} · accepted: {acceptance(grade)}",
        "categories: " + ", ".join(f"{name} {number(value)}" for name, value in grade.categories.items()),
        f"dimensions: {scores or '-'}",
        f"vetoes failed: {' '.join(in_state(grade, 'fail')) or '-'}",
        f"vetoes not run: {' '.join(in_state(grade, 'not_run')) or '-'}",
        f"judge {grade.judge} · user {grade.user} · evaluator {grade.evaluator_version} · in a {grade.engine}",
    ]
    return "\n".join(lines)


def _print_event(event: UserEvent | AgentEvent | EndEvent) -> None:
    match event:
        case UserEvent():
            print(f"── user, after turn {event.turn}\n{safe(event.text)}\n")
        case AgentEvent():
            seconds = (event.ended_at - event.started_at).total_seconds()
            flags = " · cut at its time limit" if event.cut else ""
            print(f"── agent, turn {event.turn} · {seconds:.1f} s{flags}\n{safe(event.text)}\n")
            for file in event.files:
                print(f"   {file.size:>12,} {safe(file.path)}")
            for note in event.notes:
                print(f"   note: {safe(note)}")
            print()
        case EndEvent():
            print(f"── end: {event.reason.value}{' · ' + safe(event.detail) if event.detail else ''}\n")
