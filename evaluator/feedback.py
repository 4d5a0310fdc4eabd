"""The report an agent may read: it says what is wrong with the backtest and nothing about the hidden strategy.

Reasons and evidence come from `measure` alone, which never saw a strategy. Data and strategy categories carry scores
only, except 1.1. Every option name of the grammar is masked, whatever the strategy is, so that a mask tells nothing.
"""

import re
from functools import cache

from evaluator.turns import joined
from records.grade import Compared, Feedback, FeedbackEntry, Grade, Judgement, Measured
from records.grammar import OPTION_GROUPS, Factor, Option, load_grammar
from records.rubric import load_rubric

MASK = "[option]"
_SILENT_CATEGORIES = ("data", "strategy")
_SPOKEN_EXCEPTIONS = ("1.1",)
_PLAIN_WORDS = frozenset({"none"})
"""'none' is the id of every null option and names none of them; masking it would only break sentences."""


def build(measured: Measured, compared: Compared, grade: Grade) -> Feedback:
    """Return the leak-free feedback, one entry per dimension of the rubric, in the rubric's order."""
    spoken = {judgement.dimension: judgement for judgement in measured.judgements}
    silent = {judgement.dimension: judgement for judgement in compared.judgements}
    entries = []
    for dimension in load_rubric().dimensions:
        judgement = spoken.get(dimension.id)
        has_text = judgement is not None and (
            dimension.category not in _SILENT_CATEGORIES or dimension.id in _SPOKEN_EXCEPTIONS
        )
        entries.append(
            _entry(
                dimension.id,
                dimension.name,
                judgement or silent.get(dimension.id),
                has_text=has_text,
            )
        )
    return Feedback(
        quality=grade.quality,
        score=grade.score,
        accepted=grade.accepted,
        entries=tuple(entries),
        turns=joined(measured, compared).turns,
    )


def mask(text: str) -> str:
    """Return the text with every option name of the grammar replaced."""
    return _names().sub(MASK, text)


def _entry(dimension_id: str, name: str, judgement: Judgement | None, *, has_text: bool) -> FeedbackEntry:
    if judgement is None:
        return FeedbackEntry(dimension=dimension_id, name=name, score=None, status="not_run", source="program")
    return FeedbackEntry(
        dimension=dimension_id,
        name=name,
        score=judgement.score,
        status=judgement.status,
        source=judgement.source,
        reason=mask(judgement.reason) if has_text else "",
        evidence=tuple(mask(line) for line in judgement.evidence) if has_text else (),
    )


@cache
def _names() -> re.Pattern[str]:
    """Ids, labels and aliases of every option, longest first, with any separator between their words."""
    grammar = load_grammar()
    options: list[Factor | Option] = [
        *grammar.factors,
        *(option for group in OPTION_GROUPS for option in grammar.group(group)),
    ]
    names = {name.lower() for option in options for name in (option.id, option.label, *option.aliases)}
    patterns = []
    for name in sorted(names - _PLAIN_WORDS, key=lambda name: (-len(name), name)):
        words = re.findall(r"[^\W_]+", name)
        patterns.append(r"[\W_]{1,3}".join(re.escape(word) for word in words))
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(patterns)})(?![^\W_])", re.IGNORECASE)
