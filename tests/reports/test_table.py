import os
from pathlib import Path

import pytest

from records.errors import UsageError
from records.session import EndReason
from reports.collect import read_run
from reports.summary import agent_rows, session_rows
from reports.table import run_report
from tests.reports.records import grade, run_record, write_attempt, write_grade, write_run


def test_graded_session_shows_quality_of_what_ran_and_never_a_pass_for_a_veto_not_run(tmp_path: Path) -> None:
    paths = write_run(tmp_path / "r", run_record(("reference", 6)))
    attempt = paths.attempt("reference", "task-6", 1, 1)
    write_attempt(attempt, EndReason.SATISFIED, seconds=12.5, cut=True)
    write_grade(attempt, grade())

    (row,) = session_rows(read_run(paths.root))

    assert (row.end, row.measured, row.quality, row.score) == ("satisfied", True, 80.0, None)
    assert row.accepted == "no (grading incomplete)"
    assert (row.vetoes_failed, row.vetoes_not_run) == ((), ("2.7",))
    assert (row.cut_turns, row.wall_s) == (1, 12.5)


def test_failed_veto_shows_score_zero_beside_quality(tmp_path: Path) -> None:
    paths = write_run(tmp_path / "r", run_record(("null", 6)))
    attempt = paths.attempt("null", "task-6", 1, 1)
    write_attempt(attempt, EndReason.USER_LEFT)
    write_grade(attempt, grade(score=0.0, vetoes={"1.1": "fail", "2.7": "not_run"}, quality=3.0))

    text = run_report(read_run(paths.root))

    row = text.tables[0].rows[0]
    assert row[text.tables[0].columns.index("score")] == "0.0"
    assert row[text.tables[0].columns.index("vetoes failed")] == "1.1"


def test_void_session_is_not_measured_and_has_no_zero(tmp_path: Path) -> None:
    paths = write_run(tmp_path / "r", run_record(("null", 6)))
    for number in (1, 2):
        write_attempt(paths.attempt("null", "task-6", 1, number), EndReason.ENVIRONMENT_ERROR)

    (row,) = agent_rows(read_run(paths.root))

    assert (row.measured, row.graded, row.voids) == (0, 0, 2)
    assert (row.quality, row.score) == (None, None)
    assert row.ends == {"environment_error": 1}


def test_second_attempt_counts_and_the_first_shows_as_void(tmp_path: Path) -> None:
    paths = write_run(tmp_path / "r", run_record(("null", 6)))
    write_attempt(paths.attempt("null", "task-6", 1, 1), EndReason.SIMULATOR_VOID)
    write_attempt(paths.attempt("null", "task-6", 1, 2), EndReason.USER_LEFT, turns=2)

    (row,) = session_rows(read_run(paths.root))

    assert (row.end, row.turns, row.voids) == ("user_left", 2, 1)


def test_run_killed_in_a_session_shows_it_as_not_ended(tmp_path: Path) -> None:
    paths = write_run(tmp_path / "r", run_record(("null", 6), ("null", 7)))
    write_attempt(paths.attempt("null", "task-6", 1, 1), None)
    with paths.attempt("null", "task-6", 1, 1).session.open("a", encoding="utf-8") as torn:
        torn.write('{"kind":"end","at"')

    rows = session_rows(read_run(paths.root))

    assert [row.end for row in rows] == ["not ended", "not ended"]
    assert [row.turns for row in rows] == [1, 0]


def test_stand_ins_stand_beside_every_table_and_a_live_run_has_none(tmp_path: Path) -> None:
    offline = read_run(write_run(tmp_path / "offline", run_record(("null", 6))).root)
    live = read_run(write_run(tmp_path / "live", run_record(("null", 6), stand_ins=())).root)

    assert run_report(offline).notes[0] == "Stand-in: FMP API: stand-in"
    assert any("no result" in note for note in run_report(offline).notes)
    assert not any("tand-in" in note for note in run_report(live).notes)
    assert not offline.record.is_ranked


def test_newest_grading_counts_and_mixed_versions_are_said(tmp_path: Path) -> None:
    paths = write_run(tmp_path / "r", run_record(("a", 6), ("b", 6)))
    for agent in ("a", "b"):
        write_attempt(paths.attempt(agent, "task-6", 1, 1), EndReason.SATISFIED)
        write_grade(paths.attempt(agent, "task-6", 1, 1), grade(quality=10.0))
    newer = paths.attempt("a", "task-6", 1, 1)
    write_grade(newer, grade(quality=20.0, evaluator_version="v2"))
    os.utime(newer.grading("v1").grade, (1, 1))

    run = read_run(paths.root)

    assert [row.quality for row in session_rows(run)] == [20.0, 10.0]
    assert any("evaluator version (r1 v1 and v2)" in note for note in run_report(run, mix=True).notes)
    with pytest.raises(UsageError, match=r"different evaluator version \(r1 v1 and v2\)"):
        run_report(run)


def test_grading_that_is_asked_for_counts_alone(tmp_path: Path) -> None:
    paths = write_run(tmp_path / "r", run_record(("a", 6), ("b", 6)))
    for agent in ("a", "b"):
        write_attempt(paths.attempt(agent, "task-6", 1, 1), EndReason.SATISFIED)
        write_grade(paths.attempt(agent, "task-6", 1, 1), grade(quality=10.0))
    write_grade(paths.attempt("a", "task-6", 1, 1), grade(quality=20.0, evaluator_version="v2"))

    assert [row.quality for row in session_rows(read_run(paths.root, grading="v1"))] == [10.0, 10.0]
    assert [row.quality for row in session_rows(read_run(paths.root, grading="v2"))] == [20.0, None]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"judge": "llm:claude-opus-5-5"}, "judge"),
        ({"judge_prompt_sha256": "ab" * 32}, "judge"),
        ({"user": "llm:claude-opus-4-8"}, "user"),
        ({"user_prompt_sha256": "cd" * 32}, "user"),
    ],
)
def test_grades_of_other_judge_or_user_are_refused_unless_told(
    tmp_path: Path, other: dict[str, object], said: str
) -> None:
    paths = write_run(tmp_path / "r", run_record(("a", 6), ("b", 6)))
    for agent, changes in (("a", {}), ("b", other)):
        write_attempt(paths.attempt(agent, "task-6", 1, 1), EndReason.SATISFIED)
        write_grade(paths.attempt(agent, "task-6", 1, 1), grade(**changes))
    run = read_run(paths.root)

    with pytest.raises(UsageError, match=rf"different {said} \(.*--mix"):
        run_report(run)
    assert run_report(run, mix=True).notes[0].startswith(f"Not comparable, tabled together all the same: {said} (")


@pytest.mark.parametrize(("judge", "ranked"), [("none", False), ("rules", False), ("llm:claude-opus-5-5", True)])
def test_only_a_model_judge_without_stand_ins_is_ranked(judge: str, *, ranked: bool) -> None:
    record = run_record(("a", 6), stand_ins=()).model_copy(update={"judge": judge})

    assert record.is_ranked is ranked
    assert not record.model_copy(update={"stand_ins": ("one",)}).is_ranked


def test_agent_mean_has_no_score_while_one_session_has_none(tmp_path: Path) -> None:
    paths = write_run(tmp_path / "r", run_record(("a", 6), ("a", 7)))
    for seed, score in ((6, 50.0), (7, None)):
        attempt = paths.attempt("a", f"task-{seed}", 1, 1)
        write_attempt(attempt, EndReason.SATISFIED)
        write_grade(attempt, grade(score=score))

    (row,) = agent_rows(read_run(paths.root))

    assert row.score is None
    assert row.categories["data"] == 100.0
    assert row.categories["backtest"] is None


def test_folder_that_is_no_run_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected a run directory, found no readable run\.json"):
        read_run(tmp_path)


def test_damaged_run_record_names_the_field(tmp_path: Path) -> None:
    paths = write_run(tmp_path / "r", run_record(("a", 6)))
    paths.run.write_text(paths.run.read_text(encoding="utf-8").replace('"run_id":"r1",', ""), encoding="utf-8")

    with pytest.raises(UsageError, match="run_id"):
        read_run(paths.root)
