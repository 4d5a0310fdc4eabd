"""How a model is asked and when its answer is taken (evaluator.md 2.11): one call, three retries, then "did not return".

Knows no network and no file: the model is passed in, what it said is returned whole.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import Field, StrictInt, ValidationError

from evaluator.judge.fence import plain_id
from evaluator.judge.flattery import addresses_judge
from evaluator.judge.prompts import AGAIN, ANSWER_SCHEMA, COUNTED, RULES_OF_A_STRATEGY
from evaluator.judge.question import Question, Questions
from evaluator.judge.settle import SECOND_READINGS
from evaluator.package.quoting import stands_in_flat
from records.base import Record
from records.chat import Block, ChatModel, ChatReply, ChatRequest, Effort, Purpose
from records.judging import Finding, JudgeTry, Quote

TRIES = 4
"""One call and three retries."""
MAX_TOKENS = 8_192
"""Of one answer, thinking of the model included."""
RAW_CHARS = 200_000
NEEDS_QUOTE = 2
"""The lowest score that must rest on a quote."""
_ENDED = frozenset({"end_turn", "tool_use", "stop_sequence"})

_T = TypeVar("_T")


class Rejected(Exception):  # noqa: N818 it is a verdict on an answer, no error of ours
    """An answer that is not taken; its text says why and is told to the model."""


class Hit(Record):
    """One rule that the judge says is met, or at 2.7 has a second reading."""

    rule: str
    doc: str
    text: str
    note: str = ""


class Answer(Record):
    """What must come back for a dimension."""

    score: StrictInt = Field(ge=0, le=4)
    quotes: tuple[Quote, ...]
    reason: str = Field(min_length=1)
    rule_hits: tuple[Hit, ...]


@dataclass(frozen=True)
class Prefix:
    """What all prompts of one sitting begin with."""

    purpose: Purpose
    model: str
    system: str
    package: str
    effort: Effort | None = None


def put(
    model: ChatModel, prefix: Prefix, question: str, schema: dict[str, Any], read: Callable[[str], _T]
) -> tuple[_T | None, tuple[JudgeTry, ...]]:
    """Ask until an answer is taken, at most TRIES times; return it, or None, and every try.

    Args: read: turns the answer's text into its value. Raises Rejected.
    Raises: ModelError: the service did not answer.
    """
    tries: list[JudgeTry] = []
    text = question
    for _ in range(TRIES):
        reply = model.ask(
            ChatRequest(
                purpose=prefix.purpose,
                model=prefix.model,
                system=(Block(text=prefix.system, cached=True),),
                prompt=(Block(text=prefix.package, cached=True), Block(text=text)),
                answer_schema=schema,
                effort=prefix.effort,
                max_tokens=MAX_TOKENS,
            )
        )
        try:
            value = read(_whole(reply))
        except Rejected as why:
            tries.append(_try(reply, str(why)))
            text = f"{question}\n\n{AGAIN.format(why=why)}"
            continue
        return value, (*tries, _try(reply, ""))
    return None, tuple(tries)


def ask(model: ChatModel, questions: Questions, question: Question, *, model_id: str) -> Finding:
    """Return the finding on one dimension. Raises: ModelError: the service did not answer."""
    prefix = Prefix("judge", model_id, questions.system, questions.package)

    def read(text: str) -> Finding:
        answer = parsed(Answer, text)
        return finding_of(question.dimension, answer, questions.documents, judge=judge_name(model_id))

    found, tries = put(model, prefix, question.text, ANSWER_SCHEMA, read)
    if found is not None:
        return found.model_copy(update={"tries": tries})
    return Finding(
        dimension=question.dimension,
        judge=judge_name(model_id),
        returned=False,
        reason=f"no valid answer in {TRIES} tries; the last one: {tries[-1].rejected}",
        tries=tries,
    )


def judge_name(model_id: str) -> str:
    """Return how a model judge is named in every output."""
    return f"llm:{model_id}"


def finding_of(dimension: str, answer: Answer, documents: Mapping[str, str], *, judge: str) -> Finding:
    """Return the finding that an answer makes. Raises Rejected: a score or a hit without the quote it needs."""
    quotes, dropped = sift(answer.quotes, documents)
    if dimension in COUNTED:
        names = _hit_names(answer, {name for name, _ in COUNTED[dimension]})
        for hit in answer.rule_hits:
            if not is_found(Quote(doc=hit.doc, text=hit.text), documents):
                raise Rejected(f"the quote of rule hit '{hit.rule}' is not found in document {_shown(hit.doc)}")
        carried = tuple(Quote(doc=hit.doc, text=hit.text) for hit in answer.rule_hits)
        return Finding(
            dimension=dimension,
            judge=judge,
            hits=names,
            quotes=(*carried, *(quote for quote in quotes if quote not in carried)),
            dropped=dropped,
            reason=answer.reason,
        )
    if answer.score >= NEEDS_QUOTE and not quotes:
        named = ", ".join(_shown(quote.doc) for quote in dropped[:5])
        what = f"none of its quotes is found in the delivery (named: {named})" if dropped else "it has no quote"
        raise Rejected(f"a score of {answer.score} needs a quote found in the delivery; {what}")
    hits = _hit_names(answer, set(RULES_OF_A_STRATEGY)) if dimension == SECOND_READINGS else ()
    return Finding(
        dimension=dimension,
        judge=judge,
        score=answer.score,
        hits=hits,
        quotes=quotes,
        dropped=dropped,
        reason=answer.reason,
    )


def sift(quotes: tuple[Quote, ...], documents: Mapping[str, str]) -> tuple[tuple[Quote, ...], tuple[Quote, ...]]:
    """Return the quotes that are found and those that are not, each in the order given."""
    found = tuple(quote for quote in quotes if is_found(quote, documents))
    return found, tuple(quote for quote in quotes if quote not in found)


def is_found(quote: Quote, documents: Mapping[str, str]) -> bool:
    """Whether a quote stands in the document it names and does not speak to the judge.

    Args: documents: id -> text flattened as quotes are.
    """
    document = documents.get(plain_id(quote.doc))
    return document is not None and stands_in_flat(quote.text, document) and not addresses_judge(quote.text)


_R = TypeVar("_R", bound=Record)


def parsed(kind: type[_R], text: str) -> _R:
    """Return the record that an answer's text is. Raises Rejected saying the first thing that is wrong."""
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in fault["loc"]) or "the answer"
        raise Rejected(f"{where}: {fault['msg']}") from error


def _whole(reply: ChatReply) -> str:
    if reply.stop == "refusal":
        raise Rejected("no answer was given")
    if reply.stop not in _ENDED:
        raise Rejected(f"the answer was cut ({reply.stop}); give a shorter one")
    if len(reply.text) > RAW_CHARS:
        raise Rejected(f"the answer has more than {RAW_CHARS} characters")
    return reply.text


def _try(reply: ChatReply, why: str) -> JudgeTry:
    return JudgeTry(prompt_sha256=reply.prompt_sha256, model=reply.model, raw=reply.text[:RAW_CHARS], rejected=why)


def _hit_names(answer: Answer, known: set[str]) -> tuple[str, ...]:
    """Return the rules hit, each once, in the order given. Raises Rejected for a name that is not on the list."""
    for hit in answer.rule_hits:
        if hit.rule not in known:
            raise Rejected(f"rule hit {_shown(hit.rule)} is none of: {', '.join(sorted(known))}")
    return tuple(dict.fromkeys(hit.rule for hit in answer.rule_hits))


def _shown(name: str) -> str:
    return f"'{plain_id(name)[:80]}'"
