"""backtesting.py 0.6.6: trades without a symbol column, its own Sharpe and exposure."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.evaluator.tools.bench import CASH, long_prices, quotes, seen

pytestmark = pytest.mark.thorough

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from backtesting import Backtest, Strategy

QUOTES = quotes()


class Trend(Strategy):  # type: ignore[misc]
    """Long above the 20-session mean, out below, one entry a time."""

    def init(self) -> None:
        self.mean = self.I(lambda close: pd.Series(close).rolling(20).mean(), self.data.Close)

    def next(self) -> None:
        above = self.data.Close[-1] > self.mean[-1]
        if above and not self.position:
            self.buy(size=0.9)
        elif not above and self.position:
            self.position.close()


def run(name: str, cash: float = CASH, **extra: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Backtest(QUOTES[name], Trend, cash=cash, commission=0.001, **extra).run()


def printed(stats: Any) -> str:
    return stats[[name for name in stats.index if not name.startswith("_")]].to_csv()


@pytest.mark.parametrize("name", ["AAA", "BBB"])
def test_one_name_passes_with_its_own_figures(tmp_path: Any, name: str) -> None:
    # Without finalize_trades the tool's list lacks a position that is open at the end, its equity does not.
    stats = run(name, finalize_trades=True)
    found = seen(
        tmp_path,
        {
            "trades.csv": stats._trades.to_csv(),
            "stats.csv": printed(stats),
            "equity_curve.csv": stats._equity_curve.to_csv(),
            f"{name}.csv": QUOTES[name].reset_index(),
        },
    )

    trades = found.frame("trades")
    assert set(trades["symbol"]) == {name}
    assert len(trades) == 2 * len(stats._trades)
    assert trades["fee"].sum() == pytest.approx(stats._trades["Commission"].sum())
    np.testing.assert_allclose(found.book.equity.iloc[-1], stats["Equity Final [$]"], rtol=1e-9)
    for figure in ("total_return", "max_drawdown", "sharpe", "volatility", "trades", "win_rate", "exposure"):
        assert found.check(figure).within, found.check(figure)
    assert found.report.conventions.name == "backtesting.py"
    assert found.verdict.score == 4, found.verdict


def test_round_trips_equal_the_equity_of_the_tool_on_every_session(tmp_path: Any) -> None:
    stats = run("BBB", finalize_trades=True)
    found = seen(
        tmp_path,
        {
            "trades.csv": stats._trades,
            "equity_curve.csv": stats._equity_curve.to_csv(),
            "stats.csv": printed(stats),
            "prices.csv": long_prices({"BBB": QUOTES["BBB"]}),
        },
    )

    own = stats._equity_curve["Equity"].reindex(found.book.equity.index)
    np.testing.assert_allclose(found.book.equity, own, rtol=1e-9)


def test_logs_of_several_names_with_a_symbol_column_are_one_book(tmp_path: Any) -> None:
    share = CASH / 2
    runs = {name: run(name, cash=share, finalize_trades=True) for name in ("AAA", "BBB")}
    trades = pd.concat([stats._trades.assign(Symbol=name) for name, stats in runs.items()])
    equity = sum(stats._equity_curve["Equity"] for stats in runs.values())
    total = float(equity.iloc[-1] / CASH - 1)
    found = seen(
        tmp_path,
        {
            "trades.csv": trades,
            "equity.csv": equity.rename_axis("Date").to_csv(),
            "prices.csv": long_prices(QUOTES),
            "metrics.json": f'{{"total_return": {total}, "initial_capital": {CASH}}}',
        },
    )

    assert set(found.frame("trades")["symbol"]) == {"AAA", "BBB"}
    assert found.check("total_return").own == pytest.approx(total, abs=1e-9)
