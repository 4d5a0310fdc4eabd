"""Numbers as agents write them, to floats."""

import re
from typing import Any

import numpy as np
import pandas as pd

MISSING = ("", "na", "n/a", "nan", "none", "null", "-", "—", "–", "#n/a", "nat", "<na>")
NA_CELLS = ["", "NA", "N/A", "NaN", "nan", "None", "null", "NULL", "-", "—", "#N/A", "<NA>"]
_PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$")
_EUROPEAN = re.compile(r"[-+]?(\d{1,3}(\.\d{3})+|\d+),\d+(e[-+]?\d+)?$", re.IGNORECASE)
_EUROPEAN_WHOLE = re.compile(r"[-+]?\d{1,3}(\.\d{3})+$")
_SURELY_EUROPEAN = re.compile(
    r"[-+(]?\s*(\d{1,3}(\.\d{3})+,\d+|\d+,(\d{1,2}|\d{4,})|\d+,\d+e[-+]?\d+)\)?\s*%?$", re.IGNORECASE
)
_SURELY_NOT = re.compile(
    r"[-+(]?\s*(\d{1,3}(,\d{3})+\.\d+|\d*\.(\d{1,2}|\d{4,})|\d{4,}\.\d+|0\.\d+|\d*\.\d+e[-+]?\d+)\)?\s*%?$",
    re.IGNORECASE,
)
_STRIP = re.compile(r"[$€£¥\s\u00a0\u202f_'’]|\b(?:usd|eur|gbp|jpy|cny|chf|hkd|cad|aud)\b|usd|eur", re.IGNORECASE)
_DASHES = str.maketrans("\u2212–﹣－", "----")
_LONGEST = 64
_SHOWN = 500


def is_plain_number(cell: str) -> bool:
    """Tell whether a cell is a number that every reader takes alike."""
    return bool(_PLAIN.match(cell))


def is_european(cell: str) -> bool:
    """Tell whether a cell can only be read with a decimal comma."""
    return bool(_SURELY_EUROPEAN.match(_STRIP.sub("", cell[:_LONGEST]).translate(_DASHES)))


def parse_number(cell: object, *, european: bool = False) -> float:
    """Return the number of one cell, percent as a fraction; NaN when it is none."""
    if isinstance(cell, bool):
        return float(cell)
    if isinstance(cell, int | float | np.number):
        return _float(cell)
    text = _STRIP.sub("", str(cell)[:_LONGEST]).translate(_DASHES)
    if text.lower() in MISSING:
        return float("nan")
    negative = text.startswith("(") and text.endswith(")")
    text = text.strip("()")
    percent = text.endswith(("%", "﹪"))
    text = text.rstrip("%﹪")
    bps = text.lower().endswith(("bps", "bp"))
    text = text.lower().removesuffix("bps").removesuffix("bp") if bps else text
    value = _float(_pointed(text, european=european))
    value = value / 100 if percent else value / 1e4 if bps else value
    return -value if negative else value


def _pointed(text: str, *, european: bool) -> str:
    comma = (european and _EUROPEAN.match(text)) or (_SURELY_EUROPEAN.match(text) and not _SURELY_NOT.match(text))
    if comma or (european and _EUROPEAN_WHOLE.match(text)):
        return text.replace(".", "").replace(",", ".")
    return text.replace(",", "")


def _float(value: Any) -> float:
    try:
        return float(value)
    except (ValueError, OverflowError):
        return float("nan")


def parse_numbers(column: "pd.Series[Any]", *, european: bool = False) -> "pd.Series[Any]":
    """Return a float column; clean columns take the fast way, others each distinct cell once.

    Decimal commas are decided on the whole column: `european` says that the file uses them, a cell with a decimal
    point speaks against it.
    """
    if pd.api.types.is_bool_dtype(column):
        return column.astype(float)
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column):
        return pd.Series(column.to_numpy(dtype=float, na_value=np.nan), index=column.index)
    codes, labels = pd.factorize(column)
    cells = [label if isinstance(label, str) else _native(label) for label in labels]
    shown = [_STRIP.sub("", c[:_LONGEST]).translate(_DASHES) for c in cells[:_SHOWN] if isinstance(c, str)]
    sure = any(_SURELY_EUROPEAN.match(cell) for cell in shown)
    against = any(_SURELY_NOT.match(cell) for cell in shown)
    comma = (european or sure) and not against
    values = np.append(_values(cells, comma=comma), np.nan)
    return pd.Series(values[codes], index=column.index)


def _values(cells: list[Any], *, comma: bool) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the number of each cell; plain texts in one pass, the others one by one."""
    if comma:
        return np.array([parse_number(cell, european=True) for cell in cells], dtype=float)
    quick = pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce").to_numpy(dtype=float, na_value=np.nan).copy()
    for at in np.flatnonzero(np.isnan(quick)):
        quick[at] = parse_number(cells[int(at)])
    return quick


def _native(label: object) -> object:
    return label if isinstance(label, int | float | bool) else str(label)
