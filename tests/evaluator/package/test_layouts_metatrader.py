"""MetaTrader: the tester report of version 4 and the deals of version 5."""

from collections.abc import Callable
from typing import Any

import pytest

MT4 = """\
#,Time,Type,Order,Size,Price,S/L,T/P,Profit,Balance
1,2024.01.02 10:15,buy,1,2.00,187.15,180.00,200.00,,
2,2024.01.03 11:00,modify,1,2.00,187.15,185.00,200.00,,
3,2024.01.04 12:30,s/l,1,2.00,185.00,185.00,200.00,-4.30,9995.70
4,2024.01.05 10:15,sell,2,1.00,184.00,190.00,170.00,,
5,2024.01.08 10:15,close,2,1.00,182.50,190.00,170.00,1.50,9997.20
6,2024.01.09 10:15,buy,3,3.00,181.00,0.00,190.00,,
7,2024.01.10 16:00,t/p,3,3.00,190.00,0.00,190.00,27.00,10024.20
"""
MT5 = """\
Time,Deal,Symbol,Type,Direction,Volume,Price,Order,Commission,Fee,Swap,Profit,Balance,Comment
2024.01.02 00:00:00,1,,balance,,,,,0.00,0.00,0.00,100 000.00,100 000.00,
2024.01.02 10:15:00,2,AAPL,buy,in,100,187.15,2,-1.00,-0.25,0.00,0.00,99 998.75,
2024.01.03 10:15:00,3,XAU,buy,in,1.5,4 101.093,3,-2.00,0.00,0.00,0.00,99 996.75,entry
2024.01.09 15:59:59,4,AAPL,sell,out,100,184.50,4,-1.00,0.00,0.00,-265.00,99 730.75,[sl 184.5]
"""


@pytest.mark.parametrize("name", ["report.csv", "trades.csv", "AAPL.csv"])
def test_version_4_report_gives_fills_and_no_changes_of_orders(one: Callable[..., Any], name: str) -> None:
    table = one("trades", name, MT4)
    frame = table.frame

    assert [f"{day:%Y-%m-%d}" for day in frame["date"]] == [
        "2024-01-02",
        "2024-01-04",
        "2024-01-05",
        "2024-01-08",
        "2024-01-09",
        "2024-01-10",
    ]
    assert frame["side"].tolist() == [1.0, -1.0, -1.0, 1.0, 1.0, -1.0]
    assert frame["quantity"].tolist() == [2.0, 2.0, 1.0, 1.0, 3.0, 3.0]
    assert frame["price"].tolist() == [187.15, 185.0, 184.0, 182.5, 181.0, 190.0]
    assert frame["reason"].tolist() == ["buy", "s/l", "sell", "close", "buy", "t/p"]
    assert any("1 rows of a MetaTrader 4 report" in guess for guess in table.guesses)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_version_5_deals_give_fills_fees_and_the_starting_balance(deliver: Callable[..., Any], separator: str) -> None:
    delivery = deliver({"deals.csv": MT5.replace(",", separator)})
    (table,) = delivery.of("trades")
    frame = table.frame

    assert [f"{day:%Y-%m-%d}" for day in frame["date"]] == ["2024-01-02", "2024-01-03", "2024-01-09"]
    assert frame["symbol"].tolist() == ["AAPL", "XAU", "AAPL"]
    assert frame["side"].tolist() == [1.0, 1.0, -1.0]
    assert frame["quantity"].tolist() == [100.0, 1.5, 100.0]
    assert frame["price"].tolist() == [187.15, 4101.093, 184.5]
    assert frame["fee"].tolist() == [1.25, 2.0, 1.0]
    (money,) = delivery.of("metrics")
    assert money.frame["value"].astype(float).tolist() == [100_000.0]
