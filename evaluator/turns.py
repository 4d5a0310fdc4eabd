"""Joins the two halves of a session's score trajectory. Pure, and light enough for the command line."""

from collections.abc import Iterable

from records.grade import Compared, Measured
from records.rubric import load_rubric
from records.turns import Turns, TurnScores

PROGRAM_SOURCES = ("program", "measured", "compare")
"""Judgements of these sources are made by programs; what a judge of meaning had a say in is no part of a trajectory."""


def joined(measured: Measured, compared: Compared) -> Turns:
    """Return the trajectory of all program dimensions, in the rubric's order.

    A dimension on which a judge of meaning spoke after `measure` is left out, so that the last entry is the final one.
    """
    spoken = {found.dimension for found in measured.judgements if found.source not in PROGRAM_SOURCES}
    others = {entry.turn: entry for entry in compared.turns}
    entries = []
    for entry in measured.turns:
        other = others.get(entry.turn, TurnScores(turn=entry.turn, scores={}))
        scores = {**entry.scores, **other.scores}
        entries.append(
            TurnScores(
                turn=entry.turn,
                scores={d.id: scores[d.id] for d in load_rubric().dimensions if d.id in scores and d.id not in spoken},
                failed_vetoes=in_order({*entry.failed_vetoes, *other.failed_vetoes} - spoken),
            )
        )
    return Turns(turns=tuple(entries))


def in_order(dimensions: Iterable[str]) -> tuple[str, ...]:
    """Return dimensions in the rubric's order, each once."""
    wanted = set(dimensions)
    return tuple(dimension.id for dimension in load_rubric().dimensions if dimension.id in wanted)
