"""Numbers as agents write them, to floats."""

import re
from typing import Any

import numpy as np
import pandas as pd

MISSING = ("", "na", "n/a", "nan", "none", "null", "-", "—", "–", "#n/a", "nat", "<na>")
NA_CELLS = ["", "NA", "N/A", "NaN", "nan", "None", "null", "NULL", "-", "—", "#N/A", "<NA>"]
_EUROPEAN = re.compile(r"^-?(\d{1,3}(\.\d{3})+|\d+),\d+$")
_STRIP = re.compile(r"[$€£\s\u00a0_]|usd|eur", re.IGNORECASE)


def parse_number(cell: object, *, european: bool = False) -> float:
    """Return the number of one cell, percent as a fraction; NaN when it is none."""
    if isinstance(cell, bool):
        return float(cell)
    if isinstance(cell, int | float | np.number):
        return float(cell)
    text = _STRIP.sub("", str(cell)).replace("\u2212", "-").replace("–", "-")
    if text.lower() in MISSING:
        return float("nan")
    negative = text.startswith("(") and text.endswith(")")
    text = text.strip("()")
    percent = text.endswith(("%", "﹪"))
    text = text.rstrip("%﹪")
    bps = text.lower().endswith("bps")
    text = text[:-3] if bps else text
    comma = european and _EUROPEAN.match(text)
    text = text.replace(".", "").replace(",", ".") if comma else text.replace(",", "")
    try:
        value = float(text)
    except ValueError:
        return float("nan")
    value = value / 100 if percent else value / 1e4 if bps else value
    return -value if negative else value


def parse_numbers(column: "pd.Series[Any]", *, european: bool = False) -> "pd.Series[Any]":
    """Return a float column; clean columns take the fast way, others cell by cell."""
    if pd.api.types.is_bool_dtype(column):
        return column.astype(float)
    if pd.api.types.is_numeric_dtype(column):
        return pd.Series(column.to_numpy(dtype=float, na_value=np.nan), index=column.index)
    fast = pd.to_numeric(column, errors="coerce")
    lost = fast.isna() & column.notna()
    if lost.any():
        cells = column[lost]
        words = {cell: parse_number(cell, european=european) for cell in cells.unique()}
        fast = fast.astype(float)
        fast[lost] = cells.map(words).astype(float)
    return fast.astype(float)
