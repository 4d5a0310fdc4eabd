"""Where a figure of a report can stand: result tables whole, long logs by their ends, extremes, counts and named rows."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from evaluator.package.delivery import Table

_RESULTS = ("metrics", "sensitivity", "out_of_sample", "quality", "spec", "sources", "universe")
_RAW = ("prices", "fundamentals", "market", "signals", "trades", "equity")
"""Logs: in a thousand rows any number stands somewhere, so that a cell of one proves nothing."""
_LONG = 100
_NAMED_ROWS = 50
"""More rows than these are not singled out by the names in a sentence."""
_TEXT_ROWS = 2_000
_YEAR = 365.25
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_ISO = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_WORD = re.compile(r"[A-Z^][A-Z0-9.^-]{0,9}\b")


class Cells:
    """Absolute values, searched at a printed precision."""

    def __init__(self, values: Iterator[float]) -> None:
        self._sorted = sorted({abs(value) for value in values})

    def has(self, value: float, step: float) -> bool:
        """Tell whether a value lies within `step`, half a unit of the last printed digit."""
        slack = step * (1 + 1e-6) + 1e-12
        at = bisect_left(self._sorted, value - slack)
        return at < len(self._sorted) and self._sorted[at] <= value + slack


@dataclass(frozen=True)
class Candidates:
    """The cells in which figures of a report can stand."""

    tables: tuple[Table, ...]

    @cached_property
    def anywhere(self) -> Cells:
        """Cells open to every claim."""
        return Cells(value for table in self.tables for value in _open_values(table))

    def named(self, sentence: str) -> Cells:
        """Return the cells of rows of long logs whose date or symbol the sentence names."""
        days, words = set(_ISO.findall(sentence)), set(_WORD.findall(sentence))
        if not days and not words:
            return Cells(iter(()))
        return Cells(value for table in self.tables if _is_log(table) for value in _row_values(table, days, words))


def _is_log(table: Table) -> bool:
    if table.role in _RESULTS:
        return False
    return table.role in _RAW or len(table.frame) > _LONG


def _open_values(table: Table) -> Iterator[float]:
    frame = table.frame
    yield float(len(frame))
    log = _is_log(table)
    if log and "date" in frame.columns and pd.api.types.is_datetime64_any_dtype(frame["date"]) and len(frame) > 1:
        # A curve of n closes has n - 1 returns.
        yield float(len(frame) - 1)
        yield float((frame["date"].max() - frame["date"].min()).days) / _YEAR
    for column in frame.columns:
        cells = frame[column]
        if log and str(column) in ("date", "signal_date", "symbol"):
            yield float(cells.nunique())
        numbers = _numbers(cells)
        if log:
            yield from _ends(numbers)
            continue
        yield from numbers[np.isfinite(numbers)].tolist()
        if cells.dtype == object or pd.api.types.is_string_dtype(cells):
            yield from _numbers_in_text(cells)


def _numbers(cells: "pd.Series[Any]") -> "np.ndarray[Any, np.dtype[np.float64]]":
    if pd.api.types.is_bool_dtype(cells) or pd.api.types.is_datetime64_any_dtype(cells):
        return np.empty(0)
    return pd.to_numeric(cells, errors="coerce").to_numpy(dtype=float, na_value=np.nan)


def _ends(numbers: "np.ndarray[Any, np.dtype[np.float64]]") -> Iterator[float]:
    finite = numbers[np.isfinite(numbers)]
    if len(finite):
        yield from (float(finite[0]), float(finite[-1]), float(finite.min()), float(finite.max()))


def _numbers_in_text(cells: "pd.Series[Any]") -> Iterator[float]:
    for text in cells.dropna().astype(str).head(_TEXT_ROWS):
        for hit in _NUMBER.finditer(text[:400]):
            yield float(hit.group().replace(",", ""))


def _row_values(table: Table, days: set[str], words: set[str]) -> Iterator[float]:
    frame = table.frame
    by_day = "date" in frame.columns and pd.api.types.is_datetime64_any_dtype(frame["date"]) and bool(days)
    by_name = "symbol" in frame.columns and bool(words)
    kept = np.full(len(frame), by_day or by_name)
    if by_day:
        kept &= frame["date"].isin(pd.to_datetime(sorted(days), errors="coerce").dropna()).to_numpy()
    if by_name and (names := frame["symbol"].astype(str).isin(words).to_numpy()).any():
        kept &= names
    elif not by_day:
        return
    if not 0 < int(kept.sum()) <= _NAMED_ROWS:
        return
    for column in frame.columns:
        numbers = _numbers(frame.loc[kept, column])
        yield from numbers[np.isfinite(numbers)].tolist()
