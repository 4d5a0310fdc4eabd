"""What the delivery claims about one item: its configuration first, else its latest words. Knows nothing of S."""

import re
from collections.abc import Sequence

from evaluator.compare.finding import Finding
from evaluator.compare.numbers import numbers, same
from evaluator.compare.prose import names as names_of
from evaluator.compare.prose import option_in_prose, value_in_prose
from evaluator.compare.quotes import Passage
from evaluator.measure.naming import group_of, plain, values_of
from evaluator.measure.specification import Row
from evaluator.package.quoting import flat
from records.grammar import OPTION_GROUPS, load_grammar
from records.spec import DeliveredSpec
from records.strategy import Item

__all__ = ["Finding", "configured", "field_of", "find_claim"]


def find_claim(item: Item, spec: DeliveredSpec, rows: Sequence[Row], said: Sequence[Passage]) -> Finding:
    """Return what the delivery claims: the specification table decides; prose only where it is silent."""
    written = configured(item, spec, rows)
    if written is not None:
        return written
    if item.param:
        return value_in_prose(item, said)
    field = field_of(item)
    rivals = [] if field == "factors" else [option for option in _group_ids(field) if option != item.option]
    return option_in_prose(item, rivals, field, said)


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
        options = [option.lstrip("?") for option in wanted if isinstance(option, str)]
        names = {name for option in options for name in (option, *names_of(option))}
        hits = [
            row
            for row in rows
            if any(re.search(rf"(?:^|_){re.escape(plain(n))}(?:_|$)", plain(row.value)) for n in names)
        ]
    return tuple((row.path, row.quote) for row in hits[:3])


def _near(written: float, delivered: float) -> bool:
    return any(same(written * scale, delivered) for scale in (1, 100, 10_000))


def _group_ids(field: str) -> list[str]:
    return [
        option.id
        for group in OPTION_GROUPS
        if group == field
        for option in load_grammar().group(group)
        if option.id != "none"
    ]
