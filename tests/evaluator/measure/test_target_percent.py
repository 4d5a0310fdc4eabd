"""Tools that are given target percents count shares at the fill, not at the decision."""

import itertools
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from tests.evaluator.deliveries import CAPITAL, NAMES, RATE_BPS, Delivered, clean, refigure


def traded_at_the_fill(field: str) -> Delivered:
    """Return the clean delivery with fractional shares worth the target percent of the book at its fill prices."""
    delivered = clean()
    prices = delivered.tables["prices"]
    wide = {name: prices.pivot_table(index="date", columns="symbol", values=name) for name in ("close", field)}
    days = wide["close"].index
    targets = delivered.tables["target_weights"]
    chosen = {day: list(rows["symbol"][rows["symbol"] != "CASH"]) for day, rows in targets.groupby("date")}
    cash, held = CAPITAL, dict.fromkeys(NAMES, 0.0)
    fills: list[dict[str, Any]] = []
    equity = [{"date": min(chosen), "equity": CAPITAL, "cash": CAPITAL}]
    for before, day in itertools.pairwise(days):
        if before < min(chosen):
            continue
        if before in chosen:
            price = wide[field].loc[day]
            value = cash + sum(held[name] * price[name] for name in NAMES)
            for name in NAMES:
                size = (value * 0.99 / 4 / price[name] if name in chosen[before] else 0.0) - held[name]
                if abs(size) < 1e-9:
                    continue
                fee = abs(size) * price[name] * RATE_BPS / 1e4
                cash -= size * price[name] + fee
                held[name] += size
                fills.append(_fill(before, day, name, size, float(price[name]), fee))
        close = wide["close"].loc[day]
        equity.append({"date": day, "equity": cash + sum(held[name] * close[name] for name in NAMES), "cash": cash})
    delivered.tables["trades"] = pd.DataFrame(fills).assign(fill_id=range(len(fills)))
    delivered.tables["equity"] = pd.DataFrame(equity)
    targets.loc[targets["symbol"] != "CASH", "weight"] = 0.99 / 4
    targets.loc[targets["symbol"] == "CASH", "weight"] = 0.01
    refigure(delivered)
    return delivered


def _fill(signal: Any, day: Any, name: str, size: float, price: float, fee: float) -> dict[str, Any]:
    return {
        "signal_date": signal,
        "fill_date": day,
        "symbol": name,
        "side": "BUY" if size > 0 else "SELL",
        "quantity": abs(size),
        "price": price,
        "fee": fee,
        "reason": "rebalance",
        "trigger": "selected=1",
    }


@pytest.mark.parametrize("field", ["open", "close"])
def test_shares_counted_at_the_fill_follow_from_the_weights(graded: Callable[..., Any], field: str) -> None:
    result = graded(traded_at_the_fill(field))

    assert "L4 matches" in result.evidence("3.8")
    assert "A14" not in result.failing()


def test_shares_that_fit_no_way_of_counting_differ(graded: Callable[..., Any]) -> None:
    delivered = traded_at_the_fill("open")
    trades = delivered.tables["trades"]
    trades["quantity"] *= 0.9

    assert "L4 differs" in graded(delivered).evidence("3.8")


def test_fill_on_a_closed_day_stops_no_check(graded: Callable[..., Any]) -> None:
    delivered = clean()
    trades = delivered.tables["trades"]
    friday = trades.index[trades["fill_date"].dt.day_of_week == 4][-1]
    trades.loc[friday, "fill_date"] += pd.Timedelta(days=1)

    result = graded(delivered)

    assert "A03" in result.failing()
    assert "stopped" not in result.evidence("3.8") + result.evidence("3.7")


def test_decisions_fit_where_signal_dates_are_inferred(graded: Callable[..., Any]) -> None:
    delivered = clean()
    delivered.tables["trades"] = delivered.tables["trades"].drop(columns="signal_date")

    assert "L4 matches" in graded(delivered).evidence("3.8")
