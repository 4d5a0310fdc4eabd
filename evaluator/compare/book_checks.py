"""Timing and portfolio construction: is the book in cash when the gate is off, and are the weights the scheme's."""

import numpy as np
import pandas as pd

from evaluator.compare.context import Context, Result
from evaluator.quant.absent import Absent
from evaluator.quant.covariance import ESTIMATORS
from evaluator.quant.weighting import NEEDS_COVARIANCE, SCHEMES, l1_distance
from records.strategy import Item

_CASH = 0.02
_INVESTED = 0.5
_OFF_SHARE = 0.95
_ON_SHARE = 0.80
_BREAKS = 0.10
_EXACT = 0.002
_NEAR = 0.05
_FAR = 0.10
_OTHER = 0.02
_NEARER = 0.25
"""Another scheme at a quarter of the distance is the one that was used."""


def timing(context: Context, item: Item) -> Result:
    """Compare the book's exposure with the own gate, parameters as delivered, else the best of the grammar's."""
    invested = _invested(context)
    if isinstance(invested, Absent):
        return "unconfirmed", invested.reason
    results: list[Result] = []
    for params in context.choices("market_timing", item.option):
        state = context.own.gate_as(item.option, params)
        if isinstance(state, Absent):
            results.append(("unconfirmed", state.reason))
            continue
        results.append(_timing_result(state, invested, params))
    order = {"confirmed": 0, "unconfirmed": 1, "contradicted": 2}
    return min(results, key=lambda result: order[result[0]])


def _timing_result(state: "pd.Series[float]", invested: "pd.Series[float]", params: dict[str, float]) -> Result:
    known = state.reindex(invested.index).dropna()
    share = invested.reindex(known.index)
    off, on = share[known == 0.0], share[known == 1.0]
    said = ", ".join(f"{name} {value:g}" for name, value in params.items())
    if not len(off):
        return "unconfirmed", f"the gate ({said}) is never off at a delivered decision"
    in_cash, holding = float((off <= _CASH).mean()), float((on >= _INVESTED).mean()) if len(on) else 1.0
    detail = f"gate ({said}): in cash on {in_cash:.1%} of {len(off)} off dates, invested on {holding:.1%} of {len(on)} on dates"
    if in_cash >= _OFF_SHARE and holding >= _ON_SHARE:
        return "confirmed", detail
    return ("contradicted" if 1 - in_cash >= _BREAKS else "unconfirmed"), detail


def _invested(context: Context) -> "pd.Series[float] | Absent":
    """Return the share invested once each decision's fills are done: at the close before the next decision.

    Not at that decision: fills on their signal day, which 3.1 punishes, would show its gate instead.
    A target of the delivery counts where a portfolio stop or volatility target holds the book below it.
    """
    book = context.case.rebuilt
    if isinstance(book, Absent):
        return book
    days = context.dates[(context.dates >= book.equity.index[0]) & (context.dates < book.equity.index[-1])]
    if not len(days):
        return Absent("no decision lies in the rebuilt period")
    starts = book.equity.index.searchsorted(days)
    # A decision at the very next session leaves no close between its fills and itself.
    ends = np.append(np.maximum(starts[1:] - 1, starts[:-1] + 1), len(book.equity) - 1)
    held = pd.Series(book.exposure.to_numpy(dtype=float)[ends], index=days)
    targets = context.case.main.targets
    if targets is None:
        return held
    wanted = targets.sum(axis=1).reindex(days)
    unscaled = np.where((wanted > _CASH) & (context.wanted.risk_control != "none"), 1.0, held)
    return pd.Series(unscaled, index=days)


def weighting(context: Context, item: Item) -> Result:
    """Compare delivered weights, scaled to one, with each scheme's own."""
    delivered = _scaled(context)
    if isinstance(delivered, Absent):
        return "unconfirmed", delivered.reason
    mine = _distance(context, item.option, context.wanted.covariance, delivered)
    if mine is None:
        return "unconfirmed", f"{item.option} cannot be computed on the delivered data"
    detail = f"median L1 distance to {item.option}: {mine:.4f}"
    if mine <= _EXACT:
        return "confirmed", detail
    other = _nearest_other(context, item.option, delivered)
    if other is not None and other[0] <= _OTHER and other[0] <= _NEARER * mine:
        return ("contradicted" if mine > _FAR else "unconfirmed"), f"{detail}, to {other[1]}: {other[0]:.4f}"
    return ("confirmed" if mine <= _NEAR else "unconfirmed"), detail


def _nearest_other(context: Context, option: str, delivered: pd.DataFrame) -> tuple[float, str] | None:
    """Return the distance to the nearest other scheme and its name; None when none is computable."""
    found = []
    for scheme in SCHEMES:
        estimators = ESTIMATORS if scheme in NEEDS_COVARIANCE else (None,)
        for estimator in () if scheme == option else estimators:
            distance = _distance(context, scheme, estimator, delivered)
            if distance is not None:
                found.append((distance, scheme))
    return min(found, default=None)


def covariance(context: Context, item: Item) -> Result:
    """Confirm the estimator with the lowest distance; never contradict."""
    delivered, scheme = _scaled(context), context.wanted.weighting
    if isinstance(delivered, Absent) or scheme is None:
        return "unconfirmed", "no target weights were delivered"
    found = {name: _distance(context, scheme, name, delivered) for name in ESTIMATORS}
    known = {name: value for name, value in found.items() if value is not None}
    detail = ", ".join(f"{name} {value:.5f}" for name, value in known.items())
    mine = known.get(item.option)
    if mine is not None and mine <= _NEAR and mine <= min(known.values()) + 1e-9:
        return "confirmed", f"median L1 distance: {detail}"
    return "unconfirmed", f"median L1 distance: {detail}"


def _scaled(context: Context) -> pd.DataFrame | Absent:
    targets = context.case.main.targets
    if targets is None:
        return Absent("no target weights were delivered")
    total = targets.sum(axis=1)
    held = total > _CASH
    return targets[held].div(total[held], axis=0) if held.any() else Absent("no decision holds anything")


def _distance(context: Context, scheme: str, estimator: str | None, delivered: pd.DataFrame) -> float | None:
    """Return the smallest median distance over the parameter sets to try; None when none is computable.

    Weighting and covariance ask for the same schemes, each of which is optimised at every decision: kept in the context.
    """
    key = (scheme, estimator)
    if key not in context.distances:
        context.distances[key] = _measured(context, scheme, estimator, delivered)
    return context.distances[key]


def _measured(context: Context, scheme: str, estimator: str | None, delivered: pd.DataFrame) -> float | None:
    sets = [{}] if scheme in NEEDS_COVARIANCE else context.choices("weighting", scheme)
    if scheme in NEEDS_COVARIANCE and estimator is not None:
        sets = context.choices("covariance", estimator)
    found = []
    for params in sets:
        own = context.own.weights_as(scheme, estimator, params)
        if isinstance(own, Absent):
            continue
        distance = l1_distance(delivered, own).dropna()
        if len(distance):
            found.append(float(distance.median()))
    return min(found, default=None)
