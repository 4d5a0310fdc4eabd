"""bt 1.4.1: signed transactions, held weights with parent columns, a first day before the data, ffn's statistics."""

import warnings
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.evaluator.tools.bench import CASH, closes, long_prices, quotes, seen

pytestmark = pytest.mark.thorough

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import bt

QUOTES = quotes()


@cache
def result() -> Any:
    """Equal weights of the two best of 60 sessions, monthly, whole shares, 10 bps."""
    momentum = bt.algos.SelectMomentum(2, lookback=pd.DateOffset(days=90), lag=pd.DateOffset(days=0))
    rules = [bt.algos.RunAfterDays(70), bt.algos.RunMonthly(), bt.algos.SelectAll(), momentum]
    strategy = bt.Strategy("s", [*rules, bt.algos.WeighEqually(), bt.algos.Rebalance()])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        test = bt.Backtest(
            strategy,
            closes(QUOTES),
            initial_capital=CASH,
            commissions=lambda quantity, price: abs(quantity) * price * 0.001,
            integer_positions=True,
        )
        return bt.run(test)


def files() -> dict[str, Any]:
    found = result()
    log = found.get_transactions().reset_index()
    log["fee"] = (log["quantity"] * log["price"]).abs() * 0.001
    return {
        "transactions.csv": log,
        "equity.csv": found.prices.to_csv(),
        "stats.csv": found.stats.to_csv(),
        "prices.csv": long_prices(QUOTES),
        "config.json": f'{{"initial_capital": {CASH}, "commission_bps": 10}}',
    }


def test_run_passes_with_its_own_figures(tmp_path: Any) -> None:
    found = seen(tmp_path, files())

    for name in ("total_return", "cagr", "sharpe", "sortino", "calmar", "volatility", "max_drawdown"):
        assert found.check(name).within, found.check(name)
    assert found.check("total_return").own == pytest.approx(found.check("total_return").reported, abs=1e-6)
    assert found.verdict.score == 4, found.verdict


def test_rebuilt_equity_is_that_of_the_tool(tmp_path: Any) -> None:
    found = seen(tmp_path, files())
    own = result().backtests["s"].strategy.values.reindex(found.book.equity.index)

    assert own.notna().sum() >= len(own) - 1
    known = own.notna()
    np.testing.assert_allclose(found.book.equity[known], own[known], rtol=1e-6)


def test_first_day_before_the_data_is_the_start_of_the_curve(tmp_path: Any) -> None:
    frame = seen(tmp_path, files()).frame("equity")

    assert frame["equity"].iloc[0] == pytest.approx(CASH)
    assert frame["date"].is_unique
    assert frame["date"].iloc[0] < result().get_transactions().index.get_level_values("Date").min()


@pytest.mark.parametrize("which", ["security", "tree"])
def test_held_weights_lose_their_parents_and_are_no_decisions(tmp_path: Any, which: str) -> None:
    found = result()
    weights = found.get_security_weights() if which == "security" else found.backtests["s"].weights
    loaded = seen(tmp_path, {**files(), "weights.csv": weights.to_csv()})
    (table,) = loaded.case.delivery.of("held")

    assert set(table.frame["symbol"]) == {"AAA", "BBB", "CCC", "DDD"}
    assert loaded.case.main.weights is None


def test_held_weights_alone_rebuild_the_return(tmp_path: Any) -> None:
    given = {name: content for name, content in files().items() if name != "transactions.csv"}
    loaded = seen(tmp_path, {**given, "weights.csv": result().get_security_weights().to_csv()})

    assert loaded.book.route == "weights"
    assert loaded.check("total_return").within, loaded.check("total_return")
