"""What a judge of meaning says about one dimension, before any score is computed from it."""

from typing import Literal

from pydantic import Field

from records.base import Record


class Quote(Record):
    """A passage on which a finding rests; it counts only when it was found in the delivery."""

    doc: str = Field(description="document, table path or 'turn N' of the conversation")
    text: str


class JudgeTry(Record):
    """One call of a model judge, kept whole for audit."""

    prompt_sha256: str
    model: str
    raw: str = Field(description="the answer as it came")
    rejected: str = Field(default="", description="why it was not taken; empty for the one that was")


class Finding(Record):
    """One dimension's verdict of meaning, by rules or by a model, recorded once; scores are computed from these."""

    dimension: str
    judge: str = Field(description="'rules' or 'llm:<model>'")
    returned: bool = Field(default=True, description="False: the judge gave no valid answer; grading stays incomplete")
    score: int | None = Field(default=None, ge=0, le=4, description="None where the score is a count of `hits`")
    hits: tuple[str, ...] = Field(
        default=(), description="2.10: boundary cases ruled on; 3.4: points met; 2.7: rules with a second reading"
    )
    quotes: tuple[Quote, ...] = ()
    dropped: tuple[Quote, ...] = Field(default=(), description="quotes of the answer taken that were not found")
    reason: str = ""
    tries: tuple[JudgeTry, ...] = Field(default=(), description="empty for rules")


class Findings(Record):
    """findings.json: every finding of one grading, in the rubric's order."""

    schema_version: Literal[1] = 1
    findings: tuple[Finding, ...]
