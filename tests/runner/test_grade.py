from dataclasses import dataclass, field
from pathlib import Path

import pytest

from records.errors import GradingError, UsageError
from records.grade import Compared, Judgement, Measured
from records.session import EndEvent, EndReason
from records.spec import DeliveredSpec
from runner.grade import Grading, grade_attempt
from runner.grading import Grader
from runner.judging import Judge
from runner.store import AttemptStore
from sandbox.job import Job, JobResult
from tests.runner.fakes import ScriptedSandbox, ScriptedUser, attempt, clock, decision

COMPARED = Compared(
    judgements=(), items=4, opening=2, stated=2, clarification_coverage=0.5, assumption_rate=None
)  # fmt: skip


@dataclass
class ScriptedEvaluator:
    """Plays both commands of the evaluator's image: writes what they would write."""

    fails: str | None = None
    seen: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """Command and the options it got, in order."""

    def run(self, job: Job) -> JobResult:
        command = job.argv[3]
        places = dict(zip((m.target.as_posix() for m in job.mounts), (m.source for m in job.mounts), strict=True))
        self.seen.append((command, tuple(places)))
        if command == self.fails:
            return JobResult(1, timed_out=False, oom_killed=False, duration_s=0.1, stdout=b"", stderr=b"no prices")
        if command == "measure":
            judgement = Judgement(dimension="1.1", source="program", status="scored", score=4)
            measured = Measured(judgements=(judgement,))
            (places["/out"] / "spec.json").write_text(DeliveredSpec().to_json(), encoding="utf-8")
            (places["/out"] / "measured.json").write_text(measured.to_json(), encoding="utf-8")
            (places["/out"] / "judgements.json").write_text(measured.to_json(), encoding="utf-8")
        else:
            (places["/out"] / "compared.json").write_text(COMPARED.to_json(), encoding="utf-8")
            for name in ("compare-judgements.json", "compare-evidence.json"):
                (places["/sealed-out"] / name).write_text("{}", encoding="utf-8")
        return JobResult(0, timed_out=False, oom_killed=False, duration_s=0.1, stdout=b"", stderr=b"")


def how(evaluator: ScriptedEvaluator, version: str = "v1") -> Grading:
    return Grading(Grader(evaluator, "evaluator:1"), version, Judge("none"), user="rules")


def finished(root: Path) -> AttemptStore:
    one = attempt(root, ScriptedSandbox(), ScriptedUser([decision("close", "thanks")]))
    one.run()
    return one.store


def tree(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def test_grading_writes_public_scores_and_sealed_verdicts_apart(tmp_path: Path) -> None:
    paths = finished(tmp_path).paths

    grade = grade_attempt(paths, how(ScriptedEvaluator()))

    assert (grade.end_reason, grade.engine, grade.scores["1.1"]) == (EndReason.SATISFIED, "container", 4)
    assert not grade.grading_complete
    assert tree(paths.graded) == {
        f"v1.none/{name}.json" for name in ("spec", "measured", "judgements", "compared", "grade", "feedback", "turns")
    }
    assert tree(paths.sealed) == {
        "strategy.json", "manifest-salt", "decisions.jsonl", "v1.none/compare-judgements.json", "v1.none/compare-evidence.json",
    }  # fmt: skip


def test_measure_never_gets_the_strategy_or_the_sealed_folder(tmp_path: Path) -> None:
    evaluator = ScriptedEvaluator()

    grade_attempt(finished(tmp_path).paths, how(evaluator))

    assert evaluator.seen[0] == ("measure", ("/capture", "/out"))
    assert "/sealed/strategy.json" in evaluator.seen[1][1]


@pytest.mark.parametrize(
    ("command", "said", "left"),
    [("measure", "no prices", set()), ("compare", "what it said is in sealed/", {"compare-stderr.txt"})],
)
def test_evaluator_that_fails_leaves_no_grading_and_the_session_gradable(
    tmp_path: Path, command: str, said: str, left: set[str]
) -> None:
    paths = finished(tmp_path).paths

    with pytest.raises(GradingError, match=rf"evaluator {command} ended with exit code 1: {said}"):
        grade_attempt(paths, how(ScriptedEvaluator(fails=command)))

    assert tree(paths.graded) == set()
    assert tree(paths.sealed) == {"strategy.json", "manifest-salt", "decisions.jsonl"} | left
    assert grade_attempt(paths, how(ScriptedEvaluator())).scores["1.1"] == 4


def test_grading_again_adds_a_folder_and_never_writes_over_one(tmp_path: Path) -> None:
    paths = finished(tmp_path).paths
    grade_attempt(paths, how(ScriptedEvaluator()))
    before = paths.grading("v1.none").grade.read_bytes()

    grade_attempt(paths, how(ScriptedEvaluator(), "v2"))
    with pytest.raises(UsageError, match="already graded by evaluator v1"):
        grade_attempt(paths, how(ScriptedEvaluator(), "v1"))

    assert {path.name for path in paths.graded.iterdir()} == {"v1.none", "v2.none"}
    assert paths.grading("v1.none").grade.read_bytes() == before


def test_void_session_is_never_graded(tmp_path: Path) -> None:
    one = attempt(tmp_path, ScriptedSandbox(), ScriptedUser([]))
    one.record_void(EndEvent(at=clock()(), reason=EndReason.ENVIRONMENT_ERROR, detail="lost"))

    with pytest.raises(UsageError, match=r"void \(environment_error\) and is never graded"):
        grade_attempt(one.paths, how(ScriptedEvaluator()))


def test_session_that_has_not_ended_cannot_be_graded(tmp_path: Path) -> None:
    one = attempt(tmp_path, ScriptedSandbox(), ScriptedUser([]))

    with pytest.raises(UsageError, match="expected a session that ended"):
        grade_attempt(one.paths, how(ScriptedEvaluator()))


def test_result_that_is_no_record_is_a_grading_error(tmp_path: Path) -> None:
    class Liar(ScriptedEvaluator):
        def run(self, job: Job) -> JobResult:
            done = super().run(job)
            for mount in job.mounts:
                if (mount.source / "measured.json").exists():
                    (mount.source / "measured.json").write_text('{"score": 100}', encoding="utf-8")
            return done

    paths = finished(tmp_path).paths

    with pytest.raises(GradingError, match=r"measured\.json: expected a record of this version"):
        grade_attempt(paths, how(Liar()))
    assert tree(paths.graded) == set()
