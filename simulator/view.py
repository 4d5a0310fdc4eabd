"""What the user sees: the conversation and the latest delivery as capped text, newest files first.

Delivered files are hostile: only regular files below the turn's folder are opened, of a long one only its beginning,
headings and end are shown, and nothing is parsed here. A format the user does not read stays in the list with `text` None.
"""

import os
import re
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from records.decision import View, ViewFile, ViewMessage
from records.limits import DEFAULT_LIMITS, Limits
from records.session import AgentEvent, UserEvent

TEXT_SUFFIXES = frozenset(
    {
        *(".csv", ".tsv", ".txt", ".md", ".markdown", ".rst", ".json", ".jsonl", ".ndjson", ".yaml", ".yml"),
        *(".toml", ".ini", ".html", ".htm", ".log", ".py", ".sh", ".sql", ".r", ".ipynb"),
    }
)
FIRST_LOOK_CHARS = 200
"""Every one of the 20 files gets its header and a row, so that a long report cannot hide the log behind the total cap."""
ELLIPSIS = "\n[...]\n"
TAIL_SHARE = 4
"""Of a file longer than its cap the last quarter of the cap shows its end: limitations stand at the end of a report."""
OUTLINE_SHARE = 8
"""Of such a file the eighth part of the cap may list the headings of what is left out, as a reader who skims sees them."""
OUTLINE_READ_BYTES = 1 << 20
HEADING_CHARS = 100
HEADING = re.compile(
    r"^(?:#{1,6}[ \t][^\n]{1,300}|[ \t]*<h[1-6][^>\n]{0,100}>[^\n]{1,300})$", re.MULTILINE | re.IGNORECASE
)

RANKS = ("report", "summary", "metrics", "spec", "trade", "fill", "price", "source", "equity", "readme")


@dataclass(frozen=True)
class _Delivered:
    path: str
    turn: int
    folder: Path


def build_view(
    events: Sequence[UserEvent | AgentEvent],
    *,
    deliver: Callable[[int], Path],
    limits: Limits = DEFAULT_LIMITS,
) -> View:
    """Return the view after the last event.

    Args: events: the session so far, the opening first. deliver: folder with the files of an agent turn, as
        `records.paths.AttemptPaths.deliver` gives it; a folder or file that is not there counts as unread.
    """
    messages: list[ViewMessage] = []
    before: dict[str, str] = {}
    since: dict[str, int] = {}
    last = 0
    for event in events:
        identity = f"m{len(messages) + 1}"
        if isinstance(event, UserEvent):
            messages.append(ViewMessage(id=identity, role="user", turn=event.turn, text=event.text))
            continue
        now = {entry.path: entry.sha256 for entry in event.files}
        changed = sorted(path for path, digest in now.items() if before.get(path) != digest)
        since = {path: event.turn if path in changed else since[path] for path in now}
        before, last = now, event.turn
        messages.append(
            ViewMessage(
                id=identity,
                role="agent",
                turn=event.turn,
                text=event.text,
                cut=event.cut,
                changed_files=tuple(_printable(path) for path in changed),
            )
        )
    files = [_Delivered(path, turn, deliver(last)) for path, turn in since.items()]
    return View(messages=tuple(messages), files=_files(files, limits))


def _files(found: list[_Delivered], limits: Limits) -> tuple[ViewFile, ...]:
    found = sorted(found, key=lambda file: (-file.turn, *_rank(file.path)))[: limits.view_files]
    budgets = _budgets(found, limits)
    views = []
    for number, (file, budget) in enumerate(zip(found, budgets, strict=True), start=1):
        text, truncated = _read(file, budget)
        views.append(
            ViewFile(id=f"f{number}", path=_printable(file.path), turn=file.turn, text=text, truncated=truncated)
        )
    return tuple(views)


def _rank(path: str) -> tuple[int, int, str]:
    """Order within a turn: files near the top first, a report before tables before anything else."""
    name = path.rsplit("/", 1)[-1].lower()
    rank = next((place for place, word in enumerate(RANKS) if word in name), len(RANKS))
    return (path.count("/"), rank, path)


def _budgets(found: list[_Delivered], limits: Limits) -> list[int]:
    """Share the total: a first look at each file, the rest to the first files in order."""
    sizes = [min(_size(file), limits.view_file_chars) for file in found]
    first = min(FIRST_LOOK_CHARS, limits.view_total_chars // max(len(found), 1))
    budgets = [min(size, first) for size in sizes]
    left = limits.view_total_chars - sum(budgets)
    for place, size in enumerate(sizes):
        more = min(size - budgets[place], left)
        budgets[place] += more
        left -= more
    return budgets


def _size(file: _Delivered) -> int:
    """Return the file's size in bytes, an upper bound of its characters; 0 when it is not read."""
    if Path(file.path).suffix.lower() not in TEXT_SUFFIXES:
        return 0
    try:
        status = _target(file).lstat()
    except (OSError, ValueError):
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _target(file: _Delivered) -> Path:
    """Return the path on disk. Raises ValueError for one that leaves the folder."""
    parts = file.path.split("/")
    if not file.path or file.path.startswith("/") or ".." in parts or "\0" in file.path:
        raise ValueError(f"path leaves the delivery: {file.path!r}")
    return file.folder.joinpath(*parts)


def _read(file: _Delivered, budget: int) -> tuple[str | None, bool]:
    """Return the capped text and whether something is missing; None for what is no readable text."""
    size = _size(file)
    if size == 0:
        return ("" if _is_empty_text(file) else None), False
    is_cut = size > budget > FIRST_LOOK_CHARS
    try:
        with _opened(file) as handle:
            text = _head_and_tail(handle, size, budget) if is_cut else _decoded(handle.read(budget))
    except (OSError, ValueError):
        return None, False
    return (text if _is_text(text) else None), size > budget


def _head_and_tail(handle: BinaryIO, size: int, budget: int) -> str:
    """Return the beginning, the headings of what is left out, and the end, within the budget."""
    tail = budget // TAIL_SHARE
    head = budget - tail - budget // OUTLINE_SHARE
    start = handle.read(head)
    between = _decoded(handle.read(min(size - tail - head, OUTLINE_READ_BYTES)))
    handle.seek(-tail, os.SEEK_END)
    end = handle.read(tail)
    outline, room = "", budget // OUTLINE_SHARE - len(ELLIPSIS)
    for heading in HEADING.findall(between):
        line = f"{ELLIPSIS}{heading.strip()[:HEADING_CHARS]}"
        if len(line) > room:
            break
        outline += line
        room -= len(line)
    return f"{_decoded(start)}{outline}{ELLIPSIS}{_decoded(end)}"


def _opened(file: _Delivered) -> BinaryIO:
    target = _target(file)
    if not target.resolve().is_relative_to(file.folder.resolve()):
        raise ValueError(f"path leaves the delivery: {file.path!r}")
    descriptor = os.open(target, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    return cast("BinaryIO", os.fdopen(descriptor, "rb"))


def _is_empty_text(file: _Delivered) -> bool:
    try:
        status = _target(file).lstat()
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size == 0


def _decoded(data: bytes) -> str:
    return data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n")


def _is_text(text: str) -> bool:
    """Return whether a decoded text is one: no NUL, and hardly any byte that was not UTF-8 (a cut character is two)."""
    return "\0" not in text and text.count("\ufffd") <= 2 + len(text) // 50


def _printable(path: str) -> str:
    return path.encode("utf-8", "backslashreplace").decode("utf-8")
