"""End-of-day series and what is computed from them: full, light, adjusted, technical indicators."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from statistics import stdev

from offline.fmp.query import Query, Row, marked
from offline.fmp.replies import premium_parameter
from offline.fmp.store import STAND_INS, Bars, Store

EOD_ROWS = 5000
RowMaker = Callable[[str, Bars, int], Row]


def full_row(symbol: str, bars: Bars, i: int) -> Row:
    """Return a row of historical-price-eod/full; change is close minus open, as FMP has it."""
    opening, high, low, close = bars.open[i], bars.high[i], bars.low[i], bars.close[i]
    row: Row = {
        "symbol": symbol,
        "date": bars.date[i],
        "open": opening,
        "high": high,
        "low": low,
        "close": close,
        "volume": bars.volume[i],
        "change": round(close - opening, 4),
        "changePercent": round((close / opening - 1) * 100, 4),
        "vwap": round((opening + high + low + close) / 4, 4),
    }
    return marked(row, modelled=bars.modelled[i])


def light_row(symbol: str, bars: Bars, i: int) -> Row:
    """Return a row of historical-price-eod/light."""
    row: Row = {"symbol": symbol, "date": bars.date[i], "price": bars.close[i], "volume": bars.volume[i]}
    return marked(row, modelled=bars.modelled_light[i])


def _scaled_row(symbol: str, bars: Bars, i: int, close: float) -> Row:
    factor = close / bars.close[i]
    row: Row = {"symbol": symbol, "date": bars.date[i]}
    for name, value in (("adjOpen", bars.open[i]), ("adjHigh", bars.high[i]), ("adjLow", bars.low[i])):
        row[name] = value if factor == 1 else float(f"{value * factor:.12g}")
    row |= {"adjClose": close, "volume": bars.volume[i]}
    return marked(row, modelled=bars.modelled[i])


def dividend_adjusted_row(symbol: str, bars: Bars, i: int) -> Row:
    """Return a row adjusted for dividends and splits; adjClose is the real adjusted close."""
    return _scaled_row(symbol, bars, i, bars.adj_close[i])


def unsplit_row(symbol: str, bars: Bars, i: int) -> Row:
    """Return a row not adjusted for splits, which equals the split-adjusted one: no splits exist offline, and it says so."""
    row = _scaled_row(symbol, bars, i, bars.close[i])
    return row | {"splitsKnown": False}


ROW_MAKERS: dict[str, RowMaker] = {
    "full": full_row,
    "light": light_row,
    "dividend-adjusted": dividend_adjusted_row,
    "non-split-adjusted": unsplit_row,
}


def positions(bars: Bars, span: tuple[str, str]) -> Iterator[int]:
    """Yield the positions of the newest 5,000 bars in the span, newest first."""
    start, end = bisect_left(bars.date, span[0]), bisect_right(bars.date, span[1])
    return iter(range(end - 1, max(start, end - EOD_ROWS) - 1, -1))


def said(symbol: str, rows: list[Row]) -> list[Row]:
    """Return the rows, each naming what it is served from when the symbol is a stand-in."""
    source = STAND_INS.get(symbol)
    return [row | {"standIn": source} for row in rows] if source else rows


def eod(store: Store, query: Query, variant: str) -> list[Row]:
    """Answer historical-price-eod/<variant>."""
    symbol, span = query.symbol(), query.span()
    bars = store.bars.get(symbol)
    if bars is None:
        return []
    make = ROW_MAKERS[variant]
    return said(symbol, [make(symbol, bars, i) for i in positions(bars, span)])


def _windows(close: list[float], length: int) -> Iterator[list[float] | None]:
    for i in range(len(close)):
        yield close[i + 1 - length : i + 1] if i + 1 >= length else None


def _exponential(close: list[float], length: int) -> list[float | None]:
    weight, level = 2 / (length + 1), close[0]
    values: list[float | None] = []
    for i, price in enumerate(close):
        level = level + weight * (price - level)
        values.append(level if i + 1 >= length else None)
    return values


def _strength(close: list[float], length: int) -> list[float | None]:
    """Wilder's relative strength index."""
    values: list[float | None] = [None]
    up = down = 0.0
    for i in range(1, len(close)):
        move = close[i] - close[i - 1]
        share = 1 / min(i, length)
        up += (max(move, 0.0) - up) * share
        down += (max(-move, 0.0) - down) * share
        values.append((100.0 if down == 0 else 100 - 100 / (1 + up / down)) if i >= length else None)
    return values


def indicator_values(name: str, close: list[float], length: int) -> list[float | None]:
    """Return one indicator at each close, None until enough closes exist."""
    if name == "ema":
        return _exponential(close, length)
    if name == "rsi":
        return _strength(close, length)
    windows = _windows(close, length)
    if name == "sma":
        return [None if w is None else sum(w) / length for w in windows]
    if name == "wma":
        total = length * (length + 1) / 2
        return [None if w is None else sum(p * (k + 1) for k, p in enumerate(w)) / total for w in windows]
    return [None if w is None or length < 2 else stdev(w) for w in windows]


INDICATORS = {"sma": "sma", "ema": "ema", "wma": "wma", "rsi": "rsi", "standarddeviation": "standardDeviation"}


def indicator(store: Store, query: Query, name: str) -> list[Row]:
    """Answer technical-indicators/<name> on split-adjusted closes; only the daily time frame exists offline."""
    symbol, span = query.symbol(), query.span()
    query.text("periodLength")
    length = max(query.whole("periodLength", 1), 1)
    if query.text("timeframe") != "1day":
        raise premium_parameter("timeframe")
    bars = store.bars.get(symbol)
    if bars is None:
        return []
    values = indicator_values(name, bars.close, length)
    rows = []
    for i in positions(bars, span):
        value = values[i]
        if value is not None:
            row: Row = {"date": bars.date[i], "open": bars.open[i], "high": bars.high[i], "low": bars.low[i]}
            row |= {"close": bars.close[i], "volume": bars.volume[i], INDICATORS[name]: round(value, 6)}
            rows.append(marked(row, modelled=bars.modelled[i]))
    return said(symbol, rows)
