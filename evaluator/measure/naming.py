"""From the words of a specification to the grammar's ids, units and keys; unknown words stay unknown."""

import re
from functools import cache

from evaluator.measure.synonyms import SYNONYMS
from records.grammar import OPTION_GROUPS, Factor, Option, OptionGroup, Param, load_grammar
from records.spec import DeliveredSpec

_PREFIX = "?"


def values_of(spec: DeliveredSpec) -> dict[str, float]:
    """Return the parameter values of a specification, 'option.param' -> value in the grammar's unit."""
    return spec.values


def plain(text: str) -> str:
    """Return lower-case words joined by one underscore."""
    return "_".join(re.findall(r"[a-z0-9]+", text.lower()))


@cache
def _names(group: OptionGroup | str) -> tuple[tuple[str, str], ...]:
    """Return (plain name, id) of a group's options, longest names first; group 'factors' for the factors."""
    grammar = load_grammar()
    options: tuple[Option, ...] | tuple[Factor, ...]
    options = grammar.factors if group == "factors" else grammar.group(group)  # type: ignore[arg-type]
    found = {
        plain(name): option.id
        for option in options
        for name in (option.id, option.label, *option.aliases, *SYNONYMS.get(option.id, ()))
    }
    return tuple(sorted(found.items(), key=lambda pair: (-len(pair[0]), pair[0])))


def option_id(group: OptionGroup | str, text: str) -> str | None:
    """Return the option of the group that a text names: exactly, else the one with the longest name inside it."""
    wanted = plain(text)
    if not wanted:
        return None
    names = _names(group)
    for name, found in names:
        if name == wanted:
            return found
    for name, found in names:
        if re.search(rf"(?:^|_){re.escape(name)}(?:_|$)", wanted):
            return found
    return None


def factor_ids(text: str) -> tuple[str, ...]:
    """Return the factors a text lists, in order; '?name' for one outside the grammar."""
    parts = re.split(r"[+,;|&>]|\band\b|\bthen\b|->", text)
    found = []
    for part in parts:
        words = part.strip().strip("[]'\"()")
        if words:
            found.append(option_id("factors", words) or _PREFIX + plain(words))
    return tuple(dict.fromkeys(name for name in found if name != _PREFIX))


def number_in(text: str, unit: str) -> float | None:
    """Return the first number of a cell in the grammar's unit; fractions of percent and bps units are scaled up."""
    hit = re.search(r"[-+]?\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?", text.replace("\u2212", "-"))
    if hit is None:
        return None
    value = abs(float(hit.group().replace(",", "")))
    rest = text[hit.end() :].strip().lower()
    is_percent = rest.startswith(("%", "percent", "per cent", "pct"))
    if unit == "percent":
        return value if is_percent or value >= 1 else round(value * 100, 10)
    if unit == "bps":
        if is_percent:
            return round(value * 100, 10)
        return round(value * 10_000, 10) if 0 < value < 0.1 else value
    return value


def param_of(group: OptionGroup, option: str, name: str) -> Param | None:
    """Return a parameter of an option; None when it has none of that name."""
    for candidate in load_grammar().group(group):
        if candidate.id == option:
            return next((param for param in candidate.params if param.name == name), None)
    return None


def group_of(option: str) -> OptionGroup | None:
    """Return the group in which an id is unique; None for factors, unknown ids and 'none'."""
    groups: list[OptionGroup] = [
        group for group in OPTION_GROUPS if any(candidate.id == option for candidate in load_grammar().group(group))
    ]
    return groups[0] if len(groups) == 1 else None
