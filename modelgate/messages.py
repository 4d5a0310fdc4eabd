"""Between records.chat and the Messages API: structured output, cache breakpoints, effort, the hash of a prompt."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from anthropic import transform_schema
from anthropic.types import CacheControlEphemeralParam, Message, OutputConfigParam, TextBlockParam

from records.chat import Block, ChatReply, ChatRequest, ChatUsage

MAX_BREAKPOINTS = 4
"""Cache breakpoints that the service takes in one request (platform.claude.com, prompt caching)."""


def prompt_sha256(request: ChatRequest) -> str:
    """Return the SHA-256 of system, prompt, schema and model in canonical JSON: sorted keys, no spaces, UTF-8."""
    parts = {
        "model": request.model,
        "system": [block.text for block in request.system],
        "prompt": [block.text for block in request.prompt],
        "schema": request.answer_schema,
    }
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def text_blocks(request: ChatRequest) -> tuple[list[TextBlockParam], list[TextBlockParam]]:
    """Return system and prompt as the service takes them.

    Blocks without text are left out, because it refuses them. Of more cached blocks than it allows the last ones stay
    breakpoints, which cover the longest prefixes.
    """
    system, prompt = _with_text(request.system), _with_text(request.prompt)
    cached = [number for number, block in enumerate([*system, *prompt]) if block.cached][-MAX_BREAKPOINTS:]
    made = [_param(block, cached=number in cached) for number, block in enumerate([*system, *prompt])]
    return made[: len(system)], made[len(system) :]


def output_config(request: ChatRequest) -> OutputConfigParam:
    """Return the form of the answer and the effort. Raises ValueError: the schema cannot be said to the service."""
    config = OutputConfigParam(
        format={"type": "json_schema", "schema": dict(transform_schema(request.answer_schema))},
    )
    if request.effort is not None:
        config["effort"] = request.effort
    return config


def to_reply(message: Message, sha256: str) -> ChatReply:
    """Return the service's answer; whatever it is, it is a reply. The SDK does not validate, so nothing is relied on."""
    text = "".join(_answer_text(block) for block in message.content or ())
    usage = message.usage
    return ChatReply(
        # A lone surrogate in the answer's JSON could not be written to any file of ours.
        text=text.encode("utf-8", "replace").decode("utf-8"),
        model=str(message.model or ""),
        stop=str(message.stop_reason or ""),
        usage=ChatUsage(
            input=_count(usage, "input_tokens"),
            cache_read=_count(usage, "cache_read_input_tokens"),
            cache_write=_count(usage, "cache_creation_input_tokens"),
            output=_count(usage, "output_tokens"),
        ),
        prompt_sha256=sha256,
    )


def _with_text(blocks: Iterable[Block]) -> list[Block]:
    return [block for block in blocks if block.text.strip()]


def _param(block: Block, *, cached: bool) -> TextBlockParam:
    made = TextBlockParam(type="text", text=block.text)
    if cached:
        made["cache_control"] = CacheControlEphemeralParam(type="ephemeral")
    return made


def _answer_text(block: Any) -> str:
    kind = getattr(block, "type", "")
    if kind == "text":
        return str(getattr(block, "text", "") or "")
    if kind == "tool_use":
        return json.dumps(getattr(block, "input", None))
    return ""


def _count(usage: Any, name: str) -> int:
    found = getattr(usage, name, None)
    return found if isinstance(found, int) else 0
