"""Seeded random streams. Only `random()` of the standard generator is used, whose values Python keeps stable."""

import hashlib
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Stream:
    """One reproducible stream of weighted picks, named by a text such as 'salt:seed'."""

    def __init__(self, name: str) -> None:
        """Seed from the first eight bytes of the name's SHA-256."""
        digest = hashlib.sha256(name.encode()).digest()
        self._random = random.Random(int.from_bytes(digest[:8], "big"))  # noqa: S311  reproducible on purpose

    def pick(self, options: Sequence[T], weights: Sequence[float] | None = None) -> T:
        """Return one option; equal weights when none are given."""
        chosen = weights if weights is not None else [1.0] * len(options)
        mark = self._random.random() * sum(chosen)
        reached = 0.0
        for option, weight in zip(options, chosen, strict=True):
            reached += weight
            if mark < reached:
                return option
        return options[-1]

    def sample(self, options: Sequence[T], size: int) -> list[T]:
        """Return `size` different options in the order of `options`."""
        left = list(range(len(options)))
        kept = []
        for _ in range(size):
            index = self.pick(left)
            left.remove(index)
            kept.append(index)
        return [options[index] for index in sorted(kept)]
