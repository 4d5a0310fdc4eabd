from collections.abc import Callable
from typing import Any

import pytest

from evaluator.compare import book_checks
from evaluator.compare.fidelity import Check, Claim, ItemVerdict, component_score
from tests.evaluator.deliveries import clean, strategy

pytestmark = pytest.mark.thorough


def verdict(claim: Claim, check: Check, *, stated: bool) -> ItemVerdict:
    return ItemVerdict(item="i", component="risk_control", stated=stated, claim=claim, check=check)


@pytest.mark.parametrize(
    ("verdicts", "score"),
    [
        ([], None),
        ([("present", "confirmed", True)], 4),
        ([("present", "unconfirmed", True)], 3),
        ([("present", "confirmed", True), ("missing", "unconfirmed", False)], 2),
        ([("present", "confirmed", True), ("missing", "unconfirmed", True)], 1),
        ([("present", "confirmed", True), ("contradicted", "unconfirmed", True)], 1),
        ([("contradicted", "contradicted", True)], 0),
        ([("missing", "unconfirmed", True)], 0),
        ([("missing", "confirmed", True)], 1),
        ([("missing", "unconfirmed", False)], 2),
        ([("contradicted", "contradicted", False)], 2),
        ([("present", "confirmed", True), ("present", "unverified", True)], 1),
        ([("present", "confirmed", True), ("present", "unverified", False)], 2),
    ],
)
def test_equation_six_bounds_the_component(verdicts: list[tuple[Claim, Check, bool]], score: int | None) -> None:
    made = [verdict(claim, check, stated=stated) for claim, check, stated in verdicts]

    assert component_score(made, has_backtest=True) == score


def test_check_stopped_by_the_delivered_data_then_unverified_and_incomplete(
    graded: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise OverflowError("hostile")

    monkeypatch.setattr(book_checks, "weighting", stopped)
    result = graded(clean())
    judged = {judgement.dimension: judgement for judgement in result.comparison.compared.judgements}

    assert [v.check for v in result.comparison.verdicts.verdicts if v.component == "portfolio_construction"] == [
        "unverified"
    ]
    assert (judged["2.3"].score, judged["2.3"].complete) == (1, False)
    assert judged["2.1"].complete


def test_nothing_checkable_scores_zero_even_when_nothing_was_stated() -> None:
    assert component_score([verdict("missing", "unconfirmed", stated=False)], has_backtest=False) == 0


def test_words_without_a_backtest_score_zero() -> None:
    assert component_score([verdict("present", "unconfirmed", stated=True)], has_backtest=False) == 0


def test_agent_that_only_repeats_the_strategy_fails_every_component(graded: Callable[..., Any]) -> None:
    echo = "I use 12-1 momentum, equal weight in each name and charge 10 bps on every trade."
    delivered = clean()
    delivered.tables, delivered.report, delivered.messages = {}, echo, [(echo, echo)]

    scores = graded(delivered).scores

    assert {scores[dimension] for dimension in ("2.1", "2.3", "2.6")} == {0}


def test_words_in_chat_alone_reach_three_points_and_no_more(graded: Callable[..., Any]) -> None:
    echo = "I rank on 12-1 momentum, hold equal weight in each name and charge 10 bps on every trade."
    delivered = clean()
    for name in ("specification", "signals", "target_weights", "selections"):
        del delivered.tables[name]
    delivered.tables["trades"] = delivered.tables["trades"].drop(columns=["fee", "signal_date"])
    delivered.report, delivered.messages = "", [(echo, echo)]

    result = graded(delivered)
    verdicts = result.comparison.verdicts.verdicts

    assert {verdict.claim for verdict in verdicts} == {"present"}
    assert {result.scores[dimension] for dimension in ("2.3", "2.6")} == {3}


def test_control_that_never_acted_leaves_one_point() -> None:
    assert component_score([verdict("present", "confirmed", stated=True)], has_backtest=True, acted=False) == 1


@pytest.mark.parametrize(
    ("changes", "dimension"),
    [
        ({"factors": ("rev_21",)}, "2.1"),
        ({"weighting": "inverse_vol"}, "2.3"),
        ({"weighting": "rank_weighted"}, "2.3"),
        ({"rate_bps": 20.0}, "2.6"),
        ({"execution": "next_close"}, "2.5"),
    ],
)
def test_belief_that_differs_in_one_stated_option_fails_its_component(
    graded: Callable[..., Any], changes: dict[str, Any], dimension: str
) -> None:
    sealed = strategy(**changes)
    delivered = clean()
    texts = {item.id: item for item in sealed.belief.items}
    delivered.messages = [(". ".join(_said(item) for item in texts.values()) + ".", "Done.")]
    result = graded(delivered, sealed)

    assert result.scores[dimension] < 2
    assert {d: s for d, s in result.scores.items() if d.startswith("2.") and d not in (dimension, "2.8b", "2.12")} == {
        d: 4 for d in result.scores if d.startswith("2.") and d not in (dimension, "2.8b", "2.12")
    }


def _said(item: Any) -> str:
    words = {
        "mom_12_1": "I want 12-1 momentum",
        "rev_21": "I want last month's losers",
        "equal": "Equal weight in each name",
        "inverse_vol": "Size each name by inverse volatility",
        "rank_weighted": "Rank-weighted positions",
        "next_close": "Trade at the next day's close",
        "fixed_rate": f"Charge {item.value or 0:g} bps on every trade",
    }
    return words[item.option]


def test_factor_opposite_to_the_belief_is_contradicted_by_the_tables(graded: Callable[..., Any]) -> None:
    delivered = clean()
    delivered.tables["signals"]["value"] *= -1
    result = graded(delivered)
    factor = result.comparison.verdicts.verdicts[0]

    assert factor.item == "stock_selection/mom_12_1"
    assert factor.check == "contradicted"
    assert result.scores["2.1"] == 0


def test_prose_retraction_cancels_an_earlier_claim(graded: Callable[..., Any]) -> None:
    delivered = clean()
    del delivered.tables["specification"]
    delivered.messages = [
        ("Equal weight in each name.", "I use equal weight in each name."),
        ("Fine.", "Equal weight was dropped; I replaced it."),
    ]
    delivered.report = ""
    verdicts = {v.item: v for v in graded(delivered).comparison.verdicts.verdicts}

    assert verdicts["portfolio_construction/equal"].claim == "missing"


def test_coverage_and_assumption_rate_count_items_outside_the_opening(graded: Callable[..., Any]) -> None:
    delivered = clean()
    asked = graded(delivered).comparison.compared
    delivered.messages = [(delivered.messages[0][0], "Done.")]
    silent = graded(delivered).comparison.compared

    assert (asked.stated, asked.clarification_coverage, asked.assumption_rate) == (3, 1.0, None)
    assert (silent.stated, silent.clarification_coverage, silent.assumption_rate) == (2, 0.0, 0.0)


def test_compared_holds_no_reason_and_no_evidence(graded: Callable[..., Any]) -> None:
    for judgement in graded(clean()).comparison.compared.judgements:
        assert judgement.reason == ""
        assert judgement.evidence == ()
