"""What goes to the sealed-side model and what comes back; user and judge `llm` speak through this seam alone."""

from typing import Any, Literal, Protocol

from pydantic import Field

from records.base import Record

Purpose = Literal["judge", "compare", "user"]
Effort = Literal["low", "medium", "high"]


class Block(Record):
    """A piece of prompt text; a `cached` one ends a prefix that later requests share."""

    text: str
    cached: bool = False


class ChatRequest(Record):
    """One call: a prompt and the JSON schema of the answer."""

    purpose: Purpose
    model: str
    system: tuple[Block, ...]
    prompt: tuple[Block, ...] = Field(description="the one user message, in pieces")
    answer_schema: dict[str, Any] = Field(description="JSON schema of the object that must come back")
    effort: Effort | None = Field(default=None, description="None: the model's default")
    max_tokens: int = 4_096


class ChatUsage(Record):
    """Tokens of one call as the service counted them."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0


class ChatReply(Record):
    """What the service answered; a refusal or a cut answer is a reply too."""

    text: str = Field(description="the JSON text of the answer, unparsed and unchecked; empty when there was none")
    model: str = Field(description="id the service reported")
    stop: str = Field(description="the service's stop reason: end_turn, tool_use, max_tokens, refusal, ...")
    usage: ChatUsage = ChatUsage()
    prompt_sha256: str = Field(description="of system, prompt, schema and model, in canonical JSON")


class ChatModel(Protocol):
    """A model behind the sealed-side process."""

    def ask(self, request: ChatRequest) -> ChatReply:
        """Return the answer. Raises: ModelError: the service did not answer within its retries; ours, never the agent's."""
        ...
