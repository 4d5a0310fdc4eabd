"""Judgements, the grade computed from them, and the leak-free feedback."""

from typing import Literal

from pydantic import Field

from records.base import Record
from records.session import EndReason
from records.turns import TurnScores

Category = Literal["data", "strategy", "backtest", "assessment", "user_experience", "process_transparency", "cost"]
SCORED_CATEGORIES: tuple[Category, ...] = ("data", "strategy", "backtest", "assessment", "user_experience")
Status = Literal["scored", "not_applicable", "not_run", "unverified"]
VetoState = Literal["pass", "fail", "not_applicable", "not_run"]


class Judgement(Record):
    """One dimension's verdict, recorded once; scores are pure functions of these."""

    dimension: str
    source: str = Field(description="'program', 'measured', 'judge=rules', 'judge=llm:<model>', 'compare'")
    status: Status
    score: int | None = Field(default=None, ge=0, le=4, description="None unless status is scored")
    complete: bool = Field(default=True, description="False when a part stayed unverified: grading is incomplete")
    reason: str = Field(default="", description="which anchor was met and why")
    evidence: tuple[str, ...] = Field(default=(), description="files read, values recomputed, quotes")


class Measured(Record):
    """measured.json: everything that needs no strategy."""

    schema_version: Literal[1] = 1
    judgements: tuple[Judgement, ...]
    facts: dict[str, float | int | str | None] = Field(default_factory=dict)
    bounds: dict[str, int] = Field(
        default_factory=dict, description="dimension -> the highest score its program allows a judge"
    )
    turns: tuple[TurnScores, ...] = Field(default=(), description="program dimensions after each turn")


class Compared(Record):
    """compared.json: scores only. Quotes and verdicts stay under sealed/."""

    schema_version: Literal[1] = 1
    judgements: tuple[Judgement, ...] = Field(description="2.1-2.6, reason and evidence empty")
    items: int = Field(description="|H|")
    opening: int = Field(description="|O|")
    stated: int = Field(description="|S|, from user text alone")
    clarification_coverage: float | None = Field(description="|S minus O| / |H minus O|; None when H equals O")
    assumption_rate: float | None = Field(
        description="share of H minus S that the delivery does not match; None when H equals S"
    )
    turns: tuple[TurnScores, ...] = Field(default=(), description="2.1-2.6 after each turn")


class Grade(Record):
    """grade.json: equations (3)-(6) applied to the judgements."""

    schema_version: Literal[1] = 1
    evaluator_version: str
    judge: str = Field(description="'none', 'rules' or 'llm:<model>'")
    judge_prompt_sha256: str = Field(default="", description="of templates and anchors; empty where no model judged")
    user: str
    user_prompt_sha256: str = Field(default="", description="as in run.json; empty for a user that is told nothing")
    end_reason: EndReason
    quality: float = Field(description="Q over the dimensions that ran, 0-100")
    categories: dict[str, float | None] = Field(description="category -> mean x 25; None when nothing in it ran")
    vetoes: dict[str, VetoState]
    scores: dict[str, int | None]
    score: float | None = Field(
        description="Q x pass; 0 when a veto failed or the end reason says so; None when a veto did not run"
    )
    grading_complete: bool
    accepted: bool
    clarification_coverage: float | None = None
    assumption_rate: float | None = None
    engine: Literal["container", "process"] = Field(description="where measure and compare ran")
    confined_by: tuple[str, ...] = Field(
        default=(), description="what held measure and compare there: `container`, or what `runner.confined` names"
    )


class FeedbackEntry(Record):
    """One dimension as the agent may see it."""

    dimension: str
    name: str
    score: int | None
    status: Status
    source: str
    reason: str = ""
    evidence: tuple[str, ...] = ()


class Feedback(Record):
    """feedback.json: reasons and evidence of `measure` alone; data and strategy carry scores only, except 1.1."""

    schema_version: Literal[1] = 1
    quality: float
    score: float | None
    accepted: bool
    entries: tuple[FeedbackEntry, ...]
    turns: tuple[TurnScores, ...] = Field(default=(), description="program scores after each turn, numbers only")
