"""The exact number of coherent strategies before parameter values, counted in two independent ways."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, product

from generator.coherence import are_from_different_families, is_coherent
from records.grammar import Grammar, OptionGroup

Selection = tuple[tuple[str, ...], str | None]


def stock_selections(grammar: Grammar) -> Iterator[Selection]:
    """Yield every set of one to three factors of different families, with each combination method where one is needed."""
    for size in (1, 2, 3):
        for factors in combinations(grammar.factors, size):
            if not are_from_different_families(factors):
                continue
            ids = tuple(factor.id for factor in factors)
            methods = [None] if size == 1 else [option.id for option in grammar.combination]
            for method in methods:
                yield ids, method


def _rests(grammar: Grammar) -> Iterator[dict[str, str]]:
    groups: tuple[OptionGroup, ...] = ("market_timing", "weighting", "covariance", "risk_control", "execution")
    for options in product(*(grammar.group(name) for name in groups)):
        yield {name: option.id for name, option in zip(groups, options, strict=True)}


def count_strategies(grammar: Grammar) -> int:
    """Return the number of coherent strategies.

    The coherence rules see of a selection only whether it holds `rev_5` or `small_cap`, its size and its combination,
    so one representative of each such class is enough.
    """
    classes: Counter[tuple[bool, bool, bool, str | None]] = Counter(
        ("rev_5" in factors, "small_cap" in factors, len(factors) > 1, method)
        for factors, method in stock_selections(grammar)
    )
    total = 0
    for (fast, small, several, method), size in classes.items():
        marked = (["rev_5"] if fast else []) + (["small_cap"] if small else [])
        fill = (2 if several else 1) - len(marked)
        factors = tuple(marked + ["any"] * fill)
        total += size * sum(is_coherent(factors, combination=method, **rest) for rest in _rests(grammar))
    return total * len(grammar.transaction_cost)


def count_by_listing(grammar: Grammar) -> int:
    """Return the same number by listing every combination; seconds instead of milliseconds, used to check the other."""
    rests = list(_rests(grammar))
    coherent = sum(
        is_coherent(factors, combination=method, **rest)
        for factors, method in stock_selections(grammar)
        for rest in rests
    )
    return coherent * len(grammar.transaction_cost)
