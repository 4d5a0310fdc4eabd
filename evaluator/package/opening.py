"""One delivered file to canonical tables: unpacking, reading, layouts, roles. Nothing here raises."""

import hashlib
import mmap
from collections.abc import Iterator
from dataclasses import dataclass, replace

from evaluator.package.canonical import canonical
from evaluator.package.constants import MAX_TABLES
from evaluator.package.delivery import Document, Table
from evaluator.package.documents import suffix_of
from evaluator.package.files import Found, group_of, stem_of
from evaluator.package.formats.archives import members, ungzipped
from evaluator.package.formats.markup import html_tables, markdown_tables
from evaluator.package.headers import normalised
from evaluator.package.keyvalues import yaml_table
from evaluator.package.layouts.arranging import arranged
from evaluator.package.reading import (
    DATA_SUFFIXES,
    LOADS_CODE,
    PACKED_DATA,
    RAISED,
    RawTable,
    Unreadable,
    read_tables,
)
from evaluator.package.roles import recognise, shape_of

CONFIGS = frozenset({".yaml", ".yml"})
_TOLD = frozenset({"metrics", "trades", "spec", "weights"})
"""Roles a table inside a report may have; others there are excerpts."""
_LARGE = 1 << 20
_KEPT = 48
"""Files up to _LARGE whose tables are kept: one delivery's, so that grading it turn by turn opens none twice."""
_TRIPS = "round trips"
_MARKUP = frozenset({".md", ".markdown", ".qmd", ".html", ".htm", ".rst"})


@dataclass(frozen=True)
class Read:
    """One table with what later steps must know about where it came from."""

    table: Table
    run: str = ""
    """Name of the strategy run, where a file holds several."""
    from_text: bool = False
    """It stands in a report, not in a data file."""
    trips: bool = False
    """Its fills were taken from round trips."""


def is_data(path: str) -> bool:
    """Tell whether a path is that of a data file, packed or not."""
    return suffix_of(path) in DATA_SUFFIXES | PACKED_DATA


def refusal(path: str) -> str | None:
    """Return why a file is never opened; None when it may be."""
    if suffix_of(path) in LOADS_CODE:
        return f"{suffix_of(path)} files can run code or hold unnamed arrays and are never loaded"
    return None


def open_data(found: Found) -> tuple[list[Read], list[str]]:
    """Return the tables and refusals of one data file."""
    reads: list[Read] = []
    refused: list[str] = []
    try:
        with found.file.open("rb") as handle:
            # Mapping saves a copy of large files; an empty file cannot be mapped.
            if found.size > _LARGE:
                with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as data:
                    reads, refused = _opened(found, data)
            else:
                reads, refused = _OPENED.get(found, handle.read())
    except BufferError:
        # Something still looks at the mapped bytes; they are released with it.
        return reads, refused
    except (OSError, ValueError) as error:
        return [], [f"{found.path}: cannot be read ({error})"]
    return reads, refused


class _Kept:
    """The tables of the files opened last, by place and content."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int, bytes], tuple[list[Read], list[str]]] = {}

    def get(self, found: Found, data: bytes) -> tuple[list[Read], list[str]]:
        """Return what a file holds; no caller's change reaches another's tables."""
        key = (found.path, found.turn, hashlib.sha256(data).digest())
        made = self._kept.pop(key, None) or _opened(found, data)
        self._kept[key] = made
        if len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]
        reads, refused = made
        return [replace(read, table=_own(read.table)) for read in reads], list(refused)


def _own(table: Table) -> Table:
    # pandas copies the values when either side writes.
    return replace(table, frame=table.frame.copy(deep=False))


_OPENED = _Kept()


def _opened(found: Found, data: bytes | mmap.mmap) -> tuple[list[Read], list[str]]:
    suffix = suffix_of(found.path)
    if suffix not in PACKED_DATA:
        return _read(found, found.path, found.path, data, suffix)
    reads: list[Read] = []
    refused: list[str] = []
    try:
        for name, inner, content in _unpacked(found.path, bytes(data[: len(data)]), refused):
            more, reasons = _read(found, name, inner, content, suffix_of(inner))
            reads += more
            refused += reasons
    except Unreadable as error:
        refused.append(f"{found.path}: {error}")
    except RAISED as error:
        refused.append(f"{found.path}: {type(error).__name__}: {str(error)[:160]}")
    return reads, refused


def _unpacked(path: str, data: bytes, refused: list[str]) -> Iterator[tuple[str, str, bytes]]:
    """Yield the name to show, the path inside and the bytes of each packed data file."""
    if suffix_of(path) == ".gz":
        inner = path[:-3]
        if suffix_of(inner) in DATA_SUFFIXES:
            yield path, inner, ungzipped(data)
        else:
            refused.append(f"{path}: holds no data file")
        return
    folder = path.rpartition("/")[0]
    for member in members(data):
        name = f"{path}#{member.name}"
        if member.data is None:
            refused.append(f"{name}: {member.reason}")
        elif suffix_of(member.name) in DATA_SUFFIXES:
            yield name, f"{folder}/{member.name}".lstrip("/"), member.data
        elif suffix_of(member.name) not in _MARKUP | {".py", ".txt", ".png", ".ipynb"}:
            refused.append(f"{name}: of a kind that is not read from an archive")


def _read(found: Found, name: str, path: str, data: bytes | mmap.mmap, suffix: str) -> tuple[list[Read], list[str]]:
    if not data[:65536].strip():
        return [], [f"{name}: the file is empty"]
    try:
        raws = [yaml_table(bytes(data[: len(data)]))] if suffix in CONFIGS else read_tables(data, suffix)
    except Unreadable as error:
        return [], [f"{name}: {error}"]
    reads: list[Read] = []
    refused: list[str] = []
    for raw in raws[:MAX_TABLES]:
        shown = f"{name}#{raw.key}" if raw.key else name
        try:
            reads += [_table(found, path, name, one) for one in arranged(raw)]
        except RAISED as error:
            refused.append(f"{shown}: not understood as a table ({type(error).__name__}: {str(error)[:160]})")
    return reads, refused


def _table(found: Found, path: str, name: str, raw: RawTable) -> Read:
    stem = stem_of(path)
    group = group_of(path)
    name = f"{name}#{raw.key}" if raw.key else name
    role, guesses = (raw.role, ()) if raw.role else recognise(shape_of(raw.frame, stem, raw.key))
    if group == "main" and "stress" in normalised(raw.key or stem) and role in ("metrics", "other", "spec", "signals"):
        return Read(Table(name, "stress", raw.frame, found.turn, "main", raw.guesses))
    frame, more = canonical(role, raw, normalised(stem))
    trips = role == "trades" and any(guess.startswith(_TRIPS) for guess in raw.guesses)
    return Read(Table(name, role, frame, found.turn, group, (*guesses, *more)), raw.run, trips=trips)


def open_config(found: Found, data: bytes) -> tuple[list[Read], list[str]]:
    """Return a YAML configuration as a table of keys and values."""
    return _read(found, found.path, found.path, data, suffix_of(found.path))


def open_text(found: Found, text: Document) -> tuple[list[Read], list[str]]:
    """Return the tables that stand in a report, a README or a plain text."""
    suffix = suffix_of(text.path)
    try:
        if suffix in (".html", ".htm"):
            raws = html_tables(text.text.encode())
        elif suffix == ".txt":
            return _plain_text(found, text)
        elif suffix in _MARKUP or text.kind == "report":
            raws = markdown_tables(text.text)
        else:
            return [], []
    except Unreadable as error:
        return [], [f"{text.path}: its tables are not read: {error}"]
    except RAISED as error:
        return [], [f"{text.path}: its tables are not read: {type(error).__name__}: {str(error)[:160]}"]
    return _told(found, raws), []


def _told(found: Found, raws: list[RawTable]) -> list[Read]:
    reads = []
    for raw in raws[:MAX_TABLES]:
        try:
            parts = [_table(found, found.path, found.path, one) for one in arranged(raw)]
        except RAISED:
            continue
        reads += [Read(p.table, p.run, from_text=True, trips=p.trips) for p in parts if p.table.role in _TOLD]
    return reads


def _plain_text(found: Found, text: Document) -> tuple[list[Read], list[str]]:
    """A .txt is a table when its first lines have one number of cells, three at least."""
    lines = [line for line in text.text[:100_000].splitlines() if line.strip()][:20]
    cells = [max(line.count(d) for d in ",;\t|") for line in lines]
    if len(lines) < 3 or min(cells) < 2 or max(cells) - min(cells) > 1:
        return [], []
    reads, refused = _read(found, found.path, found.path, text.text.encode(), ".csv")
    return [read for read in reads if read.table.role != "other"], refused
