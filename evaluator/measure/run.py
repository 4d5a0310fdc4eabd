"""Runs every program dimension on one delivery and collects the verdicts in the rubric's order."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaluator.measure import (
    audit,
    citation,
    core_metrics,
    cost_model,
    data_quality,
    explainability,
    point_in_time,
    process,
    recomputation,
    reproducibility,
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
    "2.12": explainability.judge,
    "3.1": point_in_time.judge,
    "3.2": recomputation.judge,
    "3.3": core_metrics.judge,
    "3.5": cost_model.judge,
    "3.6": reproducibility.judge,
    "3.7": audit.judge,
    "3.8": process.judge,
    "4.2": citation.judge,
}


@dataclass(frozen=True)
class Measurement:
    """All that `measure` writes."""

    spec: DeliveredSpec
    measured: Measured


def measure(delivery: Delivery) -> Measurement:
    """Return the delivered specification, one judgement per dimension that needs no strategy, and the facts."""
    return measure_case(Case(delivery))


def measure_case(case: Case) -> Measurement:
    """Return what `measure` returns, of a case whose parts a judge of meaning may look at afterwards."""
    judgements = []
    # Hostile figures overflow; what comes of it is judged, not warned about.
    with np.errstate(all="ignore"):
        for dimension in load_rubric().dimensions:
            if dimension.id not in _COMPARED:
                judge = _JUDGES.get(dimension.id)
                judgements.append(not_run(dimension.id) if judge is None else _guarded(dimension.id, judge, case))
        return Measurement(case.spec, Measured(judgements=tuple(judgements), facts=case.facts()))


def _guarded(dimension: str, judge: Callable[[Case], Judgement], case: Case) -> Judgement:
    """A table that stops its own check is nothing checkable: left out of the mean, it would pay to deliver one."""
    try:
        return judge(case)
    except DATA_FAULTS as fault:
        why = f"the check stopped on the delivered data ({type(fault).__name__})"
        return scored(dimension, 0, why, complete=False)
