"""Runs every program dimension on one delivery and collects the verdicts in the rubric's order."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaluator.measure import (
    audit,
    benchmark,
    citation,
    core_metrics,
    cost_model,
    data_quality,
    disclosed_calls,
    disclosed_choices,
    disclosed_steps,
    effort,
    explainability,
    metric_basis,
    point_in_time,
    process,
    recomputation,
    reproducibility,
    signal_validation,
    strictness,
)
from evaluator.measure.case import Case
from evaluator.measure.runs import DATA_FAULTS
from evaluator.measure.verdict import not_run, scored
from evaluator.package.delivery import Delivery
from records.grade import Judgement, Measured
from records.rubric import load_rubric
from records.spec import DeliveredSpec

_COMPARED = ("2.1", "2.2", "2.3", "2.4", "2.5", "2.6")


_JUDGES: dict[str, Callable[[Case], Judgement]] = {
    "1.1": strictness.judge,
    "1.4": data_quality.judge,
    "2.8b": signal_validation.judge,
    "2.12": explainability.judge,
    "3.1": point_in_time.judge,
    "3.2": recomputation.judge,
    "3.3": core_metrics.judge,
    "3.5": cost_model.judge,
    "3.6": reproducibility.judge,
    "3.7": audit.judge,
    "3.8": process.judge,
    "4.2": citation.judge,
    "6.1": disclosed_calls.judge_calls,
    "6.2": disclosed_steps.judge_narration,
    "6.3": disclosed_calls.judge_failures,
    "6.4": disclosed_choices.judge,
    "6.5": disclosed_steps.judge_changes,
    "7.1": effort.judge_time,
    "7.2": effort.judge_tokens,
    "7.3": effort.judge_actions,
}


_BOUNDS: dict[str, Callable[[Case], tuple[int | None, str]]] = {
    "3.4": benchmark.bound,
    "5.3": metric_basis.bound,
}


@dataclass(frozen=True)
class Measurement:
    """All that `measure` writes."""

    spec: DeliveredSpec
    measured: Measured


def measure(delivery: Delivery, *, phrases: disclosed_choices.Phrases | None = None) -> Measurement:
    """Return the delivered specification, one judgement per dimension that needs no strategy, and the facts.

    Args: phrases: option id -> patterns that state it in a user's words (6.4); None: the grammar's names alone.
    """
    return measure_case(Case(delivery, phrases))


def measure_case(case: Case) -> Measurement:
    """Return what `measure` returns, of a case whose parts a judge of meaning may look at afterwards."""
    judgements = []
    # Hostile figures overflow; what comes of it is judged, not warned about.
    with np.errstate(all="ignore"):
        for dimension in load_rubric().dimensions:
            if dimension.id not in _COMPARED:
                judge = _JUDGES.get(dimension.id)
                judgements.append(not_run(dimension.id) if judge is None else _guarded(dimension.id, judge, case))
        bounds, seen = _bounds(case)
        facts = {**case.facts(), **effort.effort_facts(case), **seen}
        return Measurement(case.spec, Measured(judgements=tuple(judgements), facts=facts, bounds=bounds))


def _bounds(case: Case) -> tuple[dict[str, int], dict[str, str]]:
    """Return what programs allow a judge of meaning, and why; a check stopped by the delivered data allows nothing."""
    bounds: dict[str, int] = {}
    seen: dict[str, str] = {}
    for dimension, bound in _BOUNDS.items():
        limit: int | None
        try:
            limit, why = bound(case)
        except DATA_FAULTS as fault:
            limit, why = 0, f"the check stopped on the delivered data ({type(fault).__name__})"
        seen[f"bound_{dimension}"] = why
        if limit is not None:
            bounds[dimension] = limit
    return bounds, seen


def _guarded(dimension: str, judge: Callable[[Case], Judgement], case: Case) -> Judgement:
    """A table that stops its own check is nothing checkable: left out of the mean, it would pay to deliver one."""
    try:
        return judge(case)
    except DATA_FAULTS as fault:
        why = f"the check stopped on the delivered data ({type(fault).__name__})"
        return scored(dimension, 0, why, complete=False)
