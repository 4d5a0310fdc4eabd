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
    kept = np.flatnonzero(count >= least)
    ics = np.array([_rank_correlation(values[i][known[i]], later[i][known[i]]) for i in kept])
    kept, ics = kept[np.isfinite(ics)], ics[np.isfinite(ics)]
    if len(ics) < _MIN_DATES:
        return Absent(f"{len(ics)} decision dates have {least} names with a signal and a return")
    deviation = float(ics.std(ddof=1))
    return Diagnostics(
        dates=len(ics),
        least=least,
        mean_ic=float(ics.mean()),
        t=float(ics.mean()) / deviation * len(ics) ** 0.5 if deviation > 0 else float("nan"),
        hit_rate=float((ics > 0).mean()),
        spread={q: _spread(values, later, known, kept, q) for q in (2, 3, 4, 5, 10)},
        decay=_decay(values, later, kept),
    )


def _rank_correlation(a: FloatArray, b: FloatArray) -> float:
    x, y = (pd.Series(one).rank().to_numpy() for one in (a, b))
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / size if size > 0 else float("nan")


def _spread(values: FloatArray, later: FloatArray, known: FloatArray, kept: FloatArray, quantiles: int) -> float:
    found = []
    for row in kept:
        inside = np.asarray(known[row], dtype=bool)
        ordered = later[row][inside][np.argsort(values[row][inside], kind="stable")]
        part = max(len(ordered) // quantiles, 1)
        found.append(float(ordered[-part:].mean() - ordered[:part].mean()))
    return float(np.mean(found))


def _decay(values: FloatArray, later: FloatArray, kept: FloatArray) -> float:
    found = []
    for row in kept:
        if row + 1 < len(later):
            both = np.isfinite(values[row]) & np.isfinite(later[row + 1])
            if both.sum() >= FEW_NAMES:
                found.append(_rank_correlation(values[row][both], later[row + 1][both]))
    clean = [one for one in found if np.isfinite(one)]
    return float(np.mean(clean)) if clean else float("nan")
