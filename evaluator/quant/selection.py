"""The chosen names and how far two choices agree."""

from collections.abc import Set as AbstractSet
from typing import Any

import pandas as pd

from evaluator.quant.combination import Combined

_TIE = 1e-9


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


def set_agreement(
    delivered: pd.DataFrame, own: pd.DataFrame, *, composite: pd.DataFrame | None = None
) -> "pd.Series[Any]":
    """Return the Jaccard index per date that both know, in date order.

    Args: composite: with it, names whose score equals that of the last chosen one (to 1e-9) are interchangeable: a
    delivery may break ties in its own way, or by rounding.
    """
    theirs, ours = selected_sets(delivered), selected_sets(own)
    days = sorted(theirs.keys() & ours.keys())
    values = []
    for day in days:
        mine = ours[day]
        if composite is not None and mine and theirs[day] != mine:
            scores = pd.Series(composite.loc[day].to_numpy(dtype=float), index=composite.columns)
            mine = _with_their_ties(theirs[day], mine, scores)
        values.append(jaccard(theirs[day], mine))
    return pd.Series(values, index=pd.DatetimeIndex(days), dtype=float)


def _with_their_ties(theirs: frozenset[str], mine: frozenset[str], scores: "pd.Series[Any]") -> frozenset[str]:
    cut = float(scores[list(mine)].min())
    tied = set(scores.index[(scores - cut).abs() <= _TIE])
    swapped_in = sorted((theirs - mine) & tied)
    swapped_out = sorted((mine - theirs) & tied)[: len(swapped_in)]
    return (mine - set(swapped_out)) | set(swapped_in[: len(swapped_out)])
