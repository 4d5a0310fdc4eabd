"""Daily market values of positions (pyfolio): they are neither shares nor targets."""

import pandas as pd

from evaluator.package.formats.raw import RawTable
from evaluator.package.headers import CASH, DATE, EQUITY, RETURN, SYMBOL, pick

HELD = "held"
"""Role of daily held values or weights; only a delivery without fills and targets is rebuilt from them."""


_TOTALS = ("total", "positions_value")
_MONEY = 1_000.0
_ROUNDING = 1e-9


def tree_weights(raw: RawTable, headers: list[str]) -> list[RawTable] | None:
    """Return bt's tree of weights (s, s>AAA) with its leaves alone; None when no column has a parent."""
    names = [str(name) for name in raw.frame.columns]
    parents = {name.rpartition(">")[0] for name in names if all(name.rpartition(">")[::2])}
    if not parents or pick(headers, DATE) is None:
        return None
    kept = [name for name in names if name not in parents]
    frame = raw.frame.set_axis(names, axis=1)[kept]
    frame = frame.set_axis([name.rpartition(">")[2] for name in kept], axis=1)
    guess = f"columns of parents are left out: {', '.join(sorted(parents))[:80]}"
    return [RawTable(raw.key, frame, (*raw.guesses, guess), raw.european, raw.role, raw.run)]


def market_values(raw: RawTable, headers: list[str]) -> list[RawTable] | None:
    """Return pyfolio's positions as held weights; None when the table is something else."""
    at = pick(headers, DATE)
    if at is None or "cash" not in headers or len(headers) < 3 or pick(headers, SYMBOL[:-3]) is not None:
        return None
    rest = raw.frame.drop(columns=[raw.frame.columns[at]])
    known = {*CASH, *EQUITY, *RETURN, *_TOTALS}
    if sum(name not in known for place, name in enumerate(headers) if place != at) < max(1, len(headers) - 2):
        return None
    if not all(pd.api.types.is_numeric_dtype(rest[name]) for name in rest.columns):
        return None
    total = rest.sum(axis=1)
    if not float(total.median()) > _MONEY or float(total.std()) < _ROUNDING * float(total.median()):
        # Weights with a column for cash sum to one, a hundred or ten thousand on every row.
        return None
    names = [name for name, header in zip(raw.frame.columns, headers, strict=True) if header != "cash"]
    wide = raw.frame[names].copy()
    for name in names:
        if name != raw.frame.columns[at]:
            wide[name] = wide[name] / total
    return [RawTable(raw.key, wide, (*raw.guesses, "market values per name are read as held weights"), role=HELD)]
