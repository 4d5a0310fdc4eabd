"""backtrader 1.9.78: the Transactions analyzer as JSON and CSV, PyFolio's frames, positive drawdowns in percent."""

import json
from functools import cache
from typing import Any

import backtrader
import numpy as np
import pandas as pd
import pytest

from tests.evaluator.tools.bench import CASH, long_prices, quotes, seen

pytestmark = pytest.mark.thorough

QUOTES = quotes()


class Momentum(backtrader.Strategy):  # type: ignore[misc]
    """A quarter of the money in each name that stands above its price of 40 sessions ago, every 21 sessions."""

    def next(self) -> None:
        if len(self) % 21 or len(self) < 42:
            return
        for data in self.datas:
            self.order_target_percent(data, 0.24 if data.close[0] > data.close[-40] else 0.0)


@cache
def run() -> Any:
    cerebro = backtrader.Cerebro()
    cerebro.broker.setcash(CASH)
    cerebro.broker.setcommission(commission=0.001)
    for name, frame in QUOTES.items():
        cerebro.adddata(backtrader.feeds.PandasData(dataname=frame.rename(columns=str.lower)), name=name)
    cerebro.addstrategy(Momentum)
    cerebro.addanalyzer(backtrader.analyzers.PyFolio, _name="pyfolio")
    cerebro.addanalyzer(backtrader.analyzers.Transactions, _name="transactions")
    cerebro.addanalyzer(backtrader.analyzers.DrawDown, _name="drawdown")
    cerebro.addanalyzer(
        backtrader.analyzers.SharpeRatio,
        _name="sharpe",
        timeframe=backtrader.TimeFrame.Days,
        annualize=True,
        riskfreerate=0,
    )
    cerebro.addanalyzer(backtrader.analyzers.TimeReturn, _name="returns")
    found = cerebro.run()[0]
    return found, cerebro.broker.getvalue()


def figures() -> str:
    found, value = run()
    return json.dumps(
        {
            "initial_capital": CASH,
            "total_return": value / CASH - 1,
            "final_value": value,
            "max_drawdown": found.analyzers.drawdown.get_analysis()["max"]["drawdown"],
            "sharpe_ratio": found.analyzers.sharpe.get_analysis()["sharperatio"],
            "commission_bps": 10,
        }
    )


def log(how: str) -> dict[str, Any]:
    found, _ = run()
    analysis = found.analyzers.transactions.get_analysis()
    _, _, transactions, _ = found.analyzers.pyfolio.get_pf_items()
    return {
        "json": {"transactions.json": json.dumps({str(day): rows for day, rows in analysis.items()})},
        "cells": {"transactions.csv": pd.Series(dict(analysis)).rename_axis("date").to_csv()},
        "pyfolio": {"transactions.csv": transactions.to_csv()},
    }[how]


def returns() -> str:
    found, _ = run()
    series, _, _, _ = found.analyzers.pyfolio.get_pf_items()
    return str(series.to_csv())


@pytest.mark.parametrize("how", ["json", "cells", "pyfolio"])
def test_transactions_pass_with_the_figures_of_the_tool(tmp_path: Any, how: str) -> None:
    spec = "component,parameter,value\ntransaction_cost,rule,fixed_rate\ntransaction_cost,rate_bps,10\n"
    files = {**log(how), "metrics.json": figures(), "returns.csv": returns(), "prices.csv": long_prices(QUOTES)}
    found = seen(tmp_path, {**files, "specification.csv": spec})
    _, value = run()

    assert set(found.frame("trades")["symbol"]) == set(QUOTES)
    assert found.book.equity.iloc[-1] == pytest.approx(value, rel=1e-6)
    for name in ("total_return", "max_drawdown", "sharpe", "final_equity"):
        assert found.check(name).within, found.check(name)


def test_returns_are_compounded_to_the_curve(tmp_path: Any) -> None:
    files = {**log("pyfolio"), "metrics.json": figures(), "returns.csv": returns(), "prices.csv": long_prices(QUOTES)}
    frame = seen(tmp_path, files).frame("equity")
    _, value = run()

    assert frame["equity"].iloc[-1] == pytest.approx(value, rel=1e-9)


def test_positions_in_money_are_no_shares(tmp_path: Any) -> None:
    # get_pf_items keeps the last name and the cash alone; the analysis behind it has all of them.
    rows = dict(run()[0].analyzers.pyfolio.get_analysis()["positions"])
    positions = pd.DataFrame.from_dict(
        {day: row for day, row in rows.items() if day != "Datetime"}, orient="index", columns=rows["Datetime"]
    ).rename_axis("Datetime")
    files = {"positions.csv": positions.to_csv(), "metrics.json": figures(), "prices.csv": long_prices(QUOTES)}
    loaded = seen(tmp_path, files)

    assert loaded.book.route == "weights"
    assert loaded.check("total_return").within, loaded.check("total_return")
    held = loaded.frame("weights").groupby("date")["weight"].sum()
    np.testing.assert_allclose(held.max(), float((1 - positions["cash"] / positions.sum(axis=1)).max()), rtol=1e-9)
