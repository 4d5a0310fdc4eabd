"""Grading again gives the same bytes, also without an engine; a grading that differs is named."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from evaluator.compare.question import ItemFindings
from evaluator.judge.question import Questions
from evaluator.version import evaluator_version
from records.errors import GradingError, UsageError
from records.grade import Grade
from records.judging import Findings
from records.paths import AttemptPaths, RunPaths, grading_name
from runner.check import RecordedJudge, check_attempt
from runner.cli import program
from runner.grade import Grading, grade_attempt
from runner.grading import Grader
from runner.judging import Judge
from tests.evaluator.deliveries import clean, strategy
from tests.evaluator.reruns import write_rerun
from tests.reports.records import run_record, write_run
from tests.runner.test_grade import ScriptedEvaluator, finished

pytestmark = pytest.mark.thorough


def how(version: str = "v1", evaluator: ScriptedEvaluator | None = None) -> Grading:
    return Grading(Grader(evaluator or ScriptedEvaluator(), "evaluator:1"), version, Judge("none"), user="rules")


def stored(root: Path) -> AttemptPaths:
    """A session of a clean delivery with its rerun, as it lies on disk."""
    paths = RunPaths(root).attempt("reference", "amber-lake", 1, 1)
    delivered = clean()
    public = delivered.write(paths.root)
    write_rerun(public, {name: delivered.tables[name] for name in ("trades", "equity")})
    paths.sealed.mkdir(mode=0o700)
    paths.strategy.write_text(strategy().to_json(), encoding="utf-8")
    return paths


def files(paths: AttemptPaths, name: str) -> dict[str, bytes]:
    return {
        f"{folder.name}/{path.name}": path.read_bytes()
        for folder in (paths.graded, paths.sealed)
        for path in (folder / name).iterdir()
    }


def test_stored_session_graded_twice_without_an_engine_then_identical_bytes(tmp_path: Path) -> None:
    first, second = stored(tmp_path / "a"), tmp_path / "b"
    shutil.copytree(tmp_path / "a", second)
    other = RunPaths(second).attempt("reference", "amber-lake", 1, 1)
    grading = Grading(Grader(jobs=None), evaluator_version(), Judge("none"), user="rules")

    made = grade_attempt(first, grading)
    grade_attempt(other, grading)

    name = grading_name(evaluator_version(), "none")
    assert files(first, name) == files(other, name)
    assert {"graded/turns.json", "graded/feedback.json", "sealed/compare-judgements.json"} <= set(files(first, name))
    assert (made.engine, made.scores["3.6"]) == ("process", 4)
    assert "rlimits" in made.confined_by


def test_check_of_a_grading_that_comes_out_again(tmp_path: Path) -> None:
    paths = finished(tmp_path).paths
    grade_attempt(paths, how())
    before = files(paths, "v1.none")

    (checked,) = check_attempt(paths, how())

    assert (checked.name, checked.differing) == ("v1.none", ())
    assert checked.files == len(before)
    assert files(paths, "v1.none") == before
    assert {path.name for path in paths.graded.iterdir()} == {"v1.none"}


def test_where_it_ran_may_differ(tmp_path: Path) -> None:
    paths = finished(tmp_path).paths
    grade_attempt(paths, how())
    file = paths.grading("v1.none").grade
    grade = Grade.model_validate_json(file.read_bytes())
    elsewhere = grade.model_copy(update={"engine": "process", "confined_by": ("rlimits",)})
    file.write_text(elsewhere.to_json(indent=1) + "\n", encoding="utf-8")

    assert check_attempt(paths, how())[0].differing == ()


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("graded", "grade.json"),
        ("graded", "feedback.json"),
        ("graded", "turns.json"),
        ("sealed", "compare-evidence.json"),
    ],
)
def test_file_that_differs_or_is_missing_is_named(tmp_path: Path, folder: str, name: str) -> None:
    paths = finished(tmp_path).paths
    grade_attempt(paths, how())
    file = paths.root / folder / "v1.none" / name
    file.write_bytes(file.read_bytes().replace(b"}", b" }", 1))

    assert check_attempt(paths, how())[0].differing == (f"{folder}/v1.none/{name}",)
    if name != "grade.json":
        file.unlink()
        assert check_attempt(paths, how())[0].differing == (f"{folder}/v1.none/{name}",)


def test_no_grading_of_this_version_then_a_usage_error(tmp_path: Path) -> None:
    paths = finished(tmp_path).paths
    grade_attempt(paths, how("v2"))

    with pytest.raises(UsageError, match="expected a grading by evaluator v1, found none"):
        check_attempt(paths, how("v1"))


def test_model_judge_is_given_back_its_findings_and_never_asked(tmp_path: Path) -> None:
    (tmp_path / "findings.json").write_text(Findings(findings=()).to_json(), encoding="utf-8")
    judge = RecordedJudge("llm", on_disk={"delivery": tmp_path / "findings.json", "items": tmp_path / "gone.json"})
    questions = Questions.model_construct()

    assert judge.on_delivery(questions, log_to=tmp_path) == Findings(findings=())
    assert judge.name == "llm:claude-opus-5-5"
    with pytest.raises(GradingError, match=r"gone\.json': expected a record"):
        judge.on_items(ItemFindings.model_construct(), log_to=tmp_path)  # type: ignore[arg-type]


def test_command_checks_a_session_without_an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    run = tmp_path / "run"
    write_run(run, run_record(("reference", 1)))
    paths = stored(run)
    grade_attempt(paths, Grading(Grader(jobs=None), evaluator_version(), Judge("none"), user="rules"))
    line = ["grade", str(paths.root), "--check", "--json"]

    same = CliRunner().invoke(program, line)
    feedback = paths.grading(grading_name(evaluator_version(), "none")).feedback
    feedback.write_text("{}", encoding="utf-8")
    other = CliRunner().invoke(program, line)

    assert same.exit_code == 0, same.output
    assert (json.loads(same.stdout)["identical"], json.loads(same.stdout)["differing"]) == (1, [])
    assert other.exit_code == 1
    assert json.loads(other.stdout)["differing"][0]["files"] == [
        f"graded/{grading_name(evaluator_version(), 'none')}/feedback.json"
    ]
