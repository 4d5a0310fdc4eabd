"""What process dimensions (6.1-6.5) share: the text a user can see, and the score of a share."""

import re
from collections.abc import Iterable

from evaluator.measure.case import Case
from evaluator.measure.verdict import not_applicable, scored
from records.grade import Judgement

_LEVELS = ((4, 0.95), (3, 0.75), (2, 0.50), (1, 0.25))
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_TABLES = ("sources", "quality")
_CHARS = 400_000
_ROWS = 2_000


def agent_texts(case: Case) -> list[tuple[int, str]]:
    """Return (turn, message) of the agent, oldest first."""
    return [(message.turn, message.text) for message in case.delivery.messages if message.role != "user"]


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text."""
    return [part.strip() for part in _SENTENCE.split(text[:_CHARS]) if part.strip()]


def visible(case: Case) -> list[str]:
    """Return every passage a user reads: sentences of messages and documents, rows of source and quality tables."""
    found = [sentence for _, text in agent_texts(case) for sentence in sentences(text)]
    for document in case.delivery.documents:
        if document.kind != "code":
            found += sentences(document.text)
    for table in case.delivery.tables:
        if table.role in _TABLES:
            cells = table.frame.head(_ROWS).astype(str)
            found += [" | ".join(row) for row in cells.itertuples(index=False, name=None)]
    return found


def share(dimension: str, hits: int, total: int, what: tuple[str, str], evidence: Iterable[str] = ()) -> Judgement:
    """Return the verdict of `hits` of `total`; with nothing to disclose the dimension does not apply.

    Args: what: the things counted, and what was done with a hit.
    """
    if total == 0:
        return not_applicable(dimension, f"no {what[0]}")
    level = next((level for level, limit in _LEVELS if hits / total >= limit), 0)
    return scored(dimension, level, f"{hits} of {total} {what[0]} {what[1]} ({hits / total:.0%})", evidence)
