"""vectorbt 1.2.0: orders, exit trades and positions of one book, open positions, parameter columns, 365 periods a year."""

import warnings
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evaluator.package.attempt import load_delivery
from tests.evaluator.tools.bench import CASH, closes, long_prices, quotes, seen
from tests.evaluator.worlds import write_public

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import vectorbt

QUOTES = quotes()
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # numba compiles for half a minute


@cache
def portfolio() -> Any:
    """A third of the money in each of the three best of 60 sessions, monthly, 10 bps, one pot of cash."""
    close = closes(QUOTES)
    best = close.pct_change(60).rank(axis=1, ascending=False) <= 3
    size = pd.DataFrame(np.nan, index=close.index, columns=close.columns)
    size.iloc[63::21] = best.iloc[63::21] / 3.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return vectorbt.Portfolio.from_orders(
            close,
            size=size,
            size_type="targetpercent",
            fees=0.001,
            init_cash=CASH,
            cash_sharing=True,
            group_by=True,
            call_seq="auto",
            freq="1D",
        )


def stats() -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return str(portfolio().stats().to_csv())


def files(log: str) -> dict[str, Any]:
    return {
        f"{log}.csv": getattr(portfolio(), log).records_readable,
        "value.csv": portfolio().value().to_csv(),
        "stats.csv": stats(),
        "prices.csv": long_prices(QUOTES),
    }


def test_orders_pass_with_the_figures_of_the_tool(tmp_path: Any) -> None:
    found = seen(tmp_path, files("orders"))

    np.testing.assert_allclose(found.book.equity, portfolio().value().reindex(found.book.equity.index), rtol=1e-6)
    for name in ("total_return", "max_drawdown", "sharpe", "calmar", "sortino"):
        assert found.check(name).within, found.check(name)
    assert found.report.conventions.name == "vectorbt"
    assert found.verdict.score >= 3, found.verdict


@pytest.mark.parametrize("log", ["trades", "positions"])
def test_open_positions_have_no_exit_fill(tmp_path: Any, log: str) -> None:
    records = getattr(portfolio(), log).records_readable
    still_open = int((records["Status"] == "Open").sum())
    found = seen(tmp_path, files(log))

    assert still_open > 0
    assert len(found.frame("trades")) == 2 * len(records) - still_open
    assert any("open at the end" in guess for guess in found.case.delivery.of("trades")[0].guesses)


def test_exit_trades_rebuild_the_curve_of_the_tool(tmp_path: Any) -> None:
    found = seen(tmp_path, files("trades"))

    # An exit trade carries the average price of entries on several days, so the days between differ a little.
    assert found.book.equity.iloc[-1] == pytest.approx(portfolio().value().iloc[-1], rel=2e-3)
    assert found.check("total_return").within


def test_parameter_columns_are_runs_of_their_own(tmp_path: Any) -> None:
    close = closes(QUOTES)[["AAA", "BBB"]]
    fast = vectorbt.MA.run(close, [10, 20], short_name="fast")
    above, below = fast.close_crossed_above(fast.ma), fast.close_crossed_below(fast.ma)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = vectorbt.Portfolio.from_signals(close, above, below, init_cash=CASH, freq="1D")
    prices = long_prices(QUOTES)

    files = {"orders.csv": book.orders.records_readable, "prices.csv": prices}
    delivery = load_delivery(write_public(tmp_path, {1: files}, t_cut="2020-12-31"))

    trades = [table for table in delivery.tables if table.role == "trades"]
    assert {table.group for table in trades} == {"run/10", "run/20"}
    assert all(set(table.frame["symbol"]) == {"AAA", "BBB"} for table in trades)
