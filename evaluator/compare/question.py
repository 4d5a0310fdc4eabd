"""What a model judge is asked about the strategy's items, and what it said. Sealed: both hold the belief."""

from typing import Literal

from pydantic import Field

from records.base import Record
from records.judging import JudgeTry, Quote

Asks = Literal["claims", "statements"]
ItemVerdictWord = Literal["present", "missing", "contradicted", "stated", "not_stated"]


class ItemQuestion(Record):
    """One question; it becomes one call."""

    id: str = Field(description="dimension of a component (2.1-2.6), or 'S' for what the user stated")
    asks: Asks
    items: tuple[str, ...]
    text: str


class ItemQuestions(Record):
    """compare-questions.json: all questions on one delivery and strategy."""

    schema_version: Literal[1] = 1
    system: str
    package: str = Field(description="the delivery between tags")
    questions: tuple[ItemQuestion, ...]
    documents: dict[str, str] = Field(description="id -> flattened text in which a claim's quote must stand")
    user: dict[str, str] = Field(description="id -> flattened text of the user's messages, for quotes of statements")


class ItemAnswer(Record):
    """What was said about one item, with the quotes that were found."""

    item: str
    verdict: ItemVerdictWord
    quotes: tuple[Quote, ...] = ()
    dropped: tuple[Quote, ...] = Field(default=(), description="quotes that were not found")
    reason: str = ""


class ItemFinding(Record):
    """One question's outcome, recorded once."""

    question: str
    judge: str = Field(description="'llm:<model>'")
    returned: bool
    items: tuple[str, ...] = Field(description="the items asked about")
    answers: tuple[ItemAnswer, ...] = Field(default=(), description="one per item; empty when none was valid")
    tries: tuple[JudgeTry, ...]


class ItemFindings(Record):
    """compare-findings.json: every outcome of one comparison, in the order asked."""

    schema_version: Literal[1] = 1
    findings: tuple[ItemFinding, ...]
