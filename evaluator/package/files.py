"""Walks a delivered tree without following anything: links, devices and oversize files are refused in words."""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from evaluator.package.constants import MAX_DEPTH, MAX_FILE_BYTES, MAX_FILES, MAX_TOTAL_BYTES

_SIDE_RUN = re.compile(r"stress|sensitiv|alternative|scenario|robust|ablation|out_?of_?sample|walk_?forward|gross_run")
_ROLE_WORDS = re.compile(
    r"(^|_)(trades?|trade_log|fills?|orders?|equity|equity_curve|nav|prices?|weights?|target_weights|signals?|"
    r"selections?|metrics?|summary|results?|spec|specification|config|fundamentals|market|report|positions?|runs?)(?=_|$)"
)


@dataclass(frozen=True)
class Found:
    """The last version of one delivered file."""

    path: str
    """POSIX, relative to deliver/."""
    file: Path
    turn: int
    size: int


@dataclass
class Walk:
    """What a walk kept and refused."""

    files: dict[str, Found] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)


def walk_turns(public: Path, turns: list[int]) -> Walk:
    """Return the last version of every file of turns/<t>/deliver, turns in ascending order."""
    walk = Walk()
    for turn in turns:
        root = public / "turns" / str(turn) / "deliver"
        if any(place.is_symlink() for place in (root, root.parent)):
            walk.refused.append(f"turn {turn}: deliver is a link and is not followed")
            continue
        _walk(root, turn, walk)
    return _capped(walk)


def walk_tree(root: Path, turn: int) -> Walk:
    """Return every file of one folder as of one turn; nothing when there is no such folder."""
    walk = Walk()
    _walk(root, turn, walk)
    return _capped(walk)


def _walk(root: Path, turn: int, walk: Walk) -> None:
    for path, entry, depth in _entries(root, "", 0):
        reason = _refusal(entry, depth)
        if reason is None:
            walk.files[path] = Found(path, Path(entry.path), turn, entry.stat(follow_symlinks=False).st_size)
        elif reason:
            walk.refused.append(f"{_printable(path)}: {reason}")


def _entries(folder: Path, prefix: str, depth: int) -> Iterator[tuple[str, "os.DirEntry[str]", int]]:
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        path = f"{prefix}{entry.name}"
        yield path, entry, depth
        if entry.is_dir(follow_symlinks=False) and depth < MAX_DEPTH:
            yield from _entries(Path(entry.path), f"{path}/", depth + 1)


def _refusal(entry: "os.DirEntry[str]", depth: int) -> str | None:
    """Return why an entry is not read; '' for a folder, None for a file to read."""
    try:
        mode = entry.stat(follow_symlinks=False).st_mode
        size = entry.stat(follow_symlinks=False).st_size
    except OSError as error:
        return f"cannot be looked at ({error.strerror})"
    if stat.S_ISLNK(mode):
        return "is a link and is not followed"
    if stat.S_ISDIR(mode):
        return "" if depth < MAX_DEPTH else f"lies deeper than {MAX_DEPTH} folders"
    if not stat.S_ISREG(mode):
        return "is no ordinary file"
    if size > MAX_FILE_BYTES:
        return f"has {size} bytes, at most {MAX_FILE_BYTES} are read"
    return None


def _capped(walk: Walk) -> Walk:
    kept: dict[str, Found] = {}
    total = 0
    for path in sorted(walk.files):
        found = walk.files[path]
        total += found.size
        if len(kept) >= MAX_FILES or total > MAX_TOTAL_BYTES:
            walk.refused.append(f"{_printable(path)}: beyond {MAX_FILES} files or {MAX_TOTAL_BYTES} bytes in all")
            total -= found.size
            continue
        kept[path] = found
    return Walk(kept, walk.refused)


def _printable(path: str) -> str:
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def stem_of(path: str) -> str:
    """Return the file name without folders and endings."""
    return path.rsplit("/", 1)[-1].split(".", 1)[0] or path.rsplit("/", 1)[-1]


def group_of(path: str) -> str:
    """Return 'main', or the name of the side run a file belongs to, by its folder or its name.

    A folder named like a side run is the group, with the folder below it when there is one (stress/capital). A file
    named stress_trades or trades_stress_10x belongs to the group without the words that name the table.
    """
    *folders, name = path.lower().split("/")
    for place, folder in enumerate(folders):
        if _SIDE_RUN.search(folder):
            return "/".join(folders[place : place + 2])
    stem = re.sub(r"[^a-z0-9]+", "_", name.split(".", 1)[0])
    if "stress" not in stem:
        return "main"
    rest = re.sub(r"_+", "_", _ROLE_WORDS.sub("", stem)).strip("_")
    return rest if rest != stem else "main"
