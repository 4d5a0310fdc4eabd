"""From topics to the items of one belief: Q of equation (2)."""

from collections.abc import Iterable
from functools import cache

from records.grammar import load_grammar
from simulator.lexicon import COMPONENT_OF, Topic, options_by_topic
from simulator.reading import Reading


@cache
def _topics_by_option() -> dict[tuple[str, str], Topic]:
    return {(COMPONENT_OF[topic], option.id): topic for topic, option in options_by_topic(load_grammar())}


def topic_of(item_id: str) -> Topic:
    """Return the topic of an item id. Raises KeyError for an option outside the grammar."""
    component, option, *_ = item_id.split("/")
    return _topics_by_option()[component, option]


def is_value(item_id: str) -> bool:
    """Return whether the item is a parameter's value."""
    return item_id.count("/") == 2


def raised_items(reading: Reading, item_ids: Iterable[str]) -> tuple[str, ...]:
    """Return the items of a belief that a message raises, in the belief's order.

    An option item needs its topic. A value item needs a wish for a number too, unless it stands alone for its option
    (`vol_target`, `fixed_rate`), where any question on the topic asks for it.
    """
    ids = tuple(item_ids)
    options = {item_id for item_id in ids if not is_value(item_id)}
    found = []
    for item_id in ids:
        if topic_of(item_id) not in reading.topics:
            continue
        stands_alone = item_id.rsplit("/", 1)[0] not in options
        if not is_value(item_id) or stands_alone or reading.wants_value:
            found.append(item_id)
    return tuple(found)
