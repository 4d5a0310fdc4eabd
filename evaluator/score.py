"""Equations (3)-(6) of the paper applied to recorded judgements. Pure: no file, clock or network is read."""

from statistics import fmean
from typing import Literal

from records.errors import GradingError
from records.grade import SCORED_CATEGORIES, Compared, Grade, Judgement, Measured, VetoState
from records.rubric import Dimension, load_rubric
from records.session import EndReason

BONUS = "3.6"
"""Enters its category's mean only where it raises it (rubric, dimension 3.6)."""


def grade(
    measured: Measured,
    compared: Compared,
    *,
    end_reason: EndReason,
    judge: str,
    user: str,
    version: str,
    engine: Literal["container", "process"],
    confined_by: tuple[str, ...] = (),
    judge_prompt_sha256: str = "",
    user_prompt_sha256: str = "",
) -> Grade:
    """Return the grade of one session.

    Args: judge, user: the back ends that spoke, with the hash of what they were told; version:
    `evaluator.version.evaluator_version()`; engine, confined_by: where the judgements were made and what held that.
    Raises: GradingError: the session is void, or a dimension was judged twice or is unknown; ours, never the agent's.
    """
    if not end_reason.is_valid:
        raise GradingError(f"a session that ended '{end_reason}' is void: expected a valid session; run it again")
    judgements = _by_dimension(measured, compared)
    categories = {category: _category(category, judgements) for category in SCORED_CATEGORIES}
    ran = [value for value in categories.values() if value is not None]
    quality = fmean(ran) if ran else 0.0
    vetoes = {
        dimension.id: _veto(dimension, judgements.get(dimension.id))
        for dimension in load_rubric().dimensions
        if dimension.veto_below is not None
    }
    complete = _is_complete(judgements)
    passed = all(state in ("pass", "not_applicable") for state in vetoes.values())
    return Grade(
        evaluator_version=version,
        judge=judge,
        judge_prompt_sha256=judge_prompt_sha256,
        user=user,
        user_prompt_sha256=user_prompt_sha256,
        end_reason=end_reason,
        quality=quality,
        categories=dict(categories),
        vetoes=vetoes,
        scores={d.id: _score_of(judgements.get(d.id)) for d in load_rubric().dimensions},
        score=_score(quality, vetoes, end_reason),
        grading_complete=complete,
        accepted=passed and complete and end_reason is EndReason.SATISFIED,
        clarification_coverage=compared.clarification_coverage,
        assumption_rate=compared.assumption_rate,
        engine=engine,
        confined_by=confined_by,
    )


def _by_dimension(measured: Measured, compared: Compared) -> dict[str, Judgement]:
    known = {dimension.id for dimension in load_rubric().dimensions}
    found: dict[str, Judgement] = {}
    for judgement in (*measured.judgements, *compared.judgements):
        if judgement.dimension not in known:
            raise GradingError(f"judgement of '{judgement.dimension}': expected a dimension of the rubric")
        if judgement.dimension in found:
            raise GradingError(f"dimension {judgement.dimension} was judged twice: expected one verdict")
        if (judgement.status == "scored") != (judgement.score is not None):
            raise GradingError(
                f"dimension {judgement.dimension} is '{judgement.status}' with score {judgement.score}: "
                "expected a score exactly where the status is scored"
            )
        found[judgement.dimension] = judgement
    return found


def _score_of(judgement: Judgement | None) -> int | None:
    return None if judgement is None else judgement.score


def _category(category: str, judgements: dict[str, Judgement]) -> float | None:
    """Return 25 x the mean over the dimensions of J_k that ran, 0-100; None when none did."""
    scores: list[int] = []
    bonus: int | None = None
    for dimension in load_rubric().dimensions:
        score = _score_of(judgements.get(dimension.id))
        if dimension.category != category or score is None:
            continue
        if dimension.id == BONUS:
            bonus = score
        else:
            scores.append(score)
    if not scores:
        return None
    mean = fmean(scores)
    if bonus is not None and bonus > mean:
        mean = fmean([*scores, bonus])
    return 25.0 * mean


def _veto(dimension: Dimension, judgement: Judgement | None) -> VetoState:
    if judgement is None or judgement.status in ("not_run", "unverified"):
        return "not_run"
    if judgement.status == "not_applicable":
        return "not_applicable"
    score, limit = judgement.score, dimension.veto_below
    return "pass" if score is not None and limit is not None and score >= limit else "fail"


def _score(quality: float, vetoes: dict[str, VetoState], end_reason: EndReason) -> float | None:
    """Equation (4), with the zero of an ending without result; None while a veto that could fail has not run."""
    if end_reason.scores_zero or "fail" in vetoes.values():
        return 0.0
    if "not_run" in vetoes.values():
        return None
    return quality


def _is_complete(judgements: dict[str, Judgement]) -> bool:
    """Whether every scored dimension has a verdict and nothing inside one stayed unverified."""
    for dimension in load_rubric().dimensions:
        if dimension.category not in SCORED_CATEGORIES:
            continue
        judgement = judgements.get(dimension.id)
        if judgement is None or judgement.status not in ("scored", "not_applicable") or not judgement.complete:
            return False
    return True
