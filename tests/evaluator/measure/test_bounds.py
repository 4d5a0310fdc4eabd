"""What programs allow a judge of meaning on 3.4 and 5.3, and the words that make a basis."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evaluator.judge.settle import settle
from evaluator.measure import run
from evaluator.measure.case import Case
from evaluator.measure.metric_basis import Stated, program_score, read_basis
from records.judging import Finding
from tests.evaluator.deliveries import Delivered, clean

pytestmark = pytest.mark.thorough

SPAN = "2015-01-02 to 2018-12-31"
FULL = f"{SPAN}; net; annualised, 252 periods a year; risk-free rate 0"


def with_basis(*texts: str) -> Delivered:
    """Return a delivery whose four metrics carry these basis texts, and a report that says nothing."""
    delivered = clean()
    metrics = delivered.tables["metrics"].set_index("metric")
    names = ["total_return", "sharpe", "max_drawdown", "volatility"]
    kept = metrics.loc[names, ["value"]].reset_index()
    delivered.tables["metrics"] = kept.assign(basis=list(texts))
    delivered.report = "# Report\n\nNothing of note.\n"
    return delivered


@pytest.mark.parametrize(("whole", "bound"), [(4, 4), (3, 3), (2, 2), (1, 1), (0, 0)])
def test_share_of_metrics_with_basis_bounds_professionalism(graded: Callable[..., Any], whole: int, bound: int) -> None:
    found = graded(with_basis(*[FULL] * whole, *[""] * (4 - whole))).measurement.measured

    assert found.bounds["5.3"] == bound
    assert found.facts["bound_5.3"].startswith(f"{whole} of 4 reported metrics")


@pytest.mark.parametrize(
    ("share", "score"), [(0.95, 4), (0.949, 3), (0.75, 3), (0.5, 2), (0.49, 1), (0.25, 1), (0.2, 0)]
)
def test_shares_map_to_scores_as_the_rubric_says(share: float, score: int) -> None:
    assert program_score(share) == score


def test_no_metric_at_all_then_nothing_is_allowed(graded: Callable[..., Any]) -> None:
    delivered = clean()
    del delivered.tables["metrics"]
    delivered.report = "# Report\n"

    assert graded(delivered).measurement.measured.bounds["5.3"] == 0


def test_sentence_on_every_figure_serves_all_of_them(graded: Callable[..., Any]) -> None:
    delivered = with_basis("", "", "", "")
    delivered.report = f"# Report\n\nAll figures: {FULL}.\n"

    assert graded(delivered).measurement.measured.bounds["5.3"] == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2015-01-02 to 2018-12-31", "period"),
        ("Jan 2015 - Dec 2018", "period"),
        ("after costs", "costs"),
        ("gross", "costs"),
        ("annualised", "annualised"),
        ("no risk-free rate", "risk_free"),
    ],
)
def test_words_of_a_basis_are_read(text: str, said: str) -> None:
    assert getattr(read_basis(text), said)


@pytest.mark.parametrize(
    "text",
    ["net income over assets", "gross profitability", "gross exposure", "see 2015-01-02 and page 12", "the internet"],
)
def test_words_that_only_look_like_a_basis_are_not(text: str) -> None:
    found = read_basis(text)

    assert not found.costs
    assert not found.period


def test_sharpe_needs_more_words_than_a_trade_count() -> None:
    assert Stated("sharpe", "Sharpe", read_basis(SPAN)).lacking == ("annualisation", "gross or net", "risk-free rate")
    assert Stated("trades", "Trades", read_basis(SPAN)).lacking == ()
    assert Stated("final_equity", "Final equity", read_basis("2018-12-31; net")).lacking == ()


def test_net_income_and_two_stray_dates_do_not_make_core_metrics_complete(graded: Callable[..., Any]) -> None:
    delivered = clean()
    delivered.tables["metrics"] = delivered.tables["metrics"].drop(columns="basis")
    delivered.report += "\nFiled 2015-02-03, 252 names. Signals use net income, last seen 2016-03-04.\n"

    assert graded(delivered).scores["3.3"] == 2


def benchmarked(shift: float = 0.0, *, name: str = "SPY", series: bool = True) -> Delivered:
    """Return a delivery with a benchmark that doubles in a straight line over the equity's sessions."""
    delivered = clean()
    days = pd.DatetimeIndex(delivered.tables["equity"]["date"])
    values = [100 + 100 * i / (len(days) - 1) for i in range(len(days))]
    if series:
        delivered.tables["market"] = pd.DataFrame({"date": days, "symbol": name, "close": values})
    row = {"metric": "benchmark_total_return", "value": 1.0 + shift, "basis": f"{name}; {SPAN}"}
    delivered.tables["metrics"] = pd.concat([delivered.tables["metrics"], pd.DataFrame([row])], ignore_index=True)
    return delivered


@pytest.mark.parametrize(("shift", "bound"), [(0.0, 4), (0.019, 4), (0.03, 2), (-0.5, 2)])
def test_benchmark_figure_is_held_against_the_delivered_series(
    graded: Callable[..., Any], shift: float, bound: int
) -> None:
    assert graded(benchmarked(shift)).measurement.measured.bounds["3.4"] == bound


def test_figure_without_a_series_or_of_another_benchmark_is_left_to_the_judge(graded: Callable[..., Any]) -> None:
    assert "3.4" not in graded(benchmarked(series=False)).measurement.measured.bounds


def test_clean_delivery_without_benchmark_has_no_bound(graded: Callable[..., Any]) -> None:
    assert "3.4" not in graded(clean()).measurement.measured.bounds


def test_bound_stopped_by_the_delivered_data_allows_nothing(
    graded: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(_case: Case) -> tuple[int, str]:
        raise OverflowError("hostile")

    monkeypatch.setitem(run._BOUNDS, "5.3", stopped)

    assert graded(clean()).measurement.measured.bounds["5.3"] == 0


def test_bound_is_the_lower_of_judge_and_program() -> None:
    finding = Finding(dimension="5.3", judge="rules", score=4, reason="Desk quality.")

    assert settle(finding, bound=2).score == 2
    assert settle(finding, bound=4).score == 4


def test_annualisation_of_a_metric_serves_the_benchmark_beside_it(tmp_path: Path) -> None:
    del tmp_path
    assert read_basis("annualised") | read_basis(SPAN) == read_basis(f"{SPAN}, annualised")
