"""Loads what was delivered in one attempt: conversation, tables, documents, and what was refused."""

from pathlib import Path

from pydantic import ValidationError

from evaluator.package.assembly import assembled
from evaluator.package.constants import MAX_TEXT_BYTES
from evaluator.package.delivery import Delivery, Document, Message, Table
from evaluator.package.documents import document, suffix_of
from evaluator.package.files import Found, walk_turns
from evaluator.package.opening import CONFIGS, Read, is_data, open_config, open_data, open_text, refusal
from evaluator.package.rerun import load_rerun
from evaluator.package.workspace import late_files
from records.calls import CallRecord
from records.errors import GradingError
from records.jsonl import read_lines
from records.session import EVENT, AgentEvent, UserEvent
from records.task import Task

_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".svg", ".gif", ".pdf"})


def load_delivery(public: Path, *, up_to_turn: int | None = None) -> Delivery:
    """Read an attempt's public tree; the last version of each delivered file counts.

    Nothing the agent delivered can make it raise: what cannot be read is a sentence in `refused`. The workspace
    archive, which shows the end of the session, is scanned only when the whole session is loaded.
    Raises: GradingError: task.json or session.jsonl, which are ours, cannot be read.
    """
    task = _task(public / "task.json")
    messages, turns = _conversation(public / "session.jsonl", up_to_turn)
    walk = walk_turns(public, [turn.turn for turn in turns])
    refused = list(walk.refused)
    reads: list[Read] = []
    documents: list[Document] = []
    for found in walk.files.values():
        found_reads, found_document, reasons = _file(found)
        reads += found_reads
        documents += [found_document] if found_document is not None else []
        refused += reasons
    tables, left = assembled(reads, documents)
    refused += left
    late: tuple[str, ...] = ()
    if up_to_turn is None:
        late, notes = late_files(public / "workspace.tar.zst", task.conditions.t_cut)
        refused += notes
    return Delivery(
        task.conditions,
        messages,
        tuple(tables),
        tuple(documents),
        tuple(refused),
        late_workspace_files=late,
        calls=_calls(public / "calls.jsonl", turns, up_to_turn),
        turns=turns,
        rerun=load_rerun(public, len(turns), read_file) if up_to_turn is None else None,
    )


def _task(path: Path) -> Task:
    try:
        return Task.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise GradingError(f"task record {path.name} of the attempt: expected a public task, {error}") from error


def _calls(path: Path, turns: tuple[AgentEvent, ...], up_to_turn: int | None) -> tuple[CallRecord, ...]:
    try:
        calls = tuple(CallRecord.model_validate_json(line) for line in read_lines(path))
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        raise GradingError(f"call log {path.name} of the attempt: expected one call per line, {error}") from error
    if up_to_turn is None:
        return calls
    return tuple(call for call in calls if turns and call.at <= turns[-1].ended_at)


def _conversation(path: Path, up_to_turn: int | None) -> tuple[tuple[Message, ...], tuple[AgentEvent, ...]]:
    messages: list[Message] = []
    turns: dict[int, AgentEvent] = {}
    try:
        events = [EVENT.validate_json(line) for line in read_lines(path)]
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        raise GradingError(
            f"session record {path.name} of the attempt: expected one event per line, {error}"
        ) from error
    for event in events:
        if not isinstance(event, UserEvent | AgentEvent):
            continue
        if up_to_turn is not None and event.turn > up_to_turn:
            continue
        messages.append(Message(event.kind, event.turn, event.text))
        if isinstance(event, AgentEvent):
            turns[event.turn] = event
    return tuple(messages), tuple(turns[turn] for turn in sorted(turns))


def read_file(found: Found) -> tuple[list[Table], Document | None, list[str]]:
    """Return the tables, the document and the refusals of one delivered file, looked at alone."""
    reads, text, reasons = _file(found)
    tables, left = assembled(reads, () if text is None else (text,))
    return tables, text, [*reasons, *left]


def _file(found: Found) -> tuple[list[Read], Document | None, list[str]]:
    never = refusal(found.path)
    if never is not None:
        return [], None, [f"{found.path}: {never}"]
    if is_data(found.path):
        reads, reasons = open_data(found)
        return reads, None, reasons
    try:
        with found.file.open("rb") as handle:
            data = handle.read(MAX_TEXT_BYTES + 1)
    except OSError as error:
        return [], None, [f"{found.path}: cannot be read ({error.strerror})"]
    return _text(found, data)


def _text(found: Found, data: bytes) -> tuple[list[Read], Document | None, list[str]]:
    suffix = suffix_of(found.path)
    text = document(found, data)
    if text is None:
        what = "a picture, shown but not graded" if suffix in _PICTURES else "of a kind that is not read"
        return [], None, [f"{found.path}: {what}"]
    reads, reasons = open_config(found, data) if suffix in CONFIGS else open_text(found, text)
    if len(data) > MAX_TEXT_BYTES:
        reasons = [*reasons, f"{found.path}: text is cut at {MAX_TEXT_BYTES} bytes"]
    return reads, text, reasons
