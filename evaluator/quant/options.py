"""Parameter values of an option: the one given, else the grammar's default for what nobody voices."""

from collections.abc import Mapping
from functools import cache

from records.grammar import OptionGroup, load_grammar


@cache
def _defaults(group: OptionGroup) -> dict[tuple[str, str], float]:
    return {
        (option.id, param.name): float(param.default_if_unvoiced)
        for option in load_grammar().group(group)
        for param in option.params
        if param.default_if_unvoiced is not None
    }


def value(group: OptionGroup, option: str, name: str, params: Mapping[str, float]) -> float | None:
    """Return a parameter in the grammar's unit; None when it is neither given nor has a default."""
    given = params.get(name)
    return float(given) if given is not None else _defaults(group).get((option, name))


def sessions_value(group: OptionGroup, option: str, name: str, params: Mapping[str, float], fallback: int) -> int:
    """Return a whole number of sessions; `fallback` when the grammar has no default."""
    found = value(group, option, name, params)
    return fallback if found is None else max(int(found), 1)
