"""The matcher's second stage: kernel ridge regression from sentences to topics, fitted to the paraphrase bank (data/bank).

Two texts are alike by their sentence vectors (Gaussian kernel) and by their wording (hashed letters and words). The
fitted numbers ship as data/topic_head.json, so nothing is fitted when a session runs; `simulator.fit_topics` makes the
file and a test fits it again. Source: docs/adr/0007-item-matcher.md.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt

from simulator.encoder import Encoder, default_encoder
from simulator.lexicon import TOPICS, Topic
from simulator.reading import UnitScores
from simulator.text import normalise, readable
from simulator.wording import hashed

CODES: dict[str, Topic] = dict(zip("SCTWVREK", TOPICS, strict=True))
VALUE_CODE = "N"
LABELS = (*CODES, VALUE_CODE)
CACHED_TEXTS = 4096
GAMMA = 1.0
"""Width of the Gaussian kernel: exp(-GAMMA |x - y|^2) on unit vectors."""
STEP = 1 / 512
"""Numbers of the bank's vectors are kept as multiples of this in one byte; the largest found is below 127 steps."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class BankLine:
    """A sentence an agent might write and the codes of what it raises; '-' for nothing."""

    codes: str
    text: str

    @property
    def read(self) -> str:
        """The sentence in the form in which units of a message are scored."""
        return readable(normalise(self.text))


def read_bank() -> list[BankLine]:
    """Return the paraphrase bank, file by file in the order of their names."""
    folder = files("simulator") / "data" / "bank"
    texts = [
        path.read_text(encoding="utf-8")
        for path in sorted(folder.iterdir(), key=lambda path: path.name)
        if path.name.endswith(".txt")
    ]
    lines = [line for text in texts for line in text.splitlines() if line.strip() and not line.startswith("#")]
    split = (line.split("|", maxsplit=1) for line in lines)
    return [BankLine(codes.strip(), sentence.strip()) for codes, sentence in split]


@dataclass(frozen=True)
class Head:
    """The fitted regression: one column per label, in the order of LABELS."""

    vectors: Array
    """(lines of the bank, 384), whole multiples of STEP."""
    shares: Array
    """(lines, labels): what each line adds by its likeness in meaning."""
    rarities: Array
    """(buckets,): the inverse document frequency of each bucket of the wording."""
    wording: Array
    """(buckets, labels): what each bucket adds."""
    base: Array
    slope: Array
    offset: Array
    """Logistic scaling of the sums to probabilities, fitted on left-out lines."""
    bank_sha256: str
    weights_of: str

    def probabilities(self, text: str, vector: npt.NDArray[np.float32]) -> Array:
        """Return one probability per label of a text in `BankLine.read` form with its unit vector."""
        places, values = hashed(text, self.rarities)
        likeness = kernel(self.vectors, vector.astype(np.float64)[None, :])[:, 0]
        sums = self.base + likeness @ self.shares + values @ self.wording[places]
        return logistic(self.slope * sums + self.offset)


def logistic(margins: Array) -> Array:
    """Return 1 / (1 + exp(-margins))."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(margins, -50.0, 50.0))))


def kernel(one: Array, two: Array) -> Array:
    """Return the Gaussian kernel of every row of `one` with every row of `two`."""
    squares = (one**2).sum(axis=1)[:, None] + (two**2).sum(axis=1)[None, :] - 2.0 * one @ two.T
    return np.asarray(np.exp(-GAMMA * squares))


def write_head(head: Head, path: Path) -> None:
    """Write the head as JSON with its arrays in base64; the bank's vectors take one byte a number."""
    arrays = {
        "vectors": np.round(head.vectors / STEP).astype("<i1"),
        "shares": head.shares.astype("<f4"),
        "rarities": head.rarities.astype("<f2"),
        "wording": head.wording.astype("<f2"),
        "base": head.base.astype("<f8"),
        "slope": head.slope.astype("<f8"),
        "offset": head.offset.astype("<f8"),
    }
    packed = {
        name: {"type": array.dtype.str, "shape": array.shape, "base64": b64encode(array.tobytes()).decode()}
        for name, array in arrays.items()
    }
    document = {"bank_sha256": head.bank_sha256, "weights_of": head.weights_of, "arrays": packed}
    path.write_text(json.dumps(document) + "\n", encoding="utf-8")


@cache
def shipped_head() -> Head:
    """Return the fitted head of this version."""
    stored = json.loads((files("simulator") / "data" / "topic_head.json").read_text(encoding="utf-8"))
    arrays = {
        name: np.frombuffer(b64decode(entry["base64"]), dtype=entry["type"]).reshape(entry["shape"]).astype(np.float64)
        for name, entry in stored["arrays"].items()
    }
    arrays["vectors"] *= STEP
    return Head(**arrays, bank_sha256=stored["bank_sha256"], weights_of=stored["weights_of"])


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
        shares = self._head.probabilities(text, self._encoder.encode([text])[0])
        scores = {label: round(float(share), 4) for label, share in zip(LABELS, shares, strict=True)}
        return UnitScores({topic: scores[code] for code, topic in CODES.items()}, value=scores[VALUE_CODE])


@cache
def default_topics() -> SentenceTopics:
    """Return the shipped second stage, loaded once per process."""
    return SentenceTopics(default_encoder(), shipped_head())
