"""How each persona says things (data/voices.json). Facts are the same for all three; only the words differ."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from records.grammar import load_grammar
from records.strategy import Belief, Item
from records.task import Task
from simulator.lexicon import Topic
from simulator.text import collapsed


@cache
def _voices() -> dict[str, Any]:
    text = (files("simulator") / "data" / "voices.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@dataclass(frozen=True)
class Voice:
    """One task's persona: what it says is fixed by the task's content and the turn."""

    persona: str
    content_sha256: str

    @classmethod
    def of(cls, task: Task) -> "Voice":
        """Return the voice of a task."""
        return cls(task.persona, sha256(task.to_json().encode()).hexdigest())

    def states(self, item: Item, belief: Belief) -> str:
        """Return the sentence that states an item, with its exact number."""
        template: str = _voices()[self.persona]["items"][item.id]
        return _filled(template, {"v": f"{item.value:g}" if item.value is not None else "", "screen": _screen(belief)})

    def declines(self, topic: Topic) -> str:
        """Return the sentence for a topic on which the belief has nothing or the default."""
        sentence: str = _voices()[self.persona]["null"][topic]
        return sentence

    def says(self, kind: str, turn: int, *, avoid: Collection[str] = (), **words: str) -> str:
        """Return one variant of a phrase, chosen by task content and turn.

        Args: avoid: `collapsed` forms of what was said before; the first variant not among them is taken.
        """
        variants: list[str] = _voices()[self.persona]["phrases"][kind]
        digest = sha256(f"{self.content_sha256}:{turn}:{kind}".encode()).digest()
        start = int.from_bytes(digest[:4], "big")
        ordered = [_filled(variants[(start + i) % len(variants)], words) for i in range(len(variants))]
        return next((text for text in ordered if collapsed(text) not in avoid), ordered[0])


def piece_name(piece: str) -> str:
    """Return how the user calls a part of the strategy without telling what it should be."""
    name: str = _voices()["pieces"][piece]
    return name


def _filled(template: str, words: Mapping[str, str]) -> str:
    capital = {key.capitalize(): value[:1].upper() + value[1:] for key, value in words.items()}
    return template.format(**words, **capital)


def _screen(belief: Belief) -> str:
    """Return the order of a sequential screen in short factor names."""
    if belief.options.combination != "sequential_screen":
        return ""
    *first, last = (_short(name) for name in belief.options.factors)
    return f"top half on {', then on '.join(first)}, then rank the rest on {last}"


def _short(factor_id: str) -> str:
    return load_grammar().factor(factor_id).aliases[0]
