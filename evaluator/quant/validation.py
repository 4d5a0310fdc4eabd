"""Rank information coefficients of delivered signals, recomputed on the delivered prices (2.8b)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from evaluator.quant.absent import Absent
from evaluator.quant.arrays import FloatArray
from evaluator.quant.panel import PricePanel

MANY_NAMES = 20
"""Names a decision date needs to count."""
FEW_NAMES = 5
"""Names it needs where no date of the delivery has twenty: the task's own universe is smaller."""
QUANTILES = (2, 3, 4, 5, 10)
_MIN_DATES = 2


@dataclass(frozen=True)
class Diagnostics:
    """What a signal said about the return that followed."""

    dates: int
    least: int
    """Names a date needed."""
    mean_ic: float
    t: float
    """mean / sd (ddof 1) x sqrt(dates); NaN when every date gives the same coefficient."""
    hit_rate: float
    """Share of dates with a positive coefficient."""
    spread: dict[int, float]
    """Quantile count -> mean return of the top minus that of the bottom quantile."""
    decay: float
    """Mean coefficient against the return one decision later; NaN when there is none."""


@dataclass(frozen=True)
class Convention:
    """From which price to which the return after a decision runs."""

    field: str
    adjusted: bool

    @property
    def text(self) -> str:
        """The convention in words."""
        return f"{self.field} of t+1 to the {self.field} after the next decision" + (
            ", dividend-adjusted" if self.adjusted else ""
        )


def conventions(panel: PricePanel, *, first: str = "open") -> Iterator[Convention]:
    """Yield the readings of "the return to the next decision's fill", the specified fill price first."""
    fields = [first, "close" if first == "open" else "open"]
    for name, adjusted in product(fields, (False, True)):
        if name in panel.fields and (not adjusted or "adj_close" in panel.fields):
            yield Convention(name, adjusted)


def forward_returns(panel: PricePanel, decisions: pd.DatetimeIndex, convention: Convention) -> pd.DataFrame:
    """Return decisions x symbols: from the session after a decision to the session after the next one; NaN for the last."""
    levels = panel.fields[convention.field]
    if convention.adjusted:
        levels = levels * (panel.fields["adj_close"] / panel.fields["close"])
    values = levels.to_numpy(dtype=float)
    rows = panel.rows(decisions) + 1
    inside = rows < len(values)
    at = np.full((len(rows), values.shape[1]), np.nan)
    at[inside] = values[rows[inside]]
    out = np.full(at.shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        out[:-1] = at[1:] / at[:-1] - 1
    return pd.DataFrame(out, index=decisions, columns=panel.symbols)


def diagnose(signal: pd.DataFrame, ahead: pd.DataFrame) -> Diagnostics | Absent:
    """Return the diagnostics of one signal (dates x symbols, higher is better) against the returns that followed."""
    days = signal.index.intersection(ahead.index)
    names = signal.columns.intersection(ahead.columns)
    values, later = (frame.loc[days, names].to_numpy(dtype=float) for frame in (signal, ahead))
    known = np.isfinite(values) & np.isfinite(later)
    count = known.sum(axis=1) if len(days) else np.zeros(0, dtype=int)
    if not len(count) or count.max() < FEW_NAMES:
        return Absent(f"no decision date has {FEW_NAMES} names with a signal and a return")
    least = MANY_NAMES if count.max() >= MANY_NAMES else FEW_NAMES
    ics = _rank_correlations(values, later)
    kept = np.flatnonzero((count >= least) & np.isfinite(ics))
    if len(kept) < _MIN_DATES:
        return Absent(f"{len(kept)} decision dates have {least} names with a signal and a return")
    found = ics[kept]
    deviation = float(found.std(ddof=1))
    next_ones = _rank_correlations(values[:-1], later[1:])[kept[kept < len(values) - 1]]
    next_ones = next_ones[np.isfinite(next_ones)]
    return Diagnostics(
        dates=len(found),
        least=least,
        mean_ic=float(found.mean()),
        t=float(found.mean()) / deviation * len(found) ** 0.5 if deviation > 0 else float("nan"),
        hit_rate=float((found > 0).mean()),
        spread=_spreads(values[kept], later[kept]),
        decay=float(next_ones.mean()) if len(next_ones) else float("nan"),
    )


def _rank_correlations(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return Spearman's coefficient per row over the cells both know; NaN with fewer than five or no spread."""
    known = np.isfinite(a) & np.isfinite(b)
    x, y = (pd.DataFrame(np.where(known, one, np.nan)).rank(axis=1).to_numpy() for one in (a, b))
    count = known.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.where(known, x - (np.nansum(x, axis=1) / count)[:, None], 0.0)
        y = np.where(known, y - (np.nansum(y, axis=1) / count)[:, None], 0.0)
        out = (x * y).sum(axis=1) / np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    return np.where(count >= FEW_NAMES, out, np.nan)


def _spreads(values: FloatArray, later: FloatArray) -> dict[int, float]:
    """Return, per number of quantiles, the mean over rows of the top minus the bottom quantile's mean return."""
    known = np.isfinite(values) & np.isfinite(later)
    count = known.sum(axis=1)
    order = np.argsort(np.where(known, values, np.inf), axis=1, kind="stable")
    summed = np.cumsum(np.take_along_axis(np.where(known, later, 0.0), order, axis=1), axis=1)
    rows = np.arange(len(values))
    found = {}
    for quantiles in QUANTILES:
        part = np.maximum(count // quantiles, 1)
        total = summed[rows, count - 1]
        below = np.where(count > part, summed[rows, np.maximum(count - part - 1, 0)], 0.0)
        found[quantiles] = float(((total - below - summed[rows, part - 1]) / part).mean())
    return found
