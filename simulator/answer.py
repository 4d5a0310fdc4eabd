"""What the user says to questions and proposals: only what was raised, with exact numbers (evaluator.md 6.3, 2-3)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from records.strategy import Item
from records.task import Scope
from simulator.cues import Subject
from simulator.items import is_value, topic_of
from simulator.lexicon import TOPICS, Topic
from simulator.reading import ProposedNumber, Reading
from simulator.situation import Situation
from simulator.voice import Voice

SUBJECT_WORDS: dict[Subject, str] = {
    "rebalance": "how often to trade",
    "holdings": "how many names to hold",
    "benchmark": "what to compare with",
    "capital": "the starting amount",
    "format": "such details",
}
BUDGET = 1_080
"""Characters for statements; what surrounds them stays below the 1,200 of rule V8."""

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Answer:
    """Sentences of a reply and the items they state."""

    sentences: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    objects: bool = False
    asked_new: bool = False

    def __bool__(self) -> bool:
        """Whether there is anything to say."""
        return bool(self.sentences)


def answer(situation: Situation, voice: Voice, turn: int) -> Answer:
    """Return the reply to what the last agent message raises; empty when it raises nothing."""
    against = conflicting_topics(situation)
    items = _to_state(situation, against)
    statements, stated = _statements(situation, voice, items)
    sentences: list[str] = []
    if against:
        sentences.append(voice.says("object", turn))
    elif _only_agrees(situation, items) or (statements and not situation.reading.asked):
        sentences.append(voice.says("agree", turn))
    elif statements:
        sentences.append(voice.says("lead", turn))
    sentences += statements
    sentences += [voice.declines(topic) for topic in _topics_without_view(situation)]
    sentences += _subject_answers(situation, voice, turn)
    new = set(stated) - situation.stated
    asked_new = any(topic_of(item_id) in situation.reading.asked for item_id in new)
    return Answer(tuple(sentences), stated, objects=bool(against), asked_new=asked_new)


def conflicting_topics(situation: Situation) -> tuple[Topic, ...]:
    """Return the topics with items where the agent proposes another option or number than the belief's."""
    found = []
    for topic in TOPICS:
        if not any(topic_of(item_id) == topic for item_id in situation.raised):
            continue
        readings = (situation.reading, situation.spec_reading)
        if any(
            _option_conflicts(situation, reading, topic) or _number_conflicts(situation, reading, topic)
            for reading in readings
        ):
            found.append(topic)
    return tuple(found)


def _option_conflicts(situation: Situation, reading: Reading, topic: Topic) -> bool:
    believed = set(situation.convictions.options_of(topic))
    proposed = {found.option for found in reading.proposals if found.topic == topic}
    if not proposed:
        return False
    return bool(proposed - believed) if topic == "selection" else not proposed & believed


def _number_conflicts(situation: Situation, reading: Reading, topic: Topic) -> bool:
    item = situation.convictions.value_of(topic)
    if item is None or item.id not in situation.raised:
        return False
    numbers = [number for number in reading.numbers if number.topic == topic and _comparable(number, item)]
    return bool(numbers) and not any(_same(number, item) for number in numbers)


def _comparable(number: ProposedNumber, item: Item) -> bool:
    return item.unit == "bps" or number.unit == "percent"


def _same(number: ProposedNumber, item: Item) -> bool:
    value = number.value * 100 if item.unit == "bps" and number.unit == "percent" else number.value
    return item.value is not None and abs(value - item.value) < 1e-9


def _to_state(situation: Situation, against: Iterable[Topic]) -> list[Item]:
    """Return what to say: everything raised that is new, and again what was asked or proposed wrongly."""
    again = situation.reading.asked | set(against)
    wanted = [item_id for item_id in situation.raised if item_id not in situation.stated or topic_of(item_id) in again]
    return situation.convictions.ordered(wanted)


def _statements(situation: Situation, voice: Voice, items: list[Item]) -> tuple[list[str], tuple[str, ...]]:
    """Return sentences within the budget, new items first in line for it, said in component order."""
    valued = {item.id.rsplit("/", 1)[0] for item in items if is_value(item.id)}
    spoken = [item for item in items if item.id not in valued]
    texts = {item.id: voice.states(item, situation.convictions.belief) for item in spoken}
    kept: set[str] = set()
    left = BUDGET
    for item in sorted(spoken, key=lambda item: item.id in situation.stated):
        if len(texts[item.id]) + 1 <= left:
            kept.add(item.id)
            left -= len(texts[item.id]) + 1
    said = [item for item in spoken if item.id in kept]
    covered = {item.id for item in said} | {item.id.rsplit("/", 1)[0] for item in said if is_value(item.id)}
    stated = tuple(item_id for item_id in situation.convictions.ids if item_id in covered)
    return [texts[item.id] for item in said], stated


def _only_agrees(situation: Situation, items: list[Item]) -> bool:
    return not items and bool(situation.raised) and not situation.reading.asked


def _topics_without_view(situation: Situation) -> list[Topic]:
    """Return the topics asked about on which the belief voices nothing."""
    reading = situation.reading
    return [
        topic
        for topic in TOPICS
        if topic in reading.asked
        and not situation.convictions.of_topic(topic)
        and topic not in ("selection", "weighting")
    ]


def _subject_answers(situation: Situation, voice: Voice, turn: int) -> list[str]:
    subjects = situation.reading.subjects
    scope = situation.task.scope
    conditions = situation.task.conditions
    sentences = []
    if "dates" in subjects:
        start, end = day_words(conditions.start_hint), day_words(conditions.t_cut)
        sentences.append(voice.says("dates", turn, start=start, t_cut=end))
    if "universe" in subjects:
        sentences.append(voice.says("universe", turn, scope=scope_words(scope)))
    open_subjects = [subject for subject in SUBJECT_WORDS if subject in subjects]
    if "holdings" in open_subjects and scope.max_holdings is not None:
        open_subjects.remove("holdings")
        sentences.append(voice.says("limit", turn, n=str(scope.max_holdings)))
    if open_subjects:
        words = [SUBJECT_WORDS[subject] for subject in open_subjects]
        sentences.append(voice.says("no_view", turn, what=" and ".join(words)))
    return sentences


def scope_words(scope: Scope) -> str:
    """Return the scope as the user names it."""
    if scope.kind == "basket":
        return ", ".join(scope.symbols)
    if scope.max_holdings is not None:
        return "all 25 names the data service has"
    return f"the US {scope.sector} sector" if scope.kind == "sector" else "the 1,000 most traded US stocks over $5"


def day_words(day: date) -> str:
    """Return a date as the user says it."""
    return f"{MONTHS[day.month - 1]} {day.day}, {day.year}"
