"""Alpha Vantage: daily bars with numbered headers, as CSV, as a frame and as the answer's JSON."""

import json
from collections.abc import Callable
from typing import Any

import pytest

DAYS = {
    "2024-01-03": ("184.22", "185.88", "183.43", "184.25", "183.35", "58414460", "0.0000", "1.0"),
    "2024-01-02": ("187.15", "188.44", "183.885", "185.64", "184.73", "82488674", "0.2400", "4.0"),
}
PLAIN = ("open", "high", "low", "close", "adjusted_close", "volume", "dividend_amount", "split_coefficient")
NUMBERED = tuple(f"{at}. {name.replace('_', ' ')}" for at, name in enumerate(PLAIN, start=1))
WANTED = {
    "open": [187.15, 184.22],
    "high": [188.44, 185.88],
    "low": [183.885, 183.43],
    "close": [185.64, 184.25],
    "adj_close": [184.73, 183.35],
    "volume": [82488674.0, 58414460.0],
    "dividends": [0.24, 0.0],
    "stock_splits": [4.0, 1.0],
}


def text(date: str, names: tuple[str, ...]) -> str:
    return "\n".join([",".join((date, *names)), *(",".join((day, *values)) for day, values in DAYS.items())]) + "\n"


def answer() -> str:
    series = {day: dict(zip(NUMBERED, values, strict=True)) for day, values in DAYS.items()}
    about = {"1. Information": "Daily Time Series", "2. Symbol": "AAPL", "3. Last Refreshed": "2024-01-03"}
    return json.dumps({"Meta Data": about, "Time Series (Daily)": series})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("AAPL.csv", text("timestamp", PLAIN)),
        ("AAPL.csv", text("date", NUMBERED)),
        ("AAPL.csv", text("", NUMBERED)),
        ("prices/AAPL.csv", text("timestamp", PLAIN)),
        ("AAPL.json", answer()),
        ("daily_adjusted.json", answer()),
    ],
    ids=["csv", "numbered", "index", "folder", "answer", "answer under another name"],
)
def test_daily_bars_keep_every_field(one: Callable[..., Any], name: str, content: str) -> None:
    frame = one("prices", name, content).frame

    assert [f"{day:%Y-%m-%d}" for day in frame["date"]] == ["2024-01-02", "2024-01-03"]
    assert frame["symbol"].tolist() == ["AAPL", "AAPL"]
    assert {column: frame[column].tolist() for column in WANTED} == WANTED
