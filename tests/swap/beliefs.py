"""Beliefs that differ from a strategy in one stated option or value, everything else the same."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from generator.coherence import NEEDS_COVARIANCE, are_from_different_families, is_coherent
from generator.draw import Draw, ItemKey
from generator.items import voiced_items
from records.grammar import OptionGroup, load_grammar
from records.strategy import Component, Options, Strategy

GROUPS: dict[OptionGroup, Component] = {
    "combination": "stock_selection",
    "market_timing": "market_timing",
    "weighting": "portfolio_construction",
    "covariance": "portfolio_construction",
    "risk_control": "risk_control",
    "execution": "execution",
    "transaction_cost": "transaction_cost",
}


@dataclass(frozen=True)
class Swap:
    """One changed belief."""

    component: Component
    kind: str
    """'option' or 'value'."""
    was: str
    now: str
    strategy: Strategy


def swaps(strategy: Strategy) -> Iterator[Swap]:
    """Yield every coherent belief that differs from the strategy's in one option or one voiced value, and voices it."""
    yield from _factor_swaps(strategy)
    for group, component in GROUPS.items():
        yield from _option_swaps(strategy, group, component)
    yield from _value_swaps(strategy)


def _factor_swaps(strategy: Strategy) -> Iterator[Swap]:
    grammar = load_grammar()
    factors = strategy.belief.options.factors
    for place, was in enumerate(factors):
        for other in grammar.factors:
            if other.id in factors:
                continue
            changed = (*factors[:place], other.id, *factors[place + 1 :])
            if not are_from_different_families([grammar.factor(name) for name in changed]):
                continue
            made = _rebuilt(strategy, {"factors": changed}, {})
            if made is not None:
                yield Swap("stock_selection", "option", was, other.id, made)


def _option_swaps(strategy: Strategy, group: OptionGroup, component: Component) -> Iterator[Swap]:
    was = getattr(strategy.belief.options, group)
    if was is None or (group == "covariance" and was == "none"):
        return
    for option in load_grammar().group(group):
        # What nobody voices has no items: its component does not apply.
        if option.id == was or not option.voiced:
            continue
        changes: dict[str, Any] = {group: option.id}
        if group == "weighting":
            changes["covariance"] = _covariance_for(option.id, strategy.belief.options.covariance)
        for values in _value_sets(group, option.id):
            made = _rebuilt(strategy, changes, values)
            if made is not None:
                said = ", ".join(f"{value:g}" for value in values.values())
                yield Swap(component, "option", was, f"{option.id} {said}".strip(), made)


def _covariance_for(weighting: str, had: str) -> str:
    if weighting not in NEEDS_COVARIANCE:
        return "none"
    return had if had != "none" else "sample"


def _value_sets(group: OptionGroup, option: str) -> Iterator[dict[str, float]]:
    """Yield the voiced values an option can have; one empty set for an option without any."""
    params = [param for param in load_grammar().option(group, option).params if param.voiced]
    if not params:
        yield {}
    for param in params:
        for choice in param.choices:
            yield {f"{option}.{param.name}": float(choice)}


def _value_swaps(strategy: Strategy) -> Iterator[Swap]:
    for item in strategy.belief.items:
        if item.param is None:
            continue
        key = f"{item.option}.{item.param}"
        group: OptionGroup = "risk_control" if item.component == "risk_control" else "transaction_cost"
        for values in _value_sets(group, item.option):
            if values[key] != item.value:
                made = _rebuilt(strategy, {}, values)
                if made is not None:
                    yield Swap(item.component, "value", f"{item.option} {item.value:g}", f"{values[key]:g}", made)


def _rebuilt(strategy: Strategy, changes: Mapping[str, Any], values: Mapping[str, float]) -> Strategy | None:
    """Return the strategy with other options and values, its items voiced anew; None where it is not coherent."""
    options = Options.model_validate(strategy.belief.options.model_dump() | dict(changes))
    fields = options.model_dump(exclude={"transaction_cost"})
    if not is_coherent(fields.pop("factors"), **fields):
        return None
    return voiced(strategy, options, {**strategy.belief.values, **values})


def voiced(strategy: Strategy, options: Options, values: Mapping[str, float]) -> Strategy:
    """Return the strategy with these options and values, its items voiced anew and none told in the opening."""
    kept = dict(values)
    draw = Draw(
        options=options,
        values=kept,
        items=tuple(_keys(options, kept)),
        opening=(),
        difficulty=strategy.difficulty,
        persona="generalist_analyst",
        scope="basket",
    )
    belief = strategy.belief.model_copy(
        update={"options": options, "values": kept, "items": voiced_items(load_grammar(), draw)}
    )
    return strategy.model_copy(update={"belief": belief, "opening_items": ()})


def _keys(options: Options, values: Mapping[str, float]) -> Iterator[ItemKey]:
    """Yield the voiced items of the options, in component order."""
    for name in options.factors:
        yield ItemKey("stock_selection", name)
    for group, component in GROUPS.items():
        chosen = getattr(options, group)
        if chosen is None:
            continue
        option = load_grammar().option(group, chosen)
        if option.voiced and not option.value_only:
            yield ItemKey(component, chosen)
        for param in option.params:
            if param.voiced and f"{chosen}.{param.name}" in values:
                yield ItemKey(component, chosen, param.name)
