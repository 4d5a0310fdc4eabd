"""The program that checks every user decision before it is sent (Appendix D; V1-V10 of evaluator.md 6.5)."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from records.decision import GOALS, Decision, View
from records.strategy import Item
from simulator.mentions import mentioned
from simulator.text import collapsed, normalise

MAX_CHARS = 1_200

FORBIDDEN = (
    "point-in-time",
    "point in time",
    "cutoff",
    "cut-off",
    "look-ahead",
    "lookahead",
    "rubric",
    "veto",
    "vetoes",
    "grader",
    "grading",
    "evaluator",
    "benchmark task",
    "ground truth",
    "let me lock a few things",
    "as an ai",
    "language model",
    "hidden strategy",
    "belief",
    "simulator",
    "t_cut",
    "max_turns",
)
"""Evaluation vocabulary and assistant-like phrases that no persona uses (V5 and V10)."""

INTERNAL = re.compile(
    r"\b(?:strategy|decisions|grade|feedback|compared|measured|judgements|spec|session|rerun|task)\.jsonl?\b|\bs_[a-z]\b|(?<![\w$.])[1-7]\.\d{1,2}[ab]?(?=\s+(?:is|was|veto|score|dimension|fails?)\b)"
    r"|\bdimension \d|\b(?:stock_selection|market_timing|portfolio_construction|risk_control|transaction_cost)\b|\b[a-z]+_[a-z0-9]+/[a-z_]+|\{\s*\"|\"\s*:\s*[\[{\"]"
)
REQUEST = re.compile(
    r"\b(?:please (?:send|add|rerun|re-run|run|provide|fix|change|include|share|give|make|show|update|redo|correct|check|attach|put|deliver)|(?:can|could|would|will) you|i (?:still )?(?:need|want)\b"
    r"|send me|add (?:a|the)|rerun|re-run|go ahead|one more|also (?:add|include|show|send)|make sure|don't forget|next time)"
)
TABLE = re.compile(r"^\s*\|.*\|.*\|", re.MULTILINE)


@dataclass(frozen=True)
class Rejection:
    """A rule that a decision broke."""

    rule: str
    reason: str


@dataclass(frozen=True)
class Context:
    """What a decision is checked against."""

    view: View
    items: tuple[Item, ...]
    stated: frozenset[str]
    raised: tuple[str, ...]


def reject(decision: Decision, context: Context) -> list[Rejection]:
    """Return every rule the decision breaks, in rule order; empty means that it may be sent."""
    checks = (_goals, _evidence, _close, _block, _vocabulary, _closing, _repeat, _shape, _disclosure)
    return [found for check in checks for found in check(decision, context)]


def _goals(decision: Decision, _context: Context) -> Iterable[Rejection]:
    seen = [observation.goal for observation in decision.observations]
    for goal in GOALS:
        if seen.count(goal) != 1:
            yield Rejection("V1", f"goal {goal} is observed {seen.count(goal)} times, expected once")


def _agent_sources(view: View) -> set[str]:
    return {m.id for m in view.messages if m.role == "agent"} | {file.id for file in view.files}


def _evidence(decision: Decision, context: Context) -> Iterable[Rejection]:
    sources = _agent_sources(context.view)
    for observation in decision.observations:
        if observation.status == "met" and not sources & set(observation.evidence):
            yield Rejection("V2", f"goal {observation.goal} is met without an agent message or file that exists")


def _close(decision: Decision, _context: Context) -> Iterable[Rejection]:
    if decision.action == "close":
        unmet = [observation.goal for observation in decision.observations if observation.status != "met"]
        if unmet:
            yield Rejection("V3", f"closing while {', '.join(unmet)} is not met")


def _block(decision: Decision, context: Context) -> Iterable[Rejection]:
    known = _agent_sources(context.view)
    cited = {source for observation in decision.observations for source in observation.evidence}
    if decision.action in ("challenge", "block") and not cited & known:
        yield Rejection("V4", f"{decision.action} cites no agent message or file that exists")
    if (decision.action == "block") != (decision.block_reason is not None):
        yield Rejection("V4", "a block needs a reason, and only a block has one")


def _vocabulary(decision: Decision, _context: Context) -> Iterable[Rejection]:
    text = normalise(decision.message)
    for term in forbidden_terms(text):
        yield Rejection(
            "V5" if term not in ("as an ai", "let me lock a few things") else "V10", f"forbidden term '{term}'"
        )
    found = INTERNAL.search(text)
    if found:
        yield Rejection("V5", f"internal vocabulary '{found.group()}'")


def forbidden_terms(text: str) -> list[str]:
    """Return the forbidden terms in a lower-case text."""
    return [term for term in FORBIDDEN if re.search(rf"(?<![a-z]){re.escape(term)}(?![a-z])", text)]


def _closing(decision: Decision, _context: Context) -> Iterable[Rejection]:
    if decision.action not in ("close", "block"):
        return
    text = normalise(decision.message)
    if "?" in text:
        yield Rejection("V6", "a closing message asks")
    found = REQUEST.search(text)
    if found:
        yield Rejection("V6", f"a closing message requests work: '{found.group()}'")


def _repeat(decision: Decision, context: Context) -> Iterable[Rejection]:
    earlier: Collection[str] = {collapsed(m.text) for m in context.view.messages if m.role == "user"}
    if collapsed(decision.message) in earlier:
        yield Rejection("V7", "the message repeats an earlier one")


def _shape(decision: Decision, _context: Context) -> Iterable[Rejection]:
    size = len(decision.message)
    if not decision.message.strip():
        yield Rejection("V8", "the message is empty")
    if size > MAX_CHARS:
        yield Rejection("V8", f"the message has {size} characters, at most {MAX_CHARS} are allowed")
    if TABLE.search(decision.message):
        yield Rejection("V8", "the message holds a table")


def _disclosure(decision: Decision, context: Context) -> Iterable[Rejection]:
    found = mentioned(decision.message, context.items)
    for item_id in sorted(found.items - context.stated - set(context.raised)):
        yield Rejection("V9", f"{item_id} was not asked about or proposed")
    for contradiction in found.wrong_numbers:
        yield Rejection("V9", f"the number differs from the belief: {contradiction}")
