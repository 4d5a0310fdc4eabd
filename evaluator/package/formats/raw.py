"""What every format yields: raw tables, or the reason why there is none."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from evaluator.package.constants import MAX_CELLS, MAX_COLUMNS, MAX_ROWS

FAULTS = (ValueError, TypeError, LookupError, ArithmeticError, OSError, RecursionError, MemoryError, AttributeError)
"""What the parsers raise on broken files; pyarrow's and pandas' own errors derive from these, except ArrowException."""
LEVEL = "|"
"""Joins the levels of a header of several rows: 'Close|AAPL'."""


class Unreadable(ValueError):  # noqa: N818 -- a finding about the delivery, not a fault of ours
    """The file is no table; the message says why."""


@dataclass(frozen=True)
class RawTable:
    """One table as delivered: headers untouched, text columns as text."""

    key: str
    """'' or what tells several tables of one file apart."""
    frame: pd.DataFrame
    guesses: tuple[str, ...] = ()
    european: bool = False
    """Decimal commas."""
    role: str = ""
    """The role, where the layout of a known tool says it; '' leaves it to the columns."""
    run: str = ""
    """Name of the strategy or parameter run, where one file holds several."""


def unique(headers: Sequence[str]) -> list[str]:
    """Make repeated or empty headers distinct, in place order."""
    seen: dict[str, int] = {}
    out = []
    for place, header in enumerate(headers):
        name = header.strip() or f"Unnamed: {place}"
        count = seen.get(name, 0)
        seen[name] = count + 1
        out.append(name if count == 0 else f"{name}.{count}")
    return out


def level_name(column: object) -> str:
    """Return a column label as one text; the levels of a tuple are joined."""
    if isinstance(column, tuple):
        return LEVEL.join(str(part) for part in column if str(part))
    return str(column)


def check_size(rows: int, columns: int) -> None:
    """Raise Unreadable for a table that is larger than what is read."""
    if columns > MAX_COLUMNS:
        raise Unreadable(f"{columns} columns, at most {MAX_COLUMNS} are read")
    if rows > MAX_ROWS:
        raise Unreadable(f"{rows} rows, at most {MAX_ROWS} are read")
    if rows * max(columns, 1) > MAX_CELLS:
        raise Unreadable(f"{rows} rows x {columns} columns, at most {MAX_CELLS} cells are read")
