"""The public half of a task: what the agent and an auditor may see. Nothing here tells seed, salt, items or difficulty."""

from datetime import date
from typing import Literal

from pydantic import Field

from records.base import Record

Persona = Literal["retail_investor", "generalist_analyst", "biotech_specialist"]
ScopeKind = Literal["basket", "sector", "market"]


class Scope(Record):
    """Which stocks the investor means."""

    kind: ScopeKind
    symbols: tuple[str, ...] = Field(default=(), description="named stocks of a basket; empty for sector and market")
    sector: str | None = Field(default=None, description="GICS sector name when kind is sector")
    max_holdings: int | None = Field(default=None, description="at most this many names at a time; None means no limit")


class Conditions(Record):
    """The test conditions c of the paper; `--conditions` takes YAML with exactly these keys."""

    t_cut: date = Field(description="last date whose data may be used")
    start_hint: date = Field(description="first session of usable data")
    channels: tuple[str, ...] = Field(description="ways to data: 'fmp-mcp', 'web'")
    max_turns: int = Field(default=6, ge=1)
    turn_limit_s: float = Field(default=300, gt=0, description="seconds per agent turn")


class Task(Record):
    """One task as the agent's side sees it."""

    schema_version: Literal[1] = 1
    id: str = Field(description="words from an HMAC of the seed; says nothing about it")
    persona: Persona
    scope: Scope
    opening: str = Field(description="u_0, the investor's first message")
    conditions: Conditions
