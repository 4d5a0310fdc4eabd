"""The user played by a model (paper, section 3.3 and Appendix D): prompt, one call, the answer as a decision.

It decides nothing about validity: `simulator.validator` checks its decisions as it checks those of the rules.
"""

import json
from collections.abc import Sequence
from typing import Any

from pydantic import Field, ValidationError

from records.base import Record
from records.chat import ChatModel, ChatReply, ChatRequest, Effort
from records.decision import GOALS, Action, BlockReason, Decision, Observation, View
from records.limits import DEFAULT_LIMITS, Limits
from records.strategy import Strategy
from records.task import Task
from simulator.belief import Convictions
from simulator.lexicon import default_lexicon
from simulator.matcher import default_reader
from simulator.prompt import system_blocks, template_sha256, turn_blocks
from simulator.reading import MessageReader
from simulator.situation import Situation
from simulator.user import Answered
from simulator.validator import Rejection

DEFAULT_MODEL = "claude-opus-4-8"
"""Of the paper's user simulator (section 4.1), at low effort."""
EFFORT: Effort = "low"
MAX_TOKENS = 4_096
"""A decision with the longest message is under 1,000; the rest is room for a model that thinks first."""
NO_ANSWER_STOPS = ("refusal", "max_tokens", "model_context_window_exceeded")

_STRINGS = {"type": "array", "items": {"type": "string"}}
ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "asked_items": _STRINGS,
        "observations": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "goal": {"type": "string", "enum": list(GOALS)},
                    "status": {"type": "string", "enum": ["met", "missing", "uncertain", "na"]},
                    "evidence": _STRINGS,
                },
                "required": ["goal", "status", "evidence"],
                "additionalProperties": False,
            },
        },
        "action": {"type": "string", "enum": ["clarify", "follow_up", "challenge", "close", "block"]},
        "message": {"type": "string"},
        "stated_items": _STRINGS,
        "block_reason": {"anyOf": [{"type": "string", "enum": ["walked_away", "agent_gave_up"]}, {"type": "null"}]},
    },
    "required": ["asked_items", "observations", "action", "message", "stated_items", "block_reason"],
    "additionalProperties": False,
}


class _Answer(Record):
    """The object that comes back."""

    asked_items: tuple[str, ...] = ()
    observations: tuple[Observation, ...] = Field(max_length=32)
    action: Action
    message: str
    stated_items: tuple[str, ...] = ()
    block_reason: BlockReason | None = None


def user_name(model: str) -> str:
    """Return how this back end is named in every output."""
    return f"llm:{model}"


def prompt_sha256() -> str:
    """Return the hash of all that the user may be told apart from task, strategy and conversation."""
    return template_sha256(ANSWER_SCHEMA)


class LlmBackend:
    """Decides by asking a model; the same view gives the same prompt."""

    def __init__(
        self,
        task: Task,
        strategy: Strategy,
        chat: ChatModel,
        *,
        model: str = DEFAULT_MODEL,
        limits: Limits = DEFAULT_LIMITS,
        reader: MessageReader | None = None,
    ) -> None:
        """Args: chat: the sealed-side model process, or whatever speaks for it. reader: None for the shipped matcher."""
        self._task = task
        self._convictions = Convictions(strategy)
        self._chat = chat
        self._model = model
        self._limits = limits
        self._reader = reader or default_reader()

    @property
    def name(self) -> str:
        """Name of the back end with its model."""
        return user_name(self._model)

    def decide(self, view: View, *, rejected: Sequence[Rejection] = ()) -> Answered:
        """Return the model's decision. Raises ValueError: its answer is none. ModelError: there was no answer at all."""
        request = self.request(view, rejected=rejected)
        reply = self._chat.ask(request)
        answer = parse(reply)
        return Answered(
            decision=Decision(
                action=answer.action,
                observations=answer.observations,
                stated_items=answer.stated_items,
                message=answer.message.strip(),
                block_reason=answer.block_reason,
            ),
            model=reply.model or self._model,
            prompt_sha256=reply.prompt_sha256,
            asked_items=answer.asked_items,
        )

    def request(self, view: View, *, rejected: Sequence[Rejection] = ()) -> ChatRequest:
        """Return what the model is asked on a view."""
        situation = Situation(self._task, self._convictions, view, self._reader, default_lexicon())
        return ChatRequest(
            purpose="user",
            model=self._model,
            system=system_blocks(self._task, self._convictions),
            prompt=turn_blocks(situation, rejected, self._limits),
            answer_schema=ANSWER_SCHEMA,
            effort=EFFORT,
            max_tokens=MAX_TOKENS,
        )


def parse(reply: ChatReply) -> _Answer:
    """Return the answer. Raises ValueError with what is wrong with it, without repeating any of it."""
    if reply.stop in NO_ANSWER_STOPS:
        raise ValueError(f"the answer stopped with {reply.stop}")
    try:
        return _Answer.model_validate(json.loads(reply.text))
    except ValidationError as error:
        problems = [f"{_place(found['loc'])}: {found['type']}" for found in error.errors()[:5]]
        raise ValueError(f"not of the schema ({'; '.join(problems)})") from None
    except (ValueError, RecursionError):
        raise ValueError("not one JSON object") from None


def _place(location: tuple[int | str, ...]) -> str:
    """Return where a problem is; a name that the answer made up is not repeated."""
    known = {*_Answer.model_fields, *Observation.model_fields}
    return ".".join(str(part) if isinstance(part, int) or part in known else "?" for part in location) or "answer"
