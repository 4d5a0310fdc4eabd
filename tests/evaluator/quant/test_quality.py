from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.quant import quality
from evaluator.quant.absent import Absent
from evaluator.quant.calendar import sessions
from evaluator.quant.quality import fundamental_quality, price_quality, weighted
from tests.evaluator.worlds import market

PRICES = market()


def close_of(name: Any, prices: Any = PRICES) -> Any:
    return prices.index[prices["symbol"] == name]


def broken(flaw: Any) -> Any:
    table = PRICES.copy()
    rows = close_of("CC")
    if flaw == "missing":
        table.loc[rows[::20], "close"] = np.nan
    elif flaw == "gaps":
        table = table.drop(index=rows[200:260])
    elif flaw == "duplicates":
        table = pd.concat([table, table.iloc[::200]])
    elif flaw == "stale":
        for first in range(100, 500, 40):
            table.loc[rows[first : first + 10], "close"] = table.loc[rows[first], "close"]
        table = table.drop(columns=["open", "high", "low"])
    elif flaw == "outliers":
        table.loc[rows[100::50], "close"] *= 1.9
        table = table.drop(columns=["open", "high", "low", "adj_close"])
    elif flaw == "ohlc":
        table.loc[rows[::100], "high"] = table.loc[rows[::100], "low"] * 0.99
    elif flaw == "non_positive":
        table.loc[rows[10], "low"] = 0.0
    return table


def test_clean_table_is_level_four() -> None:
    quality = price_quality(PRICES)

    assert quality.score == 4
    assert set(quality.measures.values()) == {0.0}
    assert quality.rows == len(PRICES)


@pytest.mark.parametrize("flaw", ["missing", "gaps", "duplicates", "stale", "outliers", "ohlc", "non_positive"])
def test_flaw_lowers_its_own_measure_and_no_other(flaw: Any) -> None:
    quality = price_quality(broken(flaw))

    assert quality.measures[flaw] > 0
    assert quality.score < 4
    assert quality.worst == flaw
    assert {name for name, value in quality.measures.items() if value > 0} == {flaw}
    assert quality.examples[flaw]


def test_measures_are_shares_of_rows() -> None:
    assert price_quality(broken("missing")).measures["missing"] == pytest.approx(38 / len(PRICES))
    assert price_quality(broken("stale")).measures["stale"] == pytest.approx(100 / len(PRICES))
    expected = 756 * 10
    assert price_quality(broken("gaps")).measures["gaps"] == pytest.approx(60 / expected)


def test_split_is_no_outlier_but_an_unmarked_jump_is() -> None:
    rows = close_of("CC")
    split = PRICES.drop(columns=["open", "high", "low", "adj_close"])
    split.loc[rows[:400], "close"] *= 4
    jump = PRICES.drop(columns=["open", "high", "low", "adj_close"])
    jump.loc[rows[:400], "close"] *= 1.7

    assert price_quality(split).measures["outliers"] == 0
    assert price_quality(jump).measures["outliers"] > 0


def test_jump_that_the_adjusted_close_smooths_is_no_outlier() -> None:
    rows = close_of("CC")
    table = PRICES.drop(columns=["open", "high", "low"])
    table.loc[rows[:400], "close"] *= 1.7

    assert price_quality(table).measures["outliers"] == 0


def test_crash_of_the_whole_market_is_no_outlier() -> None:
    table = PRICES.drop(columns=["open", "high", "low", "adj_close"])
    table.loc[table["date"] >= "2020-03-16", "close"] *= 0.45

    assert price_quality(table).measures["outliers"] == 0


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000))
def test_row_order_does_not_matter(seed: Any) -> None:
    table = broken("duplicates").sample(frac=1, random_state=seed)

    assert price_quality(table).measures == price_quality(broken("duplicates")).measures


def test_several_tables_are_weighted_by_rows() -> None:
    one, two = price_quality(PRICES), price_quality(broken("missing").iloc[:1000])
    whole = weighted([one, two])

    assert whole.rows == one.rows + two.rows
    assert whole.measures["missing"] == pytest.approx(two.measures["missing"] * two.rows / whole.rows)
    assert isinstance(weighted([]), Absent)


def test_tables_without_prices_are_absent() -> None:
    assert isinstance(price_quality(None), Absent)
    assert isinstance(price_quality(PRICES.drop(columns=["close", "adj_close"])), Absent)
    assert isinstance(price_quality(PRICES.iloc[:0]), Absent)


def test_statements_that_precede_or_contradict_themselves_are_counted() -> None:
    table = pd.DataFrame(
        {
            "symbol": ["A", "A", "B", "C"],
            "period_end": pd.to_datetime(["2020-03-31"] * 4),
            "announced": pd.to_datetime(["2020-05-01", "2020-05-01", "2020-03-01", None]),
            "net_income": [1.0, 2.0, 3.0, 4.0],
        }
    )

    assert fundamental_quality(table) == {
        "rows": 4,
        "announced_missing": 1,
        "announced_before_period_end": 1,
        "contradicting_rows": 1,
    }
    assert fundamental_quality(None) == {}
    assert fundamental_quality(table.drop(columns="announced"))["announced_missing"] == 4


@pytest.mark.parametrize("drift", [0.0, 0.02])
def test_outliers_equal_the_formula_day_by_day(drift: float) -> None:
    """|r| > 50 %, or beyond 10 x 1.4826 median absolute deviations of the 252 returns before it."""
    rng = np.random.default_rng(5)
    days = sessions("2015-01-02", "2018-12-31")
    moves = drift + 0.002 * rng.standard_t(2, (len(days), 3))
    moves[700, 0], moves[801, 1] = 0.61, -0.35
    close = 50 * np.cumprod(1 + moves, axis=0)
    table = pd.DataFrame(
        {"date": np.repeat(days, 3), "symbol": np.tile(["A", "B", "C"], len(days)), "close": close.reshape(-1)}
    )
    wild = np.zeros((len(days), 3), dtype=bool)
    for column in range(3):
        r = np.append(np.nan, close[1:, column] / close[:-1, column] - 1)
        for at in range(1, len(r)):
            past = r[max(at - 252, 1) : at]
            wild[at, column] = abs(r[at]) > 0.5
            if len(past) >= 21:
                wild[at, column] |= abs(r[at]) > 10 * 1.4826 * np.median(np.abs(past - np.median(past)))
    expected = int(wild[wild.sum(axis=1) < 2].sum())  # two of three names share a move: the market's

    found = price_quality(table)

    assert expected > 5
    assert found.measures["outliers"] == pytest.approx(expected / len(table))


@pytest.mark.parametrize("holes", [0, 40])
@pytest.mark.parametrize("scale", [0.0, 0.3, 1.0])
def test_candidates_for_outliers_hold_every_row_beyond_its_deviation(scale: float, holes: int) -> None:
    random = np.random.default_rng(4)
    moves = 0.01 * random.standard_t(2, 1500) * np.exp(scale * random.normal(size=1500).cumsum() / 30) + 0.004
    moves[0] = np.nan
    moves[random.integers(1, 1500, holes)] = np.nan
    moves[300:340] = 0.0
    past = pd.Series(moves)
    rolled = past.rolling(252, min_periods=21)
    beyond = np.abs(moves) > 10 * 1.4826 * rolled.apply(lambda w: np.nanmedian(np.abs(w - np.nanmedian(w)))).shift(1)

    found = set(quality._candidates(moves))

    assert beyond.sum() > 3
    assert set(np.flatnonzero(beyond)) <= found
    assert len(found) < 400
