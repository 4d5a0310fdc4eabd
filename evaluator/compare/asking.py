"""Asks a model judge about the strategy's items. A quote that is not found leaves its claim without one: missing."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from evaluator.compare.question import Asks, ItemAnswer, ItemFinding, ItemQuestion, ItemQuestions, ItemVerdictWord
from evaluator.judge.contract import Prefix, Rejected, judge_name, parsed, put, sift
from evaluator.judge.prompts import CLAIMS_SCHEMA, STATEMENTS_SCHEMA
from records.base import Record
from records.chat import ChatModel
from records.judging import Quote

_WORDS: dict[Asks, tuple[ItemVerdictWord, ...]] = {
    "claims": ("present", "missing", "contradicted"),
    "statements": ("stated", "not_stated"),
}
_WITHOUT_QUOTE: dict[Asks, ItemVerdictWord] = {"claims": "missing", "statements": "not_stated"}


class _Said(Record):
    item: str
    verdict: ItemVerdictWord
    quotes: tuple[Quote, ...]
    reason: str = Field(max_length=4_000)


class _Answer(Record):
    items: tuple[_Said, ...]


def ask_items(model: ChatModel, questions: ItemQuestions, question: ItemQuestion, *, model_id: str) -> ItemFinding:
    """Return what the judge says about the items of one question. Raises: ModelError: the service did not answer."""
    prefix = Prefix("compare", model_id, questions.system, questions.package)
    documents = questions.documents if question.asks == "claims" else questions.user
    schema = CLAIMS_SCHEMA if question.asks == "claims" else STATEMENTS_SCHEMA
    answers, tries = put(model, prefix, question.text, schema, lambda text: read_items(question, text, documents))
    return ItemFinding(
        question=question.id,
        judge=judge_name(model_id),
        returned=answers is not None,
        items=question.items,
        answers=answers or (),
        tries=tries,
    )


def read_items(question: ItemQuestion, text: str, documents: Mapping[str, str]) -> tuple[ItemAnswer, ...]:
    """Return one answer per item, in the question's order. Raises Rejected: an item is missing, unknown or twice there."""
    said = parsed(_Answer, text).items
    _check_ids([one.item for one in said], question.items)
    by_item = {one.item: one for one in said}
    return tuple(_sifted(by_item[item], question.asks, documents) for item in question.items)


def _check_ids(given: Sequence[str], due: Sequence[str]) -> None:
    # Ids are told back by count alone: what a judge invents may be anything.
    missing = [item for item in due if item not in given]
    if missing:
        raise Rejected(f"no entry for: {', '.join(missing)}")
    if len(given) != len(due):
        raise Rejected(f"expected {len(due)} entries, one per id, found {len(given)}")


def _sifted(said: _Said, asks: Asks, documents: Mapping[str, str]) -> ItemAnswer:
    if said.verdict not in _WORDS[asks]:
        raise Rejected(f"verdict of {said.item}: expected one of {', '.join(_WORDS[asks])}")
    found, dropped = sift(said.quotes, documents)
    nothing = _WITHOUT_QUOTE[asks]
    return ItemAnswer(
        item=said.item,
        verdict=said.verdict if found else nothing,
        quotes=found if said.verdict != nothing else (),
        dropped=dropped,
        reason=said.reason,
    )
