"""A raw table on its way to a canonical frame: columns by alias, every guess in words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from evaluator.package import headers as h
from evaluator.package.dates import parse_dates
from evaluator.package.formats.raw import RawTable
from evaluator.package.headers import pick
from evaluator.package.numbers import parse_numbers
from evaluator.package.symbols import plain_symbol
from evaluator.quant.calendar import last_sessions

_TOTALS = frozenset({"total", "totals", "sum", "average", "mean"})


@dataclass
class Draft:
    """A table while it becomes canonical."""

    raw: RawTable
    stem: str
    headers: list[str]
    guesses: list[str] = field(default_factory=list)

    def column(self, aliases: Sequence[str]) -> "pd.Series[Any] | None":
        """Return the first aliased column, or None."""
        at = pick(self.headers, aliases)
        return None if at is None else self.raw.frame.iloc[:, at]

    def dates(self, aliases: Sequence[str]) -> "pd.Series[Any] | None":
        """Return the first aliased column as dates."""
        at = pick(self.headers, aliases)
        if at is None:
            return None
        parsed = parse_dates(self.raw.frame.iloc[:, at], after_close=self.headers[at] in h.ACCEPTED)
        name = self.headers[at]
        self.guesses += [f"{name}: {guess}" for guess in parsed.guesses]
        if parsed.ambiguous:
            self.guesses.append(f"{name}: ambiguous, day and month cannot be told apart")
        return parsed.days

    def numbers(self, aliases: Sequence[str]) -> "pd.Series[Any] | None":
        """Return the first aliased column as floats."""
        found = self.column(aliases)
        return None if found is None else parse_numbers(found, european=self.raw.european)

    def text(self, aliases: Sequence[str]) -> "pd.Series[Any] | None":
        """Return the first aliased column as stripped text; empty cells are missing."""
        found = self.column(aliases)
        if found is None:
            return None
        codes, labels = pd.factorize(found)
        words = np.array([*(str(label).strip() or None for label in labels), None], dtype=object)
        return pd.Series(words[codes], index=found.index, dtype=object)

    def spelling(self, aliases: Sequence[str]) -> str:
        """Return the delivered spelling of the first aliased column; '' when there is none."""
        at = pick(self.headers, aliases)
        return "" if at is None else str(self.raw.frame.columns[at])


def finished(
    draft: Draft, columns: dict[str, "pd.Series[Any] | None"], *, by: Sequence[str] = ("date",)
) -> pd.DataFrame:
    """Assemble the columns that exist, drop totals and repeated headers, order by date."""
    frame = pd.DataFrame({name: column for name, column in columns.items() if column is not None})
    lead = by[0]
    if lead in frame.columns and frame[lead].isna().any():
        frame = _without_furniture(draft, frame, lead)
    keys = [name for name in by if name in frame.columns]
    if keys and len(frame) and not frame[keys[0]].is_monotonic_increasing:
        newest_first = frame[keys[0]].dropna().is_monotonic_decreasing
        if newest_first:
            draft.guesses.append("rows are newest first")
            frame = frame.iloc[::-1]
        frame = frame.sort_values(keys[0], kind="stable")
    return frame.reset_index(drop=True)


def _without_furniture(draft: Draft, frame: pd.DataFrame, lead: str) -> pd.DataFrame:
    raw = draft.raw.frame.loc[frame.index]
    undated = frame[lead].isna()
    cells = raw[undated].map(lambda cell: str(cell).strip().lower())
    names = {str(c).strip().lower() for c in raw.columns}
    header = cells.isin(names).mean(axis=1) > 0.5
    total = cells.isin(_TOTALS).any(axis=1)
    blank = cells.isin(["", "nan", "none", "nat"]).all(axis=1)
    drop = cells.index[header | total | blank]
    if len(drop):
        draft.guesses.append(f"{len(drop)} header, total or blank rows are left out")
    return frame.drop(index=drop)


def symbols_of(draft: Draft) -> "pd.Series[Any]":
    """Return the symbol of each row in one spelling; a table without any is about the name of its file."""
    at = pick(draft.headers, h.SYMBOL)
    if at is None:
        symbol = plain_symbol(
            re.sub(r"^(PRICES|TRADES|OHLCV?)_|_(PRICES|TRADES|OHLCV?|DAILY|1D)$", "", draft.stem.upper())
        )
        draft.guesses.append(f"symbol {symbol} comes from the file name")
        return pd.Series(symbol, index=draft.raw.frame.index, dtype=object)
    codes, labels = pd.factorize(draft.raw.frame.iloc[:, at])
    words = [str(label).strip() for label in labels]
    plain = [plain_symbol(word) or None for word in words]
    changed = [f"{word} as {name}" for word, name in zip(words, plain, strict=True) if word and word != name]
    if changed:
        draft.guesses.append(f"{len(changed)} symbols are spelt otherwise: {', '.join(changed[:3])}")
    return pd.Series(np.array([*plain, None], dtype=object)[codes], index=draft.raw.frame.index, dtype=object)


def on_sessions(draft: Draft, frame: pd.DataFrame) -> pd.DataFrame:
    """Move dates on closed days (month ends, calendar days) to the session before: what was known then is from it."""
    if "date" not in frame.columns or not len(frame):
        return frame
    codes, days = pd.factorize(frame["date"])
    index = pd.DatetimeIndex(days).as_unit("us")
    moved = last_sessions(index)
    closed = moved != index
    if not closed.any():
        return frame
    draft.guesses.append(f"{int(closed.sum())} dates on closed days count for the session before")
    labels = np.append(moved.to_numpy().astype("datetime64[us]"), np.datetime64("NaT"))
    return frame.assign(date=labels[codes])


def melted(draft: Draft, aliases: Sequence[str], value: str) -> pd.DataFrame:
    """Turn a wide table (dates x names) into date, symbol, value; empty cells are left out."""
    at = pick(draft.headers, aliases)
    days = draft.dates(aliases)
    frame = draft.raw.frame
    parts: dict[str, pd.Series[Any]] = {}
    for place, name in enumerate(frame.columns):
        numbers = parse_numbers(frame.iloc[:, place], european=draft.raw.european) if place != at else None
        if numbers is not None and numbers.notna().any():
            parts[plain_symbol(str(name))] = numbers
    draft.guesses.append(f"wide table, one column for each of {len(parts)} names")
    if days is None or not parts:
        return pd.DataFrame({"date": pd.Series(dtype="datetime64[us]"), "symbol": [], value: []})
    wide = pd.DataFrame(parts)
    out = pd.DataFrame(
        {
            "date": np.repeat(days.to_numpy(), len(parts)),
            "symbol": np.tile(np.array(list(parts), dtype=object), len(wide)),
            value: wide.to_numpy().reshape(-1),
        }
    )
    return out[out[value].notna() & out["date"].notna()].sort_values("date", kind="stable").reset_index(drop=True)
