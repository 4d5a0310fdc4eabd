"""Measures of a delivered price table (1.4) and of a fundamentals table (evaluator.md 2.4)."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from evaluator.quant.absent import Absent
from evaluator.quant.arrays import BoolArray, FloatArray, IntArray
from evaluator.quant.calendar import session_number

MEASURES = ("missing", "gaps", "duplicates", "stale", "outliers", "ohlc", "non_positive")
LIMITS: dict[str, tuple[float, float, float, float]] = {
    "missing": (0.005, 0.02, 0.05, 0.15),
    "gaps": (0.005, 0.02, 0.05, 0.15),
    "duplicates": (0.0, 0.001, 0.005, 0.01),
    "stale": (0.005, 0.02, 0.05, 0.15),
    "outliers": (0.0005, 0.02, 0.05, 0.15),
    "ohlc": (0.0, 0.02, 0.05, 0.15),
    "non_positive": (0.0, 0.02, 0.05, 0.15),
}
"""Largest value for levels 4, 3, 2 and 1 (rubric 1.4)."""
STALE_RUN = 5
BIG_MOVE = 0.5
MAD_MULTIPLE = 10 * 1.4826
MAD_WINDOW = 252
MAD_MIN = 21
_BLOCK = 63
_CROWD = 20
SHARED = 0.2
_SPLITS = np.array([2, 3, 4, 5, 7, 8, 10, 15, 20, 25, 30, 50], dtype=float)
_SPLIT_FIT = 0.02
_OHLC_ROUNDING = 1e-6


@dataclass(frozen=True)
class Quality:
    """Shares of rows (gaps: of expected sessions); 0 is clean."""

    rows: int
    measures: dict[str, float]
    examples: dict[str, tuple[str, ...]]
    """Up to three 'symbol date' of each measure that is not clean."""

    @property
    def levels(self) -> dict[str, int]:
        """Rubric level 0-4 of each measure."""
        return {name: _level(name, value) for name, value in self.measures.items()}

    @property
    def worst(self) -> str:
        """The measure with the lowest level."""
        levels = self.levels
        return min(levels, key=lambda name: levels[name])

    @property
    def score(self) -> int:
        """The level of the worst measure."""
        return min(self.levels.values())


def _level(name: str, value: float) -> int:
    for level, limit in zip((4, 3, 2, 1), LIMITS[name], strict=True):
        if value <= limit:
            return level
    return 0


def weighted(qualities: list[Quality]) -> Quality | Absent:
    """Return several tables as one, each measure averaged by rows."""
    if not qualities:
        return Absent("no price table")
    total = sum(q.rows for q in qualities) or 1
    measures = {n: sum(q.measures.get(n, 0.0) * q.rows for q in qualities) / total for n in MEASURES}
    examples: dict[str, tuple[str, ...]] = {}
    for quality in qualities:
        for name, found in quality.examples.items():
            examples[name] = (*examples.get(name, ()), *found)[:3]
    return Quality(total, measures, examples)


def price_quality(prices: pd.DataFrame | None) -> Quality | Absent:
    """Measure one canonical price table as delivered, before any fill or removal."""
    if prices is None or len(prices) == 0 or not {"date", "symbol"} <= set(prices.columns):
        return Absent("no price table with date and symbol")
    name = "close" if "close" in prices.columns else "adj_close"
    if name not in prices.columns:
        return Absent("the price table has neither close nor adj_close")
    table = _ordered(prices)
    close = table[name].to_numpy(dtype=float, na_value=np.nan)
    codes = table["_code"].to_numpy()
    days = session_number(table["date"])
    flags = {
        "missing": ~np.isfinite(close),
        "duplicates": table.duplicated(["_code", "date"]).to_numpy(),
        "non_positive": _non_positive(table),
        "ohlc": _ohlc(table),
    }
    first = ~flags["duplicates"] & np.isfinite(close)
    clean = table[first]
    kept_codes, kept_close = codes[first], close[first]
    flags["stale"] = _spread_back(_stale(kept_codes, kept_close), first)
    flags["outliers"] = _spread_back(_outliers(clean, kept_codes, kept_close, days[first]), first)
    measures = {n: float(flag.mean()) for n, flag in flags.items()}
    measures["gaps"], gaps = _gaps(table, codes, days)
    examples = {n: _examples(table, flag) for n, flag in flags.items() if flag.any()}
    if gaps:
        examples["gaps"] = gaps
    return Quality(len(table), {n: measures[n] for n in MEASURES}, examples)


def _ordered(prices: pd.DataFrame) -> pd.DataFrame:
    codes, _ = pd.factorize(prices["symbol"], sort=True)
    table = prices.assign(_code=codes)
    return table.sort_values(["_code", "date"], kind="stable").reset_index(drop=True)


def _spread_back(flag: BoolArray, kept: BoolArray) -> BoolArray:
    out = np.zeros(len(kept), dtype=bool)
    out[kept] = flag
    return out


def _examples(table: pd.DataFrame, flag: BoolArray) -> tuple[str, ...]:
    rows = table[flag].head(3)
    return tuple(f"{s} {d:%Y-%m-%d}" if d == d else str(s) for s, d in zip(rows["symbol"], rows["date"], strict=True))  # noqa: PLR0124 -- NaT


def _non_positive(table: pd.DataFrame) -> BoolArray:
    out = np.zeros(len(table), dtype=bool)
    for name in ("open", "high", "low", "close", "adj_close"):
        if name in table.columns:
            out |= table[name].to_numpy(dtype=float, na_value=np.nan) <= 0
    return out


def _ohlc(table: pd.DataFrame) -> BoolArray:
    out = np.zeros(len(table), dtype=bool)
    if not {"high", "low"} <= set(table.columns):
        return out
    high, low = (table[n].to_numpy(dtype=float, na_value=np.nan) for n in ("high", "low"))
    slack = np.abs(high) * _OHLC_ROUNDING
    for name in ("open", "close", "low"):
        if name in table.columns:
            out |= table[name].to_numpy(dtype=float, na_value=np.nan) > high + slack
    for name in ("open", "close"):
        if name in table.columns:
            out |= table[name].to_numpy(dtype=float, na_value=np.nan) < low - slack
    return out


def _gaps(table: pd.DataFrame, codes: IntArray, days: IntArray) -> tuple[float, tuple[str, ...]]:
    known = (codes >= 0) & (days >= 0)
    pairs = pd.DataFrame({"code": codes[known], "day": days[known]}).drop_duplicates()
    spans = pairs.groupby("code")["day"].agg(["min", "max", "count"])
    expected = spans["max"] - spans["min"] + 1
    missing = (expected - spans["count"]).clip(lower=0)
    if not len(expected):
        return 0.0, ()
    firsts = table.drop_duplicates("_code")
    names = dict(zip(firsts["_code"], firsts["symbol"], strict=True))
    worst = missing[missing > 0].sort_values(ascending=False).head(3)
    total = float(missing.sum() / expected.sum())
    return total, tuple(f"{names[code]}: {int(n)} sessions" for code, n in worst.items())


def _stale(codes: IntArray, close: FloatArray) -> BoolArray:
    if not len(close):
        return np.zeros(0, dtype=bool)
    new = np.append([True], (codes[1:] != codes[:-1]) | (close[1:] != close[:-1]))
    run = np.cumsum(new) - 1
    return np.asarray(np.bincount(run)[run] >= STALE_RUN)


def _outliers(table: pd.DataFrame, codes: IntArray, close: FloatArray, days: IntArray) -> BoolArray:
    if len(close) < 2:
        return np.zeros(len(close), dtype=bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.append([np.nan], close[1:] / close[:-1])
    # A move across missing sessions is no daily return; the gap is measured apart.
    ratio[np.append([True], (codes[1:] != codes[:-1]) | (np.diff(days) > 1))] = np.nan
    ratio[~(ratio > 0)] = np.nan
    moves = ratio - 1
    big = np.abs(moves) > BIG_MOVE
    big |= _beyond_deviation(moves, codes)
    big[big] = ~_is_split(ratio[big])
    big &= ~_continuous(table, codes)
    return np.asarray(big & ~_shared(table, big))


def _beyond_deviation(moves: FloatArray, codes: IntArray) -> BoolArray:
    """Compare |r| with the median absolute deviation of the 252 returns before it, by symbol."""
    out = np.zeros(len(moves), dtype=bool)
    edges = np.append(np.flatnonzero(np.append([True], codes[1:] != codes[:-1])), len(codes))
    for start, stop in pairwise(edges):
        one = moves[start:stop]
        for at in _candidates(one):
            past = one[max(at - MAD_WINDOW, 0) : at]
            past = past[np.isfinite(past)]
            deviation = _median(np.abs(past - _median(past)))
            out[start + at] = deviation > 0 and abs(one[at]) > MAD_MULTIPLE * deviation
    return out


def _median(values: FloatArray) -> float:
    """Return the median of finite values, NaN of none; numpy's own looks for NaN and axes, ten times the work here."""
    middle, odd = divmod(len(values), 2)
    if not len(values):
        return float("nan")
    ordered = np.sort(values)
    return float(ordered[middle] if odd else (ordered[middle - 1] + ordered[middle]) / 2)


def _candidates(moves: FloatArray) -> IntArray:
    """Return the rows of one symbol that may lie beyond the multiple of their deviation; all that do are among them.

    A window of 252 rows holds three whole blocks of 63. Where no interval shorter than 2 b holds more than 20 values of
    any block, at most 123 of the 252 lie closer than b to whatever their median is, so the deviation is at least b. A
    series with gaps, and the first rows of each, take the deviation's other bound, median |r| - |median r|.
    """
    head = len(moves)
    if len(moves) > 2 * MAD_WINDOW and np.isfinite(moves[1:]).all():
        blocks = np.sort(moves[1 : 1 + (len(moves) - 1) // _BLOCK * _BLOCK].reshape(-1, _BLOCK), axis=1)
        least = float((blocks[:, _CROWD:] - blocks[:, :-_CROWD]).min()) / 2
        far = np.flatnonzero(np.abs(moves) > MAD_MULTIPLE * (1 - 1e-9) * least)
        if len(far) < len(moves) / 8:
            head = MAD_WINDOW + 1
            return np.concatenate([_early(moves[:head]), far[far >= head]])
    return _early(moves[:head])


def _early(moves: FloatArray) -> IntArray:
    size, past = pd.Series(np.abs(moves)), pd.Series(moves)
    least = _rolling_median(size) - np.abs(_rolling_median(past))
    return np.flatnonzero(np.isfinite(least) & (np.abs(moves) > MAD_MULTIPLE * (1 - 1e-9) * least))


def _rolling_median(values: "pd.Series[float]") -> FloatArray:
    """Return the median of the 252 values before each; NaN with fewer than 21."""
    return values.rolling(MAD_WINDOW, min_periods=MAD_MIN).median().shift(1).to_numpy(dtype=float)


def _is_split(ratio: FloatArray) -> BoolArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.maximum(ratio, 1 / ratio)
    near = np.abs(factor[:, None] / _SPLITS[None, :] - 1) <= _SPLIT_FIT
    return np.asarray(near.any(axis=1))


def _continuous(table: pd.DataFrame, codes: IntArray) -> BoolArray:
    """Tell where the adjusted close does not take part in the move, as at a split."""
    if "adj_close" not in table.columns or "close" not in table.columns:
        return np.zeros(len(table), dtype=bool)
    adjusted = table["adj_close"].to_numpy(dtype=float, na_value=np.nan)
    close = table["close"].to_numpy(dtype=float, na_value=np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        calm = np.abs(np.append([np.nan], adjusted[1:] / adjusted[:-1]) - 1) < BIG_MOVE / 2
        differs = np.abs(np.append([np.nan], (adjusted[1:] / close[1:]) / (adjusted[:-1] / close[:-1])) - 1) > 0.1
    return np.asarray(calm & differs & np.append([False], codes[1:] == codes[:-1]))


def _shared(table: pd.DataFrame, big: BoolArray) -> BoolArray:
    share = pd.Series(big).groupby(table["date"].to_numpy()).transform("mean").to_numpy()
    count = pd.Series(big).groupby(table["date"].to_numpy()).transform("sum").to_numpy()
    return np.asarray((share >= SHARED) & (count >= 2))


def fundamental_quality(fundamentals: pd.DataFrame | None) -> dict[str, int]:
    """Count rows announced before their period end, without announcement date, and contradicting each other."""
    if fundamentals is None or len(fundamentals) == 0:
        return {}
    columns = set(fundamentals.columns)
    out = {"rows": len(fundamentals)}
    if "announced" not in columns:
        out["announced_missing"] = len(fundamentals)
        return out
    out["announced_missing"] = int(fundamentals["announced"].isna().sum())
    if "period_end" in columns:
        out["announced_before_period_end"] = int((fundamentals["announced"] < fundamentals["period_end"]).sum())
        keys = ["symbol", "period_end", "announced"]
        if set(keys) <= columns:
            distinct = fundamentals.drop_duplicates()
            out["contradicting_rows"] = int(distinct.duplicated(keys).sum())
    return out
