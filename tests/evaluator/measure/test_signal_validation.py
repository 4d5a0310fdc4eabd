"""Each level of 2.8b reached by a delivery, and the coefficient against hand arithmetic."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from evaluator.quant.absent import Absent
from evaluator.quant.validation import diagnose
from tests.evaluator.deliveries import Delivered, clean

pytestmark = pytest.mark.thorough


def own_diagnostics(delivered: Delivered) -> tuple[float, float, float, float]:
    """Return mean rank IC, t, hit rate and top minus bottom third, by a loop over scipy's coefficient."""
    signals, prices = delivered.tables["signals"], delivered.tables["prices"]
    opens = prices.pivot_table(index="date", columns="symbol", values="open")
    days = sorted(signals["date"].unique())
    days = [day for day in days if day < opens.index[-1]]
    ics, spreads = [], []
    for day, following in itertools.pairwise(days):
        first, last = (opens.iloc[opens.index.get_loc(one) + 1] for one in (day, following))
        rows = signals[signals["date"] == day].set_index("symbol")["value"]
        ahead = (last / first - 1)[rows.index]
        ics.append(spearmanr(rows, ahead).statistic)
        ranked = ahead[rows.sort_values(kind="stable").index]
        third = len(ranked) // 3
        spreads.append(ranked.iloc[-third:].mean() - ranked.iloc[:third].mean())
    found = np.array(ics)
    t = found.mean() / found.std(ddof=1) * np.sqrt(len(found))
    return float(found.mean()), float(t), float((found > 0).mean()), float(np.mean(spreads))


def table(ic: float, t: float, hit: float, spread: float) -> pd.DataFrame:
    row = {
        "factor": "mom_12_1",
        "mean_rank_ic": ic,
        "t_statistic": t,
        "hit_rate": hit,
        "top_minus_bottom_third": spread,
    }
    return pd.DataFrame([row])


def test_true_coefficient_with_t_and_a_further_diagnostic_then_four(graded: Callable[..., Any]) -> None:
    delivered = clean()
    delivered.tables["signal_validation"] = table(*own_diagnostics(delivered))

    assert graded(delivered).scores["2.8b"] == 4


def test_fewer_than_twenty_names_then_five_are_enough_and_the_evidence_says_so(graded: Callable[..., Any]) -> None:
    delivered = clean()
    ic, t, hit, spread = own_diagnostics(delivered)
    delivered.tables["signal_validation"] = table(ic, t, hit, spread)
    text = graded(delivered).evidence("2.8b")

    assert f"own mean rank IC {ic:.4f}, t {t:.2f}, hit rate {hit:.1%}" in text
    assert "dates with at least 5 names" in text
    assert "open of t+1" in text


@pytest.mark.parametrize(("shift", "score"), [(-0.015, 4), (-0.03, 3), (-0.08, 2)])
def test_distance_of_the_reported_coefficient_sets_the_level(
    graded: Callable[..., Any], shift: float, score: int
) -> None:
    delivered = clean()
    ic, t, hit, spread = own_diagnostics(delivered)
    delivered.tables["signal_validation"] = table(ic + shift, t, hit, spread)

    assert graded(delivered).scores["2.8b"] == score


def test_coefficient_alone_then_three(graded: Callable[..., Any]) -> None:
    delivered = clean()
    ic = own_diagnostics(delivered)[0]
    delivered.tables["signal_validation"] = pd.DataFrame([{"factor": "mom_12_1", "mean_rank_ic": ic}])

    assert graded(delivered).scores["2.8b"] == 3


def test_figures_in_prose_count_where_no_table_has_them(graded: Callable[..., Any]) -> None:
    delivered = clean()
    ic, t, hit, _ = own_diagnostics(delivered)
    delivered.report += f"\n## Signals\n\nThe mean rank IC is {ic:.3f}, t-statistic {t:.2f}, hit rate {hit:.1%}.\n"

    assert graded(delivered).scores["2.8b"] == 4


def test_numbers_without_delivered_signals_then_two(graded: Callable[..., Any]) -> None:
    delivered = clean()
    delivered.tables["signal_validation"] = table(*own_diagnostics(delivered))
    del delivered.tables["signals"]

    assert graded(delivered).scores["2.8b"] == 2


def test_diagnostic_named_without_numbers_then_one(graded: Callable[..., Any]) -> None:
    delivered = clean()
    delivered.report += "\nThe signal was validated by its rank IC.\n"

    assert graded(delivered).scores["2.8b"] == 1


def test_no_diagnostic_then_zero(graded: Callable[..., Any]) -> None:
    assert graded(clean()).scores["2.8b"] == 0


def test_diagnostics_of_two_dates_equal_hand_arithmetic() -> None:
    days = pd.to_datetime(["2020-01-31", "2020-02-28"])
    names = list("ABCDE")
    signal = pd.DataFrame([[1, 2, 3, 4, 5], [1, 2, 3, 4, 5]], index=days, columns=names, dtype=float)
    # Ranks of the returns: 1 2 3 4 5 gives 1; 2 1 3 4 5 gives 1 - 6 x 2 / (5 x 24) = 0.9.
    ahead = pd.DataFrame([[0.01, 0.02, 0.03, 0.04, 0.05], [0.02, 0.01, 0.03, 0.04, 0.05]], index=days, columns=names)
    found = diagnose(signal, ahead)

    assert not isinstance(found, Absent)
    assert found.mean_ic == pytest.approx(0.95)
    # sd of (1, 0.9) with ddof 1 is 0.0707107; 0.95 / 0.0707107 x sqrt 2 = 19.
    assert found.t == pytest.approx(19.0)
    assert (found.hit_rate, found.dates, found.least) == (1.0, 2, 5)
    assert found.spread[5] == pytest.approx((0.04 + 0.03) / 2)
    assert found.decay == pytest.approx(0.9)


def test_dates_with_too_few_names_are_left_out_once_one_date_has_twenty() -> None:
    days = pd.to_datetime(["2020-01-31", "2020-02-28", "2020-03-31"])
    names = [f"N{i:02}" for i in range(20)]
    values = np.tile(np.arange(20.0), (3, 1))
    signal = pd.DataFrame(values, index=days, columns=names)
    signal.iloc[1, 10:] = np.nan
    found = diagnose(signal, pd.DataFrame(values, index=days, columns=names))

    assert not isinstance(found, Absent)
    assert (found.dates, found.least) == (2, 20)


def test_four_names_are_no_validation() -> None:
    days = pd.to_datetime(["2020-01-31", "2020-02-28"])
    small = pd.DataFrame(np.ones((2, 4)), index=days, columns=list("ABCD"))

    assert isinstance(diagnose(small, small), Absent)
