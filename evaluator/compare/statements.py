"""S: the items the user stated, read from the user's own words alone.

This is a reader of its own; it shares no code with the simulated user's matcher and never sees what the simulator says
it stated. The agent's message is read only to know what a bare number ("20%.") answers.
"""

import re
from dataclasses import dataclass

from evaluator.compare.lexicon import phrases, value_topic
from evaluator.compare.numbers import numbers
from evaluator.compare.sentences import Sentence, Stance, is_corrected, is_outcome, normalise, sentences, stance
from evaluator.package.delivery import Message
from records.strategy import Item

_NEGATION_BELONGS = frozenset({"low_max_21", "low_accruals", "adv_cap", "low_vol_252"})
_UNITS = {"percent": "percent", "bps": "bps"}


@dataclass(frozen=True)
class Mention:
    """One place where a user's sentence touches an item."""

    item: str
    turn: int
    sentence: str
    stance: Stance


@dataclass(frozen=True)
class Statements:
    """S and how it was read."""

    stated: frozenset[str]
    mentions: tuple[Mention, ...]

    @property
    def undecided(self) -> tuple[Mention, ...]:
        """Mentions of items never stated: an alias was hit but denied, quoted from the agent or asked."""
        return tuple(mention for mention in self.mentions if mention.item not in self.stated)


def read_statements(messages: tuple[Message, ...], items: tuple[Item, ...]) -> Statements:
    """Return which of the items the user's turns state."""
    mentions: list[Mention] = []
    previous_agent = ""
    for message in messages:
        if message.role != "user":
            previous_agent = message.text
            continue
        for sentence in sentences(message.text):
            for item in items:
                found = _value_stance(sentence, item, previous_agent) if item.param else _option_stance(sentence, item)
                if found is not None:
                    mentions.append(Mention(item.id, message.turn, sentence.text, found))
    stated = frozenset(mention.item for mention in mentions if mention.stance == "affirmed")
    return Statements(stated, tuple(mentions))


def _option_stance(sentence: Sentence, item: Item) -> Stance | None:
    """Return the best stance of any phrase of the option in the sentence; None when it is not there."""
    spans = [hit.span() for pattern in phrases(item.option) for hit in pattern.finditer(sentence.text)]
    spans += _spans_of_conviction(sentence, item)
    belongs = item.option in _NEGATION_BELONGS
    stances = {stance(sentence, start, end, negation_belongs=belongs) for start, end in spans}
    return _best(stances)


def _spans_of_conviction(sentence: Sentence, item: Item) -> list[tuple[int, int]]:
    """Where the investor's conviction stands in the sentence word for word."""
    core = normalise(item.text).strip(" .")
    at = sentence.text.find(core) if core else -1
    return [] if at < 0 else [(at, at + len(core))]


def _value_stance(sentence: Sentence, item: Item, previous_agent: str) -> Stance | None:
    if item.value is None:
        return None
    topic = value_topic(item.option)
    unit = _UNITS.get(item.unit or "", "percent")
    if topic is None or is_outcome(sentence.text):
        return None
    stances = set()
    for number in numbers(sentence.text):
        if not number.equals(item.value, unit):
            continue
        rest = sentence.text[: number.start] + " " + sentence.text[number.end :]
        about_it = topic.search(rest) or (unit == "bps" and number.unit == "bps")
        if about_it or _answers(rest, previous_agent, topic):
            taken_back = is_corrected(sentence.text, number)
            stances.add("negated" if taken_back else stance(sentence, number.start, number.end))
    return _best(stances)


def _answers(rest: str, previous_agent: str, topic: re.Pattern[str]) -> bool:
    """Whether a sentence that is little more than a number answers the agent's question on this topic."""
    words = re.findall(r"[a-z']+", rest)
    return len(words) <= 4 and "?" in previous_agent and topic.search(normalise(previous_agent)) is not None


def _best(stances: set[Stance]) -> Stance | None:
    for candidate in ("affirmed", "quoted", "asked", "negated"):
        if candidate in stances:
            return candidate
    return None
