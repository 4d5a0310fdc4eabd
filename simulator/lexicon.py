"""The hand lexicon of the grammar as compiled patterns: which topic a text is about, which option it names."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from records.grammar import Factor, Grammar, Option, load_grammar
from records.strategy import Component

Topic = Literal[
    "selection",
    "combination",
    "market_timing",
    "weighting",
    "covariance",
    "risk_control",
    "execution",
    "transaction_cost",
]
TOPICS: tuple[Topic, ...] = (
    "selection",
    "combination",
    "market_timing",
    "weighting",
    "covariance",
    "risk_control",
    "execution",
    "transaction_cost",
)

COMPONENT_OF: dict[Topic, Component] = {
    "selection": "stock_selection",
    "combination": "stock_selection",
    "market_timing": "market_timing",
    "weighting": "portfolio_construction",
    "covariance": "portfolio_construction",
    "risk_control": "risk_control",
    "execution": "execution",
    "transaction_cost": "transaction_cost",
}

CONCEPT_KEY: dict[Topic, str] = {
    "selection": "stock_selection",
    "combination": "combination",
    "market_timing": "market_timing",
    "weighting": "portfolio_construction",
    "covariance": "covariance",
    "risk_control": "risk_control",
    "execution": "execution",
    "transaction_cost": "transaction_cost",
}


@dataclass(frozen=True)
class NamedOption:
    """An option that a text names by one of its aliases."""

    topic: Topic
    option: str
    alias: str


@cache
def alias_pattern(aliases: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for whole-word aliases, hyphen or space alike, with a plural or past ending."""
    alternatives = [re.escape(alias).replace(r"\ ", "[ -]").replace(r"\-", "[ -]") for alias in aliases]
    longest_first = sorted(alternatives, key=len, reverse=True)
    return re.compile(rf"(?<![\w])({'|'.join(longest_first)})(?:s|es|ed)?(?![\w])")


class Lexicon:
    """Concept and alias patterns of one grammar. Texts are expected in `simulator.text.normalise` form."""

    def __init__(self, grammar: Grammar) -> None:
        """Compile every pattern once."""
        self._concepts = {topic: re.compile(grammar.concepts[key]) for topic, key in CONCEPT_KEY.items()}
        self._vetoes = {
            topic: re.compile(grammar.concept_vetoes[key])
            for topic, key in CONCEPT_KEY.items()
            if key in grammar.concept_vetoes
        }
        self._aliases = [
            (topic, option.id, alias_pattern(option.aliases))
            for topic, option in options_by_topic(grammar)
            if option.aliases
        ]
        self._ids = {topic: tuple(o.id for t, o in options_by_topic(grammar) if t == topic) for topic in TOPICS}
        self._value_cues = alias_pattern(grammar.value_cues)

    def concepts(self, text: str) -> set[Topic]:
        """Return the topics whose concept words stand in the text, vetoed contexts left out."""
        return {
            topic
            for topic, pattern in self._concepts.items()
            if pattern.search(text) and not self._is_vetoed(topic, text)
        }

    def options(self, text: str) -> list[NamedOption]:
        """Return the options named in the text, in grammar order."""
        return [
            NamedOption(topic, option, match.group(1))
            for topic, option, pattern in self._aliases
            if (match := pattern.search(text))
        ]

    def option_ids(self, topic: Topic) -> tuple[str, ...]:
        """Return the option ids of a topic, in grammar order."""
        return self._ids[topic]

    def has_value_cue(self, text: str) -> bool:
        """Return whether the text asks for a number in the grammar's cue words."""
        return self._value_cues.search(text) is not None

    def _is_vetoed(self, topic: Topic, text: str) -> bool:
        veto = self._vetoes.get(topic)
        return veto is not None and veto.search(text) is not None


def options_by_topic(grammar: Grammar) -> list[tuple[Topic, Factor | Option]]:
    """Return every factor and option with its topic."""
    found: list[tuple[Topic, Factor | Option]] = [("selection", factor) for factor in grammar.factors]
    for topic in TOPICS[1:]:
        found.extend((topic, option) for option in getattr(grammar, topic))
    return found


@cache
def default_lexicon() -> Lexicon:
    """Return the lexicon of the shipped grammar."""
    return Lexicon(load_grammar())
