"""The judge of meaning without a model: one finding per L dimension of the rubric, deterministic, marked 'rules'."""

from collections.abc import Callable

from evaluator.judge.rules import (
    ambiguity,
    audience,
    benchmark,
    boundary,
    confirmation,
    conversation,
    evidence,
    grounding,
    leak,
    parameters,
    professional,
    rationale,
    risks,
    robustness,
    sources,
    structure,
)
from evaluator.judge.rules.view import View
from evaluator.measure.case import Case
from evaluator.measure.runs import DATA_FAULTS
from records.judging import Finding, Findings
from records.rubric import load_rubric

JUDGES: dict[str, Callable[[View], Finding]] = {
    "1.2": sources.traceability,
    "1.3": sources.diversity,
    "1.5": evidence.grade_match,
    "1.6": evidence.self_check,
    "2.7": ambiguity.judge,
    "2.8a": rationale.judge,
    "2.9": parameters.judge,
    "2.10": boundary.judge,
    "3.4": benchmark.judge,
    "4.1": grounding.judge,
    "4.4": risks.judge,
    "4.5": robustness.sensitivity,
    "4.6": robustness.out_of_sample,
    "5.1": conversation.judge,
    "5.2": structure.judge,
    "5.3": professional.judge,
    "5.4": confirmation.judge,
    "5.5": audience.judge,
    "5.6": leak.judge,
}


def find_all(case: Case) -> Findings:
    """Return the findings of every L dimension, in the rubric's order. Never raises on a delivery."""
    view = View(case)
    order = [dimension.id for dimension in load_rubric().dimensions if dimension.id in JUDGES]
    return Findings(findings=tuple(find(dimension, view) for dimension in order))


def find(dimension: str, view: View) -> Finding:
    """Return the finding of one dimension; one that stops on hostile data earns the lowest level."""
    try:
        return JUDGES[dimension](view)
    except DATA_FAULTS as fault:
        why = f"the rules stopped on the delivered text ({type(fault).__name__})"
        return Finding(dimension=dimension, judge="rules", score=0, reason=why)
