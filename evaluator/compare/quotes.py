"""Everything a delivery says in words, in reading order, and whether a quote stands in it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evaluator.package.delivery import Delivery

_MAX_CHARS = 400_000
"""Characters read of one document; a longer one is machine output, not a claim."""


@dataclass(frozen=True)
class Passage:
    """One sentence or line that the agent wrote."""

    doc: str
    turn: int
    text: str


def passages(delivery: Delivery) -> Iterator[Passage]:
    """Yield the agent's sentences oldest first: a turn's message before the files it delivered."""
    turns = sorted({*(m.turn for m in delivery.messages), *(d.turn for d in delivery.documents)})
    for turn in turns:
        for message in delivery.messages:
            if message.turn == turn and message.role != "user":
                yield from _split(f"message:{turn}", turn, message.text)
        for document in sorted(delivery.documents, key=lambda document: document.path):
            if document.turn == turn and document.kind in ("report", "text"):
                yield from _split(document.path, turn, document.text)


def _split(doc: str, turn: int, text: str) -> Iterator[Passage]:
    for line in re.split(r"\n+|(?<=[.!?;])\s+", text[:_MAX_CHARS]):
        if line.strip():
            yield Passage(doc, turn, line.strip())
