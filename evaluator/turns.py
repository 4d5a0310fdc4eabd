"""Joins the two halves of a session's score trajectory. Pure, and light enough for the command line."""

from collections.abc import Iterable

from records.grade import Compared, Measured
from records.rubric import load_rubric
from records.turns import Turns, TurnScores


def joined(measured: Measured, compared: Compared) -> Turns:
    """Return the trajectory of all program dimensions, in the rubric's order."""
    others = {entry.turn: entry for entry in compared.turns}
    entries = []
    for entry in measured.turns:
        other = others.get(entry.turn, TurnScores(turn=entry.turn, scores={}))
        scores = {**entry.scores, **other.scores}
        entries.append(
            TurnScores(
                turn=entry.turn,
                scores={d.id: scores[d.id] for d in load_rubric().dimensions if d.id in scores},
                failed_vetoes=in_order({*entry.failed_vetoes, *other.failed_vetoes}),
            )
        )
    return Turns(turns=tuple(entries))


def in_order(dimensions: Iterable[str]) -> tuple[str, ...]:
    """Return dimensions in the rubric's order, each once."""
    wanted = set(dimensions)
    return tuple(dimension.id for dimension in load_rubric().dimensions if dimension.id in wanted)
