"""Writes the questions on a strategy's items: one per component on claims, one on what the user stated.

The belief goes into these prompts and nowhere else; they are written under sealed/.
"""

from collections.abc import Sequence

from evaluator.compare.fidelity import COMPONENTS, DIMENSION
from evaluator.compare.numbers import numbers
from evaluator.compare.question import ItemQuestion, ItemQuestions
from evaluator.compare.sentences import sentences
from evaluator.compare.statements import Statements, read_statements
from evaluator.judge.excerpt import build_package
from evaluator.judge.prompts import CLAIMS, COMPARE_SYSTEM, STATEMENTS
from evaluator.package.delivery import Delivery, Message
from records.strategy import Item, Strategy

STATED = "S"
"""Id of the question on what the user stated."""


def build_item_questions(delivery: Delivery, strategy: Strategy) -> ItemQuestions:
    """Return all questions on one delivery and strategy; the same inputs give the same bytes."""
    package = build_package(delivery)
    items = strategy.belief.items
    questions = [
        ItemQuestion(
            id=DIMENSION[component],
            asks="claims",
            items=tuple(item.id for item in mine),
            text=CLAIMS.format(items=_listed(mine)),
        )
        for component in COMPONENTS
        if (mine := [item for item in items if item.component == component])
    ]
    open_items = undecided_items(read_statements(delivery.messages, items), items, delivery.messages)
    if open_items:
        questions.append(
            ItemQuestion(
                id=STATED,
                asks="statements",
                items=tuple(item.id for item in open_items),
                text=STATEMENTS.format(items=_listed(open_items)),
            )
        )
    return ItemQuestions(
        system=COMPARE_SYSTEM,
        package=package.text,
        questions=tuple(questions),
        documents=package.documents,
        user=package.user,
    )


def undecided_items(statements: Statements, items: Sequence[Item], messages: Sequence[Message]) -> tuple[Item, ...]:
    """Return the items whose statement the phrase matcher leaves open (evaluator.md 2.9).

    An alias was hit but denied, quoted from the agent or asked about; or the item's value was said without its option.
    """
    hit = {mention.item for mention in statements.undecided}
    said = [
        number
        for message in messages
        if message.role == "user"
        for sentence in sentences(message.text)
        for number in numbers(sentence.text)
    ]
    for item in items:
        if item.value is not None and item.id not in statements.stated:
            unit = "bps" if item.unit == "bps" else "percent"
            if any(number.equals(item.value, unit) for number in said):
                hit.add(item.id)
    return tuple(item for item in items if item.id in hit)


def _listed(items: Sequence[Item]) -> str:
    lines = []
    for item in items:
        value = "" if item.value is None else f" (value {item.value:g} {item.unit or ''})".replace(" )", ")")
        lines.append(f"- id {item.id}: {item.text}{value}")
    return "\n".join(lines)
