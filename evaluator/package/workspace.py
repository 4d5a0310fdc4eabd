"""The captured workspace: which data files outside deliver/ hold rows after t_cut."""

import datetime as dt
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import zstandard

from evaluator.package import headers as h
from evaluator.package.constants import WORKSPACE_FILE_BYTES, WORKSPACE_MEMBERS, WORKSPACE_TOTAL_BYTES
from evaluator.package.dates import looks_like_dates, parse_dates
from evaluator.package.documents import suffix_of
from evaluator.package.headers import normalised
from evaluator.package.reading import DATA_SUFFIXES, Unreadable, read_tables

_INSTALLED = re.compile(r"(^|/)(site-packages|dist-packages|node_modules|\.venv|venv|\.git|__pycache__)/")
_ISO = re.compile(rb"(?<!\d)(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
_OBSERVED = frozenset({*h.DATE, *h.FILL_DATE, *h.DECISION_DATE, *h.ANNOUNCED, *h.PERIOD_END})
_STAMPS = frozenset({"created_at", "retrieved_at", "generated_at", "submitted_at", "time_retrieved"})


def late_files(archive: Path, t_cut: dt.date) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the late data files and what could not be scanned; both empty when there is no archive."""
    if not archive.is_file() or archive.is_symlink():
        return (), ()
    late: list[str] = []
    notes: list[str] = []
    try:
        for path, data in _members(archive, notes):
            if _is_late(path, data, t_cut):
                late.append(path)
    except (tarfile.TarError, zstandard.ZstdError, OSError, EOFError, ValueError) as error:
        notes.append(f"workspace archive: scanned up to a fault ({type(error).__name__}: {str(error)[:120]})")
    return tuple(late), tuple(notes)


def _members(archive: Path, notes: list[str]) -> Iterator[tuple[str, bytes]]:
    total = 0
    with (
        archive.open("rb") as raw,
        zstandard.ZstdDecompressor().stream_reader(raw) as stream,
        tarfile.open(fileobj=stream, mode="r|", errorlevel=1) as tar,
    ):
        for count, member in enumerate(tar):
            if count >= WORKSPACE_MEMBERS or total > WORKSPACE_TOTAL_BYTES:
                notes.append(f"workspace archive: scan ends at {count} members, {total} bytes")
                return
            path = _relative(member.name)
            if not member.isreg() or suffix_of(path) not in DATA_SUFFIXES or _skipped(path):
                continue
            if member.size > WORKSPACE_FILE_BYTES:
                notes.append(f"workspace file {path}: {member.size} bytes, not scanned")
                continue
            total += member.size
            handle = tar.extractfile(member)
            if handle is not None:
                yield path, handle.read(WORKSPACE_FILE_BYTES)


def _relative(name: str) -> str:
    parts = [part for part in name.split("/") if part not in ("", ".", "..")]
    return "/".join(parts[1:] if parts[:1] == ["workspace"] else parts)


def _skipped(path: str) -> bool:
    return path.startswith("deliver/") or bool(_INSTALLED.search(path))


def _is_late(path: str, data: bytes, t_cut: dt.date) -> bool:
    suffix = suffix_of(path)
    limit = t_cut.isoformat().encode()
    if suffix not in (".parquet", ".pq") and b"-" in data:
        stamps = _ISO.findall(data)
        # Without any ISO date the file may hold other date forms and is parsed; with some, none late settles it.
        if stamps and max(stamps) <= limit:
            return False
    try:
        tables = read_tables(data, suffix)
    except Unreadable:
        return False
    return any(_frame_is_late(table.frame, pd.Timestamp(t_cut)) for table in tables)


def _frame_is_late(frame: pd.DataFrame, limit: pd.Timestamp) -> bool:
    return late_raw_rows(frame, limit) > 0


def late_raw_rows(frame: pd.DataFrame, limit: pd.Timestamp, *, without: frozenset[str] = frozenset()) -> int:
    """Return how many rows of a table that was not brought to canonical columns have an observation date after limit."""
    late = np.zeros(len(frame), dtype=bool)
    for place, name in enumerate(frame.columns):
        header = normalised(name)
        column = frame.iloc[:, place]
        if header in _OBSERVED - _STAMPS - without and looks_like_dates(column):
            parsed = parse_dates(column)
            if not parsed.ambiguous:
                late |= (parsed.days > limit).to_numpy(dtype=bool)
    return int(late.sum())


def holds_prices(frame: pd.DataFrame) -> bool:
    """Tell whether a table has a close beside its dates, whatever its name says it is."""
    found = {normalised(name) for name in frame.columns}
    return bool(found & {"close", "adj_close", "adjclose", "adjusted_close"}) and bool(found & {*h.DATE})
