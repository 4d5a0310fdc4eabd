"""The sealed belief by topic, as every part of the user needs it."""

from collections.abc import Iterable
from functools import cached_property

from records.strategy import Item, Options, Strategy
from simulator.items import is_value, topic_of
from simulator.lexicon import Topic


class Convictions:
    """Items and options of one strategy, looked up by topic."""

    def __init__(self, strategy: Strategy) -> None:
        """Keep the strategy; nothing is copied out of it."""
        self.strategy = strategy
        self.belief = strategy.belief
        self.items: dict[str, Item] = {item.id: item for item in strategy.belief.items}

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """H in component order."""
        return tuple(self.items)

    def of_topic(self, topic: Topic) -> tuple[Item, ...]:
        """Return the items of a topic; empty for a null option or the default fill."""
        return tuple(item for item in self.items.values() if topic_of(item.id) == topic)

    def options_of(self, topic: Topic) -> tuple[str, ...]:
        """Return the believed option ids of a topic: the factors for selection, else one or none."""
        options: Options = self.belief.options
        if topic == "selection":
            return options.factors
        found: str | None = getattr(options, topic)
        return (found,) if found else ()

    def value_of(self, topic: Topic) -> Item | None:
        """Return the topic's value item, if it has one."""
        return next((item for item in self.of_topic(topic) if is_value(item.id)), None)

    def ordered(self, ids: Iterable[str]) -> list[Item]:
        """Return items in component order."""
        wanted = set(ids)
        return [item for item in self.items.values() if item.id in wanted]
