"""The one instruction text that stands in front of the first message, the same for every agent."""

import hashlib
from dataclasses import dataclass
from datetime import date
from importlib.resources import files

from sandbox.protocol import GATEWAY_PORT

DATA_URL = f"http://127.0.0.1:{GATEWAY_PORT}/mcp"
"""Where the data service answers inside the box."""
_WEB = {
    True: "The open web is reachable through the configured HTTP proxy.",
    False: "There is no access to the open web.",
}


@dataclass(frozen=True)
class Instruction:
    """What the template is filled with; `turn_limit_s` in seconds."""

    today: date
    turn_limit_s: float
    web: bool

    def render(self) -> str:
        """Return the text that goes in front of the client's first message."""
        return template().format(
            today=f"{self.today:%A} {self.today.isoformat()}",
            data_url=DATA_URL,
            web_sentence=_WEB[self.web],
            minutes=_minutes(self.turn_limit_s),
        )


def template() -> str:
    """Return the unfilled text."""
    return (files("adapters") / "instruction.txt").read_text(encoding="utf-8")


def template_sha256() -> str:
    """Return the SHA-256 of the unfilled text, hexadecimal; it stands in run.json."""
    return hashlib.sha256(template().encode()).hexdigest()


def _minutes(seconds: float) -> str:
    minutes = seconds / 60
    if seconds >= 60 and minutes == int(minutes):
        return f"{int(minutes)} minute{'s' if minutes > 1 else ''}"
    return f"{seconds:g} seconds"
