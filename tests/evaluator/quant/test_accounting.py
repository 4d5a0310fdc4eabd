from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.quant.absent import Absent
from evaluator.quant.accounting import rebuild
from evaluator.quant.panel import price_panel
from evaluator.quant.price_basis import price_basis
from evaluator.quant.weights_route import rebuild_from_positions, rebuild_from_weights
from tests.evaluator.worlds import CAPITAL, backtest, canonical_trades, market


@pytest.fixture(scope="module")
def prices() -> Any:
    return market()


@pytest.fixture(scope="module")
def panel(prices: Any) -> Any:
    return price_panel(prices)


@pytest.fixture(scope="module")
def run(prices: Any) -> Any:
    return backtest(prices)


@pytest.fixture(scope="module")
def trades(run: Any) -> Any:
    return canonical_trades(run)


def delivered(run: Any) -> Any:
    return run.equity.set_index("date")["equity"]


def gap(made: Any, run: Any) -> Any:
    return float((made.equity / delivered(run) - 1).abs().max())


@pytest.mark.parametrize("field", ["open", "close"])
def test_honest_log_rebuilds_the_loop_to_rounding(prices: Any, panel: Any, field: Any) -> None:
    run = backtest(prices, field=field)
    made = rebuild(canonical_trades(run), panel, capital=CAPITAL)

    assert gap(made, run) < 1e-12
    assert made.basis.column == field
    assert made.basis.apply_dividends
    assert not made.basis.adjusted
    assert made.coverage == 1
    assert made.fully
    assert (made.cash / run.equity.set_index("date")["cash"] - 1).abs().max() < 1e-6


def test_total_return_prices_without_dividends_rebuild_too(prices: Any, panel: Any) -> None:
    """Fills and marks on adjusted closes: dividends are in the price and must not be added again."""
    adjusted = prices.assign(close=prices["adj_close"], dividends=0.0)
    run = backtest(adjusted, field="close")
    made = rebuild(canonical_trades(run), panel, capital=CAPITAL)

    assert made.basis.column == "adj_close"
    assert made.basis.adjusted
    assert gap(made, run) < 1e-12


def test_dividends_are_derived_when_only_adjusted_closes_tell(prices: Any, run: Any, trades: Any) -> None:
    made = rebuild(trades, price_panel(prices.drop(columns=["dividends", "stock_splits"])), capital=CAPITAL)

    assert gap(made, run) < 1e-6


def split(prices: Any, *, ratio: Any = 4.0, day: Any = "2019-09-16", name: Any = "CC") -> Any:
    """The same market as quoted on the day: before the split prices are times the ratio, volume less."""
    before = (prices["symbol"] == name) & (prices["date"] < day)
    raw = prices.copy()
    for column in ("open", "high", "low", "close", "dividends"):
        raw.loc[before, column] *= ratio
    raw.loc[(raw["symbol"] == name) & (raw["date"] == day), "stock_splits"] = ratio
    return raw


def split_trades(trades: Any, *, ratio: Any = 4.0, day: Any = "2019-09-16", name: Any = "CC") -> Any:
    out = trades.astype({"quantity": float})
    before = (out["symbol"] == name) & (out["date"] < day)
    out.loc[before, "price"] *= ratio
    out.loc[before, "quantity"] /= ratio
    return out


@pytest.fixture(scope="module")
def every_name(prices: Any) -> Any:
    return backtest(prices, n=10)


def test_split_multiplies_the_shares_on_raw_prices(prices: Any, every_name: Any) -> None:
    raw = split(prices)
    log = split_trades(canonical_trades(every_name))
    with_column = rebuild(log, price_panel(raw), capital=CAPITAL)
    derived = rebuild(log, price_panel(raw.drop(columns=["stock_splits", "dividends"])), capital=CAPITAL)

    assert with_column.basis.apply_splits
    assert gap(with_column, every_name) < 1e-9
    assert gap(derived, every_name) < 1e-6


def test_split_column_beside_adjusted_prices_is_not_applied_twice(prices: Any, every_name: Any) -> None:
    marked = split(prices)[["date", "symbol", "stock_splits"]]
    adjusted = prices.drop(columns="stock_splits").merge(marked)
    made = rebuild(canonical_trades(every_name), price_panel(adjusted), capital=CAPITAL)

    assert not made.basis.apply_splits
    assert gap(made, every_name) < 1e-12


def test_raw_log_over_adjusted_prices_is_recognised(prices: Any, every_name: Any) -> None:
    marked = split(prices)[["date", "symbol", "stock_splits"]]
    adjusted = prices.drop(columns="stock_splits").merge(marked)
    only = canonical_trades(every_name)
    only = split_trades(only[only["symbol"] == "CC"])
    basis = price_basis(only[only["date"] < "2019-09-16"], price_panel(adjusted))

    assert basis.column == "unsplit_open"
    assert basis.mark == "unsplit_close"


def test_adjusted_closes_named_close_get_no_dividends(prices: Any) -> None:
    """A table like yfinance's default: adjusted OHLC, a dividends column, no adj_close."""
    scale = prices["adj_close"] / prices["close"]
    table = prices.drop(columns="adj_close").assign(
        close=prices["adj_close"], open=prices["open"] * scale, high=prices["high"] * scale, low=prices["low"] * scale
    )
    run = backtest(table.assign(adj_close=table["close"], dividends=0.0))
    made = rebuild(canonical_trades(run), price_panel(table), capital=CAPITAL)

    assert not made.basis.apply_dividends
    assert gap(made, run) < 1e-12


def test_fee_rate_stands_in_for_a_missing_column(panel: Any, run: Any, trades: Any) -> None:
    bare = trades.drop(columns="fee")

    assert gap(rebuild(bare, panel, capital=CAPITAL, rate_bps=10), run) < 1e-12
    assert rebuild(bare, panel, capital=CAPITAL, rate_bps=10).fee_origin == "rate"
    assert rebuild(bare, panel, capital=CAPITAL).fee_origin == "none"
    assert gap(rebuild(trades.assign(fee=-trades["fee"]), panel, capital=CAPITAL), run) < 1e-12


def test_capital_is_stated_then_first_equity_then_assumed(panel: Any, trades: Any) -> None:
    assert rebuild(trades, panel, capital=5e5, first_equity=1e6).capital_origin == "stated"
    assert rebuild(trades, panel, first_equity=1e6).capital_origin == "equity"
    assumed = rebuild(trades, panel)
    assert assumed.capital_origin == "assumed"
    assert assumed.cash.min() == pytest.approx(0, abs=1e-6)


def test_start_and_end_bound_the_curve(panel: Any, trades: Any) -> None:
    made = rebuild(trades, panel, capital=CAPITAL, start="2018-03-01", end="2019-06-28")

    assert made.equity.index[0] == pd.Timestamp("2018-03-01")
    assert made.equity.index[-1] == pd.Timestamp("2019-06-28")
    assert made.equity.iloc[0] == CAPITAL
    assert any("left out" in note for note in made.notes)


def test_short_gap_is_carried_and_long_gap_is_stale(prices: Any, every_name: Any) -> None:
    log = canonical_trades(every_name)
    days = np.sort(prices["date"].unique())

    def without(count: Any) -> Any:
        gone = (prices["symbol"] == "CC") & prices["date"].isin(days[300 : 300 + count])
        return rebuild(log, price_panel(prices[~gone]), capital=CAPITAL)

    assert without(5).stale_share == 0
    assert without(12).stale_share > 0.05
    assert not without(12).fully


def test_name_that_ends_while_held_is_reported(prices: Any, every_name: Any) -> None:
    log = canonical_trades(every_name)
    ended = prices[(prices["symbol"] != "CC") | (prices["date"] < "2020-11-02")]
    log = log[(log["symbol"] != "CC") | (log["date"] < "2020-11-02")]

    assert rebuild(log, price_panel(ended), capital=CAPITAL).open_after_delisting == ("CC",)


def test_unpriced_names_lower_the_coverage(prices: Any, panel: Any, every_name: Any) -> None:
    log = canonical_trades(every_name)
    made = rebuild(log, price_panel(prices[prices["symbol"] != "CC"]), capital=CAPITAL)
    share = log.loc[log["symbol"] == "CC"].eval("quantity * price").sum() / log.eval("quantity * price").sum()

    assert made.coverage == pytest.approx(1 - share)


def test_broken_rows_are_left_out_and_broken_logs_are_absent(panel: Any, run: Any, trades: Any) -> None:
    broken = trades.iloc[:4].assign(quantity=[0, -1, np.nan, np.inf])
    made = rebuild(pd.concat([trades, broken]), panel, capital=CAPITAL)

    assert gap(made, run) < 1e-12
    for log in (None, trades.iloc[:0], trades.drop(columns="price"), broken):
        assert isinstance(rebuild(log, panel), Absent)


def test_interest_on_cash_compounds_daily(panel: Any, trades: Any) -> None:
    plain = rebuild(trades, panel, capital=CAPITAL)
    earning = rebuild(trades, panel, capital=CAPITAL, cash_rate=0.05)
    expected = float(plain.cash.iloc[0]) * 0.05 / 252

    assert earning.cash.iloc[1] - plain.cash.iloc[1] == pytest.approx(expected, rel=1e-6)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.floats(0.01, 50))
def test_order_of_rows_splitting_of_fills_and_scale_leave_returns_equal(seed: Any, scale: Any) -> None:
    prices = _PRICES
    base = rebuild(_TRADES, price_panel(prices), capital=CAPITAL)
    rng = np.random.default_rng(seed)
    share = rng.uniform(0.1, 0.9, len(_TRADES))
    parts = [
        _TRADES.assign(quantity=_TRADES["quantity"] * part, fee=_TRADES["fee"] * part) for part in (share, 1 - share)
    ]
    log = pd.concat(parts).sample(frac=1, random_state=seed)
    log = log.assign(quantity=log["quantity"] * scale, fee=log["fee"] * scale)
    panel = price_panel(prices.sample(frac=1, random_state=seed))
    made = rebuild(log, panel, capital=CAPITAL * scale)

    np.testing.assert_allclose(made.equity / scale, base.equity, rtol=1e-9)


_PRICES = market(("AA", "BB", "CC", "DD"), end="2019-06-28")
_TRADES = canonical_trades(backtest(_PRICES, n=2))


def test_decision_weights_come_near_the_trades(panel: Any, run: Any) -> None:
    made = rebuild_from_weights(run.weights, panel, rate_bps=10, fill="open", capital=CAPITAL)

    assert made.route == "weights"
    assert made.equity.iloc[-1] / CAPITAL == pytest.approx(delivered(run).iloc[-1] / CAPITAL, abs=0.02)
    assert made.capital == CAPITAL


def test_held_weights_reproduce_their_own_portfolio(panel: Any, run: Any, trades: Any) -> None:
    truth = rebuild(trades.assign(fee=0.0), panel, capital=CAPITAL)
    long = truth.weights.rename_axis("date").reset_index().melt(id_vars="date", var_name="symbol", value_name="weight")
    made = rebuild_from_weights(long, panel)
    ours = made.equity / made.equity.iloc[0]
    theirs = truth.equity / truth.equity.iloc[0]

    assert "held weights" in made.notes[0]
    assert (ours.pct_change() - theirs.pct_change()).abs().quantile(0.9) < 1e-3
    assert ours.iloc[-1] == pytest.approx(theirs.iloc[-1], abs=0.02)


def test_positions_are_differenced_to_fills_at_the_close(prices: Any, panel: Any) -> None:
    run = backtest(prices, field="close", rate_bps=0)
    truth = rebuild(canonical_trades(run), panel, capital=CAPITAL)
    long = truth.shares.rename_axis("date").reset_index().melt(id_vars="date", var_name="symbol", value_name="quantity")
    made = rebuild_from_positions(long, panel, capital=CAPITAL)

    assert made.route == "positions"
    np.testing.assert_allclose(made.equity, truth.equity.loc[made.equity.index], rtol=1e-12)


def test_routes_without_tables_are_absent(panel: Any) -> None:
    assert isinstance(rebuild_from_weights(None, panel), Absent)
    assert isinstance(rebuild_from_positions(None, panel), Absent)
    strange = pd.DataFrame({"date": [panel.sessions[5]], "symbol": ["ZZ"], "weight": [1.0]})
    assert isinstance(rebuild_from_weights(strange, panel), Absent)
