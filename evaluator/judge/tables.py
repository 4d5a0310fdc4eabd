"""One delivered table as capped text: its first and last rows, and per column a few figures that we computed."""

import math
from collections.abc import Iterator
from datetime import date, datetime
from itertools import islice
from typing import Any

import pandas as pd

from evaluator.measure.runs import DATA_FAULTS

HEAD_ROWS = 8
TAIL_ROWS = 4
WHOLE_ROWS = 150
"""Of a table that states something (specification, metrics, sources): all of it where it is no longer."""
MAX_COLUMNS = 30
CELL_CHARS = 200
COUNTED_ROWS = 200_000
"""Different values are counted up to here; counting text in a million rows costs more than it tells."""


def show(frame: pd.DataFrame, *, whole: bool = False) -> tuple[str, str]:
    """Return rows as comma-separated lines and, apart, figures per column. Never raises for what a frame holds.

    Args: whole: show up to WHOLE_ROWS rows instead of head and tail.
    """
    try:
        return "\n".join(_rows(frame, whole=whole)), "\n".join(_figures(frame))
    except DATA_FAULTS as fault:
        return "", f"the table cannot be shown ({type(fault).__name__})"


def _rows(frame: pd.DataFrame, *, whole: bool) -> Iterator[str]:
    part = frame.iloc[:, :MAX_COLUMNS]
    yield ",".join(_cell(column) for column in part.columns)
    limit = WHOLE_ROWS if whole else HEAD_ROWS + TAIL_ROWS
    if len(part) <= limit:
        yield from _lines(part)
        return
    yield from _lines(part.iloc[: limit - TAIL_ROWS])
    yield f"[... {len(part) - limit} rows left out here ...]"
    yield from _lines(part.iloc[-TAIL_ROWS:])


def _lines(frame: pd.DataFrame) -> Iterator[str]:
    for row in frame.itertuples(index=False, name=None):
        yield ",".join(_cell(value) for value in row)


def _figures(frame: pd.DataFrame) -> Iterator[str]:
    yield f"{len(frame)} rows, {frame.shape[1]} columns"
    if frame.shape[1] > MAX_COLUMNS:
        yield f"only the first {MAX_COLUMNS} columns are shown"
    for number, name in enumerate(islice(frame.columns, MAX_COLUMNS)):
        column = frame.iloc[:, number]
        known = column.dropna()
        figures = f"{len(known)} values"
        if not len(known):
            pass
        elif pd.api.types.is_bool_dtype(column):
            figures += f", true {int(known.sum())}"
        elif pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
            figures += f", least {_cell(known.min())}, greatest {_cell(known.max())}"
            if pd.api.types.is_numeric_dtype(column):
                figures += f", mean {_cell(known.mean())}"
        elif len(frame) <= COUNTED_ROWS:
            figures += f", {known.astype(str).nunique()} different"
        yield f"{_cell(name)}: {figures}"


def _cell(value: Any) -> str:
    """Return one value as it is written in a file: dates without a midnight, numbers to ten digits."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.10g}"
    if isinstance(value, datetime):
        return "" if pd.isna(value) else value.isoformat(sep=" ").removesuffix(" 00:00:00")
    if isinstance(value, date):
        return value.isoformat()
    text = "" if value is None or value is pd.NA else str(value)
    return " ".join(text[: 2 * CELL_CHARS].split())[:CELL_CHARS]
