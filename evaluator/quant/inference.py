"""Which option of the grammar reproduces the delivered tables best, when no specification says so."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from evaluator.quant.absent import Absent
from evaluator.quant.arrays import FloatArray
from evaluator.quant.combination import combine
from evaluator.quant.covariance import ESTIMATORS
from evaluator.quant.execution import execution_fit
from evaluator.quant.factors import FACTORS, FactorInputs, factor_scores
from evaluator.quant.fills import usable_fills
from evaluator.quant.panel import PricePanel
from evaluator.quant.selection import select, selected_sets, set_agreement
from evaluator.quant.weighting import NEEDS_COVARIANCE, SCHEMES, WeightInputs, l1_distance, target_weights, wide_weights

FACTOR_MATCH = 0.99
SET_MATCH = 0.95
WEIGHT_MATCH = 0.05
_MIN_NAMES = 4
_MAX_DATES = 60


@dataclass(frozen=True)
class Inferred:
    """The best option and how well it fits."""

    option: str
    score: float
    """Spearman for factors, share of dates for sets and fills, L1 distance (lower is better) for weights."""
    accepted: bool
    """The score reaches the limit of evaluator.md 2.8."""
    runner_up: str | None = None
    runner_up_score: float | None = None
    params: tuple[tuple[str, float], ...] = ()
    order: tuple[str, ...] = ()
    """Screening order of the factors, for a sequential screen."""


def wide_signals(signals: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return factor name -> dates x symbols of a canonical signals table; '' when it has no factor column."""
    rows = signals.dropna(subset=["date", "symbol"])
    names = rows["factor"].astype(str) if "factor" in rows.columns else pd.Series("", index=rows.index)
    out = {}
    for name in dict.fromkeys(names):
        part = rows[names == name].drop_duplicates(["date", "symbol"], keep="last")
        out[name] = part.pivot_table(index="date", columns="symbol", values="value", aggfunc="last").sort_index()
    return out


def spearman(a: pd.DataFrame, b: pd.DataFrame) -> "pd.Series[Any]":
    """Return the rank correlation per date over the names both know; NaN with fewer than four names or no spread."""
    days = a.index.intersection(b.index)
    symbols = a.columns.intersection(b.columns)
    x = a.loc[days, symbols].to_numpy(dtype=float)
    y = b.loc[days, symbols].to_numpy(dtype=float)
    known = np.isfinite(x) & np.isfinite(y)
    x, y = _ranks(np.where(known, x, np.nan)), _ranks(np.where(known, y, np.nan))
    count = known.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.where(known, x - (np.nansum(x, axis=1) / count)[:, None], 0.0)
        y = np.where(known, y - (np.nansum(y, axis=1) / count)[:, None], 0.0)
        out = (x * y).sum(axis=1) / np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    return pd.Series(np.where(count >= _MIN_NAMES, out, np.nan), index=days)


def _ranks(values: FloatArray) -> FloatArray:
    return np.asarray(pd.DataFrame(values).rank(axis=1).to_numpy(dtype=float))


def infer_factors(signals: pd.DataFrame | None, inputs: FactorInputs) -> dict[str, Inferred]:
    """Return delivered factor name -> best factor of the grammar; the composite is left out."""
    if signals is None or not {"date", "symbol", "value"} <= set(signals.columns):
        return {}
    tables = {n: t for n, t in wide_signals(signals).items() if n.lower() not in ("composite", "combined", "score")}
    if not tables:
        tables = wide_signals(signals)
    days = pd.DatetimeIndex(sorted(set().union(*(set(t.index) for t in tables.values()))))
    days = days[np.unique(np.linspace(0, len(days) - 1, min(len(days), _MAX_DATES)).astype(int))]
    own: dict[str, pd.DataFrame] = {}
    for factor in FACTORS:
        scores = factor_scores(factor, inputs, days)
        if not isinstance(scores, Absent):
            own[factor] = scores
    return {name: found for name, table in tables.items() if (found := _best_factor(table, own)) is not None}


def _best_factor(table: pd.DataFrame, own: Mapping[str, pd.DataFrame]) -> Inferred | None:
    scored = []
    for factor, frame in own.items():
        fit = spearman(table, frame).dropna()
        if len(fit):
            scored.append((float(fit.median()), factor))
    if not scored:
        return None
    scored.sort(reverse=True)
    score, factor = scored[0]
    second = scored[1] if len(scored) > 1 else (None, None)
    return Inferred(factor, score, score >= FACTOR_MATCH, second[1], second[0])


def infer_n(selections: pd.DataFrame | None) -> int | None:
    """Return the commonest number of chosen names; None without selections."""
    if selections is None or not {"date", "symbol"} <= set(selections.columns):
        return None
    sizes = [len(names) for names in selected_sets(selections).values() if names]
    return int(pd.Series(sizes).mode().iloc[-1]) if sizes else None


def infer_combination(
    selections: pd.DataFrame | None,
    scores: Mapping[str, pd.DataFrame],
    n: int,
    *,
    excluded: pd.DataFrame | None = None,
) -> Inferred | Absent:
    """Return the combination whose best n are the delivered names on most dates; score = share with Jaccard >= .95."""
    if selections is None or not {"date", "symbol"} <= set(selections.columns):
        return Absent("no selections were delivered")
    tried: list[tuple[float, str, tuple[str, ...]]] = []
    methods: list[tuple[str, tuple[str, ...]]] = [("zscore_mean", tuple(scores)), ("rank_mean", tuple(scores))]
    methods += [("sequential_screen", order) for order in permutations(scores)]
    for method, order in methods:
        combined = combine({name: scores[name] for name in order}, method, excluded=excluded)
        if not isinstance(combined, Absent):
            agreement = set_agreement(selections, select(combined, n), composite=combined.composite)
            if len(agreement):
                tried.append((float((agreement >= SET_MATCH).mean()), method, order))
    if not tried:
        return Absent("selections and scores have no date in common")
    tried.sort(key=lambda one: -one[0])
    score, method, order = tried[0]
    other = next((one for one in tried if one[1] != method), None)
    return Inferred(
        method,
        score,
        score >= FACTOR_MATCH - 0.09,
        other[1] if other else None,
        other[0] if other else None,
        order=order,
    )


def infer_weighting(weights: pd.DataFrame | None, inputs: WeightInputs) -> Inferred | Absent:
    """Return the scheme (or 'scheme/estimator') with the smallest median L1 distance to the delivered weights.

    Delivered rows are scaled to sum 1 first, so that a volatility target or gate does not hide the scheme.
    """
    if weights is None or len(weights) == 0:
        return Absent("no weights were delivered")
    wide = wide_weights(weights)
    total = wide.sum(axis=1)
    wide = wide[total > 1e-6].div(total[total > 1e-6], axis=0)
    wide = wide.iloc[np.unique(np.linspace(0, len(wide) - 1, min(len(wide), _MAX_DATES)).astype(int))]
    days = inputs.ranks.index.intersection(wide.index)
    if len(days) == 0:
        return Absent("weights and selections have no date in common")
    part = WeightInputs(inputs.ranks.loc[days], inputs.composite, inputs.panel, inputs.market_cap)
    tried: list[tuple[float, str, tuple[tuple[str, float], ...]]] = []
    for scheme, estimator, params in _weight_variants():
        own = target_weights(scheme, part, covariance=estimator, params=dict(params))
        if isinstance(own, Absent):
            continue
        distance = l1_distance(wide, own).dropna()
        if len(distance):
            tried.append((float(distance.median()), scheme if estimator is None else f"{scheme}/{estimator}", params))
    if not tried:
        return Absent("no scheme could be computed from the delivered tables")
    tried.sort(key=lambda one: one[0])
    score, option, params = tried[0]
    other = next((one for one in tried if one[1] != option), None)
    return Inferred(
        option, score, score <= WEIGHT_MATCH, other[1] if other else None, other[0] if other else None, params
    )


def _weight_variants() -> list[tuple[str, str | None, tuple[tuple[str, float], ...]]]:
    out: list[tuple[str, str | None, tuple[tuple[str, float], ...]]] = []
    for scheme in SCHEMES:
        if scheme == "inverse_vol":
            out += [(scheme, None, (("vol_window", window),)) for window in (63.0, 126.0, 252.0)]
        elif scheme in NEEDS_COVARIANCE:
            out += [(scheme, estimator, ()) for estimator in ESTIMATORS]
        else:
            out.append((scheme, None, ()))
    return out


def infer_execution(trades: pd.DataFrame | None, panel: PricePanel) -> Inferred | Absent:
    """Return the execution option that most fills fit; staged and capped only when orders were split."""
    tried: list[tuple[float, str, tuple[tuple[str, float], ...]]] = []
    variants: list[tuple[str, dict[str, float]]] = [("next_open", {}), ("next_close", {})]
    variants += [("staged", {"days": days}) for days in (3.0, 5.0)]
    variants += [("adv_cap", {"cap": cap}) for cap in (1.0, 5.0, 10.0)]
    for option, params in variants:
        fit = execution_fit(option, trades, panel, params=params)
        if isinstance(fit, Absent) or (option in ("staged", "adv_cap") and fit.split_orders == 0):
            continue
        tried.append((min(fit.share, fit.priced), option, tuple(params.items())))
    if not tried:
        return Absent("no trade log to tell the execution from")
    tried.sort(key=lambda one: -one[0])
    score, option, found = tried[0]
    other = next((one for one in tried if one[1] != option), None)
    return Inferred(option, score, score >= SET_MATCH, other[1] if other else None, other[0] if other else None, found)


def infer_rate_bps(trades: pd.DataFrame | None) -> float | None:
    """Return the median fee over notional in bps; None without a fee column."""
    fills = usable_fills(trades)
    if isinstance(fills, Absent) or "fee" not in fills.columns or fills["fee"].isna().all():
        return None
    rate = fills["fee"].abs().fillna(0.0) / fills["notional"] * 1e4
    return round(float(rate.median()), 4)
