"""runner feedback: the leak-free report of one session, as an agent may read it."""

from pathlib import Path

import click
from pydantic import ValidationError

from records.errors import UsageError
from records.grade import Feedback, FeedbackEntry
from records.paths import AttemptPaths, GradedPaths
from records.rubric import load_rubric
from reports.collect import read_attempt
from reports.table import number
from runner.commands.show import find_attempt
from runner.terminal import print_json, safe


@click.command()
@click.argument("session", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def feedback(session: Path, *, as_json: bool) -> None:
    """Print what the agent of SESSION may learn from its grade: score, source, reason and evidence per dimension.

    Data and strategy categories carry scores only, except point-in-time strictness; the hidden strategy stays hidden.
    """
    report = read_feedback(find_attempt(session))
    if as_json:
        print_json(report.model_dump(mode="json"))
        return
    print(f"Q {number(report.quality)} · score {number(report.score)} · accepted: {'yes' if report.accepted else 'no'}")
    category = ""
    for entry in report.entries:
        of_entry = load_rubric().dimension(entry.dimension).category
        if of_entry != category:
            category = of_entry
            print(f"\n── {category.replace('_', ' ')}")
        _print_entry(entry)
    if report.turns:
        print("\n── program scores after each turn")
    for turn in report.turns:
        scores = ", ".join(f"{name} {score}" for name, score in turn.scores.items() if score is not None)
        print(f"turn {turn.turn}: {scores or '-'}; vetoes failed: {' '.join(turn.failed_vetoes) or '-'}")


def read_feedback(paths: AttemptPaths) -> Feedback:
    """Return the newest grading's feedback of an attempt.

    Raises: UsageError: the session is void, has not ended or is not graded, or the file is damaged.
    """
    view = read_attempt(paths)
    if view.end is None:
        raise UsageError(f"'{paths.root}': expected a session that ended, found none; there is no feedback yet")
    if not view.end.reason.is_valid:
        raise UsageError(
            f"'{paths.root}': the session is void ({view.end.reason.value}), it is never graded and has no feedback"
        )
    files = sorted(paths.graded.glob("*/grade.json"), key=lambda file: (file.stat().st_mtime_ns, file.parent.name))
    if not files:
        raise UsageError(f"'{paths.root}': expected a graded session, found no grade; run first: runner grade SESSION")
    file = GradedPaths(files[-1].parent).feedback
    try:
        return Feedback.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise UsageError(
            f"'{file}': expected feedback of this version, found {type(error).__name__}; run: runner grade SESSION"
        ) from error


def _print_entry(entry: FeedbackEntry) -> None:
    score = "-" if entry.score is None else str(entry.score)
    state = "" if entry.status == "scored" else f" ({entry.status.replace('_', ' ')})"
    print(f"{entry.dimension:>4} {entry.name}: {score}{state} · {entry.source}")
    if entry.reason:
        print(f"       {safe(entry.reason)}")
    for line in entry.evidence:
        print(f"       - {safe(line)}")
