"""From a finding to a score: counts, caps, bounds, and judges that did not return."""

import pytest

from evaluator.judge.complete import complete
from evaluator.judge.prompts import model_dimensions
from evaluator.judge.settle import settle
from records.errors import GradingError
from records.grade import Judgement, Measured
from records.judging import Finding, Findings, Quote

CASES = tuple(f"case {number}" for number in range(9))
POINTS = ("same dates", "basis", "side by side", "excess")


@pytest.mark.parametrize(("count", "score"), [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3), (7, 4), (9, 4)])
def test_boundary_cases_are_counted(count: int, score: int) -> None:
    assert settle(Finding(dimension="2.10", judge="rules", hits=CASES[:count])).score == score


def test_case_marked_twice_counts_once() -> None:
    assert settle(Finding(dimension="2.10", judge="rules", hits=("a", "a", "a"))).score == 1


@pytest.mark.parametrize(("count", "score"), [(0, 1), (1, 2), (2, 3), (3, 3), (4, 4)])
def test_points_of_a_named_benchmark_are_counted(count: int, score: int) -> None:
    assert settle(Finding(dimension="3.4", judge="rules", hits=("named", *POINTS[:count]))).score == score


def test_no_benchmark_is_zero() -> None:
    assert settle(Finding(dimension="3.4", judge="rules")).score == 0


@pytest.mark.parametrize(
    ("hits", "score"), [((), 4), (("weights",), 2), (("weights", "weights"), 2), (("weights", "count"), 1)]
)
def test_second_readings_cap_the_score(hits: tuple[str, ...], score: int) -> None:
    assert settle(Finding(dimension="2.7", judge="rules", score=4, hits=hits)).score == score


def test_cap_raises_nothing() -> None:
    assert settle(Finding(dimension="2.7", judge="rules", score=0, hits=("weights",))).score == 0


def test_program_bound_lowers_and_is_named() -> None:
    finding = Finding(dimension="5.3", judge="rules", score=4)
    lowered = settle(finding, bound=2)
    assert lowered.score == 2
    assert "allows 2" in lowered.reason
    assert settle(finding, bound=4).score == 4
    assert settle(Finding(dimension="5.3", judge="rules", score=1), bound=3).score == 1


def test_judge_that_did_not_return_leaves_grading_incomplete() -> None:
    judgement = settle(Finding(dimension="5.1", judge="llm:x", returned=False, score=4))
    assert (judgement.status, judgement.score, judgement.complete) == ("not_run", None, False)


def test_quotes_become_evidence() -> None:
    finding = Finding(dimension="5.2", judge="rules", score=3, quotes=(Quote(doc="report.md", text="a line"),))
    assert settle(finding).evidence == ('report.md: "a line"',)


def test_findings_replace_only_their_own_dimensions() -> None:
    open_one = Judgement(dimension="5.3", source="program", status="not_run")
    program = Judgement(dimension="4.2", source="program", status="scored", score=3)
    measured = Measured(judgements=(program, open_one), bounds={"5.3": 1})
    due = tuple(dimension.id for dimension in model_dimensions())
    after = complete(measured, Findings(findings=tuple(Finding(dimension=d, judge="rules", score=4) for d in due)))
    assert after.judgements[0] == program
    assert (after.judgements[1].score, after.judgements[1].source) == (1, "judge=rules")
    assert sorted(j.dimension for j in after.judgements) == sorted(("4.2", *due))


def test_finding_that_is_missing_is_refused() -> None:
    with pytest.raises(GradingError, match="expected one on each of"):
        complete(Measured(judgements=()), Findings(findings=(Finding(dimension="5.3", judge="rules", score=4),)))
