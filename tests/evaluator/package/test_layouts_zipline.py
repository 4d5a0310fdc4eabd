"""Zipline's performance frame, whose cells hold lists of orders, fills and positions."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

ORDER = (
    "{{'id': '{id}', 'created': Timestamp('{created} 21:00:00+0000', tz='UTC'), 'dt': Timestamp('{dt} 21:00:00+0000', "
    "tz='UTC'), 'sid': Equity(8 [AAPL]), 'amount': {amount}, 'filled': {amount}, 'commission': {fee}, 'status': 1}}"
)
FILL = (
    "{{'amount': {amount}, 'dt': Timestamp('{dt} 21:00:00+0000', tz='UTC'), 'price': {price}, 'order_id': '{id}', "
    "'sid': Equity(8 [AAPL]), 'commission': None}}"
)
POSITION = "{'sid': Equity(8 [AAPL]), 'amount': 100, 'cost_basis': 185.7, 'last_sale_price': 184.25}"


def performance() -> pd.DataFrame:
    first = ORDER.format(id="a1", created="2024-01-02", dt="2024-01-03", amount=100, fee=5.0)
    last = ORDER.format(id="b2", created="2024-01-03", dt="2024-01-05", amount=-100, fee=2.5)
    fills = [
        "[]",
        "[" + FILL.format(id="a1", dt="2024-01-03", amount=100, price=184.25) + "]",
        "[" + FILL.format(id="b2", dt="2024-01-04", amount=-40, price=181.91) + "]",
        "[" + FILL.format(id="b2", dt="2024-01-05", amount=-60, price=181.18) + "]",
    ]
    return pd.DataFrame(
        {
            "": [f"2024-01-0{day} 21:00:00+00:00" for day in (2, 3, 4, 5)],
            "starting_cash": [100_000.0, 100_000.0, 81_570.0, 88_845.4],
            "ending_cash": [100_000.0, 81_570.0, 88_845.4, 99_715.2],
            "portfolio_value": [100_000.0, 99_995.0, 99_760.0, 99_715.2],
            "returns": [0.0, -0.00005, -0.00235, -0.00045],
            "orders": ["[]", f"[{first}]", f"[{last}]", f"[{last}]"],
            "transactions": fills,
            "positions": ["[]", f"[{POSITION}]", "[]", "[]"],
        }
    )


@pytest.mark.parametrize("name", ["perf.csv", "results.csv", "backtest.csv"])
def test_performance_frame_gives_fills_with_the_day_their_order_was_made(
    deliver: Callable[..., Any], name: str
) -> None:
    delivery = deliver({name: performance()})
    (table,) = delivery.of("trades")
    frame = table.frame

    assert [f"{day:%Y-%m-%d}" for day in frame["date"]] == ["2024-01-03", "2024-01-04", "2024-01-05"]
    assert [f"{day:%Y-%m-%d}" for day in frame["signal_date"]] == ["2024-01-02", "2024-01-03", "2024-01-03"]
    assert frame["symbol"].tolist() == ["AAPL"] * 3
    assert frame["side"].tolist() == [1.0, -1.0, -1.0]
    assert frame["quantity"].tolist() == [100.0, 40.0, 60.0]
    assert frame["price"].tolist() == [184.25, 181.91, 181.18]
    assert frame["fee"].tolist() == pytest.approx([5.0, 1.0, 1.5])


def test_performance_frame_gives_equity_cash_and_capital(deliver: Callable[..., Any]) -> None:
    delivery = deliver({"perf.csv": performance()})
    (equity,), (money,) = delivery.of("equity"), delivery.of("metrics")

    assert [f"{day:%Y-%m-%d}" for day in equity.frame["date"]] == [f"2024-01-0{day}" for day in (2, 3, 4, 5)]
    assert equity.frame["equity"].tolist() == [100_000.0, 99_995.0, 99_760.0, 99_715.2]
    assert equity.frame["cash"].tolist() == [100_000.0, 81_570.0, 88_845.4, 99_715.2]
    assert money.frame["value"].astype(float).tolist() == [100_000.0]
