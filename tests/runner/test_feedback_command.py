"""runner feedback: the leak-free report of a session, in the rubric's order."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from records.grade import Feedback, FeedbackEntry
from records.paths import AttemptPaths
from records.rubric import load_rubric
from records.session import EndReason
from records.turns import TurnScores
from runner.cli import program
from tests.reports.records import grade, write_attempt, write_grade


@pytest.fixture
def paths(tmp_path: Path) -> AttemptPaths:
    return AttemptPaths(tmp_path / "attempt-1")


def invoke(paths: AttemptPaths, *more: str) -> Result:
    return CliRunner().invoke(program, ["feedback", str(paths.root), *more], prog_name="runner")


def write_feedback(paths: AttemptPaths) -> Feedback:
    entries = tuple(
        FeedbackEntry(
            dimension=dimension.id,
            name=dimension.name,
            score=3,
            status="scored",
            source="program",
            reason="" if dimension.category == "strategy" else "Level 3",
            evidence=("prices.csv: 3 rows\x1b[31m",) if dimension.id == "3.2" else (),
        )
        for dimension in load_rubric().dimensions
    )
    turn = TurnScores(turn=1, scores={"2.1": 1, "3.2": 4}, failed_vetoes=("2.1",))
    made = Feedback(quality=75.0, score=None, accepted=False, entries=entries, turns=(turn,))
    write_attempt(paths, EndReason.SATISFIED)
    write_grade(paths, grade())
    (file,) = paths.graded.glob("*/grade.json")
    (file.parent / "feedback.json").write_text(made.to_json(), encoding="utf-8")
    return made


def test_report_has_every_dimension_in_order_with_reason_evidence_and_turns(paths: AttemptPaths) -> None:
    made = write_feedback(paths)

    done = invoke(paths)

    assert done.exit_code == 0, done.output
    places = [done.stdout.index(f"{entry.dimension:>4} {entry.name}: 3 · program") for entry in made.entries]
    assert places == sorted(places)
    assert "- prices.csv: 3 rows[31m" in done.stdout
    assert "turn 1: 2.1 1, 3.2 4; vetoes failed: 2.1" in done.stdout


def test_json_is_the_record(paths: AttemptPaths) -> None:
    made = write_feedback(paths)

    assert Feedback.model_validate(json.loads(invoke(paths, "--json").stdout)) == made


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (EndReason.SIMULATOR_VOID, r"the session is void (simulator_void), it is never graded"),
        (None, "expected a session that ended"),
        (EndReason.SATISFIED, "expected a graded session, found no grade"),
    ],
)
def test_session_without_feedback_then_one_sentence(paths: AttemptPaths, reason: EndReason | None, said: str) -> None:
    write_attempt(paths, reason)

    done = invoke(paths)

    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_old_or_damaged_feedback_then_one_sentence_says_what_to_run(paths: AttemptPaths) -> None:
    write_feedback(paths)
    (file,) = paths.graded.glob("*/feedback.json")
    file.write_text("{}", encoding="utf-8")

    done = invoke(paths)

    assert done.exit_code == 2
    assert "run: runner grade SESSION" in done.stderr
