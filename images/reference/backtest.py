"""Long-only equity backtest: one file, reads the tables beside it and writes every result again.

    python3 backtest.py [--dir FOLDER]

Reads `specification.csv`, `prices.csv`, `market.csv`, and where they exist `fundamentals.csv` and `universe.csv` from the
folder of this script (or FOLDER) and writes signals, selections, target weights, trades, equity, metrics and the checks
back into it. No network, no clock, no random numbers: the same inputs give the same bytes.

Functions that can be called one by one
---------------------------------------
`factor_scores(name, prices_wide, fundamentals=None, market=None, *, dates=None, sectors=None) -> DataFrame`
    Rows: `dates` (default: every session); columns: symbols; higher is better; NaN = missing. `prices_wide` maps a column
    name ("adj_close", "close", ...) to a frame of sessions x symbols; `fundamentals` is the long table with `announced`
    already shifted for filings after the close; `market` is sessions x series ("SPY", "^VIX"); `sectors` maps symbol to
    sector name.
`combine(method, scores, order) -> Ranking`
    `scores`: symbols x factors at one date; `order`: factor names as the user named them; method "none" (one factor),
    "zscore_mean", "rank_mean" or "sequential_screen". `Ranking.symbols` best first; `Ranking.composite` a Series, or None
    for the screen.
`covariance(method, returns, *, halflife=63) -> DataFrame`
    `returns`: the window of daily returns, one column a name, oldest first; daily covariance; method "sample", "ewma"
    or "ledoit_wolf".
`weights(scheme, names, *, composite=None, vols=None, caps=None, cov=None) -> Series`
    `names` best first; `composite`, `vols` (standard deviations) and `caps` (market values) are Series by name, `cov` the
    DAILY covariance by name. Sums to one.
`gate(option, params, market, adj_close=None, *, dates=None) -> Series of bool`
    True = hold. `params`: {"window"}, {"lookback"}, {"threshold"} or {"percentile"}; percent values as 50, not 0.5.
`run(spec, tables) -> Results`
    `spec`: a `Spec` (percent values as whole percent: 20 = 20 %); `tables`: {"prices", "market", "fundamentals",
    "universe"} as long frames in the layout of the CSV files. `Results` holds signals, selections, target_weights,
    trades, equity and metrics as frames in the layout of the CSV files.

Time: everything decided at the close of a decision session t trades strictly after t. Prices are split-adjusted,
dividends are cash on the ex-date, `adj_close` (splits and dividends) is used for signals only.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

# One thread: sums keep their order, so that every machine gives the same bytes.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from scipy.stats import rankdata

DAYS = 252
CARRY_SESSIONS = 5
EPS = 1e-9
PRICE_COLUMNS = ("open", "high", "low", "close", "adj_close", "volume", "dividends")

LOOKBACK = {
    "mom_12_1": 253,
    "mom_6_1": 127,
    "high_52w": 252,
    "rev_21": 22,
    "rev_5": 6,
    "low_vol_252": 253,
    "low_beta_252": 253,
    "low_max_21": 22,
}
"""Closes needed up to and including the decision session; fundamental factors need filings instead."""

FUNDAMENTAL = (
    "earnings_yield",
    "book_to_price",
    "fcf_yield",
    "roe",
    "gross_profitability",
    "low_accruals",
    "revenue_growth",
    "sue",
    "small_cap",
)
NEEDS_COVARIANCE = ("min_variance", "mean_variance", "risk_parity")


@dataclass(frozen=True)
class Spec:
    """The strategy as executed; percent parameters in whole percent, windows in sessions."""

    factors: tuple[str, ...]
    combination: str = "none"
    timing: str = "always_invested"
    timing_params: Mapping[str, float] = field(default_factory=dict)
    weighting: str = "equal"
    covariance: str = "none"
    vol_window: int = 126
    cov_window: int = 252
    halflife: int = 63
    n_holdings: int = 10
    rebalance: str = "monthly"
    risk: str = "none"
    risk_params: Mapping[str, float] = field(default_factory=dict)
    execution: str = "next_open"
    execution_params: Mapping[str, float] = field(default_factory=dict)
    rate_bps: float = 0.0
    capital: float = 1_000_000.0
    start: str = ""
    """First session whose data may be used; empty: the first in the price table."""
    end: str = ""
    """Last session; empty: the last in the price table."""


@dataclass(frozen=True)
class Ranking:
    """Candidates at one date, best first, with their score where one exists."""

    symbols: tuple[str, ...]
    composite: pd.Series | None


@dataclass(frozen=True)
class Results:
    """Tables of one run, in the layout of the CSV files."""

    signals: pd.DataFrame
    selections: pd.DataFrame
    target_weights: pd.DataFrame
    trades: pd.DataFrame
    equity: pd.DataFrame
    metrics: pd.DataFrame


# ---------------------------------------------------------------------------------------------------------- factors


def _window_rows(frame: pd.DataFrame, dates: pd.DatetimeIndex, length: int) -> np.ndarray:
    """Return (dates, length, symbols): the last `length` rows up to each date, NaN before the first row."""
    values = frame.to_numpy(dtype=float)
    padded = np.vstack([np.full((length - 1, values.shape[1]), np.nan), values])
    ends = frame.index.get_indexer(dates)
    if (ends < 0).any():
        raise ValueError("scores were asked for a date that is not a session of the price table")
    return padded[ends[:, None] + np.arange(length)[None, :]]


def _price_factor(name: str, adj: pd.DataFrame, market: pd.DataFrame | None, dates: pd.DatetimeIndex) -> np.ndarray:
    """Return scores (dates, symbols) of a factor built from adjusted closes alone."""
    window = _window_rows(adj, dates, LOOKBACK[name])
    last = window[:, -1]
    if name in ("mom_12_1", "mom_6_1"):
        return window[:, -22] / window[:, 0] - 1.0
    if name in ("rev_21", "rev_5"):
        return -(last / window[:, 0] - 1.0)
    if name == "high_52w":
        return last / window.max(axis=1)
    returns = window[:, 1:] / window[:, :-1] - 1.0
    if name == "low_vol_252":
        return -returns.std(axis=1, ddof=1)
    if name == "low_max_21":
        return -returns.max(axis=1)
    if market is None:
        raise ValueError("low_beta_252 needs the SPY series in the market table")
    spy = _window_rows(market[["SPY"]].reindex(adj.index), dates, LOOKBACK[name])
    return -_betas(returns, spy[:, 1:] / spy[:, :-1] - 1.0)


def _betas(returns: np.ndarray, market_returns: np.ndarray) -> np.ndarray:
    """Return OLS betas (dates, symbols) over common observations, NaN under 200 of them."""
    both = np.isfinite(returns) & np.isfinite(market_returns)
    count = both.sum(axis=1)
    safe = np.maximum(count, 1)
    own = np.where(both, returns, 0.0)
    base = np.where(both, market_returns, 0.0)
    own = np.where(both, own - (own.sum(axis=1) / safe)[:, None, :], 0.0)
    base = np.where(both, base - (base.sum(axis=1) / safe)[:, None, :], 0.0)
    spread = (base * base).sum(axis=1)
    slope = (own * base).sum(axis=1) / np.where(spread > 0, spread, np.nan)
    return np.where(count >= 200, slope, np.nan)


@dataclass(frozen=True)
class Statements:
    """Quarters of one name known at one date, oldest first, as arrays."""

    columns: Mapping[str, np.ndarray]
    rows: np.ndarray
    """Positions of the usable rows inside the columns."""
    chain: int
    """How many of the latest quarters are consecutive (period ends at most 110 days apart)."""

    def tail(self, column: str, count: int) -> np.ndarray:
        """Return the latest `count` values, oldest first; NaN when the chain is shorter."""
        if self.chain < count or column not in self.columns:
            return np.full(count, np.nan)
        return self.columns[column][self.rows[len(self.rows) - count :]]


def _statement_value(name: str, known: Statements) -> float:
    """Return the statement part of a factor from the usable quarters; NaN when it cannot be formed."""
    tail = known.tail
    if name in ("roe", "low_accruals", "sue"):
        return _two_point_value(name, tail)
    if name == "small_cap":
        return 1.0
    if name == "book_to_price":
        equity = float(tail("common_equity", 1)[0])
        return equity if equity >= 0 else math.nan
    if name in ("earnings_yield", "fcf_yield"):
        spent = 0.0 if name == "earnings_yield" else float(tail("capex", 4).sum())
        return float(tail("net_income" if name == "earnings_yield" else "operating_cash_flow", 4).sum()) - spent
    revenue = float(tail("revenue", 4).sum())
    if name == "gross_profitability":
        return (revenue - float(tail("cost_of_revenue", 4).sum())) / float(tail("total_assets", 1)[0])
    return revenue / float(tail("revenue", 8)[:4].sum()) - 1.0


def _two_point_value(name: str, tail: Callable[[str, int], np.ndarray]) -> float:
    """Return factors that compare the latest quarter with earlier ones."""
    if name == "roe":
        equity = tail("common_equity", 5)[[0, -1]]
        return float(tail("net_income", 4).sum() / equity.mean()) if (equity > 0).all() else math.nan
    if name == "low_accruals":
        assets = tail("total_assets", 5)[[0, -1]]
        return float(-(tail("net_income", 4).sum() - tail("operating_cash_flow", 4).sum()) / assets.mean())
    eps = tail("eps", 12)
    differences = eps[4:] - eps[:-4]
    spread = differences.std(ddof=1)
    return float(differences[-1] / spread) if spread > 0 else math.nan


def _known_at(columns: Mapping[str, np.ndarray], ends: np.ndarray, count: int) -> Statements:
    """Return the usable quarters among the first `count` rows by announcement; a later row for a period counts."""
    _, latest = np.unique(ends[:count][::-1], return_index=True)
    rows = count - 1 - latest
    gaps = np.diff(ends[rows]).astype("timedelta64[D]").astype(int)
    broken = np.flatnonzero(gaps > 110)
    return Statements(columns, rows, len(rows) if broken.size == 0 else len(rows) - int(broken[-1]) - 1)


def _as_of(
    fundamentals: pd.DataFrame, symbol: str, name: str, dates: pd.DatetimeIndex
) -> tuple[np.ndarray, np.ndarray]:
    """Return (statement value, shares) known at each date for one symbol."""
    value, shares = np.full(len(dates), np.nan), np.full(len(dates), np.nan)
    own = fundamentals[fundamentals["symbol"] == symbol].sort_values(["announced", "period_end"], kind="stable")
    if own.empty:
        return value, shares
    announced = own["announced"].to_numpy(dtype="datetime64[ns]")
    ends = own["period_end"].to_numpy(dtype="datetime64[ns]")
    columns = {column: own[column].to_numpy(dtype=float) for column in own.columns if own[column].dtype.kind in "fi"}
    counts = np.searchsorted(announced, dates.to_numpy(dtype="datetime64[ns]"), side="right")
    for count in np.unique(counts[counts > 0]):
        known = _known_at(columns, ends, int(count))
        at = counts == count
        value[at] = _statement_value(name, known)
        if "shares" in columns:
            shares[at] = columns["shares"][known.rows[-1]]
    return value, shares


def factor_scores(
    name: str,
    prices_wide: Mapping[str, pd.DataFrame],
    fundamentals: pd.DataFrame | None = None,
    market: pd.DataFrame | None = None,
    *,
    dates: pd.DatetimeIndex | None = None,
    sectors: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Return scores of one factor, dates x symbols, higher is better, NaN where it cannot be formed.

    Raises:
        ValueError: the factor is unknown or a table it needs is missing.

    """
    adj = prices_wide["adj_close"]
    days = adj.index if dates is None else pd.DatetimeIndex(dates)
    if name in LOOKBACK:
        return pd.DataFrame(_price_factor(name, adj, market, days), index=days, columns=adj.columns)
    if name not in FUNDAMENTAL:
        raise ValueError(f"factor {name!r} is not known")
    if fundamentals is None:
        raise ValueError(f"factor {name!r} needs the fundamentals table")
    close = prices_wide["close"].reindex(days)
    out = pd.DataFrame(np.nan, index=days, columns=adj.columns)
    for symbol in adj.columns:
        if name == "gross_profitability" and (sectors or {}).get(symbol, "").startswith("Financ"):
            continue
        value, shares = _as_of(fundamentals, symbol, name, days)
        cap = close[symbol].to_numpy(dtype=float) * shares
        cap = np.where(cap > 0, cap, np.nan)
        if name in ("earnings_yield", "book_to_price", "fcf_yield"):
            value = value / cap
        elif name == "small_cap":
            value = -np.log(cap)
        out[symbol] = np.where(np.isfinite(value), value, np.nan)
    return out


def market_caps(
    prices_wide: Mapping[str, pd.DataFrame], fundamentals: pd.DataFrame, dates: pd.DatetimeIndex
) -> pd.DataFrame:
    """Return close x shares of the latest usable quarter, dates x symbols."""
    return np.exp(-factor_scores("small_cap", prices_wide, fundamentals, dates=dates))


# ------------------------------------------------------------------------------------------------------ combination


def combine(method: str, scores: pd.DataFrame, order: Sequence[str]) -> Ranking:
    """Rank the names of one date; names with any factor missing are left out.

    Raises:
        ValueError: the method is unknown.

    """
    table = scores[list(order)].to_numpy(dtype=float)
    whole = np.isfinite(table).all(axis=1)
    names = [name for name, kept in zip(scores.index, whole, strict=True) if kept]
    table = table[whole]
    if method == "sequential_screen":
        return Ranking(_screen(names, table), None)
    if len(order) == 1:
        values = table[:, 0]
    elif method == "zscore_mean":
        values = np.mean([_zscore(table[:, column]) for column in range(table.shape[1])], axis=0)
    elif method == "rank_mean":
        ranks = [rankdata(table[:, column]) for column in range(table.shape[1])]
        values = np.mean(ranks, axis=0) / max(len(names), 1)
    else:
        raise ValueError(f"combination {method!r} is not known")
    return Ranking(_best_first(names, values), pd.Series(values, index=names, dtype=float))


def _best_first(names: Sequence[str], values: np.ndarray) -> tuple[str, ...]:
    """Return names by value, highest first, ties by name."""
    return tuple(name for _, name in sorted((-float(value), name) for value, name in zip(values, names, strict=True)))


def _zscore(values: np.ndarray) -> np.ndarray:
    """Return clipped (1 % and 99 %) z-scores; all zero without spread."""
    if len(values) < 2:
        return values * 0.0
    low, high = np.quantile(values, [0.01, 0.99])
    clipped = np.clip(values, low, high)
    spread = float(clipped.std(ddof=1))
    return (clipped - clipped.mean()) / spread if spread > 0 else clipped * 0.0


def _screen(names: list[str], table: np.ndarray) -> tuple[str, ...]:
    """Keep the best half on each factor but the last, then order by the last."""
    place = {name: row for row, name in enumerate(names)}
    kept = names
    for column in range(table.shape[1] - 1):
        best = _best_first(kept, table[[place[name] for name in kept], column])
        kept = list(best[: math.ceil(len(best) / 2)])
    return _best_first(kept, table[[place[name] for name in kept], -1])


# --------------------------------------------------------------------------------------- covariance and weighting


def covariance(method: str, returns: pd.DataFrame, *, halflife: float = 63) -> pd.DataFrame:
    """Return the daily covariance of the columns of a window of returns (oldest first).

    Raises:
        ValueError: the estimator is unknown.

    """
    values = returns.to_numpy(dtype=float)
    if method == "sample":
        centred = values - values.mean(axis=0)
        matrix = centred.T @ centred / (len(values) - 1)
    elif method == "ewma":
        decay = 0.5 ** (np.arange(len(values))[::-1] / halflife)
        decay = decay / decay.sum()
        centred = values - decay @ values
        matrix = (centred * decay[:, None]).T @ centred
    elif method == "ledoit_wolf":
        matrix = _ledoit_wolf(values)
    else:
        raise ValueError(f"covariance {method!r} is not known")
    return pd.DataFrame(matrix, index=returns.columns, columns=returns.columns)


def _ledoit_wolf(values: np.ndarray) -> np.ndarray:
    """Shrink the ddof-0 covariance to a multiple of the identity (Ledoit and Wolf, 2004, J. Multivariate Analysis)."""
    count, size = values.shape
    centred = values - values.mean(axis=0)
    sample = centred.T @ centred / count
    scale = np.trace(sample) / size
    distance = (np.square(sample).sum() - 2.0 * scale * np.trace(sample) + size * scale**2) / size
    squares = centred**2
    noise = ((squares.T @ squares).sum() / count - np.square(sample).sum()) / (size * count)
    noise = min(noise, distance)
    shrinkage = 0.0 if noise == 0 else noise / distance
    return (1.0 - shrinkage) * sample + shrinkage * scale * np.eye(size)


def weights(
    scheme: str,
    names: Sequence[str],
    *,
    composite: pd.Series | None = None,
    vols: pd.Series | None = None,
    caps: pd.Series | None = None,
    cov: pd.DataFrame | None = None,
) -> pd.Series:
    """Return long-only weights of the chosen names (best first), summing to one.

    Raises:
        ValueError: the scheme is unknown or what it needs was not given.

    """
    order = list(names)
    count = len(order)
    if count == 0:
        return pd.Series(dtype=float)
    if scheme == "equal":
        raw = np.ones(count)
    elif scheme == "rank_weighted":
        raw = np.arange(count, 0, -1, dtype=float)
    elif scheme == "score_weighted":
        raw = _score_shares(_given(composite, scheme)[order].to_numpy(dtype=float))
    elif scheme == "inverse_vol":
        raw = 1.0 / _given(vols, scheme)[order].to_numpy(dtype=float)
    elif scheme == "cap_weighted":
        raw = _given(caps, scheme)[order].to_numpy(dtype=float)
    else:
        matrix = _given(cov, scheme).loc[order, order].to_numpy(dtype=float)
        raw = _optimised(scheme, matrix, composite, order)
    return pd.Series(raw / raw.sum(), index=order)


def _given(value: Any, scheme: str) -> Any:
    """Return the value or say what is missing."""
    if value is None:
        raise ValueError(f"weighting {scheme!r} was called without the data it needs")
    return value


def _score_shares(scores: np.ndarray) -> np.ndarray:
    """Return scores shifted to be positive; equal when they do not differ."""
    spread = scores.max() - scores.min()
    return scores - scores.min() + 0.01 * spread if spread > 0 else np.ones(len(scores))


def _optimised(scheme: str, daily: np.ndarray, composite: pd.Series | None, order: list[str]) -> np.ndarray:
    """Return weights of the three schemes that use a covariance."""
    cap = max(0.25, 1.0 / len(order))
    if scheme == "risk_parity":
        return _risk_parity(daily)
    if scheme == "min_variance":
        return _box_qp(daily * DAYS, np.zeros(len(order)), cap)
    if scheme == "mean_variance":
        scores = _given(composite, scheme)[order].to_numpy(dtype=float)
        centred = scores - scores.mean()
        spread = centred.std(ddof=1) if len(centred) > 1 else 0.0
        expected = centred / spread * 0.05 if spread > 0 else centred * 0.0
        return _box_qp(daily * DAYS * 5.0, expected, cap)
    raise ValueError(f"weighting {scheme!r} is not known")


def _box_qp(hessian: np.ndarray, linear: np.ndarray, cap: float) -> np.ndarray:
    """Minimise w'Hw/2 - c'w with sum w = 1 and 0 <= w <= cap by an active-set method."""
    size = len(linear)
    current = np.full(size, 1.0 / size)
    if size * cap <= 1.0 + 1e-12:
        return current
    scale = float(np.trace(hessian)) / size or 1.0
    matrix = hessian / scale + 1e-13 * np.eye(size)
    target = linear / scale
    bound = np.zeros(size, dtype=int)
    for _ in range(50 * size):
        wanted, price = _free_solution(matrix, target, current, bound)
        step, blocking, side = _longest_step(current, wanted, bound, cap)
        current = current + step * (wanted - current)
        if blocking is not None:
            bound[blocking] = side
            current[blocking] = 0.0 if side < 0 else cap
            continue
        slope = (matrix @ current - target - price) * np.where(bound > 0, -1.0, 1.0)
        slope[bound == 0] = 0.0
        if slope.min() >= -1e-12:
            break
        bound[int(slope.argmin())] = 0
    return np.clip(current, 0.0, cap)


def _free_solution(
    matrix: np.ndarray, target: np.ndarray, current: np.ndarray, bound: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the optimum with the bound variables fixed, and the multiplier of the budget."""
    free = np.flatnonzero(bound == 0)
    fixed = np.flatnonzero(bound != 0)
    wanted = current.copy()
    if free.size == 0:
        return wanted, 0.0
    system = np.ones((free.size + 1, free.size + 1))
    system[:-1, :-1] = matrix[np.ix_(free, free)]
    system[-1, -1] = 0.0
    right = np.append(target[free] - matrix[np.ix_(free, fixed)] @ current[fixed], 1.0 - current[fixed].sum())
    solution = np.linalg.solve(system, right)
    wanted[free] = solution[:-1]
    return wanted, -float(solution[-1])


def _longest_step(
    current: np.ndarray, wanted: np.ndarray, bound: np.ndarray, cap: float
) -> tuple[float, int | None, int]:
    """Return how far towards `wanted` stays inside the box, with the variable that stops it and its side."""
    step, blocking, side = 1.0, None, 0
    for index in np.flatnonzero(bound == 0):
        move = wanted[index] - current[index]
        if wanted[index] < -1e-15 and move < 0:
            length, edge = current[index] / -move, -1
        elif wanted[index] > cap + 1e-15 and move > 0:
            length, edge = (cap - current[index]) / move, 1
        else:
            continue
        if length < step:
            step, blocking, side = max(length, 0.0), int(index), edge
    return step, blocking, side


def _risk_parity(daily: np.ndarray) -> np.ndarray:
    """Return equal risk contributions: Newton on x'Sx/2 - mean(log x), which is convex, then normalise."""
    size = len(daily)
    matrix = daily / (np.trace(daily) / size)
    point = 1.0 / np.sqrt(np.diag(matrix))
    point = point / math.sqrt(point @ matrix @ point)

    def cost(values: np.ndarray) -> float:
        return float(values @ matrix @ values / 2.0 - np.log(values).sum() / size)

    for _ in range(200):
        slope = matrix @ point - 1.0 / (size * point)
        move = np.linalg.solve(matrix + np.diag(1.0 / (size * point**2)), -slope)
        step = min(1.0, 0.95 / max(float((-move / point).max()), 1e-300))
        while cost(point + step * move) > cost(point) + 1e-16 and step > 1e-12:
            step /= 2.0
        point = point + step * move
        if np.abs(move / point).max() < 1e-13:
            break
    return point / point.sum()


# ----------------------------------------------------------------------------------------------------------- timing


def gate(
    option: str,
    params: Mapping[str, float],
    market: pd.DataFrame,
    adj_close: pd.DataFrame | None = None,
    *,
    dates: pd.DatetimeIndex | None = None,
) -> pd.Series:
    """Return True where the rule says hold; False too where its look-back is not complete.

    Raises:
        ValueError: the option is unknown or a series it needs is missing.

    """
    days = market.index if dates is None else pd.DatetimeIndex(dates)
    if option == "always_invested":
        return pd.Series(data=True, index=days)
    if option == "vix_gate":
        level = market["^VIX"] if "^VIX" in market.columns else market["VIX"]
        held = level < params["threshold"]
    elif option == "breadth":
        held = _breadth(_given(adj_close, option), params["threshold"])
    else:
        held = _index_gate(option, params, market["SPY"])
    return held.reindex(days).fillna(value=False).astype(bool)


def _index_gate(option: str, params: Mapping[str, float], spy: pd.Series) -> pd.Series:
    """Return the three gates that read the index alone."""
    if option == "spy_sma":
        window = int(params["window"])
        mean = _rolling(spy, window).mean(axis=1)
        return pd.Series(spy.to_numpy(dtype=float) >= mean - 1e-12 * np.abs(mean), index=spy.index)
    if option == "spy_abs_mom":
        return spy / spy.shift(int(params["lookback"])) - 1.0 > 0
    if option != "vol_gate":
        raise ValueError(f"timing rule {option!r} is not known")
    calm = pd.Series(_rolling(spy / spy.shift(1) - 1.0, 21).std(axis=1, ddof=1), index=spy.index)
    history = _rolling(calm.shift(1), 756)
    limit = np.full(len(calm), np.nan)
    full = np.isfinite(history).all(axis=1)
    limit[full] = np.quantile(history[full], params["percentile"] / 100.0, axis=1)
    return pd.Series(calm.to_numpy() <= limit, index=spy.index)


def _rolling(series: pd.Series, window: int) -> np.ndarray:
    """Return (sessions, window): the last `window` values at each session, NaN before the start."""
    frame = series.to_frame()
    return _window_rows(frame, frame.index, window)[:, :, 0]


def _breadth(adj_close: pd.DataFrame, threshold: float) -> pd.Series:
    """Return whether enough names with 200 closes stand at or above their own 200-session mean."""
    mean = _window_rows(adj_close, adj_close.index, 200).mean(axis=1)
    counted = np.isfinite(mean)
    above = (adj_close.to_numpy(dtype=float) >= mean - 1e-12 * np.abs(mean)) & counted
    share = above.sum(axis=1) / np.where(counted.sum(axis=1) > 0, counted.sum(axis=1), np.nan)
    return pd.Series(share >= threshold / 100.0 - EPS, index=adj_close.index)


# ------------------------------------------------------------------------------------------------------------ panel


@dataclass(frozen=True)
class Panel:
    """Prices as wide frames over one list of sessions, with everything else a run reads."""

    sessions: pd.DatetimeIndex
    wide: Mapping[str, pd.DataFrame]
    market: pd.DataFrame
    fundamentals: pd.DataFrame | None
    sectors: Mapping[str, str]
    adj: np.ndarray
    """Adjusted closes as an array, sessions x names."""
    place: Mapping[str, int]
    """Column of each name."""


def build_panel(spec: Spec, tables: Mapping[str, pd.DataFrame | None]) -> Panel:
    """Return the panel of a run: sessions from `spec.start` to `spec.end`, symbols in alphabetical order."""
    prices = tables["prices"].copy()
    prices["date"] = pd.to_datetime(prices["date"])
    first = pd.Timestamp(spec.start) if spec.start else prices["date"].min()
    last = pd.Timestamp(spec.end) if spec.end else prices["date"].max()
    prices = prices[(prices["date"] >= first) & (prices["date"] <= last)]
    market = _market_wide(tables.get("market"))
    market = market[(market.index >= first) & (market.index <= last)]
    sessions = pd.DatetimeIndex(sorted(set(prices["date"]) | set(market.index)))
    wide = {}
    for column in PRICE_COLUMNS:
        if column in prices.columns:
            table = prices.pivot_table(index="date", columns="symbol", values=column, aggfunc="first")
            wide[column] = table.reindex(sessions).sort_index(axis=1).astype(float)
    fundamentals = tables.get("fundamentals")
    if fundamentals is not None:
        fundamentals = fundamentals.copy()
        for column in ("period_end", "announced"):
            fundamentals[column] = pd.to_datetime(fundamentals[column])
        fundamentals = fundamentals[fundamentals["announced"] <= last]
    universe = tables.get("universe")
    sectors = {} if universe is None else dict(zip(universe["symbol"], universe["sector"].fillna(""), strict=True))
    adj = wide["adj_close"]
    place = {name: column for column, name in enumerate(adj.columns)}
    return Panel(sessions, wide, market.reindex(sessions), fundamentals, sectors, adj.to_numpy(), place)


def _market_wide(market: pd.DataFrame | None) -> pd.DataFrame:
    """Return the market table as sessions x series."""
    if market is None or market.empty:
        return pd.DataFrame(index=pd.DatetimeIndex([]))
    table = market.copy()
    table["date"] = pd.to_datetime(table["date"])
    return table.pivot_table(index="date", columns="symbol", values="close", aggfunc="first").sort_index().astype(float)


def decision_sessions(sessions: pd.DatetimeIndex, rebalance: str) -> np.ndarray:
    """Return positions of the last session of each ISO week, month or quarter.

    The period the data end in counts only when the next weekday already belongs to another one.
    """
    beyond = sessions[-1] + pd.Timedelta(days=1)
    while beyond.weekday() > 4:
        beyond += pd.Timedelta(days=1)
    days = sessions.append(pd.DatetimeIndex([beyond]))
    if rebalance == "weekly":
        iso = days.isocalendar()
        keys = iso["year"].to_numpy(dtype=int) * 100 + iso["week"].to_numpy(dtype=int)
    elif rebalance in ("monthly", "quarterly"):
        step = 1 if rebalance == "monthly" else 3
        keys = days.year.to_numpy() * 12 + (days.month.to_numpy() - 1) // step
    else:
        raise ValueError(f"rebalance {rebalance!r} is not known; expected weekly, monthly or quarterly")
    return np.flatnonzero(keys[1:] != keys[:-1])


def needed_closes(spec: Spec) -> int:
    """Return how many closes, the decision's included, the longest look-back in use needs."""
    needs = [LOOKBACK.get(name, 1) for name in spec.factors]
    timing = {
        "spy_sma": int(spec.timing_params.get("window", 0)),
        "spy_abs_mom": int(spec.timing_params.get("lookback", 0)) + 1,
        "breadth": 200,
        "vol_gate": 778,
    }
    needs.append(timing.get(spec.timing, 1))
    if spec.weighting == "inverse_vol":
        needs.append(spec.vol_window + 1)
    if spec.weighting in NEEDS_COVARIANCE:
        needs.append(_cov_window(spec) + 1)
    if spec.risk == "vol_target":
        needs.append(int(spec.risk_params["vol_window"]) + 1)
    return max(needs)


def _cov_window(spec: Spec) -> int:
    """Return the sessions of the covariance window; the exponential one always reads 252."""
    return DAYS if spec.covariance == "ewma" else spec.cov_window


# ------------------------------------------------------------------------------------------------------------- plan


@dataclass
class Plan:
    """What is known at each decision before any trade: scores, rankings, gate."""

    decisions: list[int]
    scores: dict[str, pd.DataFrame]
    rankings: dict[int, Ranking]
    gate: pd.Series
    caps: pd.DataFrame | None
    cache: dict[tuple[int, tuple[str, ...]], pd.Series] = field(default_factory=dict)


def make_plan(spec: Spec, panel: Panel, known: dict[tuple[Any, ...], Any] | None = None) -> Plan:
    """Return scores, rankings and gate at every decision from the first complete one on.

    `known` keeps scores and rankings between runs of the same factors and combination over the same panel.
    """
    known = {} if known is None else known
    every = decision_sessions(panel.sessions, spec.rebalance)
    ready = [int(at) for at in every if at >= needed_closes(spec) - 1]
    dates = panel.sessions[ready]
    for name in spec.factors:
        key = (name, spec.rebalance)
        if key not in known:
            days = panel.sessions[every]
            args = (panel.wide, panel.fundamentals, panel.market)
            known[key] = factor_scores(name, *args, dates=days, sectors=panel.sectors)
    scores = {name: known[name, spec.rebalance].loc[dates] for name in spec.factors}
    cube = np.stack([scores[name].to_numpy() for name in spec.factors], axis=2)
    rankings: dict[int, Ranking] = known.setdefault(("rankings",), {})
    for row, at in enumerate(ready):
        if at not in rankings:
            cross = pd.DataFrame(cube[row], index=scores[spec.factors[0]].columns, columns=list(spec.factors))
            rankings[at] = combine(spec.combination, cross, spec.factors)
    first = next((at for at in ready if len(rankings[at].symbols) >= _enough(spec, panel)), None)
    if first is None:
        raise ValueError("no decision date has enough names with complete data; expected a longer history")
    kept = [at for at in ready if at >= first]
    days = panel.sessions[kept]
    held = gate(spec.timing, spec.timing_params, panel.market, panel.wide["adj_close"], dates=days)
    caps = None
    if spec.weighting == "cap_weighted":
        caps = market_caps(panel.wide, _given(panel.fundamentals, "cap_weighted"), days)
    return Plan(kept, {name: table.loc[days] for name, table in scores.items()}, rankings, held, caps)


def _enough(spec: Spec, panel: Panel) -> int:
    """Return how many scored names the first decision needs: the holdings asked for, at most a screen's survivors."""
    universe = len(panel.wide["adj_close"].columns)
    if spec.combination == "sequential_screen":
        for _ in spec.factors[1:]:
            universe = math.ceil(universe / 2)
    if any(name in FUNDAMENTAL for name in spec.factors):
        universe = max(1, universe // 2)
    return min(spec.n_holdings, universe)


def _has_window(spec: Spec, panel: Panel, at: int, names: Sequence[str]) -> list[str]:
    """Return the names with a full window of returns where the weighting needs one."""
    length = 0
    if spec.weighting in NEEDS_COVARIANCE:
        length = _cov_window(spec)
    elif spec.weighting == "inverse_vol":
        length = spec.vol_window
    if length == 0:
        return list(names)
    window = panel.adj[max(at - length, 0) : at + 1]
    if len(window) < length + 1:
        return []
    whole = np.isfinite(window).all(axis=0)
    return [name for name in names if whole[panel.place[name]]]


def base_weights(spec: Spec, panel: Panel, plan: Plan, at: int, names: Sequence[str]) -> pd.Series:
    """Return the unscaled target weights of the chosen names at one decision."""
    key = (at, tuple(names))
    if key in plan.cache:
        return plan.cache[key]
    ranking = plan.rankings[at]
    vols = cov = None
    if names and spec.weighting == "inverse_vol":
        vols = pd.Series(_returns(panel, at, spec.vol_window, names).std(axis=0, ddof=1), index=list(names))
    elif names and spec.weighting in NEEDS_COVARIANCE:
        window = pd.DataFrame(_returns(panel, at, _cov_window(spec), names), columns=list(names))
        cov = covariance(spec.covariance, window, halflife=spec.halflife)
    caps = None if plan.caps is None else plan.caps.loc[panel.sessions[at]]
    out = weights(spec.weighting, names, composite=ranking.composite, vols=vols, caps=caps, cov=cov)
    plan.cache[key] = out
    return out


def _returns(panel: Panel, at: int, length: int, names: Sequence[str]) -> np.ndarray:
    """Return the last `length` daily returns of the names up to session `at`, sessions x names."""
    window = panel.adj[at - length : at + 1, [panel.place[name] for name in names]]
    return window[1:] / window[:-1] - 1.0


# ------------------------------------------------------------------------------------------------------- simulation


@dataclass
class Order:
    """What is still to be traded in one name: signed shares, in parts or as the volume allows."""

    symbol: str
    left: int
    parts: list[int] | None
    signal: int
    reason: str
    trigger: str
    age: int = 0


@dataclass
class Book:
    """The state of an account."""

    cash: float
    shares: dict[str, int] = field(default_factory=dict)
    entry: dict[str, float] = field(default_factory=dict)
    orders: dict[str, Order] = field(default_factory=dict)
    peak: float = 0.0
    stopped: int | None = None
    """Session of the drawdown breach while the account waits in cash."""
    breach: float = 0.0
    exposure: float = 1.0


class Simulation:
    """Walks the sessions once: dividends, fills, marks, stops, decisions, in this order."""

    def __init__(self, spec: Spec, panel: Panel, plan: Plan) -> None:
        """Take what one run needs; prices become arrays for speed."""
        self.spec, self.panel, self.plan = spec, panel, plan
        self.names = list(panel.wide["close"].columns)
        self.column = {name: index for index, name in enumerate(self.names)}
        self.close = panel.wide["close"].to_numpy()
        self.mark = panel.wide["close"].ffill().to_numpy()
        at_open = spec.execution in ("next_open", "staged")
        self.fill_price = (panel.wide["open"] if at_open else panel.wide["close"]).to_numpy()
        self.volume = panel.wide["volume"].fillna(0.0).to_numpy() if "volume" in panel.wide else None
        self.dividends = panel.wide["dividends"].fillna(0.0).to_numpy() if "dividends" in panel.wide else None
        self.last_bar = {
            name: int(np.flatnonzero(np.isfinite(self.close[:, i]))[-1]) for name, i in self.column.items()
        }
        self.rate = spec.rate_bps / 10_000.0
        self.book = Book(cash=float(spec.capital), peak=float(spec.capital))
        self.trades: list[tuple[Any, ...]] = []
        self.equity: list[tuple[Any, ...]] = []
        self.selections: list[tuple[Any, ...]] = []
        self.targets: list[tuple[Any, ...]] = []

    def go(self) -> None:
        """Run from the first decision to the last session."""
        decisions = set(self.plan.decisions)
        for at in range(self.plan.decisions[0], len(self.panel.sessions)):
            self._pay_dividends(at)
            self._fill(at)
            value = self._value(at)
            hit = self._check_stops(at, value)
            if at in decisions:
                self._decide(at, value, hit)
            self.equity.append((at, value, self.book.cash))

    def _value(self, at: int) -> float:
        """Return cash plus shares at the last known close."""
        held = sum(count * self.mark[at, self.column[name]] for name, count in self.book.shares.items())
        return self.book.cash + held

    def _pay_dividends(self, at: int) -> None:
        """Credit dividends on shares held at the previous close."""
        if self.dividends is None:
            return
        for name, count in self.book.shares.items():
            self.book.cash += count * self.dividends[at, self.column[name]]

    def _fill(self, at: int) -> None:
        """Fill what is due at this session: sells first, then buys as far as the cash goes."""
        self._close_delisted(at)
        sells, buys = [], []
        for name in sorted(self.book.orders):
            order = self.book.orders[name]
            amount = self._due(order, at)
            if amount < 0:
                sells.append((order, max(amount, -self.book.shares.get(name, 0))))
            elif amount > 0:
                buys.append((order, amount))
        for order, amount in sells:
            self._book_fill(order, amount, at)
        need = sum(amount * self.fill_price[at, self.column[order.symbol]] for order, amount in buys) * (1 + self.rate)
        share = 1.0 if need <= self.book.cash else max(self.book.cash, 0.0) / need
        for order, amount in buys:
            self._book_fill(order, amount if share == 1.0 else math.floor(amount * share), at)
        self._drop_finished()

    def _due(self, order: Order, at: int) -> int:
        """Return the signed shares an order wants at this session and age it."""
        column = self.column[order.symbol]
        order.age += 1
        if not np.isfinite(self.fill_price[at, column]):
            return 0
        if order.parts is not None:
            return order.parts.pop(0) if order.parts else 0
        cap = self.spec.execution_params["cap"] / 100.0
        most = 0 if self.volume is None else math.floor(cap * self.volume[at, column] + EPS)
        return int(math.copysign(min(abs(order.left), most), order.left))

    def _drop_finished(self) -> None:
        """Forget orders that are done; carried ones end after five sessions."""
        for name in list(self.book.orders):
            order = self.book.orders[name]
            late = order.age >= CARRY_SESSIONS + (0 if order.parts is None else len(order.parts))
            if order.left == 0 or order.parts == [] or late:
                del self.book.orders[name]

    def _book_fill(self, order: Order, amount: int, at: int) -> None:
        """Write one fill into the book and the log."""
        if amount == 0:
            return
        price = float(self.fill_price[at, self.column[order.symbol]])
        self._record(order, amount, price, at)
        order.left -= amount

    def _record(self, order: Order, amount: int, price: float, at: int) -> None:
        """Move cash and shares; buys average the entry price in."""
        name, book = order.symbol, self.book
        fee = self.rate * abs(amount * price)
        book.cash -= amount * price + fee
        held = book.shares.get(name, 0)
        if amount > 0:
            book.entry[name] = (book.entry.get(name, 0.0) * held + price * amount) / (held + amount)
        book.shares[name] = held + amount
        if book.shares[name] == 0:
            del book.shares[name]
            book.entry.pop(name, None)
        side = "BUY" if amount > 0 else "SELL"
        self.trades.append((order.signal, at, name, side, abs(amount), price, fee, order.reason, order.trigger))

    def _close_delisted(self, at: int) -> None:
        """Sell a name whose prices ended at its last close, on the session after it."""
        for name in sorted(self.book.shares):
            last = self.last_bar[name]
            if at != last + 1:
                continue
            self.book.orders.pop(name, None)
            order = Order(name, -self.book.shares[name], None, last, "delisting", "last_price=1")
            self._record(order, -self.book.shares[name], float(self.close[last, self.column[name]]), at)

    def _send(self, name: str, amount: int, at: int, reason: str, trigger: str) -> None:
        """Place an order, replacing what was open in the name."""
        self.book.orders.pop(name, None)
        if amount == 0:
            return
        parts: list[int] | None = [amount]
        if self.spec.execution == "staged":
            days = int(self.spec.execution_params["days"])
            part = int(math.copysign(abs(amount) // days, amount))
            parts = [part] * (days - 1) + [amount - part * (days - 1)]
        elif self.spec.execution == "adv_cap":
            parts = None
        self.book.orders[name] = Order(name, amount, parts, at, reason, trigger)

    def _check_stops(self, at: int, value: float) -> dict[str, float]:
        """Check the stop at a close; return position stops that hold now, with the return from entry."""
        book, threshold = self.book, self.spec.risk_params.get("threshold", 0.0) / 100.0
        if self.spec.risk == "drawdown_stop" and book.stopped is None:
            book.peak = max(book.peak, value)
            fall = value / book.peak - 1.0
            if fall <= -threshold + 1e-12:
                book.stopped, book.breach = at, fall
                book.orders.clear()
                for name, count in book.shares.items():
                    self._send(name, -count, at, "stop", f"drawdown={_num(fall)}")
        if self.spec.risk != "position_stop":
            return {}
        hit = {}
        for name, count in book.shares.items():
            price = self.close[at, self.column[name]]
            if np.isfinite(price) and price <= book.entry[name] * (1.0 - threshold) * (1.0 + 1e-12):
                hit[name] = price / book.entry[name] - 1.0
                pending = book.orders.get(name)
                if pending is None or pending.reason != "stop":
                    self._send(name, -count, at, "stop", f"return_from_entry={_num(hit[name])}")
        return hit

    def _decide(self, at: int, value: float, hit: Mapping[str, float]) -> None:
        """Choose, weigh and send orders at a decision session."""
        spec, book = self.spec, self.book
        day = self.panel.sessions[at]
        ranked = [name for name in self.plan.rankings[at].symbols if name not in hit]
        chosen = _has_window(spec, self.panel, at, ranked)[: spec.n_holdings]
        chosen = [name for name in chosen if np.isfinite(self.close[at, self.column[name]])]
        base = base_weights(spec, self.panel, self.plan, at, chosen)
        if book.stopped is not None and at - book.stopped >= spec.risk_params["cooldown"]:
            book.stopped, book.peak = None, value
        hold = bool(self.plan.gate[day])
        exposure = self._exposure(at, base) if chosen else 1.0
        active = hold and book.stopped is None
        plain = {name: float(weight) for name, weight in base.items()}
        target = {name: weight * exposure if active else 0.0 for name, weight in plain.items()}
        self.selections += [(day, name, rank) for rank, name in enumerate(chosen, start=1)]
        self.targets += [(day, name, target[name]) for name in chosen]
        self.targets.append((day, "CASH", max(0.0, 1.0 - sum(target.values()))))
        why = self._reasons(hold=hold, exposure=exposure)
        for name in sorted(set(chosen) | set(book.shares) | set(book.orders)):
            price = self.close[at, self.column[name]]
            if not np.isfinite(price):
                continue
            weight = target.get(name, 0.0)
            wanted = math.floor(weight * value / price + EPS)
            rank = chosen.index(name) + 1 if name in chosen else 0
            before = math.floor(plain.get(name, 0.0) * book.exposure * value / price + EPS)
            reason, trigger = why(name, rank, weight, (book.shares.get(name, 0), wanted, before), hit)
            self._send(name, wanted - book.shares.get(name, 0), at, reason, trigger)
        if active:
            book.exposure = exposure

    def _exposure(self, at: int, base: pd.Series) -> float:
        """Return min(1, target / volatility of the unscaled book), or 1 without a volatility target."""
        if self.spec.risk != "vol_target":
            return 1.0
        window = _returns(self.panel, at, int(self.spec.risk_params["vol_window"]), list(base.index))
        book_returns = np.nan_to_num(window) @ base.to_numpy()
        vol = float(book_returns.std(ddof=1)) * math.sqrt(DAYS)
        return min(1.0, self.spec.risk_params["target"] / 100.0 / vol) if vol > 0 else 1.0

    def _reasons(self, *, hold: bool, exposure: float) -> Any:
        """Return a function that names the reason and the trigger of one order."""
        book, targeted = self.book, self.spec.risk == "vol_target"

        def why(
            name: str, rank: int, weight: float, shares: tuple[int, int, int], hit: Mapping[str, float]
        ) -> tuple[str, str]:
            held, wanted, before = shares
            if book.stopped is not None:
                return "stop", f"drawdown={_num(book.breach)}"
            if name in hit:
                return "stop", f"return_from_entry={_num(hit[name])}"
            if not hold:
                return "timing", "gate=off"
            if rank == 0:
                return "rebalance", "selected=0;target_weight=0"
            trigger = f"selected=1;rank={rank};target_weight={_num(weight)}"
            if targeted and 2 * abs(wanted - before) > abs(wanted - held):
                return "target", f"{trigger};exposure={_num(exposure)}"
            return "rebalance", trigger

        return why


def _num(value: float) -> str:
    """Return a number as it stands in a trigger."""
    return f"{float(value):.10g}"


def run(spec: Spec, tables: Mapping[str, pd.DataFrame | None]) -> Results:
    """Run one strategy over the tables.

    Raises:
        ValueError: an option is unknown or the history is too short for it.

    """
    panel = build_panel(spec, tables)
    return run_plan(spec, panel, make_plan(spec, panel))


def run_plan(spec: Spec, panel: Panel, plan: Plan, *, with_signals: bool = True) -> Results:
    """Run one strategy from a prepared plan; variants that only need their measures go without the signal table."""
    walk = Simulation(spec, panel, plan)
    walk.go()
    names = ["signal_date", "fill_date", "symbol", "side", "quantity", "price", "fee", "reason", "trigger"]
    trades = pd.DataFrame(walk.trades, columns=names)
    trades.insert(0, "fill_id", np.arange(1, len(trades) + 1))
    equity = pd.DataFrame(walk.equity, columns=["date", "equity", "cash"])
    for table, columns in ((trades, ("signal_date", "fill_date")), (equity, ("date",))):
        for column in columns:
            table[column] = panel.sessions[table[column].to_numpy(dtype=int)]
    return Results(
        signals=_signal_table(spec, panel, plan) if with_signals else pd.DataFrame(),
        selections=pd.DataFrame(walk.selections, columns=["date", "symbol", "rank"]),
        target_weights=pd.DataFrame(walk.targets, columns=["date", "symbol", "weight"]),
        trades=trades,
        equity=equity,
        metrics=metric_table(spec, equity, trades),
    )


def _signal_table(spec: Spec, panel: Panel, plan: Plan) -> pd.DataFrame:
    """Return every factor and the composite at every decision, long."""
    parts = []
    for name in spec.factors:
        table = plan.scores[name]
        rows, columns = np.nonzero(np.isfinite(table.to_numpy()))
        parts.append(
            (np.array(plan.decisions)[rows], table.columns.to_numpy()[columns], name, table.to_numpy()[rows, columns])
        )
    for at in plan.decisions:
        composite = plan.rankings[at].composite
        if composite is not None:
            ordered = composite.sort_index()
            parts.append((np.full(len(ordered), at), ordered.index.to_numpy(), "composite", ordered.to_numpy()))
    out = pd.DataFrame(
        {
            "date": panel.sessions[np.concatenate([part[0] for part in parts])],
            "symbol": np.concatenate([part[1] for part in parts]),
            "factor": np.repeat([part[2] for part in parts], [len(part[0]) for part in parts]),
            "value": np.concatenate([part[3] for part in parts]),
        }
    )
    order = {name: place for place, name in enumerate([*spec.factors, "composite"])}
    keys = pd.DataFrame({"date": out["date"], "place": out["factor"].map(order), "symbol": out["symbol"]})
    return out.loc[keys.sort_values(["date", "place", "symbol"], kind="stable").index].reset_index(drop=True)


# ---------------------------------------------------------------------------------------------------------- metrics


def measures(equity: pd.DataFrame, trades: pd.DataFrame | None = None) -> dict[str, float]:
    """Return the measures of an equity table: fractions, annualised with 252 periods, risk-free rate 0."""
    values = equity["equity"].to_numpy(dtype=float)
    dates = pd.to_datetime(equity["date"])
    daily = values[1:] / values[:-1] - 1.0
    days = max((dates.iloc[-1] - dates.iloc[0]).days, 1)
    years = days / 365.25
    spread = float(daily.std(ddof=1)) if len(daily) > 1 else 0.0
    out = {
        "total_return": values[-1] / values[0] - 1.0,
        "cagr": (values[-1] / values[0]) ** (365.25 / days) - 1.0,
        "volatility": spread * math.sqrt(DAYS),
        "sharpe": float(daily.mean()) / spread * math.sqrt(DAYS) if spread > 0 else 0.0,
        "max_drawdown": float((values / np.maximum.accumulate(values) - 1.0).min()),
    }
    if trades is not None:
        traded = float((trades["quantity"].astype(float) * trades["price"].astype(float)).sum())
        out["trades"] = float(len(trades))
        out["turnover"] = traded / (2.0 * float(values.mean())) / years
        out["exposure"] = float((1.0 - equity["cash"].to_numpy(dtype=float) / values).mean())
        out["total_fees"] = float(trades["fee"].astype(float).sum())
    return {name: float(value) for name, value in out.items()}


def metric_table(spec: Spec, equity: pd.DataFrame, trades: pd.DataFrame) -> pd.DataFrame:
    """Return the metrics of a run with the basis of each."""
    first = pd.Timestamp(equity["date"].iloc[0]).date()
    last = pd.Timestamp(equity["date"].iloc[-1]).date()
    span = f"{first} to {last}; daily closes; net of {spec.rate_bps:g} bps per trade"
    notes = {
        "total_return": f"{span}; whole period, not annualised; no risk-free rate",
        "cagr": f"{span}; annualised, 365.25 days a year; no risk-free rate",
        "volatility": f"{span}; annualised, 252 periods a year; no risk-free rate",
        "sharpe": f"{span}; annualised, 252 periods a year; risk-free rate 0",
        "max_drawdown": f"{span}; peak to trough on daily closes, not annualised; no risk-free rate",
        "trades": f"{span}; number of fills; not annualised; no risk-free rate",
        "turnover": f"{span}; one-way, annualised (per year); no risk-free rate",
        "exposure": f"{span}; average share of equity invested, not annualised; no risk-free rate",
        "total_fees": f"{span}; sum over all fills in USD, not annualised; no risk-free rate",
    }
    rows = [(name, value, notes[name]) for name, value in measures(equity, trades).items()]
    rows += [
        ("initial_capital", float(spec.capital), f"{first}; USD; before the first trade"),
        ("final_equity", float(equity["equity"].iloc[-1]), f"{last}; USD; net of {spec.rate_bps:g} bps per trade"),
        ("periods_per_year", float(DAYS), f"{span}; annualisation factor; risk-free rate 0"),
    ]
    return pd.DataFrame(rows, columns=["metric", "value", "basis"])


# ---------------------------------------------------------------------------------------------------- specification

NUMBERS = {
    "market_timing": ("window", "lookback", "threshold", "percentile"),
    "risk_control": ("threshold", "cooldown", "target", "vol_window"),
    "execution": ("days", "cap"),
}


def spec_from_table(table: pd.DataFrame) -> Spec:
    """Return the executable strategy of a specification table."""
    given = {
        (str(row.component), str(row.parameter)): str(row.value)
        for row in table.itertuples()
        if str(row.value) != "nan"
    }

    def numbers(component: str) -> dict[str, float]:
        return {name: float(given[component, name]) for name in NUMBERS[component] if (component, name) in given}

    book = "portfolio_construction"
    return Spec(
        factors=tuple(given["stock_selection", "factors"].split("+")),
        combination=given.get(("stock_selection", "combination"), "none"),
        timing=given["market_timing", "rule"],
        timing_params=numbers("market_timing"),
        weighting=given[book, "weighting"],
        covariance=given.get((book, "covariance"), "none"),
        vol_window=int(float(given.get((book, "vol_window"), 126))),
        cov_window=int(float(given.get((book, "cov_window"), 252))),
        halflife=int(float(given.get((book, "halflife"), 63))),
        n_holdings=int(float(given[book, "n_holdings"])),
        rebalance=given[book, "rebalance"],
        risk=given["risk_control", "rule"],
        risk_params=numbers("risk_control"),
        execution=given["execution", "rule"],
        execution_params=numbers("execution"),
        rate_bps=float(given["transaction_cost", "rate_bps"]),
        capital=float(given["general", "capital"]),
        start=given["general", "start"],
        end=given["general", "end"],
    )


def stressed_table(table: pd.DataFrame, spec: Spec) -> pd.DataFrame:
    """Return the specification table of a stress run: changed values marked as such."""
    out = table.copy()
    out["value"] = out["value"].astype(str)
    changed = {("general", "capital"): f"{spec.capital:.0f}"}
    for name, value in spec.risk_params.items():
        changed["risk_control", name] = f"{value:g}"
    kept = []
    for index, row in table.iterrows():
        wanted = changed.get((str(row["component"]), str(row["parameter"])))
        if wanted is not None and float(wanted) != float(row["value"]):
            out.loc[index, "value"] = wanted
            out.loc[index, "source"] = "stress run"
            kept.append({**row.to_dict(), "parameter": f"{row['parameter']}_of_the_main_run", "source": "main run"})
    return pd.concat([out, pd.DataFrame(kept)], ignore_index=True) if kept else out


# ----------------------------------------------------------------------------------------------------------- checks


@dataclass
class Lab:
    """One panel with what runs over it share."""

    spec: Spec
    panel: Panel
    known: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    plans: dict[tuple[Any, ...], Plan] = field(default_factory=dict)

    def plan(self, spec: Spec) -> Plan:
        """Return the plan of a variant; variants that only trade differently share one."""
        key = (
            *(spec.rebalance, spec.n_holdings, spec.timing, *sorted(spec.timing_params.items())),
            *(spec.vol_window, spec.cov_window, spec.halflife, spec.risk_params.get("vol_window")),
        )
        if key not in self.plans:
            self.plans[key] = make_plan(spec, self.panel, self.known)
        return self.plans[key]

    def run(self, *, with_signals: bool = True, **changes: Any) -> Results:
        """Run the specification with some fields changed."""
        spec = replace(self.spec, **changes)
        return run_plan(spec, self.panel, self.plan(spec), with_signals=with_signals)


def fill_series(spec: Spec, panel: Panel) -> pd.DataFrame:
    """Return the price every order of this specification fills at."""
    return panel.wide["open" if spec.execution in ("next_open", "staged") else "close"]


def signal_validation(spec: Spec, panel: Panel, signals: pd.DataFrame) -> pd.DataFrame:
    """Return rank correlation of each signal with the return from the next fill to the fill after the next decision."""
    fills = fill_series(spec, panel)
    least = 20 if len(fills.columns) >= 20 else 5
    rows = []
    for factor, table in signals.groupby("factor", sort=False):
        wide = table.pivot_table(index="date", columns="symbol", values="value", aggfunc="first")
        starts = panel.sessions.get_indexer(wide.index) + 1
        levels = fills[wide.columns].to_numpy()
        values = wide.to_numpy()
        ics, spreads = [], []
        for row in range(len(wide) - 1):
            if starts[row + 1] >= len(panel.sessions):
                continue
            ahead = levels[starts[row + 1]] / levels[starts[row]] - 1.0
            both = np.isfinite(values[row]) & np.isfinite(ahead)
            signal, ahead = values[row][both], ahead[both]
            if len(signal) < least or len(np.unique(signal)) < 2:
                continue
            ics.append(float(np.corrcoef(rankdata(signal), rankdata(ahead))[0, 1]))
            third = max(len(signal) // 3, 1)
            ordered = ahead[np.argsort(signal, kind="stable")]
            spreads.append(float(ordered[-third:].mean() - ordered[:third].mean()))
        rows.append((factor, *_ic_summary(np.array(ics), np.array(spreads))))
    columns = ["factor", "decisions", "mean_rank_ic", "t_statistic", "hit_rate", "top_minus_bottom_third"]
    return pd.DataFrame(rows, columns=columns)


def _ic_summary(ics: np.ndarray, spreads: np.ndarray) -> tuple[float, ...]:
    """Return count, mean, t statistic, share above zero and mean spread."""
    if len(ics) < 2:
        return len(ics), math.nan, math.nan, math.nan, math.nan
    deviation = float(ics.std(ddof=1))
    statistic = float(ics.mean()) / deviation * math.sqrt(len(ics)) if deviation > 0 else math.nan
    return len(ics), float(ics.mean()), statistic, float((ics > 0).mean()), float(spreads.mean())


def index_curve(panel: Panel, equity: pd.DataFrame) -> pd.DataFrame | None:
    """Return the index as an equity curve over the same sessions, or None without the series."""
    if "SPY" not in panel.market.columns:
        return None
    level = panel.market["SPY"].ffill().reindex(pd.DatetimeIndex(equity["date"])).to_numpy(dtype=float)
    return pd.DataFrame({"date": equity["date"].to_numpy(), "equity": level / level[0]})


def benchmark_comparison(equity: pd.DataFrame, index: pd.DataFrame | None, series: str) -> pd.DataFrame:
    """Return the strategy beside the index over the same sessions, with the difference and the regression alpha.

    `series` says what the index is and whether dividends are in it.
    """
    columns = ["measure", "strategy", "benchmark", "difference", "basis"]
    if index is None:
        return pd.DataFrame(columns=columns)
    own, other = measures(equity), measures(index)
    first, last = pd.Timestamp(equity["date"].iloc[0]).date(), pd.Timestamp(equity["date"].iloc[-1]).date()
    basis = f"{first} to {last}; strategy net of costs; benchmark: {series}; risk-free rate 0"
    rows = [(name, own[name], other[name], own[name] - other[name], basis) for name in own]
    mine, theirs = (frame["equity"].pct_change(fill_method=None).iloc[1:].to_numpy() for frame in (equity, index))
    beta = float(np.cov(mine, theirs)[0, 1] / np.var(theirs, ddof=1))
    alpha = (float(mine.mean()) - beta * float(theirs.mean())) * DAYS
    rows.append(("beta", beta, 1.0, beta - 1.0, basis))
    rows.append(("alpha_per_year", alpha, 0.0, alpha, basis))
    return pd.DataFrame(rows, columns=columns)


def variants(spec: Spec) -> list[tuple[str, float | str, dict[str, Any]]]:
    """Return (parameter, value, changed fields) around the chosen values, the chosen ones included."""
    out: list[tuple[str, float | str, dict[str, Any]]] = []
    counts = sorted({max(3, spec.n_holdings // 2), max(4, spec.n_holdings * 4 // 5), spec.n_holdings})
    out += [("n_holdings", count, {"n_holdings": count}) for count in counts]
    slower = {"weekly": "monthly", "monthly": "quarterly", "quarterly": "monthly"}[spec.rebalance]
    out += [("rebalance", name, {"rebalance": name}) for name in (spec.rebalance, slower)]
    rates = sorted({0.0, 5.0, 10.0, 20.0, spec.rate_bps})
    out += [("rate_bps", rate, {"rate_bps": rate}) for rate in rates]
    for name in ("threshold", "target"):
        if spec.risk != "none" and name in spec.risk_params:
            base = spec.risk_params[name]
            for value in (base * 0.75, base, base * 1.25):
                out.append((f"risk_{name}", value, {"risk_params": {**spec.risk_params, name: value}}))
    for name, value in spec.timing_params.items():
        step = {"percentile": 10, "threshold": 5}.get(name, 50)
        for other in (value - step, value, value + step):
            out.append((f"timing_{name}", other, {"timing_params": {**spec.timing_params, name: other}}))
    return out


def sensitivity(lab: Lab) -> pd.DataFrame:
    """Return the measures of every variant; everything but the named parameter stays as chosen."""
    rows = []
    for parameter, value, changes in variants(lab.spec):
        chosen = all(getattr(lab.spec, name) == other for name, other in changes.items())
        try:
            result = lab.run(with_signals=False, **changes)
        except ValueError:
            continue
        found = measures(result.equity, result.trades)
        kept = ("total_return", "cagr", "volatility", "sharpe", "max_drawdown", "turnover", "trades")
        rows.append((parameter, value, "yes" if chosen else "no", *(found[name] for name in kept)))
    columns = ["parameter", "setting", "chosen", "total_return", "cagr", "volatility", "sharpe", "max_drawdown"]
    return pd.DataFrame(rows, columns=[*columns, "turnover", "trades"])


def out_of_sample(equity: pd.DataFrame, index: pd.DataFrame | None, split: str) -> pd.DataFrame:
    """Return measures before and after a split date fixed in advance, and for each calendar year."""
    dates = pd.to_datetime(equity["date"])
    cut = pd.Timestamp(split)
    parts = [("in-sample", dates < cut), ("out-of-sample", dates >= cut)]
    parts += [(f"year {year}", dates.dt.year == year) for year in sorted(set(dates.dt.year))]
    rows = []
    for label, inside in parts:
        at = np.flatnonzero(inside.to_numpy())
        if len(at) < 3:
            continue
        base = max(at[0] - 1, 0)
        own = measures(equity.iloc[base : at[-1] + 1])
        other = measures(index.iloc[base : at[-1] + 1]) if index is not None else {}
        kept = [own[name] for name in ("total_return", "cagr", "volatility", "sharpe", "max_drawdown")]
        spans = (dates.iloc[at[0]], dates.iloc[at[-1]], len(at))
        rows.append((label, *spans, *kept, other.get("total_return"), other.get("sharpe")))
    columns = ["sample", "start", "end", "sessions", "total_return", "cagr", "volatility", "sharpe", "max_drawdown"]
    return pd.DataFrame(rows, columns=[*columns, "benchmark_total_return", "benchmark_sharpe"])


def data_quality(prices: pd.DataFrame, market: pd.DataFrame, fundamentals: pd.DataFrame | None) -> pd.DataFrame:
    """Return counts of every check on the delivered data and what was done."""
    table = prices.sort_values(["symbol", "date"], kind="stable")
    count = len(table)
    sessions = pd.DatetimeIndex(sorted(set(table["date"]) | set(market["date"])))
    ranks = pd.Series(np.arange(len(sessions)), index=sessions)
    groups = table.groupby("symbol")
    spans = groups["date"].agg(["min", "max", "count"])
    expected = int((ranks[spans["max"]].to_numpy() - ranks[spans["min"]].to_numpy() + 1).sum())
    top = table[["open", "close", "low"]].max(axis=1)
    bottom = table[["open", "close", "high"]].min(axis=1)
    run = groups["close"].transform(lambda close: (close != close.shift()).cumsum())
    length = table.groupby([table["symbol"], run])["close"].transform("size")
    moves = groups["close"].pct_change(fill_method=None).abs()
    columns = ["open", "high", "low", "close", "adj_close", "volume"]
    rows = [
        ("rows", count, 0, "rows delivered; symbols and dates as in the price table"),
        ("missing values", count, int(table[columns].isna().any(axis=1).sum()), "nothing is filled in"),
        ("session gaps", expected, expected - count, "sessions without a bar between first and last bar; not filled"),
        ("duplicates", count, int(table.duplicated(["date", "symbol"]).sum()), "a second row would be dropped"),
        ("stale closes", count, int((length >= 5).sum()), "rows in runs of five or more equal closes; kept, flagged"),
        ("daily moves over 50 %", count, int((moves > 0.5).sum()), "kept when no split explains them; none removed"),
        ("high below open, close or low", count, int((table["high"] < top - 1e-9).sum()), "would be kept and flagged"),
        ("low above open, close or high", count, int((table["low"] > bottom + 1e-9).sum()), "would be kept, flagged"),
        ("prices at or below zero", count, int((table[columns[:5]] <= 0).any(axis=1).sum()), "would be dropped"),
        (
            "names that end before the last session",
            len(spans),
            int((spans["max"] < sessions[-1]).sum()),
            "survivorship",
        ),
        ("dividend rows", count, int((table["dividends"] > 0).sum()), "credited as cash on the ex-date"),
    ]
    ratio = table["adj_close"] / table["close"]
    before = groups["close"].shift()
    paid = (table["dividends"] > 0) & before.notna()
    expected_ratio = ratio * (1.0 - table["dividends"] / before)
    off = (expected_ratio / ratio.groupby(table["symbol"]).shift() - 1.0).abs() > 0.002
    note = "dividend list against the adjusted closes, within 0.2 %; the cash dividend counts for the account"
    rows.append(("dividends that disagree with the adjusted closes", int(paid.sum()), int((off & paid).sum()), note))
    if fundamentals is not None:
        early = (fundamentals["announced"] < fundamentals["period_end"]).sum()
        twice = fundamentals.duplicated(["symbol", "period_end", "announced"]).sum()
        note = "statements without an announcement date were dropped before delivery"
        rows += [
            ("statements announced before their period ends", len(fundamentals), int(early), "would be dropped"),
            (
                "statements without announcement date",
                len(fundamentals),
                int(fundamentals["announced"].isna().sum()),
                note,
            ),
            ("statements delivered twice", len(fundamentals), int(twice), "a second row would be dropped"),
        ]
    out = pd.DataFrame(rows, columns=["check", "checked", "found", "action"])
    out.insert(3, "share", out["found"] / out["checked"].clip(lower=1))
    return out


def risk_table(results: Results, panel: Panel) -> pd.DataFrame:
    """Return the figures behind the risk section."""
    equity = results.equity.set_index("date")["equity"]
    daily = equity.pct_change(fill_method=None).iloc[1:]
    months = equity.groupby([equity.index.year, equity.index.month]).last().pct_change(fill_method=None)
    under = (equity < equity.cummax()).to_numpy()
    longest = current = 0
    for below in under:
        current = current + 1 if below else 0
        longest = max(longest, current)
    held = results.target_weights[results.target_weights["symbol"] != "CASH"]
    biggest = held.groupby("date")["weight"].max()
    counted = held[held["weight"] > 0].groupby("date").size()
    trades = results.trades
    share = math.nan
    if len(trades) and "volume" in panel.wide:
        volume = panel.wide["volume"]
        rows_at = volume.index.get_indexer(pd.DatetimeIndex(trades["fill_date"]))
        columns_at = volume.columns.get_indexer(trades["symbol"])
        share = float((trades["quantity"].to_numpy() / volume.to_numpy()[rows_at, columns_at]).max())
    best = held[held["weight"] > 0].groupby("symbol").size().sort_values(ascending=False)
    rows = [
        ("worst day", float(daily.min()), f"{daily.idxmin().date()}"),
        ("worst month", float(months.min()), "calendar months, month-end closes"),
        ("longest time below a previous high", float(longest), "sessions"),
        ("largest target weight", float(biggest.max()), "one name, any decision"),
        ("average largest target weight", float(biggest.mean()), "mean over decisions"),
        ("average number of names held", float(counted.mean()) if len(counted) else 0.0, "decisions with any holding"),
        ("most frequent holding", float(best.iloc[0] / held["date"].nunique()) if len(best) else 0.0, _first(best)),
        ("largest fill as share of the day's volume", share, "at the stated capital"),
        ("names in the universe", float(len(panel.wide["close"].columns)), "chosen by the client or the data service"),
    ]
    return pd.DataFrame(rows, columns=["risk", "figure", "note"])


def _first(counts: pd.Series) -> str:
    """Return the name that was held most often."""
    return f"share of decisions with {counts.index[0]}" if len(counts) else "nothing was held"


def capped_orders(trades: pd.DataFrame, panel: Panel, cap: float) -> int:
    """Return how many orders were split because a fill took all that the volume cap (in percent) allowed."""
    if trades.empty:
        return 0
    rows = panel.sessions.get_indexer(pd.DatetimeIndex(trades["fill_date"]))
    columns = [panel.place[name] for name in trades["symbol"]]
    most = np.floor(cap / 100.0 * panel.wide["volume"].to_numpy()[rows, columns] + EPS)
    full = trades[trades["quantity"].to_numpy() >= most]
    several = trades.groupby(["signal_date", "symbol"]).size()
    keys = pd.MultiIndex.from_frame(full[["signal_date", "symbol"]]).unique()
    return int((several.reindex(keys) > 1).sum())


def stress(lab: Lab, main: Results) -> tuple[Spec, Results] | None:
    """Return a run in which a control that never acted does: a tighter threshold, or a capital at which a cap binds."""
    spec, changes = lab.spec, {}
    found = main
    reason = {"drawdown_stop": "stop", "position_stop": "stop", "vol_target": "target"}.get(spec.risk)
    if reason is not None and not (main.trades["reason"] == reason).any():
        name = "target" if spec.risk == "vol_target" else "threshold"
        for factor in (0.75, 0.5, 0.25, 0.1, 0.05):
            changes["risk_params"] = {**spec.risk_params, name: spec.risk_params[name] * factor}
            found = lab.run(**changes)
            if (found.trades["reason"] == reason).any():
                break
    cap = spec.execution_params.get("cap", 0.0)
    if spec.execution == "adv_cap" and capped_orders(main.trades, lab.panel, cap) == 0:
        for factor in (10, 100, 1_000, 10_000, 100_000, 1_000_000):
            changes["capital"] = spec.capital * factor
            found = lab.run(**changes)
            if capped_orders(found.trades, lab.panel, cap) >= 5:
                break
    return (replace(spec, **changes), found) if changes else None


# ------------------------------------------------------------------------------------------------------------ files


def read_tables(folder: Path) -> dict[str, pd.DataFrame | None]:
    """Return the delivered inputs; a file that is not there is None."""
    out: dict[str, pd.DataFrame | None] = {}
    for name in ("prices", "market", "fundamentals", "universe", "specification"):
        path = folder / f"{name}.csv"
        out[name] = pd.read_csv(path, keep_default_na=name != "specification") if path.exists() else None
    for name in ("prices", "market", "fundamentals"):
        table = out[name]
        if table is not None:
            for column in ("date", "period_end", "announced"):
                if column in table.columns:
                    table[column] = pd.to_datetime(table[column])
    return out


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table with plain dates and full precision."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(path, index=False, date_format="%Y-%m-%d", lineterminator="\n")


def write_run(results: Results, folder: Path) -> None:
    """Write the tables of one run."""
    for name in ("signals", "selections", "target_weights", "trades", "equity", "metrics"):
        write_table(getattr(results, name), folder / f"{name}.csv")


def with_gross(lab: Lab, results: Results) -> Results:
    """Return the run with the return before costs added to its metrics."""
    gross = results if lab.spec.rate_bps == 0 else lab.run(with_signals=False, rate_bps=0.0)
    row = results.metrics.iloc[[0]].copy()
    row["metric"] = "gross_total_return"
    row["value"] = measures(gross.equity)["total_return"]
    row["basis"] = row["basis"].str.replace(f"net of {lab.spec.rate_bps:g} bps per trade", "gross, before costs")
    return replace(results, metrics=pd.concat([results.metrics, row], ignore_index=True))


def regenerate(folder: Path, out: Path) -> dict[str, float]:
    """Read the inputs in `folder`, run everything and write all results to `out`; return the metrics."""
    tables = read_tables(folder)
    table = tables["specification"]
    spec = spec_from_table(table)
    lab = Lab(spec, build_panel(spec, tables))
    main = with_gross(lab, lab.run())
    write_run(main, out)
    index = index_curve(lab.panel, main.equity)
    general = table[table["component"] == "general"].set_index("parameter")["value"].astype(str)
    checks = {
        "signal_validation": signal_validation(spec, lab.panel, main.signals),
        "benchmark_comparison": benchmark_comparison(main.equity, index, general["benchmark"]),
        "sensitivity": sensitivity(lab),
        "out_of_sample": out_of_sample(main.equity, index, general["out_of_sample_start"]),
        "data_quality": data_quality(tables["prices"], tables["market"], tables["fundamentals"]),
        "risks": risk_table(main, lab.panel),
    }
    for name, frame in checks.items():
        write_table(frame, out / f"{name}.csv")
    tested = stress(lab, main)
    if tested is not None:
        write_run(tested[1], out / "stress")
        write_table(stressed_table(table, tested[0]), out / "stress" / "specification.csv")
    return {str(row.metric): float(row.value) for row in main.metrics.itertuples()}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Run the backtest again from the tables beside this file.")
    parser.add_argument(
        "--dir", type=Path, default=Path(__file__).resolve().parent, help="folder with the input tables"
    )
    parser.add_argument("--out", type=Path, default=None, help="folder for the results (default: the same)")
    options = parser.parse_args()
    found = regenerate(options.dir, options.out or options.dir)
    for name, value in found.items():
        print(f"{name}: {value:.6g}")


if __name__ == "__main__":
    main()
