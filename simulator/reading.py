"""What an agent's message asks about and proposes, before any strategy is known."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol, cast

from simulator import cues
from simulator.lexicon import Lexicon, NamedOption, Topic, default_lexicon
from simulator.text import Unit, units

GENERIC_SELECTION = re.compile(
    r"\b((?<!which )(?<!what )(?:signals?|factors?)|rank(?:ing|ed)?|scor(?:e|ing)|criteri(?:a|on)|measured?|horizon|screen\w*|pick\w*|select\w*|earnings)\b"
)
COVARIANCE_ONLY = re.compile(r"\b(covarian\w*|correlat\w*|optimi[sz]\w*)\b")
WHICH_NAMES = re.compile(r"\b(?:which|what) (?:stocks?|names?|compan(?:y|ies)|tickers?)\b")
ANAPHORA = re.compile(r"\b(that|this|it|one|those|these|so|either|both|they|them)\b")
ELLIPSIS_WORDS = 6
"""A question of so few words that names no topic goes on with the one before it ('at which number?', 'or never?')."""
NUMBER = re.compile(
    r"(?<![\w.$-])(-?\d+(?:\.\d+)?)\s*(%|percent\b|per cent\b|pct\b|bps?\b|basis points?\b|basispoints?\b)"
)
VALUE_CUE = re.compile(
    r"\b(how (?:far|big|large|tight|wide|deep|much|low|high)|what (?:point|percentage|percent|level|number|threshold|trigger|size|figure)"
    r"|at (?:which|what)|thresholds?|percentage|levels?|numbers?|where (?:do|would|should|is)|trigger(?:s|ed)? (?:at|level)|x ?%)\b"
)
MAX_UNITS = 400
KEPT_READINGS = 512
MAX_PART_WORDS = 12
"""A comma between longer parts joins clauses, it does not enumerate."""
CONCEPT_FLOOR = 0.2
"""A concept word counts unless the model finds the topic this unlikely in the sentence ('any order' is no execution)."""
CONCEPT_BESIDE = 0.4
"""The same beside a topic of which the model is sure ('a pick' in a question on weights)."""
SECOND = 0.75
"""Bar of the model for a sentence's further topics beside its best one."""
SURE = 0.9
"""Bar of the model beside another subject, for one part of an enumeration, and for a wish for a number without a cue."""
CONTEXT = 0.6
"""Bar of the model for a unit read together with the sentence or heading before it."""
STATED = 0.95
"""A statement without any cue of proposing counts from here ('we bail out of a share 15% off its best close')."""
QUESTION_FLOOR = 0.35
"""A question with no topic takes its best one from here; a decision is asked for, so a lower bar than for a statement."""


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
        self._known = lru_cache(maxsize=KEPT_READINGS)(self._read)

    def read(self, message: str) -> Reading:
        """Return what the message raises; the same text gives the same reading, so it is kept."""
        return self._known(message)

    def _read(self, message: str) -> Reading:
        parts = units(message)[:MAX_UNITS]
        scores = self._scores(parts)
        counting = _counting(parts, scores)
        found = _Found()
        previous: set[Topic] = set()
        for unit, counts, score in zip(parts, counting, scores, strict=True):
            options = self._lexicon.options(unit.text)
            topics = self._topics(unit, options, score)
            if not topics and counts:
                topics = self._in_context(unit)
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
        return [None if _is_told(unit.text) else self._with_clauses(unit.text) for unit in parts]

    def _with_clauses(self, text: str) -> UnitScores:
        """Return a unit's scores; of an enumeration the best topic of each part counts too when it is sure."""
        model = cast("TopicModel", self._model)
        whole, *of_parts = model.score([text, *_enumerated(text)])
        topics = dict(whole.topics)
        for part in of_parts:
            topic, value = max(part.topics.items(), key=lambda entry: entry[1])
            if value >= SURE:
                topics[topic] = max(topics[topic], value)
        return UnitScores(topics, value=max(score.value for score in (whole, *of_parts)))

    def _topics(self, unit: Unit, options: Sequence[NamedOption], score: UnitScores | None) -> set[Topic]:
        named = {option.topic for option in options}
        concepts = self._lexicon.concepts(unit.text)
        if score is None:
            return self._specific(unit.text, concepts | named, named)
        elsewhere = cues.subjects(unit.text)
        if elsewhere and "selection" not in self._lexicon.concepts(WHICH_NAMES.sub(" ", unit.text)):
            concepts.discard("selection")
        best = max(score.topics.values())
        floor = CONCEPT_BESIDE if best >= SURE else CONCEPT_FLOOR
        plausible = {topic for topic in concepts if score.topics[topic] >= floor}
        topics = self._specific(unit.text, plausible | named, named)
        if not topics and best < SURE and (cues.is_general(unit.text) or _is_pronoun_only(unit.text)):
            return set()
        return topics | {
            topic
            for topic, value in score.topics.items()
            if value >= (SURE if elsewhere or unit.text.endswith(":") else self._threshold if value == best else SECOND)
        }

    def _in_context(self, unit: Unit) -> set[Topic]:
        """Return the topics of a unit that has none, read together with what stands before it, when the model is sure."""
        joins = unit.listed or (cues.asks(unit.text) and _goes_on(unit.text))
        if self._model is None or not joins or not unit.context or cues.subjects(unit.text) or _is_aside(unit.text):
            return set()
        score = self._model.score([f"{unit.context} {unit.text}"])[0]
        return {topic for topic, value in score.topics.items() if value >= CONTEXT}

    def _specific(self, text: str, topics: set[Topic], named: set[Topic]) -> set[Topic]:
        """Drop weighting where only covariances are named, and selection where only a word of any factor talk is."""
        kept = set(topics)
        for topic, pattern, other in (
            ("weighting", COVARIANCE_ONLY, "covariance" in kept),
            ("selection", GENERIC_SELECTION, kept != {"selection"}),
        ):
            rest = pattern.sub(" ", text)
            if other and topic not in named and topic not in self._lexicon.concepts(rest):
                kept.discard(cast("Topic", topic))
        return kept

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
        if not topics and is_question and not subjects and not _is_aside(text):
            about = (previous if _goes_on(text) else set()) or _likeliest(text, score)
        found.topics |= about
        if is_question:
            found.asked |= about
            found.subjects |= subjects
            if not about and not subjects and not cues.is_greeting(text) and not unit.listed:
                found.vague += 1
                found.undecided.append(text[:200])
        found.proposals += options
        numbers = _numbers(text)
        same_rule = "risk_control" in about or (is_question and not about - previous and "risk_control" in previous)
        if same_rule and not subjects and (numbers or self._wants_value(text, score)):
            found.wants_value = True
        for topic in ("risk_control", "transaction_cost"):
            if topic in about:
                found.numbers += [ProposedNumber(topic, value, kind) for value, kind in numbers]

    def _wants_value(self, text: str, score: UnitScores | None) -> bool:
        if self._lexicon.has_value_cue(text) or VALUE_CUE.search(text):
            return True
        return score is not None and score.value >= SURE


def _counting(parts: Sequence[Unit], scores: Sequence[UnitScores | None]) -> list[bool]:
    """Return which units count: those that ask or propose, by themselves or by what stands around them."""
    invited = any(cues.invites_correction(unit.text) for unit in parts)
    return [
        cues.asks(unit.text) or _is_put_forward(unit, score, invited=invited)
        for unit, score in zip(parts, scores, strict=True)
    ]


def _is_told(text: str) -> bool:
    """Return whether a unit only reports, which no model needs to read."""
    return cues.reports(text) and not cues.asks(text)


def _goes_on(text: str) -> bool:
    """Return whether a question without a topic leans on what stands before it."""
    return ANAPHORA.search(text) is not None or len(text.split()) <= ELLIPSIS_WORDS


def _is_pronoun_only(text: str) -> bool:
    """Return whether a short question names its matter by a pronoun alone ('what should they be?')."""
    return cues.asks(text) and ANAPHORA.search(text) is not None and len(text.split()) <= ELLIPSIS_WORDS


def _is_aside(text: str) -> bool:
    return cues.is_greeting(text) or cues.is_general(text) or cues.invites_correction(text)


def _enumerated(text: str) -> list[str]:
    """Return the parts of 'a: b, c, d'; empty for a sentence that enumerates nothing."""
    parts = [part.strip() for part in re.split(r"[,;:]|\band\b", text.split("?", maxsplit=1)[0]) if part.strip()]
    return parts if len(parts) >= 3 and max(len(part.split()) for part in parts) <= MAX_PART_WORDS else []


def _is_put_forward(unit: Unit, score: UnitScores | None, *, invited: bool) -> bool:
    text, lead = unit.text, unit.lead
    recalls = cues.repeats(unit.context) or cues.thanks(unit.context)
    repeated = cues.repeats(text) or (recalls and not cues.proposes(text))
    if cues.reports(text) or (repeated and not invited):
        return False
    if unit.listed and cues.RESULT_LEAD.search(lead) and not cues.ASKING_LEAD.search(lead):
        return False
    if unit.listed and (cues.ASKING_LEAD.search(lead) or cues.PROPOSING_LEAD.search(lead)):
        return True
    sure = score is not None and max(score.topics.values()) >= STATED
    return invited or cues.proposes(text) or _is_assignment(text) or sure


def _likeliest(text: str, score: UnitScores | None) -> set[Topic]:
    """Return the best topic of a question that is clearly about none, when it is not far from counting."""
    if score is None or cues.is_greeting(text) or cues.is_general(text) or text.endswith(":"):
        return set()
    topic, value = max(score.topics.items(), key=lambda entry: entry[1])
    return {topic} if value >= QUESTION_FLOOR else set()


def _is_assignment(text: str) -> bool:
    """Return whether the unit has the form 'weights: equal', which proposes."""
    head, colon, rest = text.partition(":")
    return bool(colon) and bool(rest.strip()) and len(head.split()) <= 3


def _numbers(text: str) -> list[tuple[float, str]]:
    return [(abs(float(value)), "bps" if kind.startswith("b") else "percent") for value, kind in NUMBER.findall(text)]
