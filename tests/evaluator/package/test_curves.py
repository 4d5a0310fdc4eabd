"""Equity curves and logs as the tools write them."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from tests.evaluator.deliveries import clean

pytestmark = pytest.mark.thorough


def curve(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(date=frame["date"].dt.strftime("%Y-%m-%d"))


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("equity", {"equity": "momentum"}),
        ("nav_by_day", {"equity": "my strategy"}),
        ("portfolio_value", {"date": "datetime", "equity": "value", "cash": "cash"}),
        ("portfolio_history", {"date": "Date", "equity": "portfolio", "cash": "cash"}),
    ],
)
def test_curve_of_a_tool_is_the_equity(graded: Callable[..., Any], name: str, columns: dict[str, str]) -> None:
    delivered = clean()
    table = curve(delivered.tables.pop("equity"))
    kept = ["date", "equity", "cash"] if "cash" in columns else ["date", "equity"]
    delivered.tables[name] = table[kept].rename(columns=columns)

    result = graded(delivered)

    assert result.failing() == []
    assert result.scores["3.8"] == 4


def test_wide_weights_with_a_cash_column_stay_weights(graded: Callable[..., Any]) -> None:
    delivered = clean()
    long = delivered.tables["target_weights"]
    wide = long.pivot_table(index="date", columns="symbol", values="weight").fillna(0.0).reset_index()
    delivered.tables["target_weights"] = wide

    assert graded(delivered).scores["3.8"] == 4


def test_created_is_the_day_an_order_was_decided(graded: Callable[..., Any]) -> None:
    delivered = clean()
    delivered.tables["trades"] = delivered.tables["trades"].rename(columns={"signal_date": "created"})

    result = graded(delivered)

    assert result.scores["3.1"] == 4
    assert "inferred" not in result.evidence("3.1")


def test_news_beside_dates_and_symbols_are_no_list_of_names(graded: Callable[..., Any]) -> None:
    delivered = clean()
    rows = [
        ("2018-03-16", "AAA", "Markets fall sharply on fears of war"),
        ("2018-05-02", "BBB", "A quiet day for it all"),
    ]
    delivered.tables["news"] = pd.DataFrame(rows, columns=["date", "symbol", "headline"])

    result = graded(delivered)

    assert result.failing() == []
    assert (result.scores["1.1"], result.scores["3.8"]) == (4, 4)
