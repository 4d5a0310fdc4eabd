"""Scores of the program dimensions after each turn; the last turn's are the final ones (paper, 3.4 Feedback).

Earlier turns are graded without the workspace archive and without the rerun, which both show the end of the session.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from evaluator.package.attempt import load_delivery
from evaluator.package.delivery import Delivery
from evaluator.package.files import walk_turns
from evaluator.turns import PROGRAM_SOURCES, in_order
from records.grade import Judgement
from records.rubric import load_rubric
from records.turns import TurnScores

Judges = Callable[[Delivery], Iterable[Judgement]]


def trajectory(
    public: Path, turns: Sequence[int], final: Iterable[Judgement], judges: Judges
) -> tuple[TurnScores, ...]:
    """Return one entry per turn, oldest first; the last is made from the final judgements.

    Args: turns: numbers of the agent's turns, ascending; judges: what judges the delivery up to a turn. A turn that
    changed no delivered file keeps the scores of the turn before.
    """
    last = [found for found in final if found.source in PROGRAM_SOURCES and found.status != "not_run"]
    order = [found.dimension for found in last]
    entries: list[TurnScores] = []
    before = None
    for turn in turns[:-1]:
        now = _files(public, turn)
        if entries and now == before:
            entries.append(entries[-1].model_copy(update={"turn": turn}))
        else:
            entries.append(_scores(turn, order, judges(load_delivery(public, up_to_turn=turn))))
        before = now
    if turns:
        entries.append(_scores(turns[-1], order, last))
    return tuple(entries)


def _scores(turn: int, order: Sequence[str], judgements: Iterable[Judgement]) -> TurnScores:
    found = {judgement.dimension: judgement.score for judgement in judgements}
    scores = {dimension: found.get(dimension) for dimension in order}
    failed = {
        dimension.id
        for dimension in load_rubric().dimensions
        if dimension.veto_below is not None
        and (score := scores.get(dimension.id)) is not None
        and score < dimension.veto_below
    }
    return TurnScores(turn=turn, scores=scores, failed_vetoes=in_order(failed))


def _files(public: Path, turn: int) -> dict[str, str]:
    """Return the hash of every file that lay in deliver/ after a turn."""
    found = {}
    for path, one in walk_turns(public, [turn]).files.items():
        with one.file.open("rb") as handle:
            found[path] = hashlib.file_digest(handle, "sha256").hexdigest()
    return found
