"""What an agent's message asks about and proposes, before any strategy is known."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from simulator import cues
from simulator.lexicon import Lexicon, NamedOption, Topic, default_lexicon
from simulator.text import Unit, units

GENERIC_SELECTION = re.compile(
    r"\b(signals?|rank(?:ing|ed)?|scor(?:e|ing)|factors?|criteri(?:a|on)|measured?|horizon|screen\w*|pick\w*|select\w*|earnings)\b"
)
COVARIANCE_ONLY = re.compile(r"\b(covarian\w*|correlat\w*|optimi[sz]\w*)\b")
ANAPHORA = re.compile(r"\b(that|this|it|one|those|these|so|either|both)\b")
NUMBER = re.compile(
    r"(?<![\w.$-])(-?\d+(?:\.\d+)?)\s*(%|percent\b|per cent\b|pct\b|bps?\b|basis points?\b|basispoints?\b)"
)
VALUE_CUE = re.compile(
    r"\b(how (?:far|big|large|tight|wide|deep|much|low|high)|what (?:point|percentage|percent|level|number|threshold|trigger|size|figure)"
    r"|at (?:which|what)|thresholds?|percentage|levels?|numbers?|where (?:do|would|should|is)|trigger(?:s|ed)? (?:at|level)|x ?%)\b"
)
MAX_UNITS = 400


@dataclass(frozen=True)
class UnitScores:
    """How strongly a unit is about each topic and whether it wants a number, each 0 to 1."""

    topics: dict[Topic, float]
    value: float = 0.0


class TopicModel(Protocol):
    """The second stage: topics of units in wording the lexicon does not know."""

    def score(self, texts: Sequence[str]) -> list[UnitScores]:
        """Return one score per text, in order."""
        ...


@dataclass(frozen=True)
class ProposedNumber:
    """A number that the agent puts forward for a topic, in percent or basis points."""

    topic: Topic
    value: float
    unit: str


@dataclass(frozen=True)
class Reading:
    """What one message raises."""

    topics: frozenset[Topic] = frozenset()
    asked: frozenset[Topic] = frozenset()
    wants_value: bool = False
    proposals: tuple[NamedOption, ...] = ()
    numbers: tuple[ProposedNumber, ...] = ()
    subjects: frozenset[cues.Subject] = frozenset()
    unclear: bool = False
    """A question that names no decision the user could take."""
    undecided: tuple[str, ...] = ()


@dataclass
class _Found:
    topics: set[Topic] = field(default_factory=set)
    asked: set[Topic] = field(default_factory=set)
    wants_value: bool = False
    proposals: list[NamedOption] = field(default_factory=list)
    numbers: list[ProposedNumber] = field(default_factory=list)
    subjects: set[cues.Subject] = field(default_factory=set)
    vague: int = 0
    undecided: list[str] = field(default_factory=list)


class MessageReader:
    """Reads messages with the lexicon and, where given, a topic model for free wording."""

    def __init__(self, lexicon: Lexicon | None = None, model: TopicModel | None = None, threshold: float = 0.5) -> None:
        """Args: threshold: score from which a topic of the model counts."""
        self._lexicon = lexicon or default_lexicon()
        self._model = model
        self._threshold = threshold

    def read(self, message: str) -> Reading:
        """Return what the message raises; the same text gives the same reading."""
        parts = units(message)[:MAX_UNITS]
        counting = _counting(parts)
        scores = self._scores(parts)
        found = _Found()
        previous: set[Topic] = set()
        for unit, counts, score in zip(parts, counting, scores, strict=True):
            options = self._lexicon.options(unit.text)
            topics = self._topics(unit, options, score)
            if counts:
                self._take(found, unit, topics, options, previous, score)
            previous = topics
        return Reading(
            topics=frozenset(found.topics),
            asked=frozenset(found.asked),
            wants_value=found.wants_value,
            proposals=tuple(found.proposals),
            numbers=tuple(found.numbers),
            subjects=frozenset(found.subjects),
            unclear=found.vague > 0 and not found.topics and not found.subjects,
            undecided=tuple(found.undecided),
        )

    def _scores(self, parts: Sequence[Unit]) -> list[UnitScores | None]:
        if self._model is None or not parts:
            return [None] * len(parts)
        return list(self._model.score([unit.text for unit in parts]))

    def _topics(self, unit: Unit, options: Sequence[NamedOption], score: UnitScores | None) -> set[Topic]:
        text = unit.text
        named = {option.topic for option in options}
        topics = self._lexicon.concepts(text) | named
        if "covariance" in topics and "weighting" not in named:
            rest = COVARIANCE_ONLY.sub(" ", text)
            if "weighting" not in self._lexicon.concepts(rest):
                topics.discard("weighting")
        if "selection" in topics and "selection" not in named and topics != {"selection"}:
            rest = GENERIC_SELECTION.sub(" ", text)
            if "selection" not in self._lexicon.concepts(rest):
                topics.discard("selection")
        if score is not None:
            topics |= {topic for topic, value in score.topics.items() if value >= self._threshold}
        return topics

    def _take(
        self,
        found: _Found,
        unit: Unit,
        topics: set[Topic],
        options: Sequence[NamedOption],
        previous: set[Topic],
        score: UnitScores | None,
    ) -> None:
        text = unit.text
        is_question = cues.asks(text)
        subjects = cues.subjects(text)
        about = topics
        if not topics and is_question and ANAPHORA.search(text) and not subjects:
            about = previous
        found.topics |= about
        if is_question:
            found.asked |= about
            found.subjects |= subjects
            if not about and not subjects and not cues.is_greeting(text) and not unit.listed:
                found.vague += 1
                found.undecided.append(text[:200])
        found.proposals += options
        numbers = _numbers(text)
        if "risk_control" in about and self._wants_value(text, score, bool(numbers)):
            found.wants_value = True
        for topic in ("risk_control", "transaction_cost"):
            if topic in about:
                found.numbers += [ProposedNumber(topic, value, kind) for value, kind in numbers]

    def _wants_value(self, text: str, score: UnitScores | None, has_number: bool) -> bool:
        if has_number or self._lexicon.has_value_cue(text) or VALUE_CUE.search(text):
            return True
        return score is not None and score.value >= self._threshold


def _counting(parts: Sequence[Unit]) -> list[bool]:
    """Return which units count: those that ask or propose, by themselves or by what stands around them."""
    invited = any(cues.invites_correction(unit.text) for unit in parts)
    flags = []
    for unit in parts:
        text, lead = unit.text, unit.lead
        if cues.asks(text):
            flags.append(True)
        elif cues.reports(text):
            flags.append(False)
        elif unit.listed and cues.RESULT_LEAD.search(lead) and not cues.ASKING_LEAD.search(lead):
            flags.append(False)
        elif unit.listed and (cues.ASKING_LEAD.search(lead) or cues.PROPOSING_LEAD.search(lead)):
            flags.append(True)
        else:
            flags.append(invited or cues.proposes(text) or _is_assignment(text))
    return flags


def _is_assignment(text: str) -> bool:
    """Return whether the unit has the form 'weights: equal', which proposes."""
    head, colon, rest = text.partition(":")
    return bool(colon) and bool(rest.strip()) and len(head.split()) <= 3


def _numbers(text: str) -> list[tuple[float, str]]:
    return [(abs(float(value)), "bps" if kind.startswith("b") else "percent") for value, kind in NUMBER.findall(text)]
