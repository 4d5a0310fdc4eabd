"""From a recorded finding to a score: counts, caps and the program's bound. Pure, the same for every judge."""

from records.grade import Judgement
from records.judging import Finding
from records.rubric import load_rubric

CASES_FOR = (1, 3, 5, 7)
"""Smallest number of boundary cases for scores 1 to 4 of 2.10."""
_NAMED_ONLY = "named"
"""3.4: this hit alone says that a benchmark is named; it is no point of the four."""
SECOND_READINGS = "2.7"
"""One rule with a second reading that trades differently allows 2, more allow 1 (rubric, 2.7)."""


def settle(finding: Finding, *, bound: int | None = None) -> Judgement:
    """Return the judgement of one finding.

    Args: bound: the highest score the program counterpart allows; None where there is none.
    """
    source = f"judge={finding.judge}"
    score = _score(finding) if finding.returned else None
    if score is None:
        return Judgement(
            dimension=finding.dimension,
            source=source,
            status="not_run",
            complete=False,
            reason=f"Not run: the judge did not return; {finding.reason}".rstrip("; "),
        )
    why = finding.reason
    if bound is not None and bound < score:
        why = f"{why} The judge gave {score}, the program's check allows {bound}."
        score = bound
    anchor = load_rubric().dimension(finding.dimension).anchors[str(score)]
    return Judgement(
        dimension=finding.dimension,
        source=source,
        status="scored",
        score=score,
        reason=f"Level {score}: {anchor}. Found: {why}",
        evidence=tuple(f'{quote.doc}: "{quote.text}"' for quote in finding.quotes),
    )


def _score(finding: Finding) -> int | None:
    if finding.dimension == "2.10":
        return sum(len(set(finding.hits)) >= least for least in CASES_FOR)
    if finding.dimension == "3.4":
        points = set(finding.hits) - {_NAMED_ONLY}
        if not points:
            return 1 if _NAMED_ONLY in finding.hits else 0
        return 2 if len(points) == 1 else 3 if len(points) < 4 else 4
    if finding.score is None:
        return None
    if finding.dimension == SECOND_READINGS and finding.hits:
        return min(finding.score, 2 if len(set(finding.hits)) == 1 else 1)
    return finding.score
