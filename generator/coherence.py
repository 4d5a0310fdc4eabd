"""The coherence rules of the grammar as one predicate (grammar.json `rules`, C1-C6). It draws and counts nothing."""

from collections.abc import Sequence

from records.grammar import Factor

NEEDS_COVARIANCE = frozenset({"min_variance", "mean_variance", "risk_parity"})
NEEDS_SCORE = frozenset({"score_weighted", "mean_variance"})
SLOW_EXECUTION = frozenset({"staged", "adv_cap"})


def are_from_different_families(factors: Sequence[Factor]) -> bool:
    """Return whether no two factors share a family (C6)."""
    return len({factor.family for factor in factors}) == len(factors)


def is_coherent(
    factors: Sequence[str],
    *,
    combination: str | None,
    market_timing: str,
    weighting: str,
    covariance: str,
    risk_control: str,
    execution: str,
) -> bool:
    """Return whether the options may stand together. Option ids as in grammar.json; rules C1-C5 and the count half of C6."""
    if (covariance != "none") != (weighting in NEEDS_COVARIANCE):
        return False
    if combination == "sequential_screen" and weighting in NEEDS_SCORE:
        return False
    if weighting == "cap_weighted" and "small_cap" in factors:
        return False
    if risk_control == "vol_target" and market_timing == "vol_gate":
        return False
    if "rev_5" in factors and execution in SLOW_EXECUTION:
        return False
    return (combination is not None) == (len(factors) > 1)
