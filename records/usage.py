"""Tokens that a model used in one agent turn, as the agent program itself reports them."""

from pydantic import Field

from records.base import Record


class Usage(Record):
    """Tokens of one model; the four counts do not overlap."""

    model: str
    input: int = Field(default=0, ge=0, description="read anew, neither from nor into a cache")
    cache_read: int = Field(default=0, ge=0)
    cache_write: int = Field(default=0, ge=0)
    output: int = Field(default=0, ge=0, description="reasoning included")
