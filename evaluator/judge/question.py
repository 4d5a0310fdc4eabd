"""questions.json: what a model judge is asked about one delivery, complete, so that asking needs nothing else."""

from typing import Literal

from pydantic import Field

from records.base import Record


class Question(Record):
    """One question; it becomes one call."""

    dimension: str
    text: str = Field(description="anchors, what to do, and the program's facts between tags")


class Questions(Record):
    """All questions on one delivery. Their prompts share a prefix, `system` and `package`, byte for byte."""

    schema_version: Literal[1] = 1
    prompt_sha256: str = Field(description="of every template and anchor, `prompts.prompt_sha256()`")
    system: str
    package: str = Field(description="the delivery between tags")
    questions: tuple[Question, ...]
    documents: dict[str, str] = Field(description="id -> text that quotes must stand in, flattened as quotes are")
