"""Interactive Brokers: the sectioned activity statement and the flex query."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

ACTIVITY = """\
Statement,Header,Field Name,Field Value
Statement,Data,BrokerName,Interactive Brokers LLC
Statement,Data,Period,"January 2, 2024 - January 31, 2024"
Net Asset Value,Header,Asset Class,Prior Total,Current Total
Net Asset Value,Data,Cash,100000,63921.5
Trades,Header,DataDiscriminator,Asset Category,Currency,Symbol,Date/Time,Quantity,T. Price,C. Price,Proceeds,Comm/Fee,Basis,Realized P/L,MTM P/L,Code
Trades,Data,Order,Stocks,USD,AAPL,"2024-01-02, 09:31:00",100,187.15,185.64,-18715,-1,18716,0,-151,O
Trades,Data,Order,Stocks,USD,BRK B,"2024-01-03, 15:59:59","1,600",3.625,3.61,-5800,-8.5,5808.5,0,-24,O;P
Trades,Data,Order,Stocks,USD,AAPL,"2024-01-09, 09:30:01",-100,184.5,185.14,18450,-1.25,-18716,-267.25,-64,C
Trades,Data,ClosedLot,Stocks,USD,AAPL,2024-01-02,100,187.15,,,,18716,-267.25,,LT
Trades,SubTotal,,Stocks,USD,AAPL,,0,,,-265,-2.25,0,-267.25,-215,
Trades,Data,Order,Equity and Index Options,USD,AAPL 19JAN24 190 C,"2024-01-04, 10:00:00",1,2.5,2.4,-250,-1,251,0,-10,O
Trades,Total,,Stocks,USD,,,,,,-6065,-10.75,,-267.25,-239,
Dividends,Header,Currency,Date,Description,Amount
Dividends,Data,USD,2024-01-15,AAPL Cash Dividend,24
"""
FLEX = """\
ClientAccountID,CurrencyPrimary,AssetClass,Symbol,TradeDate,TradeTime,Quantity,TradePrice,Proceeds,IBCommission,Buy/Sell
U1,USD,STK,AAPL,20240102,093100,100,187.15,-18715,-1,BUY
U1,USD,STK,MSFT,20240103,155959,1600,3.625,-5800,-8.5,BUY
U1,USD,STK,AAPL,20240109,093001,-100,184.5,18450,-1.25,SELL
"""
FLEX_SPACED = FLEX.replace("TradeDate", "Trade Date").replace("TradePrice", "Trade Price")
FLEX_SPACED = FLEX_SPACED.replace("IBCommission", "IB Commission").replace("TradeTime", "Trade Time")


def rows(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    """Return (day, symbol, side, quantity, price, fee) of each fill."""
    return [
        (f"{r.date:%Y-%m-%d}", r.symbol, r.side, r.quantity, r.price, r.fee)
        for r in frame[["date", "symbol", "side", "quantity", "price", "fee"]].itertuples(index=False)
    ]


@pytest.mark.parametrize("name", ["statement.csv", "trades.csv", "U1_activity.csv"])
def test_activity_statement_gives_the_orders_of_stocks_alone(one: Callable[..., Any], name: str) -> None:
    table = one("trades", name, ACTIVITY)

    assert rows(table.frame) == [
        ("2024-01-02", "AAPL", 1.0, 100.0, 187.15, 1.0),
        ("2024-01-03", "BRK-B", 1.0, 1600.0, 3.625, 8.5),
        ("2024-01-09", "AAPL", -1.0, 100.0, 184.5, 1.25),
    ]
    assert any("lots, totals and other assets" in guess for guess in table.guesses)


@pytest.mark.parametrize("text", [FLEX, FLEX_SPACED], ids=["run together", "spaced"])
@pytest.mark.parametrize("name", ["flex.csv", "trades.csv"])
def test_flex_query_gives_its_trades(one: Callable[..., Any], name: str, text: str) -> None:
    assert rows(one("trades", name, text).frame) == [
        ("2024-01-02", "AAPL", 1.0, 100.0, 187.15, 1.0),
        ("2024-01-03", "MSFT", 1.0, 1600.0, 3.625, 8.5),
        ("2024-01-09", "AAPL", -1.0, 100.0, 184.5, 1.25),
    ]


def test_flex_query_with_day_and_time_in_one_cell_keeps_the_day(one: Callable[..., Any]) -> None:
    lines = FLEX.replace("TradeDate,TradeTime", "DateTime").splitlines()
    joined = [
        lines[0],
        *(",".join([*c[:4], f"{c[4]};{c[5]}", *c[6:]]) for c in (line.split(",") for line in lines[1:])),
    ]
    days = one("trades", "flex.csv", "\n".join(joined) + "\n").frame["date"]

    assert [f"{day:%Y-%m-%d}" for day in days] == ["2024-01-02", "2024-01-03", "2024-01-09"]


def test_flex_query_without_a_side_has_it_from_the_sign(one: Callable[..., Any]) -> None:
    lines = [line.rpartition(",")[0] for line in FLEX.splitlines()]

    assert one("trades", "flex.csv", "\n".join(lines) + "\n").frame["side"].tolist() == [1.0, 1.0, -1.0]
