"""A text's words, word pairs and letter groups as a hashed vector, for wording that shares letters with the bank."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from zlib import crc32

import numpy as np
import numpy.typing as npt

BUCKETS = 8192
LETTERS = (3, 4)
WORD = re.compile(r"[a-z0-9%$]+|\?")

Array = npt.NDArray[np.float64]


def buckets(text: str) -> dict[int, float]:
    """Return the buckets of a normalised text with their damped counts, 1 + log n."""
    counts = Counter(crc32(piece.encode()) % BUCKETS for piece in _pieces(text))
    return {bucket: 1.0 + float(np.log(count)) for bucket, count in counts.items()}


def rarity(texts: Sequence[str]) -> Array:
    """Return the smoothed inverse document frequency of every bucket."""
    seen = np.zeros(BUCKETS)
    for text in texts:
        seen[list(buckets(text))] += 1
    return np.asarray(np.log((1 + len(texts)) / (1 + seen)) + 1)


def hashed(text: str, rarities: Array) -> tuple[npt.NDArray[np.int64], Array]:
    """Return the buckets of a text and their values, a vector of length one."""
    found = buckets(text)
    places = np.array(sorted(found), dtype=np.int64)
    values = np.array([found[int(place)] for place in places]) * rarities[places]
    return places, values / max(float(np.linalg.norm(values)), 1e-9)


def _pieces(text: str) -> Iterator[str]:
    words = WORD.findall(text)
    yield from words
    yield from (f"{one} {two}" for one, two in pairwise(words))
    for word in words:
        padded = f"<{word}>"
        for size in LETTERS:
            yield from (padded[start : start + size] for start in range(len(padded) - size + 1))
