"""Grades one attempt in process: the scores of all scored dimensions and the state of each veto."""

from dataclasses import dataclass

from records.grade import SCORED_CATEGORIES, Grade, Judgement
from records.paths import AttemptPaths
from records.rubric import load_rubric
from tests.sampled.grading import grade

SCORED = tuple(d.id for d in load_rubric().dimensions if d.category in SCORED_CATEGORIES)
RERUN = "3.6"
"""The dimension of the second run of the delivered code."""
VETOES = tuple(d.id for d in load_rubric().dimensions if d.veto_below is not None)


@dataclass(frozen=True)
class Graded:
    """What came of one attempt."""

    grade: Grade
    judgements: dict[str, Judgement]

    @property
    def scores(self) -> dict[str, int | None]:
        """Score by scored dimension; None where it is not applicable or did not run."""
        return {name: self.grade.scores[name] for name in SCORED}

    @property
    def failed(self) -> tuple[str, ...]:
        """The vetoes that fail, in the rubric's order."""
        return tuple(name for name in VETOES if self.grade.vetoes[name] == "fail")

    @property
    def accepted(self) -> bool:
        """Whether the session counts: every veto passes and no part of the grading is missing."""
        return self.grade.accepted

    @property
    def unrun(self) -> tuple[str, ...]:
        """The vetoes that no judge decided."""
        return tuple(name for name in VETOES if self.grade.vetoes[name] == "not_run")


def graded(paths: AttemptPaths, kept: Judgement | None = None) -> Graded:
    """Grade an attempt with the rules judge, without container.

    Args: kept: the verdict of 3.6 to take where the code of this attempt was not run again: its base's.
    """
    made = grade(paths, kept)
    judgements = {
        one.dimension: one for one in (*made.measurement.measured.judgements, *made.comparison.compared.judgements)
    }
    return Graded(made.grade, judgements)
