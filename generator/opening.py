"""The investor's first message: one vague idea, the scope, and from when to when data may be used, in plain words."""

from collections.abc import Sequence
from datetime import date

from generator.draw import Draw
from generator.wording import convictions, openings
from records.task import Conditions, Scope

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def opening_message(draw: Draw, *, scope: Scope, conditions: Conditions, offline: bool) -> str:
    """Return u_0. It names the opening items and no other, and never says that the last date is checked."""
    texts = openings()[draw.persona]
    factors = [item for item in draw.opening if item.option in draw.options.factors]
    extras = [item for item in draw.opening if item not in factors]
    phrases = convictions()
    message = texts["request"].format(
        factors=_listed([phrases[item.id]["opening"] for item in factors]),
        scope=_scope_words(scope, texts),
        extras="".join([", with ", _listed([phrases[item.id]["opening"] for item in extras])] if extras else []),
        start=_day(conditions.start_hint),
        t_cut=_day(conditions.t_cut),
    )
    return message + _limits(scope, texts, offline=offline)


def _scope_words(scope: Scope, texts: dict[str, str]) -> str:
    if scope.kind == "basket":
        return texts["list"].format(symbols=_listed(scope.symbols))
    return texts[scope.kind].format(sector=scope.sector)


def _limits(scope: Scope, texts: dict[str, str], *, offline: bool) -> str:
    if scope.max_holdings is None:
        return ""
    wide = offline and scope.kind != "basket"
    return texts["narrow" if wide else "limit"].format(n=scope.max_holdings)


def _listed(parts: Sequence[str]) -> str:
    """Return 'a, b and c'."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def _day(day: date) -> str:
    """Return a date in words, free of the platform's locale."""
    return f"{MONTHS[day.month - 1]} {day.day}, {day.year}"
