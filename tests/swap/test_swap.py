"""A delivery held against beliefs that differ from what it does in one stated option: the component must fall."""

from pathlib import Path

import pytest

from evaluator.measure.specification import delivered_spec
from records.grammar import load_grammar
from tests.evaluator.compare.made import Made, belief, made
from tests.swap.beliefs import GROUPS, Swap, swaps
from tests.swap.grading import outcomes

pytestmark = pytest.mark.thorough

OPTIONS = {
    "factors": ("mom_6_1", "roe"),
    "combination": "zscore_mean",
    "weighting": "risk_parity",
    "covariance": "sample",
    "market_timing": "spy_sma",
    "risk_control": "position_stop",
    "execution": "staged",
}
VALUES = {
    "spy_sma.window": 200.0,
    "position_stop.threshold": 8.0,
    "staged.days": 3.0,
    "fixed_rate.rate_bps": 10.0,
    "sample.cov_window": 252.0,
}
SEALED = belief(VALUES, **OPTIONS)


def every_swap() -> list[Swap]:
    return list(swaps(SEALED))


def delivered() -> Made:
    return made(tuple(OPTIONS.items()), tuple(VALUES.items()), n_holdings=6)


def test_every_option_and_value_of_the_grammar_is_swapped_in_where_it_is_coherent() -> None:
    now = {swap.now.split()[0] for swap in every_swap() if swap.kind == "option"}
    grammar = load_grammar()
    voiced = {option.id for group in GROUPS for option in grammar.group(group) if option.voiced}
    own = {name for options in OPTIONS.values() for name in ([options] if isinstance(options, str) else options)}
    # A second factor of the family that stays would not be coherent; nor would a fee where the rate is one already.
    kin = {factor.id for factor in grammar.factors if factor.family in ("momentum", "quality")}

    assert voiced - own - now <= {"fixed_rate"}
    assert {factor.id for factor in grammar.factors} - own - kin - {"rev_5"} <= now, (
        "rev_5 does not go with staged orders"
    )
    assert sum(swap.kind == "value" for swap in every_swap()) == 3 + 3


def test_swapped_beliefs_differ_in_one_part_and_stay_coherent() -> None:
    for swap in every_swap():
        was, now = SEALED.belief.options.model_dump(), swap.strategy.belief.options.model_dump()
        changed = {name for name in was if was[name] != now[name]}
        assert len(changed) <= 1 or changed == {"weighting", "covariance"}
        assert (changed == set()) == (swap.kind == "value")


def test_words_rewritten_for_a_swap_state_every_item_of_its_component(tmp_path: Path) -> None:
    for outcome in outcomes(delivered().load(tmp_path), every_swap()[::3]):
        assert outcome.unsaid == (), outcome.swap.now


def test_own_belief_does_not_fall(tmp_path: Path) -> None:
    components = dict.fromkeys(item.component for item in SEALED.belief.items)
    own = [Swap(component, "none", "", "", SEALED) for component in components]

    assert {o.swap.component: o.score for o in outcomes(delivered().load(tmp_path), own)} == dict.fromkeys(
        components, 4
    )


LONG = ("market_timing", "portfolio_construction")
COMPONENTS = [
    pytest.param(component, marks=pytest.mark.slow) if component in LONG else component
    for component in dict.fromkeys(GROUPS.values())
]


@pytest.mark.parametrize("component", COMPONENTS)
def test_component_falls_below_two_for_every_swapped_option(tmp_path: Path, component: str) -> None:
    mine = [swap for swap in every_swap() if swap.component == component]
    found = list(outcomes(delivered().load(tmp_path), mine))

    assert found
    assert [(o.swap.now, o.score) for o in found if not o.is_caught] == []


@pytest.mark.slow
def test_delivery_without_a_specification_is_read_from_its_tables(tmp_path: Path) -> None:
    delivery = delivered().load(tmp_path)
    mine = [swap for swap in every_swap() if swap.component != "stock_selection"]
    found = list(outcomes(delivery, mine, prose_only=True))

    assert delivered_spec(delivery).origins["weighting"] == "stated"
    assert [(o.swap.now, o.score) for o in found if not o.is_caught] == []
