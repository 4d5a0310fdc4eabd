"""The view as prompt text: files and messages between tags, long conversations as the last messages and a summary.

Agent text is hostile. The tag's name ends in a hash of everything around it and of the sealed strategy, so it is the
same for the same turn and cannot be foretold by who wrote the text.
"""

import hashlib
import json
import re
from collections.abc import Sequence

from records.decision import View, ViewFile, ViewMessage
from records.limits import Limits

SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
GAP = "\n[... {missing} characters left out ...]\n"
TAIL_SHARE = 4
"""Of a message longer than its cap the last quarter of the cap shows its end, where questions stand."""
SUMMARY_CHARS = 300
"""Of an agent message in the summary; its questions first. What the user said is short and stays whole."""
SUMMARY_FILES = 8


def tag_for(view: View, secret: str) -> str:
    """Return the tag's name: a hash of secret and view, lengthened by a count should the text hold it all the same."""
    content = view.to_json()
    count = 0
    while True:
        tag = "data-" + hashlib.sha256(f"{count}\n{secret}\n{content}".encode()).hexdigest()[:16]
        if tag not in content:
            return tag
        count += 1


def messages_text(view: View, tag: str, limits: Limits) -> str:
    """Return the last messages whole, each at most `view_message_chars` characters."""
    return "\n".join(_message(message, tag, limits.view_message_chars) for message in _latest(view, limits))


def summary_text(view: View, tag: str, limits: Limits) -> str:
    """Return the summary of the messages before the last ones; empty when there are none."""
    earlier = view.messages[: -limits.view_messages] if limits.view_messages else view.messages
    if not earlier:
        return ""
    lines = "\n".join(_summary(message) for message in earlier)
    return f"Summary of the first {len(earlier)} messages:\n<{tag}>\n{lines}\n</{tag}>\nThe messages after them:\n"


def files_text(view: View, tag: str) -> str:
    """Return the delivered files, which `simulator.view` has capped."""
    return "\n".join(_file(file, tag) for file in view.files) or "Nothing is delivered."


def _latest(view: View, limits: Limits) -> Sequence[ViewMessage]:
    return view.messages[-limits.view_messages :] if limits.view_messages else ()


def _message(message: ViewMessage, tag: str, cap: int) -> str:
    who = "you" if message.role == "user" else "assistant"
    facts = [f'id="{message.id}"', f'from="{who}"', f'turn="{message.turn}"']
    if message.cut:
        facts.append('cut_off_at_time_limit="yes"')
    changed = f"\nnew or changed files: {_names(message.changed_files)}" if message.changed_files else ""
    return f"<{tag} {' '.join(facts)}>\n{_capped(message.text, cap)}{changed}\n</{tag}>"


def _file(file: ViewFile, tag: str) -> str:
    facts = f'id="{file.id}" turn="{file.turn}"'
    if file.text is None:
        return f'<{tag} {facts} unread="yes">\npath: {json.dumps(file.path)}\n</{tag}>'
    cut = ' only_in_part="yes"' if file.truncated else ""
    return f"<{tag} {facts}{cut}>\npath: {json.dumps(file.path)}\n{file.text}\n</{tag}>"


def _capped(text: str, cap: int) -> str:
    if len(text) <= cap:
        return text
    tail = cap // TAIL_SHARE
    head = cap - tail
    return f"{text[:head]}{GAP.format(missing=len(text) - head - tail)}{text[len(text) - tail :]}"


def _summary(message: ViewMessage) -> str:
    if message.role == "user":
        return f"{message.id} you: {' '.join(message.text.split())}"
    sentences = [" ".join(part.split()) for part in SENTENCE.split(message.text) if part.strip()]
    ordered = [text for text in sentences if "?" in text] + [text for text in sentences if "?" not in text]
    said = " ".join(ordered)
    said = said if len(said) <= SUMMARY_CHARS else said[:SUMMARY_CHARS] + " [...]"
    cut = " (cut off at its time limit)" if message.cut else ""
    files = f" Files: {_names(message.changed_files)}." if message.changed_files else ""
    return f"{message.id} assistant, turn {message.turn}{cut}: {said}{files}"


def _names(paths: Sequence[str]) -> str:
    shown = ", ".join(json.dumps(path) for path in paths[:SUMMARY_FILES])
    more = len(paths) - SUMMARY_FILES
    return f"{shown} and {more} more" if more > 0 else shown
