"""The prompt of user `llm` (paper, Appendix D) from the texts under data/llm/: persona and rules, strategy, this turn."""

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from records.chat import Block
from records.limits import Limits
from records.strategy import Item
from records.task import Persona, Task
from simulator.answer import day_words, scope_words
from simulator.belief import Convictions
from simulator.lexicon import TOPICS, Topic
from simulator.situation import Situation
from simulator.text import normalise
from simulator.transcript import files_text, messages_text, summary_text, tag_for
from simulator.validator import FORBIDDEN, Rejection
from simulator.voice import Voice

TEXTS = ("system.txt", "strategy.txt", "turn.txt", "rejected.txt", "personas.json")
MAX_NAMES = 3
"""Names of a conviction that the prompt lists; what a text states is read off by these (`simulator.mentions`)."""
TOPIC_WORDS: dict[Topic, str] = {
    "combination": "putting several criteria together",
    "market_timing": "when to be in the market",
    "covariance": "estimating covariances",
    "risk_control": "risk control",
    "execution": "when orders are filled",
    "transaction_cost": "transaction cost",
}


@cache
def _text(name: str) -> str:
    return (files("simulator") / "data" / "llm" / name).read_text(encoding="utf-8")


@cache
def _personas() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_text("personas.json"))
    return found


def template_sha256(schema: dict[str, Any]) -> str:
    """Return the hash of all that the user may be told apart from task, strategy and conversation."""
    digest = hashlib.sha256()
    for part in (*(_text(name) for name in TEXTS), json.dumps(FORBIDDEN), json.dumps(schema, sort_keys=True)):
        digest.update(hashlib.sha256(part.encode()).digest())
    return digest.hexdigest()


def system_blocks(task: Task, convictions: Convictions) -> tuple[Block, ...]:
    """Return who the user is and what they believe: the same for every turn of a session, so cached."""
    return (
        Block(text=persona_text(task.persona), cached=True),
        Block(text=strategy_text(task, convictions), cached=True),
    )


def persona_text(persona: Persona) -> str:
    """Return background, voice and rules of a persona."""
    told = _personas()[persona]
    return Template(_text("system.txt")).substitute(
        background=told["background"],
        style=told["style"],
        focus=", ".join(told["focus"]),
        examples="\n".join(f'- "{example}"' for example in told["examples"]),
        no_view=told["no_view"],
        forbidden=", ".join(f'"{term}"' for term in FORBIDDEN),
    )


def strategy_text(task: Task, convictions: Convictions) -> str:
    """Return the convictions with exact numbers; never the seed, the salt or the canary."""
    voice = Voice.of(task)
    lines = [
        f"- [{item.id}] {item.text} (names: {', '.join(item.aliases[:MAX_NAMES])})"
        for item in convictions.items.values()
    ]
    silent = [topic for topic in TOPICS if topic in TOPIC_WORDS and not convictions.of_topic(topic)]
    limit = task.scope.max_holdings
    return Template(_text("strategy.txt")).substitute(
        convictions="\n".join(lines),
        no_rule="\n".join(f'- {TOPIC_WORDS[topic]}: "{voice.declines(topic)}"' for topic in silent) or "- nothing else",
        limit=f", but never more than {limit} names at a time" if limit is not None else "",
        scope=scope_words(task.scope),
        start=day_words(task.conditions.start_hint),
        t_cut=day_words(task.conditions.t_cut),
    )


def _names(item: Item) -> list[str]:
    """Return how to call a conviction: aliases that its own wording has, then long ones, since short ones are vague."""
    return sorted(item.aliases, key=lambda alias: (alias not in normalise(item.text), -len(alias)))[:MAX_NAMES]


def turn_blocks(situation: Situation, rejected: Sequence[Rejection], limits: Limits) -> tuple[Block, ...]:
    """Return the conversation and what was wrong with earlier tries."""
    view = situation.view
    secret = strategy_text(situation.task, situation.convictions)
    tag = tag_for(view, secret)
    told = [item_id for item_id in situation.convictions.ids if item_id in situation.stated]
    sources = [message.id for message in situation.agent_messages] + [file.id for file in view.files]
    turn = Template(_text("turn.txt")).substitute(
        turn=situation.turn,
        tag=tag,
        summary=summary_text(view, tag, limits),
        messages=messages_text(view, tag, limits),
        files=files_text(view, tag),
        stated=", ".join(told) or "none",
        sources=", ".join(sources) or "none",
    )
    if not rejected:
        return (Block(text=turn),)
    return Block(text=turn), Block(text=_rejected_text(rejected))


def _rejected_text(rejected: Sequence[Rejection]) -> str:
    reasons = dict.fromkeys(f"- {rejection.reason}" for rejection in rejected)
    return Template(_text("rejected.txt")).substitute(reasons="\n".join(reasons))
