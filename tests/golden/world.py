"""A small deterministic market for the golden cases: eight names, 900 sessions, quarterly statements, an index and a VIX.

Plain Python lists and `random.Random`, so that no array library stands behind the expected values.
"""

import math
import random
from dataclasses import dataclass
from datetime import date, timedelta

import exchange_calendars

SYMBOLS = ("AAA", "BBB", "CCC", "DDD", "EEE", "FFF", "GGG", "HHH")
FINANCIAL = "GGG"
N_SESSIONS = 900
FIRST = "2015-01-02"
STATEMENT_FIELDS = (
    "revenue",
    "cost_of_revenue",
    "gross_profit",
    "net_income",
    "eps",
    "operating_cash_flow",
    "capex",
    "total_assets",
    "common_equity",
    "shares",
)


@dataclass(frozen=True)
class Statement:
    """One quarter of one name."""

    symbol: str
    period_end: date
    announced: date
    items: dict[str, float]


@dataclass(frozen=True)
class World:
    """Prices by symbol as lists aligned with `sessions`; statements in time order."""

    sessions: tuple[date, ...]
    open: dict[str, list[float]]
    high: dict[str, list[float]]
    low: dict[str, list[float]]
    close: dict[str, list[float]]
    adj_close: dict[str, list[float]]
    volume: dict[str, list[int]]
    dividends: dict[str, list[float]]
    spy: list[float]
    vix: list[float]
    statements: tuple[Statement, ...]


def _sessions() -> tuple[date, ...]:
    calendar = exchange_calendars.get_calendar("XNYS", start="1990-01-01")
    return tuple(stamp.date() for stamp in calendar.sessions_window(FIRST, N_SESSIONS))


def _quarter_ends(first_year: int, last: date) -> list[date]:
    ends = []
    for year in range(first_year, last.year + 1):
        for month, day in ((3, 31), (6, 30), (9, 30), (12, 31)):
            if date(year, month, day) <= last:
                ends.append(date(year, month, day))
    return ends


def _statements(rng: random.Random, last: date) -> tuple[Statement, ...]:
    found = []
    for k, symbol in enumerate(SYMBOLS):
        revenue, assets, equity = 800.0 + 150 * k, 5000.0 + 400 * k, 2000.0 + 120 * k
        shares = 100.0 + 17 * k
        for end in _quarter_ends(2011, last):
            revenue *= 1 + rng.uniform(-0.04, 0.06)
            margin, gross = rng.uniform(0.02, 0.2), rng.uniform(0.3, 0.6)
            income = revenue * margin
            assets *= 1 + rng.uniform(-0.01, 0.02)
            equity *= 1 + rng.uniform(-0.01, 0.02)
            shares *= 1 + rng.uniform(-0.004, 0.002)
            values = {
                "revenue": revenue,
                "cost_of_revenue": revenue * (1 - gross),
                "gross_profit": revenue * gross,
                "net_income": income,
                "eps": income / shares,
                "operating_cash_flow": income * rng.uniform(0.7, 1.5),
                "capex": revenue * rng.uniform(0.02, 0.08),
                "total_assets": assets,
                "common_equity": equity,
                "shares": shares,
            }
            found.append(Statement(symbol, end, end + timedelta(days=rng.randint(22, 44)), values))
    return tuple(sorted(found, key=lambda s: (s.announced, s.symbol, s.period_end)))


def _market(rng: random.Random, n: int) -> tuple[list[float], list[float]]:
    spy, vix, level = [], [], 200.0
    for i in range(n):
        turbulent = 300 <= i < 380 or 700 <= i < 760 or 815 <= i < 850
        sd = 0.018 if turbulent else 0.007
        drift = -0.002 if 300 <= i < 380 or 700 <= i < 740 else 0.0006
        level *= 1 + rng.gauss(drift, sd)
        spy.append(level)
        vix.append(12 + 1100 * sd + rng.uniform(-3, 3))
    return spy, vix


def make_world(seed: int = 20150102) -> World:
    """Return the market; the same seed gives the same numbers on every Python 3.11+."""
    rng = random.Random(seed)
    sessions = _sessions()
    spy, vix = _market(rng, len(sessions))
    columns: dict[str, dict[str, list[float]]] = {
        c: {} for c in ("open", "high", "low", "close", "adj_close", "dividends")
    }
    volume: dict[str, list[int]] = {}
    for k, symbol in enumerate(SYMBOLS):
        opens, highs, lows, closes, dividends, volumes = [], [], [], [], [], []
        price = 30.0 + 12 * k
        for i in range(len(sessions)):
            market = spy[i] / spy[i - 1] - 1 if i else 0.0
            open_ = price * (1 + rng.gauss(0, 0.004))
            price = max(open_ * (1 + (0.4 + 0.15 * k) * market + rng.gauss(0.0002 * (k - 3), 0.006 + 0.0015 * k)), 1.0)
            opens.append(open_)
            closes.append(price)
            highs.append(max(open_, price) * (1 + abs(rng.gauss(0, 0.003))))
            lows.append(min(open_, price) * (1 - abs(rng.gauss(0, 0.003))))
            volumes.append(int(rng.uniform(2000, 9000) * (k + 1)))
            dividends.append(round(0.01 * price, 2) if k % 3 == 0 and i % 63 == 40 else 0.0)
        adjusted, factor = [0.0] * len(closes), 1.0
        for i in range(len(closes) - 1, -1, -1):
            adjusted[i] = closes[i] * factor
            if dividends[i] and i:
                factor *= 1 - dividends[i] / closes[i - 1]
        for column, values in zip(columns, (opens, highs, lows, closes, adjusted, dividends), strict=True):
            columns[column][symbol] = values
        volume[symbol] = volumes
    assert all(math.isfinite(v) for table in columns.values() for series in table.values() for v in series)
    return World(
        sessions=sessions,
        volume=volume,
        spy=spy,
        vix=vix,
        statements=_statements(rng, sessions[-1]),
        **columns,
    )
