"""The matcher's second stage: a linear head on sentence vectors, fitted to the paraphrase bank (data/bank.txt).

The fitted numbers ship as data/topic_head.json, so nothing is fitted when a session runs; `simulator.fit_topics` makes
the file and a test fits it again.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from simulator.encoder import Encoder, default_encoder
from simulator.lexicon import TOPICS, Topic
from simulator.reading import UnitScores

CODES: dict[str, Topic] = dict(zip("SCTWVREK", TOPICS, strict=True))
VALUE_CODE = "N"
LABELS = (*CODES, VALUE_CODE)
CACHED_TEXTS = 4096


@dataclass(frozen=True)
class BankLine:
    """A sentence an agent might write and the codes of what it raises; '-' for nothing."""

    codes: str
    text: str


def read_bank() -> list[BankLine]:
    """Return the paraphrase bank in file order."""
    text = (files("simulator") / "data" / "bank.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    split = (line.split("|", maxsplit=1) for line in lines)
    return [BankLine(codes.strip(), sentence.strip()) for codes, sentence in split]


@dataclass(frozen=True)
class Head:
    """One row of weights and one offset per label, in the order of LABELS."""

    weights: npt.NDArray[np.float64]
    offsets: npt.NDArray[np.float64]


@cache
def shipped_head() -> Head:
    """Return the fitted head of this version."""
    loaded = json.loads((files("simulator") / "data" / "topic_head.json").read_text(encoding="utf-8"))
    rows = [loaded["labels"][label] for label in LABELS]
    return Head(np.array([row["weights"] for row in rows]), np.array([row["offset"] for row in rows]))


class SentenceTopics:
    """Scores texts with an encoder and a head; results are kept, since a conversation is read again each turn."""

    def __init__(self, encoder: Encoder, head: Head) -> None:
        """Keep both; nothing is loaded here."""
        self._encoder = encoder
        self._head = head
        self._known = lru_cache(maxsize=CACHED_TEXTS)(self._one)

    def score(self, texts: Sequence[str]) -> list[UnitScores]:
        """Return one score per text, in order; a text's score never depends on its neighbours."""
        return [self._known(text) for text in texts]

    def _one(self, text: str) -> UnitScores:
        vector = self._encoder.encode([text])[0].astype(np.float64)
        margins = self._head.weights @ vector + self._head.offsets
        shares = 1.0 / (1.0 + np.exp(-np.clip(margins, -50.0, 50.0)))
        scores = {label: round(float(share), 4) for label, share in zip(LABELS, shares, strict=True)}
        return UnitScores({topic: scores[code] for code, topic in CODES.items()}, value=scores[VALUE_CODE])


@cache
def default_topics() -> SentenceTopics:
    """Return the shipped second stage, loaded once per process."""
    return SentenceTopics(default_encoder(), shipped_head())
