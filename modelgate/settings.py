"""What the launcher tells the model process and what it answers; all frozen, all JSON, no key among them."""

from typing import Literal

from pydantic import Field

from records.base import Record
from records.chat import ChatReply, ChatRequest
from records.limits import DEFAULT_LIMITS, Limits

KEY_VARIABLES = ("FINCOSMOS_MODEL_KEY", "ANTHROPIC_API_KEY")
"""Where the key is looked for, the first one that is set wins."""
URL_VARIABLE = "ANTHROPIC_BASE_URL"
PROCESS_KEY_VARIABLE = "FINCOSMOS_MODEL_KEY"
"""The one name under which the process itself is given the key."""
PUBLIC_URL = "https://api.anthropic.com"
MAX_LINE_BYTES = 64 * 1024 * 1024
"""Of one call or answer; a judge's package is well under 2 MiB."""


class ModelConfig(Record):
    """One model process. The key is not here: it comes in the environment."""

    base_url: str = PUBLIC_URL
    key_variable: str = Field(default=KEY_VARIABLES[0], description="where the operator put the key, for sentences")
    limits: Limits = DEFAULT_LIMITS


class Call(Record):
    """One line to the process; it answers with one `Answer` and closes."""

    kind: Literal["health", "check", "ask"]
    models: tuple[str, ...] = Field(default=(), description="for check: ids that will be asked for")
    request: ChatRequest | None = Field(default=None, description="for ask")
    log_to: str | None = Field(default=None, description="for ask: JSON lines file under sealed/; None: no log")


class Answer(Record):
    """One line from the process."""

    reply: ChatReply | None = None
    error: str | None = Field(default=None, description="one sentence without key and prompt; None when it worked")
    is_prerequisite: bool = Field(default=False, description="the error is for the operator to mend before a launch")
