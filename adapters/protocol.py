"""The generic interface of the paper's section 3.1: start, send, finalize."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from records.usage import Usage
from sandbox.protocol import Sandbox


@dataclass(frozen=True)
class AgentReply:
    """m_t as the agent program gave it, and how the turn ended."""

    text: str
    cut: bool = False
    exit_code: int | None = None
    failure: str | None = None
    """Why this turn is the agent's own failure (end reason agent_error); None when it is not."""
    notes: tuple[str, ...] = ()
    usage: tuple[Usage, ...] | None = None
    """Tokens of this turn, one entry per model; None when the agent reports none."""


class Adapter(Protocol):
    """Drives one agent through one session. Raises LaunchError before the first prompt was accepted."""

    name: str

    def start(self, sandbox: Sandbox, *, session: str) -> None:
        """Get ready inside the frozen box; sends no prompt."""

    def send(self, message: str, *, turn: int, limit_s: float, log_dir: Path) -> AgentReply:
        """Hand over one user message and wait for the reply; the first message carries the instruction text in front.

        Streams go to log_dir/stdout and log_dir/stderr, parsed events to log_dir/agent.jsonl.
        """

    def finalize(self) -> None:
        """Let go of the agent; called once, before capture."""
