"""Several factors into one order of the candidates."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evaluator.quant.absent import Absent
from evaluator.quant.arrays import BoolArray, FloatArray

COMBINATIONS = ("zscore_mean", "rank_mean", "sequential_screen")
_TIE_DECIMALS = 12
"""Composites closer than 1e-12 are equal: sums of ranks must not tie-break on rounding noise."""


@dataclass(frozen=True)
class Combined:
    """The order of the candidates on every date."""

    ranks: pd.DataFrame
    """dates x symbols, 1 is best, NaN is no candidate."""
    composite: pd.DataFrame | None
    """dates x symbols; None where the combination has no score."""


def combine(
    scores: Mapping[str, pd.DataFrame], combination: str | None, *, excluded: pd.DataFrame | None = None
) -> Combined | Absent:
    """Combine factor scores, in screening order; `excluded` marks names (True) that are no candidates on a date."""
    if not scores:
        return Absent("no factor scores to combine")
    if len(scores) > 1 and combination not in COMBINATIONS:
        return Absent(f"combination {combination!r} is not one of the grammar")
    first = next(iter(scores.values()))
    dates = first.index
    symbols = pd.Index(sorted(set.union(*(set(frame.columns) for frame in scores.values()))))
    cube = np.stack([frame.reindex(index=dates, columns=symbols).to_numpy(dtype=float) for frame in scores.values()])
    usable = np.isfinite(cube).all(axis=0)
    if excluded is not None:
        usable &= ~excluded.reindex(index=dates, columns=symbols, fill_value=False).to_numpy(dtype=bool)
    cube = np.where(usable, cube, np.nan)
    if len(cube) > 1 and combination == "sequential_screen":
        return Combined(pd.DataFrame(_screen(cube), index=dates, columns=symbols), None)
    composite = _composite(cube, combination, usable)
    ranks = pd.DataFrame(_ranks(composite), index=dates, columns=symbols)
    return Combined(ranks, pd.DataFrame(composite, index=dates, columns=symbols))


def _composite(cube: FloatArray, combination: str | None, usable: BoolArray) -> FloatArray:
    if len(cube) == 1:
        return np.asarray(cube[0])
    parts = [_zscores(part) if combination == "zscore_mean" else _percentile_ranks(part) for part in cube]
    return np.where(usable, np.round(np.mean(parts, axis=0), _TIE_DECIMALS), np.nan)


def _zscores(part: FloatArray) -> FloatArray:
    out = np.full(part.shape, np.nan)
    for i, row in enumerate(part):
        known = np.isfinite(row)
        if not known.any():
            continue
        low, high = np.quantile(row[known], [0.01, 0.99])
        clipped = np.clip(row[known], low, high)
        spread = clipped.std(ddof=1) if len(clipped) > 1 else 0.0
        centred = clipped - clipped.mean()
        out[i, known] = centred / spread if spread > 0 else 0.0
    return out


def _percentile_ranks(part: FloatArray) -> FloatArray:
    frame = pd.DataFrame(part)
    return np.asarray(frame.rank(axis=1, method="average", pct=True).to_numpy(dtype=float))


def _ranks(composite: FloatArray) -> FloatArray:
    """Rank descending; equal values keep the column order, which is alphabetical."""
    order = np.argsort(np.where(np.isfinite(composite), -composite, np.inf), axis=1, kind="stable")
    ranks = np.empty(composite.shape)
    np.put_along_axis(ranks, order, np.arange(1.0, composite.shape[1] + 1)[None, :], axis=1)
    return np.where(np.isfinite(composite), ranks, np.nan)


def _screen(cube: FloatArray) -> FloatArray:
    alive = np.isfinite(cube[0])
    for part in cube[:-1]:
        ranks = _ranks(np.where(alive, part, np.nan))
        keep = np.ceil(alive.sum(axis=1) / 2)
        alive &= ranks <= keep[:, None]
    return _ranks(np.where(alive, cube[-1], np.nan))
