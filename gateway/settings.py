"""What the launcher tells the gateway, and what the gateway answers; all frozen, all JSON, no key among them."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from records.base import Record
from records.limits import DEFAULT_LIMITS, Limits

Shape = Literal["flat", "grouped"]
Channel = Literal["fmp-mcp", "web"]
SESSION_PATTERN = r"^[A-Za-z0-9._-]{1,128}$"

# Kept from agents: the project's own package, repository and leaderboard, whatever host serves them.
OWN_NAMES: tuple[str, ...] = ("fincosmos",)
WEB_PORTS: tuple[int, ...] = (80, 443, 8000, 8080, 8443)


class WebPolicy(Record):
    """Which hosts a session's web requests may reach."""

    mode: Literal["public", "offline"] = Field(default="public", description="offline refuses every host")
    denied: tuple[str, ...] = Field(
        default=OWN_NAMES, description="refused when part of a host name, or of a URL that is visible"
    )
    ports: tuple[int, ...] = Field(default=WEB_PORTS, description="ports that may be connected to")


class GatewayConfig(Record):
    """One gateway process. The FMP key is not here: it comes in the environment as FMP_API_KEY."""

    fmp_base_url: str = Field(description="ends in /stable/; the live API or the stand-in")
    fmp_shape: Shape = Field(default="flat", description="245 tools, or 27 with an `endpoint` argument")
    socket_gid: int | None = Field(
        default=None, description="group of the session sockets, mode 0660; None: mode 0666, for a gateway without root"
    )
    limits: Limits = DEFAULT_LIMITS


class SessionSpec(Record):
    """One session to serve. Paths are absolute."""

    session: str = Field(pattern=SESSION_PATTERN)
    socket_dir: str = Field(description="folder for gw.sock and web.sock, made when absent, mode 0711")
    calls_path: str = Field(description="calls.jsonl, appended to")
    bodies_dir: str = Field(description="bodies by SHA-256, made when absent")
    channels: tuple[Channel, ...] = Field(default=("fmp-mcp", "web"), description="what may be used at all")
    web: WebPolicy = WebPolicy()


class SessionSockets(Record):
    """Where a session's two sockets lie on the host."""

    session: str
    gw: str
    web: str


class Witness(Record):
    """What the gateway saw of one session's FMP upstream: the ground for a void, from outside the box."""

    session: str
    calls: int = Field(default=0, description="calls that were sent upstream")
    failed_calls: int = Field(default=0, description="calls that ended in 401, 429, 5xx or no answer after all tries")
    failing_in_a_row: int = Field(default=0, description="failed calls since the last one that was answered")
    failing_since: datetime | None = Field(default=None, description="start of that row; None when it is empty")
    last_failure: str = Field(default="", description="'fmp key refused', 'HTTP 503', or the kind of transport failure")
    is_lasting: bool = Field(
        default=False,
        description="the row is as long as Limits.upstream_lasting_calls, or the key was refused; and the gateway's own "
        "probe failed too",
    )


class Probe(Record):
    """One request of the gateway's own to the FMP upstream, made before a run starts."""

    ok: bool
    status: int | None = Field(default=None, description="None when nothing answered")
    reason: str = Field(default="", description="'fmp key refused', 'HTTP 503', or the kind of transport failure")


class Health(Record):
    """The gateway's own state."""

    pid: int
    fmp_shape: Shape
    tools: int
    sessions: tuple[str, ...]
    rss_bytes: int
