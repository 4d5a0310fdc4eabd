"""One line of calls.jsonl: a request that left the sandbox through the gateway."""

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from records.base import Record


class CallRecord(Record):
    """A data or web request, without any key."""

    at: datetime
    session: str
    route: Literal["fmp", "web", "model"]
    tool: str = Field(description="MCP tool name, or the HTTP method for the web route")
    target: str = Field(description="API path, URL, or host:port for CONNECT")
    params: dict[str, str] = Field(default_factory=dict, description="every query parameter as sent")
    status: int | None = Field(default=None, description="HTTP status; None when nothing was sent")
    rows: int | None = Field(default=None, description="rows of a JSON list body")
    bytes: int = 0
    body_sha256: str | None = None
    first_date: date | None = Field(default=None, description="earliest row date in the body")
    last_date: date | None = Field(default=None, description="latest row date in the body")
    seconds: float = 0.0
    refused: str | None = Field(default=None, description="why the gateway refused it; None when it went out")
