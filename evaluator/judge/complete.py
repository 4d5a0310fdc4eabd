"""Fills the dimensions of meaning into what `measure` wrote. Pure: the same findings give the same bytes."""

from evaluator.judge.prompts import model_dimensions
from evaluator.judge.settle import settle
from records.errors import GradingError
from records.grade import Judgement, Measured
from records.judging import Findings


def complete(measured: Measured, findings: Findings) -> Measured:
    """Return `measured` with a judgement for every finding, bounded by the program's counterpart.

    Raises: GradingError: a finding is missing, comes twice or is on a dimension that no judge of meaning speaks on.
    """
    due = [dimension.id for dimension in model_dimensions()]
    given = [finding.dimension for finding in findings.findings]
    if sorted(due) != sorted(given):
        raise GradingError(f"findings of the judge: expected one on each of {', '.join(due)}, found {', '.join(given)}")
    settled = {
        finding.dimension: settle(finding, bound=measured.bounds.get(finding.dimension))
        for finding in findings.findings
    }
    judgements: list[Judgement] = [settled.pop(j.dimension, j) for j in measured.judgements]
    return measured.model_copy(update={"judgements": (*judgements, *settled.values())})
