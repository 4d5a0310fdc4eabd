from itertools import combinations

import pytest

from generator import count_strategies
from generator.count import count_by_listing, stock_selections
from records.grammar import Grammar, load_grammar


def test_grammar_holds_3800244_coherent_strategies() -> None:
    assert count_strategies(load_grammar()) == 3_800_244


@pytest.mark.slow
def test_listing_every_combination_gives_the_same_count() -> None:
    grammar = load_grammar()

    assert count_by_listing(grammar) == count_strategies(grammar)


def test_selections_are_17_singles_122_pairs_and_478_triples_by_family_arithmetic() -> None:
    """The number follows from family sizes alone, without the coherence code."""
    grammar = load_grammar()
    sizes = [sum(f.family == family for f in grammar.factors) for family in {f.family for f in grammar.factors}]
    pairs = sum(a * b for a, b in combinations(sizes, 2))
    triples = sum(a * b * c for a, b, c in combinations(sizes, 3))

    assert (sum(sizes), pairs, triples) == (17, 122, 478)
    assert len(list(stock_selections(grammar))) == 17 + 3 * (122 + 478) == 1817


def test_smaller_grammar_is_counted_by_both_ways_alike() -> None:
    grammar = load_grammar()
    keep = {"mom_12_1", "rev_5", "small_cap", "roe"}
    data = grammar.model_dump()
    data["factors"] = [factor for factor in data["factors"] if factor["id"] in keep]
    small = Grammar.model_validate(data)

    assert count_strategies(small) == count_by_listing(small) > 0
