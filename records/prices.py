"""API prices of models at a date (records/data/prices.json), for the cost of agents that report their tokens."""

import datetime as dt
from functools import cache
from importlib.resources import files

from pydantic import Field

from records.base import Record
from records.usage import Usage

_PER = 1e6


class Price(Record):
    """USD per million tokens of one model."""

    input: float = Field(ge=0)
    cache_read: float = Field(ge=0)
    cache_write: float = Field(ge=0)
    output: float = Field(ge=0)
    source: str = Field(description="where the figures stand")

    def cost(self, used: Usage) -> float:
        """Return USD of the tokens."""
        total = used.input * self.input + used.cache_read * self.cache_read
        return (total + used.cache_write * self.cache_write + used.output * self.output) / _PER


class Prices(Record):
    """The price table. A model without figures is not in it: no price is guessed."""

    date: dt.date | None = Field(description="day on which the figures were read; None while there are none")
    models: dict[str, Price]


@cache
def load_prices() -> Prices:
    """Return the table that ships with this version."""
    return Prices.model_validate_json((files("records") / "data" / "prices.json").read_text(encoding="utf-8"))
