"""The voiced items of a draw with their convictions in plain language and exact numbers."""

from collections.abc import Iterable

from generator.draw import Draw, ItemKey
from generator.wording import convictions
from records.grammar import Factor, Grammar, Option, Param
from records.strategy import Component, Item

GROUPS: dict[Component, tuple[str, ...]] = {
    "stock_selection": ("factors", "combination"),
    "market_timing": ("market_timing",),
    "portfolio_construction": ("weighting", "covariance"),
    "risk_control": ("risk_control",),
    "execution": ("execution",),
    "transaction_cost": ("transaction_cost",),
}


def voiced_items(grammar: Grammar, draw: Draw) -> tuple[Item, ...]:
    """Return H in component order."""
    return tuple(_item(grammar, draw, key) for key in draw.items)


def number(value: float) -> str:
    """Return a parameter value as the user says it: 20, not 20.0."""
    return f"{value:g}"


def screen_order(labels: Iterable[str]) -> str:
    """Return how a sequential screen runs through factor labels, in their order."""
    *first, last = labels
    return f"keep the top half on {', then on '.join(first)}, rank the rest on {last}"


def _item(grammar: Grammar, draw: Draw, key: ItemKey) -> Item:
    option = _find(grammar, key)
    param = _param(option, key)
    value = draw.values[f"{key.option}.{key.param}"] if key.param else None
    return Item(
        id=key.id,
        component=key.component,
        option=key.option,
        param=key.param,
        text=_conviction(draw, key, value),
        value=value,
        unit=param.unit if param else None,
        ask_cues=grammar.ask_cues[key.component],
        aliases=(*param.aliases, *option.aliases) if param else option.aliases,
    )


def _conviction(draw: Draw, key: ItemKey, value: float | None) -> str:
    template = convictions()[key.id]["text"]
    if key.option == "sequential_screen":
        return template.format(
            screen=screen_order(convictions()[f"stock_selection/{name}"]["short"] for name in draw.options.factors)
        )
    return template.format(v=number(value)) if value is not None else template


def _find(grammar: Grammar, key: ItemKey) -> Factor | Option:
    for group in GROUPS[key.component]:
        for option in getattr(grammar, group):
            if option.id == key.option:
                found: Factor | Option = option
                return found
    raise KeyError(key.id)


def _param(option: Factor | Option, key: ItemKey) -> Param | None:
    return next((param for param in option.params if param.name == key.param), None)
