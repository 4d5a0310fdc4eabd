"""A claim with the quotes behind it."""

from dataclasses import dataclass

from evaluator.compare.fidelity import Claim


@dataclass(frozen=True)
class Finding:
    """A claim with the quotes behind it, (document, text), latest last."""

    claim: Claim
    quotes: tuple[tuple[str, str], ...] = ()
