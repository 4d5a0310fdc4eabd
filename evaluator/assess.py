"""Measures a delivery and lets a judge of meaning speak on what no program decides."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from evaluator.compare.lexicon import phrases
from evaluator.judge.complete import complete
from evaluator.judge.rules.run import find_all
from evaluator.measure.case import Case
from evaluator.measure.run import measure_case
from evaluator.package.delivery import Delivery
from records.grade import Measured
from records.judging import Findings
from records.spec import DeliveredSpec

JudgeName = Literal["none", "rules"]


@dataclass(frozen=True)
class Assessment:
    """All that is written before a strategy is unsealed."""

    spec: DeliveredSpec
    measured: Measured
    findings: Findings


def assess(delivery: Delivery, *, judge: JudgeName = "rules") -> Assessment:
    """Return spec, judgements of every dimension that needs no strategy, facts, bounds and findings.

    Args: judge: 'rules' judges at once; 'none' leaves those dimensions "not run", for a model judge to fill in.
    """
    case = Case(delivery, phrases)
    measurement = measure_case(case)
    measured = measurement.measured
    if judge == "none":
        return Assessment(measurement.spec, measured, Findings(findings=()))
    with np.errstate(all="ignore"):
        findings = find_all(case)
    return Assessment(measurement.spec, complete(measured, findings), findings)
