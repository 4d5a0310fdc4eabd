"""The chosen names and how far two choices agree."""

from collections.abc import Set as AbstractSet
from typing import Any

import pandas as pd

from evaluator.quant.combination import Combined


def select(combined: Combined, n: int) -> pd.DataFrame:
    """Return dates x symbols with ranks 1..n of the chosen, NaN elsewhere; all candidates when fewer than n."""
    return combined.ranks.where(combined.ranks <= n)


def selected_sets(selections: pd.DataFrame) -> dict[pd.Timestamp, frozenset[str]]:
    """Return date -> chosen names of a canonical long frame (date, symbol) or a wide frame (NaN or 0 = not chosen)."""
    if {"date", "symbol"} <= set(selections.columns):
        chosen = selections[selections["symbol"].notna()]
        if "selected" in chosen.columns:
            chosen = chosen[chosen["selected"].astype(bool)]
        found: dict[pd.Timestamp, set[str]] = {}
        for day, symbol in zip(pd.DatetimeIndex(chosen["date"]), chosen["symbol"], strict=True):
            found.setdefault(day, set()).add(symbol)
        return {day: frozenset(names) for day, names in found.items()}
    on = selections.notna() & (selections != 0)
    return {day: frozenset(on.columns[row]) for day, row in zip(pd.DatetimeIndex(on.index), on.to_numpy(), strict=True)}


def jaccard(a: AbstractSet[str], b: AbstractSet[str]) -> float:
    """Return |a & b| / |a | b|; 1 for two empty sets."""
    union = len(a | b)
    return len(a & b) / union if union else 1.0


def set_agreement(delivered: pd.DataFrame, own: pd.DataFrame) -> "pd.Series[Any]":
    """Return the Jaccard index per date that both know, in date order."""
    theirs, ours = selected_sets(delivered), selected_sets(own)
    days = sorted(theirs.keys() & ours.keys())
    return pd.Series([jaccard(theirs[day], ours[day]) for day in days], index=pd.DatetimeIndex(days), dtype=float)
