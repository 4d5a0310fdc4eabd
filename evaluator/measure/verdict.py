"""How a program states its judgement: the anchor that was met, why, and what it looked at."""

from collections.abc import Iterable

from records.grade import Judgement
from records.rubric import load_rubric

_EVIDENCE_LINES = 40
_EVIDENCE_CHARS = 300


def scored(dimension: str, score: int, why: str, evidence: Iterable[str] = (), *, complete: bool = True) -> Judgement:
    """Return a program's verdict; the text of the anchor comes from the rubric.

    Args: why: one sentence on this delivery; complete: False when a part stayed unverified.
    """
    anchor = load_rubric().dimension(dimension).anchors[str(score)]
    return Judgement(
        dimension=dimension,
        source="program",
        status="scored",
        score=score,
        complete=complete,
        reason=f"Level {score}: {anchor}. Found: {why}",
        evidence=clip(evidence),
    )


def not_run(dimension: str, why: str = "no judge for this dimension is built yet") -> Judgement:
    """Return the verdict of a judge that does not exist or was not asked; it never counts as a pass."""
    return Judgement(
        dimension=dimension, source="program", status="not_run", score=None, complete=False, reason=f"Not run: {why}"
    )


def unverified(dimension: str, why: str) -> Judgement:
    """Return the verdict of a judge that could not come to one on this delivery; grading stays incomplete."""
    return Judgement(
        dimension=dimension,
        source="program",
        status="unverified",
        score=None,
        complete=False,
        reason=f"Unverified: {why}",
    )


def not_applicable(dimension: str, why: str) -> Judgement:
    """Return the verdict of a dimension that has nothing to judge in this session; it is left out of every mean."""
    return Judgement(
        dimension=dimension, source="program", status="not_applicable", score=None, reason=f"Not applicable: {why}"
    )


def measured(dimension: str, what: str, evidence: Iterable[str] = ()) -> Judgement:
    """Return what was measured on a dimension that is reported and never scored."""
    return Judgement(
        dimension=dimension,
        source="measured",
        status="not_applicable",
        score=None,
        reason=f"Measured: {what}",
        evidence=clip(evidence),
    )


def clip(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the evidence within its caps: 40 lines of 300 characters, and a line that says what is left out."""
    kept = [line if len(line) <= _EVIDENCE_CHARS else line[: _EVIDENCE_CHARS - 1] + "…" for line in lines]
    if len(kept) > _EVIDENCE_LINES:
        kept = [*kept[:_EVIDENCE_LINES], f"{len(kept) - _EVIDENCE_LINES} more lines left out"]
    return tuple(kept)
