"""turns.json: what programs say of the delivery as it stood after each turn."""

from typing import Literal

from pydantic import Field

from records.base import Record


class TurnScores(Record):
    """Scores of one turn's delivery; numbers only, so that strategy dimensions may stand beside the others."""

    turn: int
    scores: dict[str, int | None] = Field(description="dimension -> score; None where the program came to none")
    failed_vetoes: tuple[str, ...] = Field(default=(), description="vetoes below their limit, in the rubric's order")


class Turns(Record):
    """The score trajectory of a session, oldest turn first; the last entry equals the final scores."""

    schema_version: Literal[1] = 1
    turns: tuple[TurnScores, ...]
