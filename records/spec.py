"""The delivered specification: what the delivery says or shows it implements, never the hidden belief."""

from datetime import date
from typing import Literal

from pydantic import Field

from records.base import Record

Origin = Literal["stated", "inferred", "absent"]


class DeliveredSpec(Record):
    """spec.json, written once by `evaluator.measure` and read by every later check. Option ids as in grammar.json."""

    schema_version: Literal[1] = 1
    factors: tuple[str, ...] = Field(default=(), description="in screening order; '?name' for one outside the grammar")
    combination: str | None = None
    market_timing: str | None = None
    weighting: str | None = None
    covariance: str | None = None
    risk_control: str | None = None
    execution: str | None = None
    transaction_cost: str | None = None
    values: dict[str, float] = Field(default_factory=dict, description="'option.param' -> value in the grammar's unit")
    n_holdings: int | None = None
    rebalance: Literal["weekly", "monthly", "quarterly"] | None = None
    capital: float | None = Field(default=None, description="start capital, account currency")
    start: date | None = None
    end: date | None = None
    origins: dict[str, Origin] = Field(default_factory=dict, description="field -> how it was learnt")
    evidence: tuple[str, ...] = ()
