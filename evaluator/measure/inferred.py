"""What a delivery implements where it does not say so: the grammar option that reproduces its tables best."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from evaluator.measure.recompute import Recomputed
from evaluator.measure.runs import Run
from evaluator.quant.absent import Absent
from evaluator.quant.calendar import infer_rebalance
from evaluator.quant.inference import (
    infer_combination,
    infer_execution,
    infer_factors,
    infer_n,
    infer_rate_bps,
    infer_weighting,
)
from evaluator.quant.weighting import WeightInputs
from records.spec import DeliveredSpec

_COMPOSITES = ("composite", "score", "combined", "total")


def infer_missing(run: Run, known: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Yield (field, value, why) for fields that `known` lacks and the main run's tables show."""
    learnt = dict(known)
    for step in (_factors, _rebalance, _count, _combination, _weighting, _execution, _cost):
        for name, value, why in step(run, learnt):
            if name.startswith("param:") or name not in learnt:
                learnt[name] = value
                yield name, value, why
    if "capital" not in learnt and "capital" in run.reported:
        yield "capital", run.reported["capital"], "reported among the metrics"


def _factors(run: Run, known: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
    if "factors" in known or run.signals is None or isinstance(run.inputs, Absent):
        return
    found = infer_factors(run.signals, run.inputs)
    named = {name: fit for name, fit in found.items() if name.lower() not in _COMPOSITES} or found
    if named:
        options = tuple(
            dict.fromkeys(fit.option if fit.accepted else f"?{name}" for name, fit in sorted(named.items()))
        )
        yield "factors", options, "own factors that reproduce the delivered signals best"


def _rebalance(run: Run, known: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
    if "rebalance" not in known:
        found = infer_rebalance(run.signal_days)
        if found:
            yield "rebalance", found, "spacing of the delivered decision dates"


def _count(run: Run, known: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
    selections = run.selections
    if "n_holdings" not in known and selections is not None:
        found = infer_n(selections)
        if found:
            yield "n_holdings", int(found), "commonest number of selected names"


def _combination(run: Run, known: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
    factors = tuple(known.get("factors", ()))
    if "combination" in known or len(factors) < 2 or run.selections is None or "n_holdings" not in known:
        return
    own = Recomputed(run, DeliveredSpec(factors=factors), run.signal_days)
    if own.base_factors:
        fit = infer_combination(run.selections, own.base_factors, known["n_holdings"])
        if not isinstance(fit, Absent) and fit.accepted:
            if fit.order and fit.option == "sequential_screen":
                yield "factors", fit.order, "screening order that reproduces the delivered selections best"
            yield "combination", fit.option, "combination that reproduces the delivered selections best"


def _weighting(run: Run, known: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
    if "weighting" in known or run.weights is None or isinstance(run.panel, Absent):
        return
    spec = DeliveredSpec(factors=tuple(known.get("factors", ())), combination=known.get("combination"))
    own = Recomputed(run, spec, run.signal_days)
    ranks = own.delivered_ranks
    if isinstance(ranks, Absent):
        return
    fit = infer_weighting(run.weights, WeightInputs(ranks, own.composite, run.panel))
    if not isinstance(fit, Absent) and fit.accepted:
        scheme, _, estimator = fit.option.partition("/")
        yield "weighting", scheme, "scheme nearest to the delivered weights"
        if estimator:
            yield "covariance", estimator, "estimator nearest to the delivered weights"
        for name, value in fit.params:
            yield f"param:{scheme}.{name}", value, "window nearest to the delivered weights"


def _execution(run: Run, known: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
    if "execution" in known or run.trades is None or isinstance(run.panel, Absent):
        return
    fit = infer_execution(run.trades, run.panel)
    if not isinstance(fit, Absent) and fit.accepted:
        yield "execution", fit.option, "fill prices and dates"
        for name, value in fit.params:
            yield f"param:{fit.option}.{name}", value, "fill sizes and dates"


def _cost(run: Run, known: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
    trades = run.trades
    if "transaction_cost" in known or trades is None or "fee" not in trades.columns:
        return
    rate = infer_rate_bps(trades)
    if rate is None or pd.isna(rate):
        return
    yield "transaction_cost", "fixed_rate" if rate > 0 else "none", "fees over notional of the fills"
    if rate > 0:
        yield "param:fixed_rate.rate_bps", round(float(rate), 4), "fees over notional of the fills"
