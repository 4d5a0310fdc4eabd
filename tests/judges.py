"""Scripted models in the place of the sealed-side one, and the answers that a model judge may give."""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from records.chat import ChatReply, ChatRequest
from records.errors import ModelError

Script = Callable[[ChatRequest], ChatReply]


@dataclass
class ScriptedModel:
    """A `ChatModel` whose answers a function makes; remembers what it was asked."""

    script: Script
    asked: list[ChatRequest] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, request: ChatRequest) -> ChatReply:
        with self._lock:
            self.asked.append(request)
        return self.script(request)


def reply(request: ChatRequest, answer: object, *, stop: str = "end_turn") -> ChatReply:
    """Return an answer: text as it stands, anything else as JSON."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    digest = hashlib.sha256(request.to_json().encode()).hexdigest()
    return ChatReply(text=text, model=request.model, stop=stop, prompt_sha256=digest)


def always(answer: object, *, stop: str = "end_turn") -> Script:
    return lambda request: reply(request, answer, stop=stop)


def in_turn(*answers: object) -> Script:
    """Answer with each in turn, and with the last one from then on."""
    left = list(answers)

    def script(request: ChatRequest) -> ChatReply:
        return reply(request, left.pop(0) if len(left) > 1 else left[0])

    return script


def silent(request: ChatRequest) -> ChatReply:
    raise ModelError("model service: expected an answer, found none in 6 tries; try later")


def scored(score: int, *quotes: tuple[str, str], hits: Sequence[dict[str, str]] = (), reason: str = "so it is") -> Any:
    return {
        "score": score,
        "quotes": [{"doc": doc, "text": text} for doc, text in quotes],
        "reason": reason,
        "rule_hits": list(hits),
    }


def hit(rule: str, doc: str = "", text: str = "") -> dict[str, str]:
    return {"rule": rule, "doc": doc, "text": text, "note": ""}


def items(*entries: tuple[str, str, str, str]) -> Any:
    """Return an answer on items from (item, verdict, doc, quote); no quote where it is empty."""
    return {
        "items": [
            {
                "item": item,
                "verdict": verdict,
                "quotes": [{"doc": doc, "text": quote}] if quote else [],
                "reason": "so it is",
            }
            for item, verdict, doc, quote in entries
        ]
    }


def question_of(request: ChatRequest) -> str:
    """Return the last piece of a prompt: the question itself."""
    return request.prompt[-1].text


def ids_in(request: ChatRequest) -> list[str]:
    """Return the item ids that a question on the strategy lists."""
    return re.findall(r"^- id (\S+?):", question_of(request), re.MULTILINE)


def fair_judge(request: ChatRequest, doc: str, quote: str) -> Any:
    """Return a plain good answer to any question: 3 with this quote, every claim present, every statement made."""
    if request.purpose == "judge":
        return scored(3, (doc, quote))
    if "user N" in question_of(request).split("Convictions")[0].split("Quote only")[-1]:
        return items(*((item, "not_stated", "", "") for item in ids_in(request)))
    return items(*((item, "present", doc, quote) for item in ids_in(request)))
