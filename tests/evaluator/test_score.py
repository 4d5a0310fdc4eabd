import pytest

from evaluator.score import grade
from records.errors import GradingError
from records.grade import Compared, Grade, Judgement, Measured
from records.rubric import load_rubric
from records.session import EndReason

COMPARED = ("2.1", "2.2", "2.3", "2.4", "2.5", "2.6")


def judged(dimension: str, score: int | None, *, complete: bool = True, status: str | None = None) -> Judgement:
    return Judgement(
        dimension=dimension,
        source="program",
        status=status or ("scored" if score is not None else "not_run"),  # type: ignore[arg-type]
        score=score,
        complete=complete,
    )


def graded(*, end: EndReason = EndReason.SATISFIED, **scores: Judgement) -> Grade:
    """Grade a session in which every dimension scores 4 but those given by id with '_' for '.'."""
    changed = {judgement.dimension: judgement for judgement in scores.values()}
    made = {d.id: changed.get(d.id, judged(d.id, 4)) for d in load_rubric().dimensions}
    return grade(
        Measured(judgements=tuple(j for d, j in made.items() if d not in COMPARED)),
        Compared(
            judgements=tuple(made[d] for d in COMPARED),
            items=4,
            opening=2,
            stated=4,
            clarification_coverage=1.0,
            assumption_rate=None,
        ),
        end_reason=end,
        judge="rules",
        user="rules",
        version="v",
        engine="process",
    )


def test_full_marks_are_accepted_with_a_hundred_points() -> None:
    found = graded()

    assert (found.quality, found.score, found.accepted, found.grading_complete) == (100.0, 100.0, True, True)
    assert set(found.vetoes.values()) == {"pass"}
    assert len(found.vetoes) == 15


def test_quality_weights_categories_equally() -> None:
    found = graded(a=judged("4.4", 0), b=judged("5.2", 2))

    assert found.categories["assessment"] == pytest.approx(80.0)
    assert found.categories["user_experience"] == pytest.approx(25 * 22 / 6)
    assert found.quality == pytest.approx((100 + 100 + 100 + 80 + 25 * 22 / 6) / 5)


def test_failed_veto_zeroes_the_score_and_keeps_the_quality() -> None:
    found = graded(a=judged("1.1", 3))

    assert found.vetoes["1.1"] == "fail"
    assert (found.score, found.accepted) == (0.0, False)
    assert found.quality > 90


def test_veto_that_did_not_run_is_never_a_pass() -> None:
    found = graded(a=judged("2.7", None))

    assert found.vetoes["2.7"] == "not_run"
    assert (found.score, found.accepted, found.grading_complete) == (None, False, False)


def test_failed_veto_beats_one_that_did_not_run() -> None:
    assert graded(a=judged("2.7", None), b=judged("3.1", 0)).score == 0.0


def test_empty_component_leaves_the_mean_and_its_veto_passes() -> None:
    found = graded(a=judged("2.4", None, status="not_applicable"))

    assert found.vetoes["2.4"] == "not_applicable"
    assert found.accepted


def test_unverified_part_leaves_grading_incomplete() -> None:
    found = graded(a=judged("3.8", 4, complete=False))

    assert not found.grading_complete
    assert not found.accepted
    assert found.score == 100.0


@pytest.mark.parametrize(("bonus", "mean"), [(0, 100 * 6 / 7), (4, 25 * 28 / 8)])
def test_reproducibility_counts_only_where_it_raises_the_mean(bonus: int, mean: float) -> None:
    found = graded(a=judged("3.3", 0), b=judged("3.6", bonus))

    assert found.categories["backtest"] == pytest.approx(mean)


def test_reported_dimensions_do_not_count() -> None:
    assert graded(a=judged("6.1", 0), b=judged("7.1", None)).accepted


@pytest.mark.parametrize("end", [EndReason.TURN_LIMIT, EndReason.RESOURCE_LIMIT])
def test_session_without_result_scores_zero_and_keeps_its_diagnosis(end: EndReason) -> None:
    found = graded(end=end)

    assert (found.score, found.accepted, found.quality) == (0.0, False, 100.0)


def test_user_who_left_keeps_the_score_without_acceptance() -> None:
    found = graded(end=EndReason.USER_LEFT)

    assert (found.score, found.accepted) == (100.0, False)


def test_void_session_is_not_graded() -> None:
    with pytest.raises(GradingError, match="environment_error"):
        graded(end=EndReason.ENVIRONMENT_ERROR)


def test_dimension_judged_twice_is_our_fault() -> None:
    twice = (judged("1.1", 4), judged("1.1", 4))
    empty = Compared(judgements=(), items=0, opening=0, stated=0, clarification_coverage=None, assumption_rate=None)
    with pytest.raises(GradingError, match="twice"):
        grade(
            Measured(judgements=twice),
            empty,
            end_reason=EndReason.SATISFIED,
            judge="rules",
            user="rules",
            version="v",
            engine="process",
        )
