"""Which items the user's own words state. Used on user messages only: to replay S_t and to catch volunteering."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from records.strategy import Item
from simulator.lexicon import alias_pattern
from simulator.text import normalise

SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
NUMBER = re.compile(r"(?<![\w.$-])(\d+(?:\.\d+)?)\s*(%|percent\b|per cent\b|pct\b|bps?\b|basis points?\b)")


@dataclass(frozen=True)
class Mentions:
    """What a user message states about a belief."""

    items: frozenset[str]
    wrong_numbers: tuple[str, ...] = ()
    """Numbers beside a value item's words that differ from the belief, as 'item id: number'."""


def mentioned(message: str, items: Iterable[Item]) -> Mentions:
    """Return the items that the message states: an option by an alias, a value by an alias of it and a number beside."""
    found: set[str] = set()
    wrong: list[str] = []
    sentences = [part for part in SENTENCE.split(normalise(message)) if part.strip()]
    for item in items:
        pattern = alias_pattern(item.aliases)
        for sentence in sentences:
            if not pattern.search(sentence):
                continue
            if item.value is None:
                found.add(item.id)
                continue
            numbers = _numbers(sentence, item.unit)
            if item.value in numbers:
                found.add(item.id)
            wrong += [f"{item.id}: {number:g}" for number in numbers if number != item.value]
    return Mentions(frozenset(found), tuple(wrong))


def _numbers(sentence: str, unit: str | None) -> list[float]:
    is_rate = unit == "bps"
    return [float(number) for number, kind in NUMBER.findall(sentence) if kind.startswith("b") == is_rate]
