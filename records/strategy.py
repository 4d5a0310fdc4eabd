"""The sealed half of a task. Only generator, simulator and `evaluator.compare` may import this module."""

from typing import Literal

from pydantic import Field

from records.base import Record

Component = Literal[
    "stock_selection",
    "market_timing",
    "portfolio_construction",
    "risk_control",
    "execution",
    "transaction_cost",
]


class Item(Record):
    """One voiced conviction of the investor: an option, or the value of one of its parameters."""

    id: str = Field(description="component/option[/param]")
    component: Component
    option: str
    param: str | None = None
    text: str = Field(description="plain-language conviction with its exact number")
    value: float | None = Field(default=None, description="None for an option item")
    unit: str | None = None
    ask_cues: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


class Options(Record):
    """The drawn option of each part of the grammar; ids as in grammar.json."""

    factors: tuple[str, ...] = Field(min_length=1, max_length=3, description="in the order drawn")
    combination: str | None = Field(default=None, description="None with a single factor")
    market_timing: str
    weighting: str
    covariance: str
    risk_control: str
    execution: str
    transaction_cost: str


class Belief(Record):
    """b of the paper: options, parameter values and the items H that the user voices."""

    options: Options
    values: dict[str, float] = Field(description="'option.param' -> value, voiced or not")
    items: tuple[Item, ...] = Field(description="H, in component order")


class Strategy(Record):
    """The sealed record of one task."""

    schema_version: Literal[1] = 1
    task_id: str
    seed: int
    salt: str
    grammar_sha256: str
    belief: Belief
    opening_items: tuple[str, ...] = Field(description="ids of O, a subset of H")
    difficulty: int
    nonce: str = Field(description="canary: never voiced; its appearance anywhere else is a leak")
