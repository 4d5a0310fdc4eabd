"""Daily bars of every symbol in one table: real rows where they exist, modelled fields marked row by row.

Columns: symbol, date (ISO text), open, high, low, close, adj_close, volume, modelled (any of open, high, low, close, volume is
modelled), modelled_light (close or volume is modelled). adj_close is real in every row of a stock or of the index.
"""

import numpy as np
import pandas as pd

from offline.data import bars, dividends
from offline.data.facts import Facts, load_facts
from offline.data.standins import FROZEN_TODAY

REAL_BAR_SYMBOLS = ("AAPL", "AMZN", "GOOG", "META", "NFLX", "NVDA")
INDEX, VIX = "^GSPC", "^VIX"
SIGNIFICANT_DIGITS = 12
REAL_DIGITS = 7  # the source stores single precision: 126.04 as 126.0400009155
COLUMNS = ("symbol", "date", "open", "high", "low", "close", "adj_close", "volume", "modelled", "modelled_light")


def significant(values: np.ndarray, digits: int = SIGNIFICANT_DIGITS) -> np.ndarray:
    """Return the values at so many significant digits; 12 are short in JSON and exact enough for identities at 1e-9."""
    return np.array([float(f"{value:.{digits}g}") for value in values])


def frame(symbol: str, dates: pd.DatetimeIndex, columns: dict[str, np.ndarray]) -> pd.DataFrame:
    """Return one symbol's rows in the table's columns, ascending by date."""
    prices = {name: significant(columns[name]) for name in ("open", "high", "low", "close", "adj_close")}
    rest = {name: columns[name] for name in ("volume", "modelled", "modelled_light")}
    table = pd.DataFrame({"symbol": symbol, "date": dates.strftime("%Y-%m-%d").to_numpy(), **prices, **rest})
    return table[list(COLUMNS)]


def dividend_frame(symbol: str, dates: pd.DatetimeIndex, paid: dividends.Adjusted, *, modelled: bool) -> pd.DataFrame:
    """Return the dividends of one name: symbol, date (ex-date), dividend, close (of the session before), modelled."""
    rows = list(paid.dividends)
    return pd.DataFrame(
        {
            "symbol": symbol,
            "date": dates[rows].strftime("%Y-%m-%d").to_numpy(dtype=object),
            "dividend": np.array(list(paid.dividends.values()), dtype=float),
            "close_before": paid.close[[row - 1 for row in rows]],
            "modelled": modelled,
        }
    )


def modelled_stock(facts: Facts, adjusted: pd.Series) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return bars and dividends of a name with real adjusted closes only."""
    dates = pd.DatetimeIndex(adjusted.index)
    paid = dividends.back_out(dates, adjusted.to_numpy(dtype=float), facts)
    made = bars.model(facts.symbol, paid.close, level=facts.volume_m * 1e6)
    yes = np.ones(len(dates), dtype=bool)
    columns = {
        "open": made.open,
        "high": made.high,
        "low": made.low,
        "close": paid.close,
        "adj_close": paid.adjusted,
        "volume": made.volume,
        "modelled": yes,
        "modelled_light": yes,
    }
    return frame(facts.symbol, dates, columns), dividend_frame(facts.symbol, dates, paid, modelled=True)


def real_stock(symbol: str, source: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return bars and dividends of a name with real bars; `source` has date, open, high, low, close, volume, adjusted."""
    dates = pd.DatetimeIndex(pd.to_datetime(source["date"]))
    close = significant(source["close"].to_numpy(dtype=float), REAL_DIGITS)
    paid = dividends.derive(close, source["adjusted"].to_numpy(dtype=float))
    no = np.zeros(len(dates), dtype=bool)
    columns = {name: significant(source[name].to_numpy(dtype=float), REAL_DIGITS) for name in ("open", "high", "low")}
    columns |= {"close": close, "adj_close": paid.adjusted, "volume": source["volume"].to_numpy(dtype=np.int64)}
    columns |= {"modelled": no, "modelled_light": no}
    return frame(symbol, dates, columns), dividend_frame(symbol, dates, paid, modelled=False)


def earlier_rows(facts: Facts, adjusted: pd.Series, later: pd.DataFrame) -> pd.DataFrame:
    """Return modelled bars before the first real bar, from real adjusted closes joined on the first common session.

    No dividends are modelled there: the factor adjusted / close stays what it is on the first real row.
    """
    first = later.iloc[0]
    before = adjusted[adjusted.index < pd.Timestamp(first["date"])]
    dates = pd.DatetimeIndex(before.index)
    level = before.to_numpy(dtype=float) * first["adj_close"] / adjusted[pd.Timestamp(first["date"])]
    close = level * first["close"] / first["adj_close"]
    made = bars.model(facts.symbol, close, level=facts.volume_m * 1e6)
    yes = np.ones(len(dates), dtype=bool)
    columns = {"open": made.open, "high": made.high, "low": made.low, "close": close, "adj_close": level}
    columns |= {"volume": made.volume, "modelled": yes, "modelled_light": yes}
    return frame(facts.symbol, dates, columns)


def index_rows(close: pd.Series, real: pd.DataFrame) -> pd.DataFrame:
    """Return the index's bars; `real` has date-indexed Open, High, Low, Close, Volume and replaces modelled rows whole."""
    dates = pd.DatetimeIndex(close.index)
    values = close.to_numpy(dtype=float)
    years = (dates - dates[0]).days.to_numpy() / 365.25
    # 160 million shares a day in 1990 growing to 750 million in 1998; about 4 billion after 2018.
    level = np.where(dates.year < 1999, 1.6e8 * np.exp(0.17 * years), 3.9e9)
    made = bars.model(INDEX, values, level=level)
    table = pd.DataFrame(
        {"open": made.open, "high": made.high, "low": made.low, "close": values, "volume": made.volume}, index=dates
    )
    real = real.rename(columns=str.lower)[["open", "high", "low", "close", "volume"]]
    is_real = table.index.isin(real.index)
    table.loc[is_real] = real.reindex(table.index[is_real]).to_numpy()
    columns = {name: table[name].to_numpy(dtype=float) for name in ("open", "high", "low", "close")}
    columns |= {"adj_close": columns["close"], "volume": table["volume"].to_numpy().astype(np.int64)}
    columns |= {"modelled": ~is_real, "modelled_light": ~is_real}
    return frame(INDEX, dates, columns)


def stocks(adjusted: pd.DataFrame, real: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return bars and dividends of the 25 names, sorted by symbol and date."""
    real = real[real["date"] <= FROZEN_TODAY]
    tables, paid = [], []
    for symbol, facts in sorted(load_facts().items()):
        if symbol in REAL_BAR_SYMBOLS:
            table, dividend_table = real_stock(symbol, real[real["symbol"] == symbol].sort_values("date"))
            if symbol in adjusted:
                table = pd.concat([earlier_rows(facts, adjusted[symbol], table), table])
        else:
            table, dividend_table = modelled_stock(facts, adjusted[symbol])
        tables.append(table)
        paid.append(dividend_table)
    return pd.concat(tables, ignore_index=True), pd.concat([p for p in paid if len(p)], ignore_index=True)
