"""Measures a delivery and lets a judge of meaning speak on what no program decides."""

from typing import Literal

from evaluator.compare.lexicon import phrases
from evaluator.measure.run import Measurement, measure
from evaluator.package.delivery import Delivery

JudgeName = Literal["none", "rules"]


def assess(delivery: Delivery, *, judge: JudgeName = "rules") -> Measurement:
    """Return spec, judgements of every dimension that needs no strategy, facts and bounds.

    Args: judge: 'rules' judges at once; 'none' leaves those dimensions "not run", for a model judge to fill in.
    """
    del judge
    return measure(delivery, phrases=phrases)
