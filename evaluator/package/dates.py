"""Dates as agents write them, to plain New York dates (evaluator.md 2.5)."""

import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evaluator.package.numbers import MISSING
from evaluator.quant.calendar import is_session, shift_session

NEW_YORK = "America/New_York"
CLOSE_HOUR = 16
_ISO = re.compile(r"^\d{4}-\d{2}-\d{2}")
_BEFORE_TIME = re.compile(r"^(\d{4}-\d{2}-\d{2}),\s*(?=\d{1,2}:)")
"""IBKR's activity statement: 2024-01-02, 09:31:00."""
_COMPACT = re.compile(r"^(\d{4}-?\d{2}-?\d{2});\d{2}:?\d{2}:?\d{2}.*$")
"""IBKR's flex query: 20240102;093100."""
_ZONE = re.compile(r"(?:Z|UTC|[+-]\d{2}:?\d{2})$")
_YEAR_FIRST = re.compile(r"^(\d{4})[/.](\d{1,2})[/.](\d{1,2})(?:[ T,].*)?$")
_DAY_OR_MONTH_FIRST = re.compile(r"^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d{2})(?:[ T,].*)?$")
_DIGITS = re.compile(r"^\d+(\.0+)?$")
_MONTH_NAME = re.compile(r"(?i)jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec")
_EPOCHS = ((8.5e8, 5e9, "s"), (8.5e11, 5e12, "ms"), (8.5e14, 5e15, "us"), (8.5e17, 5e18, "ns"))
_EXCEL = (20000, 80000)


@dataclass(frozen=True)
class ParsedDates:
    """Dates of one column."""

    days: "pd.Series[Any]"
    """datetime64[us] without zone; NaT where a cell is no date."""
    guesses: tuple[str, ...] = ()
    ambiguous: bool = False
    """Day and month could not be told apart."""


def parse_dates(column: "pd.Series[Any]", *, after_close: bool = False) -> ParsedDates:
    """Parse a column, each distinct cell once.

    Args: after_close: stamps with a time after 16:00 count for the next session (acceptance times of filings).
    """
    if isinstance(column.dtype, pd.DatetimeTZDtype) or pd.api.types.is_datetime64_any_dtype(column):
        return ParsedDates(_from_stamps(column, after_close=after_close))
    codes, labels = pd.factorize(column)
    cells = [_cell(label) for label in labels]
    found, guesses, ambiguous = _parse_distinct(cells, after_close=after_close)
    stamps = np.append(found, np.datetime64("NaT"))[codes].astype("datetime64[us]")
    return ParsedDates(pd.Series(stamps, index=column.index), guesses, ambiguous)


def looks_like_dates(column: "pd.Series[Any]") -> bool:
    """Tell whether most of the first cells are dates; plain small numbers are not."""
    if isinstance(column.dtype, pd.DatetimeTZDtype) or pd.api.types.is_datetime64_any_dtype(column):
        return True
    head = [_cell(value) for value in column.dropna().head(40).tolist()]
    head = [cell for cell in head if cell.lower() not in MISSING]
    if not head:
        return False
    found, _, _ = _parse_distinct(head, after_close=False)
    return bool((~np.isnat(found)).mean() > 0.8)


def _cell(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value).strip()
    if text[10:11] == "," or ";" in text[8:11]:
        return _COMPACT.sub(r"\1", _BEFORE_TIME.sub(r"\1 ", text))
    return text


def _from_stamps(column: "pd.Series[Any]", *, after_close: bool) -> "pd.Series[Any]":
    stamps = column
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        utc = column.dt.tz_convert("UTC")
        label = (utc == utc.dt.normalize()).fillna(value=False)
        local = column.dt.tz_convert(NEW_YORK).dt.tz_localize(None)
        stamps = local.where(~label, utc.dt.tz_localize(None))
    days = stamps.dt.normalize().astype("datetime64[us]")
    return _moved(days, stamps) if after_close else days


def _moved(days: "pd.Series[Any]", stamps: "pd.Series[Any]") -> "pd.Series[Any]":
    late = (stamps - stamps.dt.normalize()) > pd.Timedelta(hours=CLOSE_HOUR)
    out = days.copy()
    for at in np.flatnonzero(late.to_numpy()):
        out.iloc[int(at)] = shift_session(days.iloc[int(at)], 1)
    return out


def _parse_distinct(
    cells: list[str], *, after_close: bool
) -> tuple[np.ndarray[Any, np.dtype[np.datetime64]], tuple[str, ...], bool]:
    out = np.full(len(cells), np.datetime64("NaT"), dtype="datetime64[us]")
    guesses: list[str] = []
    text = pd.Series(cells, dtype=object)
    iso = np.array([bool(_ISO.match(cell)) for cell in cells], dtype=bool)
    if iso.any():
        plain = not any(len(cell) > 10 for cell in text[iso])
        out[iso] = _plain(text[iso]) if plain else _stamped(text[iso], after_close=after_close)
    digits = ~iso & np.array([bool(_DIGITS.match(cell)) for cell in cells], dtype=bool)
    for at in np.flatnonzero(digits):
        out[at], how = _number(cells[at])
        if how and how not in guesses:
            guesses.append(how)
    rest = np.flatnonzero(~iso & ~digits & (text != "").to_numpy())
    ambiguous = _written([(int(at), cells[at]) for at in rest], out, guesses)
    return out, tuple(guesses), ambiguous


def _plain(text: "pd.Series[Any]") -> np.ndarray[Any, np.dtype[np.datetime64]]:
    found = pd.to_datetime(text, format="%Y-%m-%d", errors="coerce")
    return found.to_numpy().astype("datetime64[us]")


def _stamped(text: "pd.Series[Any]", *, after_close: bool) -> np.ndarray[Any, np.dtype[np.datetime64]]:
    zoned = text.str.contains(_ZONE)
    out = pd.Series(np.full(len(text), np.datetime64("NaT"), dtype="datetime64[us]"), index=text.index)
    if zoned.any():
        aware = pd.to_datetime(text[zoned], format="ISO8601", errors="coerce", utc=True).dt.as_unit("us")
        out[zoned] = _from_stamps(aware, after_close=after_close)
    if (~zoned).any():
        naive = pd.to_datetime(text[~zoned], format="ISO8601", errors="coerce").dt.as_unit("us")
        out[~zoned] = _from_stamps(naive, after_close=after_close)
    return out.to_numpy().astype("datetime64[us]")


def _number(cell: str) -> tuple[np.datetime64, str]:
    digits = cell.split(".", maxsplit=1)[0]
    nat = np.datetime64("NaT", "us")
    if len(digits) == 8 and digits[:2] in ("19", "20"):
        try:
            return np.datetime64(f"{digits[:4]}-{digits[4:6]}-{digits[6:]}", "us"), ""
        except ValueError:
            return nat, ""
    if len(digits) > 19:
        return nat, ""
    number = int(digits)
    if len(digits) == 5 and _EXCEL[0] <= number <= _EXCEL[1]:
        return np.datetime64("1899-12-30", "us") + np.timedelta64(number, "D"), "numbers are read as Excel day serials"
    for low, high, unit in _EPOCHS:
        if low <= number < high:
            stamp = pd.Timestamp(number, unit=unit, tz="UTC")
            column = pd.Series([stamp])
            return np.datetime64(_from_stamps(column, after_close=False).iloc[0], "us"), f"numbers are epochs in {unit}"
    return nat, ""


def _written(cells: list[tuple[int, str]], out: np.ndarray[Any, np.dtype[np.datetime64]], guesses: list[str]) -> bool:
    slashed: list[tuple[int, int, int, int]] = []
    for at, cell in cells:
        year_first = _YEAR_FIRST.match(cell)
        either = _DAY_OR_MONTH_FIRST.match(cell)
        if year_first:
            out[at] = _day(*(int(part) for part in year_first.groups()))
        elif either:
            first, second, year = (int(part) for part in either.groups())
            slashed.append((at, first, second, year + 2000 if year < 100 else year))
        elif _MONTH_NAME.search(cell):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = pd.to_datetime(cell, errors="coerce")
            if isinstance(found, pd.Timestamp):
                out[at] = np.datetime64(found.tz_localize(None).normalize(), "us")
    return _slashed(slashed, out, guesses) if slashed else False


def _slashed(
    cells: list[tuple[int, int, int, int]], out: np.ndarray[Any, np.dtype[np.datetime64]], guesses: list[str]
) -> bool:
    """Decide day or month first on the whole column: a part over 12, else the reading with more sessions."""
    month_first = np.array([_day(y, a, b) for _, a, b, y in cells])
    day_first = np.array([_day(y, b, a) for _, a, b, y in cells])
    places = [at for at, *_ in cells]
    if any(a > 12 for _, a, _, _ in cells) != any(b > 12 for _, _, b, _ in cells):
        first = any(a > 12 for _, a, _, _ in cells)
        out[places] = day_first if first else month_first
        return False
    scores = [int(is_session(pd.DatetimeIndex(one)).sum()) for one in (month_first, day_first)]
    out[places] = day_first if scores[1] > scores[0] else month_first
    guesses.append(f"{'day' if scores[1] > scores[0] else 'month'} first: {max(scores)} against {min(scores)} sessions")
    return scores[0] == scores[1] and not (month_first == day_first).all()


def _day(year: int, month: int, day: int) -> np.datetime64:
    try:
        return np.datetime64(f"{year:04d}-{month:02d}-{day:02d}", "us")
    except ValueError:
        return np.datetime64("NaT", "us")
