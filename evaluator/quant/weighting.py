"""Target weights over the chosen names, and the distance between two books."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evaluator.quant.absent import Absent
from evaluator.quant.arrays import FloatArray
from evaluator.quant.covariance import ESTIMATORS, EWMA_WINDOW, covariance
from evaluator.quant.optimise import box_quadratic, equal_risk
from evaluator.quant.options import sessions_value, value
from evaluator.quant.panel import PricePanel

SCHEMES = (
    "equal",
    "rank_weighted",
    "score_weighted",
    "inverse_vol",
    "cap_weighted",
    "min_variance",
    "mean_variance",
    "risk_parity",
)
NEEDS_COVARIANCE = frozenset({"min_variance", "mean_variance", "risk_parity"})
CASH_NAMES = frozenset({"CASH", "USD", "$CASH", "CASH_USD", "_CASH", "CASH USD", "CASH (USD)"})
RISK_AVERSION = 5.0
SCORE_SPREAD = 0.05
YEAR = 252


@dataclass(frozen=True)
class WeightInputs:
    """What a weighting scheme may look at."""

    ranks: pd.DataFrame
    """dates x symbols, ranks 1..N of the chosen names, NaN elsewhere."""
    composite: pd.DataFrame | None
    panel: PricePanel
    market_cap: pd.DataFrame | None = None


def window_of(scheme: str, estimator: str | None, params: Mapping[str, float]) -> int:
    """Return how many daily returns to t the scheme needs of each name; 0 when none."""
    if scheme == "inverse_vol":
        return sessions_value("weighting", scheme, "vol_window", params, 126)
    if scheme in NEEDS_COVARIANCE:
        if estimator == "ewma":
            return EWMA_WINDOW
        return sessions_value("covariance", estimator or "sample", "cov_window", params, 252)
    return 0


def without_window(panel: PricePanel, dates: pd.DatetimeIndex, window: int) -> pd.DataFrame:
    """Return dates x symbols: True where a name lacks a full window of returns and so is no candidate."""
    full = np.isfinite(panel.returns.to_numpy()).astype(np.int64).cumsum(axis=0)
    full = np.vstack([np.zeros((1, full.shape[1]), dtype=np.int64), full])
    out = np.ones((len(dates), len(panel.symbols)), dtype=bool)
    for i, row in enumerate(panel.rows(dates)):
        if row + 1 >= window:
            out[i] = full[row + 1] - full[row + 1 - window] < window
    return pd.DataFrame(out, index=dates, columns=panel.symbols)


def target_weights(
    scheme: str, inputs: WeightInputs, *, covariance: str | None = None, params: Mapping[str, float] | None = None
) -> pd.DataFrame | Absent:
    """Return dates x symbols; a row sums to 1, is all 0 where nothing is chosen, all NaN where it is not computable."""
    given = params or {}
    if scheme not in SCHEMES:
        return Absent(f"weighting {scheme!r} is not one of the grammar")
    if scheme in NEEDS_COVARIANCE and covariance not in ESTIMATORS:
        return Absent(f"{scheme} needs a covariance estimator, {covariance!r} is none")
    if scheme in ("score_weighted", "mean_variance") and inputs.composite is None:
        return Absent(f"{scheme} needs a composite score")
    if scheme == "cap_weighted" and inputs.market_cap is None:
        return Absent("cap_weighted needs market caps, no share counts were delivered")
    dates = pd.DatetimeIndex(inputs.ranks.index)
    ranks = inputs.ranks.to_numpy(dtype=float)
    out = np.zeros(ranks.shape)
    side = _side_values(scheme, inputs)
    window = window_of(scheme, covariance, given)
    returns = inputs.panel.returns.reindex(columns=inputs.ranks.columns).to_numpy() if window else np.empty((0, 0))
    halflife = value("covariance", "ewma", "halflife", given) or 63.0
    for i, row in enumerate(inputs.panel.rows(dates)):
        chosen = np.flatnonzero(np.isfinite(ranks[i]))
        if len(chosen) == 0:
            continue
        past = returns[max(row - window + 1, 0) : row + 1][:, chosen] if window else None
        if past is not None and (len(past) < window or not np.isfinite(past).all()):
            out[i] = np.nan
            continue
        extra = side[i, chosen] if side is not None else None
        out[i, chosen] = _one(scheme, ranks[i, chosen], extra, past, covariance, halflife)
        if not np.isfinite(out[i]).all():
            out[i] = np.nan
    return pd.DataFrame(out, index=dates, columns=inputs.ranks.columns)


def _side_values(scheme: str, inputs: WeightInputs) -> FloatArray | None:
    frame = {
        "score_weighted": inputs.composite,
        "mean_variance": inputs.composite,
        "cap_weighted": inputs.market_cap,
    }.get(scheme)
    if frame is None:
        return None
    return frame.reindex(index=inputs.ranks.index, columns=inputs.ranks.columns).to_numpy(dtype=float)


def _one(
    scheme: str,
    ranks: FloatArray,
    extra: FloatArray | None,
    past: FloatArray | None,
    estimator: str | None,
    halflife: float,
) -> FloatArray:
    n = len(ranks)
    if past is not None and scheme == "inverse_vol":
        with np.errstate(divide="ignore", invalid="ignore"):
            return _normalised(1.0 / past.std(axis=0, ddof=1))
    if past is not None and estimator is not None:
        return _optimised(scheme, covariance(past, estimator, halflife=halflife), extra)
    if scheme == "rank_weighted":
        return _normalised(n + 1 - ranks)
    if scheme == "score_weighted" and extra is not None:
        span = extra.max() - extra.min()
        return np.full(n, 1.0 / n) if span == 0 else _normalised(extra - extra.min() + 0.01 * span)
    if scheme == "cap_weighted" and extra is not None:
        return _normalised(extra)
    return np.full(n, 1.0 / n)


def _optimised(scheme: str, daily: FloatArray, scores: FloatArray | None) -> FloatArray:
    n = len(daily)
    cap = max(0.25, 1.0 / n)
    if n == 1:
        return np.ones(1)
    if scheme == "risk_parity":
        return equal_risk(daily)
    if scheme == "min_variance" or scores is None:
        return box_quadratic(daily, np.zeros(n), cap=cap)
    spread = scores.std(ddof=1)
    expected = (scores - scores.mean()) / spread * SCORE_SPREAD if spread > 0 else np.zeros(n)
    return box_quadratic(RISK_AVERSION * YEAR * daily, expected, cap=cap)


def _normalised(raw: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(raw / raw.sum())


def wide_weights(weights: pd.DataFrame) -> pd.DataFrame:
    """Return dates x symbols of a canonical long or already wide weights frame, cash rows left out, missing = 0."""
    if {"date", "symbol", "weight"} <= set(weights.columns):
        rows = weights.dropna(subset=["date", "symbol"])
        dates = pd.DatetimeIndex(sorted(set(rows["date"])))
        wide = rows.pivot_table(index="date", columns="symbol", values="weight", aggfunc="last")
        wide = wide.reindex(dates)
    else:
        wide = weights
    kept = [c for c in wide.columns if str(c).upper() not in CASH_NAMES]
    return wide[kept].fillna(0.0)


def l1_distance(delivered: pd.DataFrame, own: pd.DataFrame) -> "pd.Series[Any]":
    """Return the sum of |difference| per date that both know; cash does not count; NaN where own is not computable."""
    unknown = own.isna().all(axis=1) if not {"date", "symbol"} <= set(own.columns) else None
    theirs, ours = wide_weights(delivered), wide_weights(own)
    days = theirs.index.intersection(ours.index)
    symbols = theirs.columns.union(ours.columns)
    a = theirs.reindex(index=days, columns=symbols, fill_value=0.0)
    b = ours.reindex(index=days, columns=symbols, fill_value=0.0)
    distance = (a - b).abs().sum(axis=1)
    return distance if unknown is None else distance.mask(unknown.reindex(days))
