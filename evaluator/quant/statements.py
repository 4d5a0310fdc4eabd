"""Quarterly statements as they were known on a date: latest quarters, trailing sums, market cap inputs."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from evaluator.quant.absent import Absent
from evaluator.quant.arrays import BoolArray, DayArray, FloatArray, IntArray

DEPTH = 12
"""Quarters looked back on: eight year-over-year differences need twelve."""
MAX_QUARTER_DAYS = 110
NUMBERS = (
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
class Statements:
    """Rows in (symbol, announced) order with, for each row, the rows of the latest quarters known when it came out."""

    symbols: dict[str, tuple[int, int]]
    """symbol -> first row and row after the last."""
    announced: DayArray
    period_end: DayArray
    history: IntArray
    """rows x DEPTH: row numbers of the latest quarter, the one before, ...; -1 where none."""
    linked: BoolArray
    """rows x DEPTH: the quarters from the latest to this one follow each other without a hole."""
    values: dict[str, FloatArray]

    def known(self, dates: pd.DatetimeIndex, symbols: pd.Index) -> IntArray:
        """Return dates x symbols: the row that was the last announced <= the date, -1 where none was."""
        out = np.full((len(dates), len(symbols)), -1, dtype=np.int64)
        wanted = dates.as_unit("us").to_numpy()
        for column, symbol in enumerate(symbols):
            if symbol in self.symbols:
                first, stop = self.symbols[symbol]
                at = np.searchsorted(self.announced[first:stop], wanted, side="right") - 1
                out[:, column] = np.where(at >= 0, at + first, -1)
        return out

    def back(self, name: str, quarter: int) -> FloatArray:
        """Return, per row, a number of the quarter `quarter` before the latest known one; NaN when not linked."""
        return np.asarray(self._lagged(name)[:, quarter])

    def trailing(self, name: str, *, start: int = 0) -> FloatArray:
        """Return, per row, the sum over four quarters beginning `start` quarters back; NaN unless all are known."""
        return np.asarray(self._lagged(name)[:, start : start + 4].sum(axis=1))

    def has(self, *names: str) -> bool:
        """Tell whether all numbers were delivered."""
        return all(name in self.values for name in names)

    def _lagged(self, name: str) -> FloatArray:
        found = self.values[name][np.maximum(self.history, 0)]
        return np.where(self.linked, found, np.nan)


def statements(fundamentals: pd.DataFrame | None) -> Statements | Absent:
    """Index a canonical fundamentals table; annual rows beside quarterly ones are left out."""
    if fundamentals is None or len(fundamentals) == 0:
        return Absent("no fundamentals table")
    missing = {"symbol", "period_end", "announced"} - set(fundamentals.columns)
    if missing:
        return Absent(f"the fundamentals table has no {', '.join(sorted(missing))}")
    frame = _quarters(fundamentals).dropna(subset=["symbol", "period_end", "announced"])
    if len(frame) == 0:
        return Absent("no fundamentals row has symbol, period end and announcement date")
    frame = _one_row_per_announcement(frame)
    announced = pd.DatetimeIndex(frame["announced"]).as_unit("us").to_numpy()
    period_end = pd.DatetimeIndex(frame["period_end"]).as_unit("us").to_numpy()
    codes, labels = pd.factorize(frame["symbol"])
    bounds = np.searchsorted(codes, np.arange(len(labels) + 1))
    history = _history(codes, period_end)
    values = {n: frame[n].to_numpy(dtype=float, na_value=np.nan) for n in NUMBERS if n in frame.columns}
    if "capex" in values and np.nanmedian(np.append(values["capex"], 0.0)) < 0:
        values["capex"] = -values["capex"]
    if "gross_profit" not in values and {"revenue", "cost_of_revenue"} <= set(values):
        values["gross_profit"] = values["revenue"] - values["cost_of_revenue"]
    places = {str(label): (int(bounds[i]), int(bounds[i + 1])) for i, label in enumerate(labels)}
    return Statements(places, announced, period_end, history, _linked(history, period_end), values)


def _quarters(frame: pd.DataFrame) -> pd.DataFrame:
    if "period" not in frame.columns:
        return frame
    quarterly = frame["period"].astype(str).str.upper().str.match(r"^(Q[1-4]|[1-4]Q|QUARTER)")
    return frame[quarterly] if quarterly.any() else frame


def _one_row_per_announcement(frame: pd.DataFrame) -> pd.DataFrame:
    """Merge rows of one (symbol, period end, announced); a later announcement inherits what it does not restate."""
    keys = ["symbol", "period_end", "announced"]
    numbers = [n for n in NUMBERS if n in frame.columns]
    frame = frame[[*keys, *numbers]].sort_values(keys, kind="stable")
    if frame.duplicated(keys).any():
        frame = frame.groupby(keys, sort=True, as_index=False)[numbers].last()
    if numbers and frame.duplicated(keys[:2]).any():
        frame[numbers] = frame.groupby(keys[:2], sort=False)[numbers].ffill()
    return frame.sort_values(["symbol", "announced", "period_end"], kind="stable").reset_index(drop=True)


def _history(codes: IntArray, period_end: DayArray) -> IntArray:
    rows = len(codes)
    same = np.append([False], (codes[1:] == codes[:-1]))
    in_order = np.append([True], period_end[1:] > period_end[:-1]) | ~same
    disordered = set(codes[~in_order].tolist())
    starts = np.searchsorted(codes, codes)
    history = np.arange(rows)[:, None] - np.arange(DEPTH)[None, :]
    history = np.where(history >= starts[:, None], history, -1)
    for code in disordered:
        first, stop = np.searchsorted(codes, [code, code + 1])
        latest: dict[np.datetime64, int] = {}
        for row in range(int(first), int(stop)):
            latest[period_end[row]] = row
            newest = [latest[end] for end in sorted(latest, reverse=True)[:DEPTH]]
            history[row] = [*newest, *[-1] * (DEPTH - len(newest))]
    return history.astype(np.int64)


def _linked(history: IntArray, period_end: DayArray) -> BoolArray:
    ends = period_end[np.maximum(history, 0)].astype("datetime64[D]").astype(np.int64)
    close = np.ones(history.shape, dtype=bool)
    close[:, 1:] = (ends[:, :-1] - ends[:, 1:]) <= MAX_QUARTER_DAYS
    return np.asarray(np.logical_and.accumulate(close & (history >= 0), axis=1))
