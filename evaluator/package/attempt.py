"""Provisional reader of an attempt's public tree: messages and no tables, until table recognition is merged."""

from pathlib import Path

from evaluator.package.delivery import Delivery, Message
from records.jsonl import read_lines
from records.session import EVENT, EndEvent
from records.task import Task


def load_delivery(public: Path, *, up_to_turn: int | None = None) -> Delivery:
    """Return the delivery of an attempt without its files."""
    task = Task.model_validate_json((public / "task.json").read_bytes())
    events = [EVENT.validate_json(line) for line in read_lines(public / "session.jsonl")]
    messages = tuple(
        Message(event.kind, event.turn, event.text)
        for event in events
        if not isinstance(event, EndEvent) and (up_to_turn is None or event.turn <= up_to_turn)
    )
    return Delivery(task.conditions, messages, (), ())
