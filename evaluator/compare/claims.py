"""What the delivery claims about one item: its configuration first, else its latest words. Knows nothing of S."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from evaluator.compare.fidelity import Claim
from evaluator.compare.numbers import numbers, same
from evaluator.compare.quotes import Passage
from evaluator.measure.naming import group_of, plain, values_of
from evaluator.measure.specification import Row
from evaluator.package.quoting import flat
from records.grammar import OPTION_GROUPS, Factor, Option, load_grammar
from records.spec import DeliveredSpec
from records.strategy import Item

_NOT_CLAIMED = re.compile(
    r"\b(?:not|no longer|never|without|instead of|rather than|unlike|alternative|compared (?:with|to)|versus|vs|dropped"
    r"|removed|replaced|could also|would you|do you|should i|shall i|which|whether|or do)\b|\?$"
)
_SHARED_ALIASES = frozenset(
    {"screen", "commission", "slippage", "transaction cost", "trading cost", "bps", "basis points"}
)


@dataclass(frozen=True)
class Finding:
    """A claim with the quotes behind it, (document, text), latest last."""

    claim: Claim
    quotes: tuple[tuple[str, str], ...] = ()


def find_claim(item: Item, spec: DeliveredSpec, rows: Sequence[Row], said: Sequence[Passage]) -> Finding:
    """Return what the delivery claims: the specification table decides; prose only where it is silent."""
    written = configured(item, spec, rows)
    if written is not None:
        return written
    return _value_in_prose(item, said) if item.param else _option_in_prose(item, said)


def configured(item: Item, spec: DeliveredSpec, rows: Sequence[Row]) -> Finding | None:
    """Return the verdict of the configuration; None when it does not speak of this part."""
    field = field_of(item)
    if spec.origins.get(field) != "stated":
        return None
    delivered = getattr(spec, field)
    if item.param is None:
        matches = item.option in delivered if field == "factors" else delivered == item.option
        return Finding("present" if matches else "contradicted", _row_quotes(rows, delivered))
    if delivered != item.option:
        return Finding("contradicted", _row_quotes(rows, delivered))
    value = values_of(spec).get(f"{item.option}.{item.param}")
    if value is None or item.value is None:
        return None
    return Finding("present" if same(value, item.value) else "contradicted", _row_quotes(rows, value))


def field_of(item: Item) -> str:
    """Return the field of the specification in which an item's option stands."""
    if item.component == "stock_selection":
        return "combination" if group_of(item.option) == "combination" else "factors"
    if item.component == "portfolio_construction":
        return "covariance" if group_of(item.option) == "covariance" else "weighting"
    return item.component


def _row_quotes(rows: Sequence[Row], delivered: object) -> tuple[tuple[str, str], ...]:
    """Return the lines of the configuration that carry the delivered option or value."""
    if isinstance(delivered, float):
        hits = [row for row in rows if any(_near(number.value, delivered) for number in numbers(flat(row.value)))]
    else:
        wanted = delivered if isinstance(delivered, tuple) else (delivered,)
        names = {name for option in wanted if isinstance(option, str) for name in _names(option.lstrip("?"))}
        hits = [
            row
            for row in rows
            if any(re.search(rf"(?:^|_){re.escape(plain(n))}(?:_|$)", plain(row.value)) for n in names)
        ]
    return tuple((row.path, row.quote) for row in hits[:3])


def _near(written: float, delivered: float) -> bool:
    return any(same(written * scale, delivered) for scale in (1, 100, 10_000))


def _option_in_prose(item: Item, said: Sequence[Passage]) -> Finding:
    """The latest passage that names an option of this part decides; of the factors each stands for itself."""
    rivals = (
        []
        if field_of(item) == "factors"
        else [option for option in _group_ids(field_of(item)) if option != item.option]
    )
    latest: Finding | None = None
    for passage in said:
        text = flat(passage.text)
        if _names_any(text, [item.option]):
            denied = _NOT_CLAIMED.search(text) is not None
            if not denied:
                latest = Finding("present", ((passage.doc, passage.text),))
            elif latest is not None and re.search(r"no longer|dropped|removed|replaced|instead of", text):
                latest = Finding("missing", ((passage.doc, passage.text),))
        elif rivals and latest is None and _names_any(text, rivals) and not _NOT_CLAIMED.search(text):
            latest = Finding("contradicted", ((passage.doc, passage.text),))
    return latest or Finding("missing")


def _value_in_prose(item: Item, said: Sequence[Passage]) -> Finding:
    """The latest passage about the item's option with a number in its unit decides."""
    unit = "bps" if item.unit == "bps" else "percent"
    latest: Finding | None = None
    for passage in said:
        text = flat(passage.text)
        if item.value is None or not _speaks_of(text, item) or _NOT_CLAIMED.search(text):
            continue
        found = [number for number in numbers(text) if number.unit is not None]
        if not found:
            continue
        right = any(number.equals(item.value, unit) for number in found)
        rival = any(unit in (number.unit, "percent") for number in found)
        if right:
            latest = Finding("present", ((passage.doc, passage.text),))
        elif rival and latest is None:
            latest = Finding("contradicted", ((passage.doc, passage.text),))
    return latest or Finding("missing")


def _speaks_of(text: str, item: Item) -> bool:
    return _names_any(text, [item.option]) or any(alias in text for alias in item.aliases)


def _names_any(text: str, options: Sequence[str]) -> bool:
    return any(_pattern(option).search(text) for option in options)


@cache
def _pattern(option: str) -> re.Pattern[str]:
    bodies = [r"[\s_/-]+".join(re.escape(word) for word in re.findall(r"[a-z0-9+]+", name)) for name in _names(option)]
    bodies = [body for body in bodies if body]
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(bodies)})(?![a-z0-9])" if bodies else r"(?!)")


@cache
def _names(option: str) -> tuple[str, ...]:
    """Return id, label and aliases of an option; words shared with ordinary cost talk only where they are its own."""
    grammar = load_grammar()
    options: list[Factor | Option] = [*grammar.factors]
    for group in OPTION_GROUPS:
        options += grammar.group(group)
    found = [o for o in options if o.id == option and not (isinstance(o, Option) and o.null)]
    names = {name.lower() for o in found for name in (o.id, o.label, *o.aliases)}
    if option != "fixed_rate":
        names -= _SHARED_ALIASES
    return tuple(sorted(names))


def _group_ids(field: str) -> list[str]:
    return [
        option.id
        for group in OPTION_GROUPS
        if group == field
        for option in load_grammar().group(group)
        if option.id != "none"
    ]
