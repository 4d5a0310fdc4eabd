"""One report over several runs: refused where the numbers are not comparable, said where they are mixed all the same."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from records.errors import UsageError
from records.session import EndReason
from reports.collect import RunView, read_run
from reports.comparable import differences, refuse_different
from runner.cli import program
from tests.reports.records import grade, run_record, write_attempt, write_grade, write_run


def run(root: Path, name: str, *, record: dict[str, Any] | None = None, graded: bool = True, **changes: Any) -> RunView:
    """A run of one session under tests' usual conditions; `changes` go into its grade."""
    made = run_record(("reference", 1), stand_ins=()).model_copy(update={"run_id": name} | (record or {}))
    paths = write_run(root / name, made)
    attempt = paths.attempt("reference", "task-1", 1, 1)
    write_attempt(attempt, EndReason.SATISFIED)
    if graded:
        write_grade(attempt, grade(**changes))
    return read_run(root / name)


@pytest.mark.parametrize(
    ("changes", "trait", "value"),
    [
        ({"evaluator_version": "v2"}, "evaluator version", "two v2"),
        ({"judge": "rules"}, "judge", "two rules"),
        ({"judge_prompt_sha256": "ab" * 32}, "judge", "two none (prompts abababab)"),
        ({"user": "llm:claude"}, "user", "two llm:claude"),
        ({"record": {"offline": False}}, "data", "two live"),
    ],
)
def test_runs_that_differ_then_one_sentence_with_runs_and_values(
    tmp_path: Path, changes: dict[str, Any], trait: str, value: str
) -> None:
    views = [run(tmp_path, "one"), run(tmp_path, "two", **changes)]

    with pytest.raises(UsageError, match=r"runs that are not comparable.*--mix") as caught:
        refuse_different(views)

    assert f"{trait} (one " in str(caught.value)
    assert value in str(caught.value)


def test_other_conditions_then_refused(tmp_path: Path) -> None:
    other = run_record(("reference", 1)).conditions.model_copy(update={"max_turns": 3})
    views = [run(tmp_path, "one"), run(tmp_path, "two", record={"conditions": other})]

    assert "max_turns=3" in differences(views)[0]


def test_same_everywhere_or_not_graded_yet_then_comparable(tmp_path: Path) -> None:
    refuse_different([run(tmp_path, "one"), run(tmp_path, "two"), run(tmp_path, "three", graded=False)])


def invoke(*words: str) -> Result:
    return CliRunner().invoke(program, ["report", *words], prog_name="runner")


def test_report_over_two_runs_is_table_csv_and_markdown(tmp_path: Path) -> None:
    run(tmp_path, "one")
    run(tmp_path, "two")

    done = invoke(str(tmp_path / "one"), str(tmp_path / "two"), "--out", str(tmp_path / "out"))

    assert done.exit_code == 0, done.output
    assert "2/2" not in done.stdout
    assert "0/2" in done.stdout
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "report.csv").read_text(encoding="utf-8"))))
    assert [(row["run"], row["agent"], row["quality"], row["score"]) for row in rows] == [
        ("one", "reference", "80.0", ""),
        ("two", "reference", "80.0", ""),
    ]
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "# Report on one, two" in text
    assert "| one | reference | 1 |" in text
    assert "## Agents" in text


def test_mixed_runs_are_refused_and_with_mix_the_table_says_so(tmp_path: Path) -> None:
    run(tmp_path, "one")
    run(tmp_path, "two", judge="rules")
    folders = (str(tmp_path / "one"), str(tmp_path / "two"))

    refused = invoke(*folders)
    mixed = invoke(*folders, "--mix", "--out", str(tmp_path / "out"))

    assert refused.exit_code == 2
    assert refused.stderr.count("\n") == 1
    assert not (tmp_path / "one" / "report.csv").exists()
    assert mixed.exit_code == 0, mixed.output
    assert "Not comparable, put together with --mix: judge (one none, two rules)." in mixed.stdout
    assert "Not comparable" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


def test_one_run_then_its_own_folder_gets_the_files(tmp_path: Path) -> None:
    run(tmp_path, "one")

    assert invoke(str(tmp_path / "one")).exit_code == 0
    assert (tmp_path / "one" / "report.csv").exists()


def test_cells_that_could_be_formulas_or_break_a_table_are_defused(tmp_path: Path) -> None:
    run(tmp_path, "one", record={"run_id": "=1+1|x"})

    invoke(str(tmp_path / "one"))

    assert (tmp_path / "one" / "report.csv").read_text(encoding="utf-8").splitlines()[1].startswith("'=1+1|x,")
    assert "=1+1\\|x" in (tmp_path / "one" / "report.md").read_text(encoding="utf-8")
