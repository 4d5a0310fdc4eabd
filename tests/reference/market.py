"""A small made-up market in the shapes of the FMP API, for tests without the offline service."""

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd

NAMES = ("AAPL", "AMD", "AMZN", "BAC", "BBY", "CVX", "GE", "GOOG", "HD", "JNJ", "JPM", "KO", "LLY", "META", "MRK")
NAMES += ("MSFT", "NFLX", "NVDA", "PEP", "PFE", "PG")
FIRST, CUT, LAST = "2013-01-02", "2016-06-30", "2016-12-30"


def sessions() -> pd.DatetimeIndex:
    """Return weekdays; holidays do not matter here."""
    return pd.bdate_range(FIRST, LAST)


def rows_of(tool: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the service would answer, newest first, with rows after the cut when nobody bounds the request."""
    symbol = arguments.get("symbol", "")
    if tool == "search-company-screener":
        return [{"symbol": name, "companyName": name, "sector": "Technology", "price": 50.0} for name in NAMES]
    if tool == "profile-symbol":
        sector = "Financial Services" if symbol in ("BAC", "JPM") else "Technology"
        return [{"symbol": symbol, "companyName": f"{symbol} Inc.", "sector": sector}]
    if tool == "splits-company":
        return [{"symbol": symbol, "date": "2014-06-09", "numerator": 7, "denominator": 1}] if symbol == "AAPL" else []
    frame = _bars(symbol)
    if tool == "dividends-company":
        paid = frame[frame["dividend"] > 0]
        return [{"date": day.date().isoformat(), "adjDividend": value} for day, value in paid["dividend"].items()][::-1]
    if tool.startswith("historical-price-eod"):
        inside = frame.loc[arguments.get("from", FIRST) : arguments.get("to", LAST)]
        return [_bar(tool, symbol, day, row) for day, row in inside.iterrows()][::-1]
    return _statements(tool, symbol)


def _bars(symbol: str) -> pd.DataFrame:
    """Return bars with a market part, an own part and a quarterly dividend."""
    days = sessions()
    own = np.random.default_rng(sum(ord(letter) * (place + 7) for place, letter in enumerate(symbol)))
    base = np.random.default_rng(1).normal(0.0004, 0.009, len(days))
    drift = own.normal(0.0001, 0.012, len(days)) if symbol not in ("SPY", "^VIX") else np.zeros(len(days))
    close = 40.0 * np.cumprod(1.0 + base * own.uniform(0.6, 1.4) + drift)
    if symbol == "^VIX":
        close = 12.0 + 25.0 * np.abs(own.normal(size=len(days)))
    opened = close * (1.0 + own.normal(0.0, 0.003, len(days)))
    dividend = (
        np.where(np.arange(len(days)) % 63 == 40, close * 0.005, 0.0) if symbol != "^VIX" else np.zeros(len(days))
    )
    factor = np.ones(len(days))
    for at in np.flatnonzero(dividend)[::-1]:
        factor[:at] *= 1.0 - dividend[at] / close[at - 1]
    table = {
        "open": opened,
        "high": np.maximum(opened, close) * 1.004,
        "low": np.minimum(opened, close) * 0.996,
        "close": close,
        "volume": own.integers(1_000_000, 4_000_000, len(days)).astype(float),
        "adjusted": close * factor,
        "dividend": dividend,
    }
    return pd.DataFrame(table, index=days)


def _bar(tool: str, symbol: str, day: pd.Timestamp, row: pd.Series) -> dict[str, Any]:
    """Return one bar in the shape of the endpoint."""
    out: dict[str, Any] = {"symbol": symbol, "date": day.date().isoformat(), "volume": row["volume"]}
    if tool.endswith("dividend-adjusted"):
        return {**out, "adjClose": row["adjusted"]}
    return {**out, **{name: row[name] for name in ("open", "high", "low", "close")}}


def _statements(tool: str, symbol: str) -> list[dict[str, Any]]:
    """Return quarterly statements filed 35 days after the quarter, every third one after the close."""
    own = np.random.default_rng(sum(map(ord, symbol)))
    out = []
    for count, end in enumerate(pd.date_range("2012-03-31", "2016-09-30", freq="QE")):
        filed = end + dt.timedelta(days=35)
        hour = "17:05:00" if count % 3 == 0 else "08:30:00"
        income = own.normal(5e8, 1e8)
        values = {
            "income-statement": {"revenue": own.uniform(4e9, 6e9), "costOfRevenue": own.uniform(2e9, 3e9)}
            | {"grossProfit": 2e9, "netIncome": income, "eps": income / 1e9, "weightedAverageShsOut": 1e9},
            "cashflow-statement": {"operatingCashFlow": income * own.uniform(0.8, 1.5), "capitalExpenditure": -1e8},
            "balance-sheet-statement": {"totalAssets": own.uniform(2e10, 3e10), "totalStockholdersEquity": 8e9},
        }[tool]
        stamp = {"filingDate": filed.date().isoformat(), "acceptedDate": f"{filed.date().isoformat()} {hour}"}
        out.append({"date": end.date().isoformat(), "symbol": symbol, "period": "Q1", **stamp, **values})
    return out[::-1]
