"""One data file to raw tables, by its ending. Knows no roles."""

import csv
import mmap
import struct
import zlib

from evaluator.package.constants import MAX_LOOSE_BYTES
from evaluator.package.formats.columnar import feather, parquet
from evaluator.package.formats.database import database
from evaluator.package.formats.delimited import delimited
from evaluator.package.formats.markup import html_tables
from evaluator.package.formats.objects import flatten, json_tables, parse_json, parse_lines
from evaluator.package.formats.raw import FAULTS, RawTable, Unreadable
from evaluator.package.formats.workbook import workbook
from evaluator.package.layouts.statement import is_statement, statement_tables

DELIMITED = frozenset({".csv", ".tsv", ".tab", ".psv"})
COLUMNAR = frozenset({".parquet", ".pq", ".feather", ".arrow"})
WORKBOOKS = frozenset({".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"})
DATABASES = frozenset({".sqlite", ".sqlite3", ".db"})
DATA_SUFFIXES = DELIMITED | COLUMNAR | WORKBOOKS | DATABASES | {".json", ".jsonl", ".ndjson"}
PACKED_DATA = frozenset({".gz", ".zip"})
LOADS_CODE = frozenset(
    {".pkl", ".pickle", ".joblib", ".npz", ".npy", ".h5", ".hdf5", ".hdf", ".rds", ".rdata", ".mat", ".dill"}
)
"""Formats whose readers may run what the file says, or that hold no named columns: never loaded."""

__all__ = [
    "DATA_SUFFIXES",
    "FAULTS",
    "LOADS_CODE",
    "PACKED_DATA",
    "RAISED",
    "RawTable",
    "Unreadable",
    "flatten",
    "read_tables",
]

_MAPPED = DELIMITED | {".parquet", ".pq"}
"""Read from the mapped file, without a copy in memory."""
RAISED = (*FAULTS, csv.Error, struct.error, zlib.error, EOFError, AssertionError)


def read_tables(data: bytes | mmap.mmap, suffix: str) -> list[RawTable]:
    """Read one file. Raises Unreadable with the reason, never anything else."""
    try:
        return _mapped(data, suffix) if suffix in _MAPPED else _loaded(data, suffix)
    except Unreadable:
        raise
    except RAISED as error:
        raise Unreadable(f"{type(error).__name__}: {str(error)[:200]}") from error


def _mapped(data: bytes | mmap.mmap, suffix: str) -> list[RawTable]:
    if suffix not in DELIMITED:
        return [parquet(data)]
    if is_statement(data[:200_000]):
        return statement_tables(bytes(data[: min(len(data), MAX_LOOSE_BYTES)]))
    return [delimited(data)]


def _loaded(data: bytes | mmap.mmap, suffix: str) -> list[RawTable]:
    if len(data) > MAX_LOOSE_BYTES:
        raise Unreadable(f"{len(data)} bytes, at most {MAX_LOOSE_BYTES} are read of a {suffix} file")
    whole = bytes(data[: len(data)])
    if suffix in (".json", ".jsonl", ".ndjson"):
        return _json(_decoded(whole), lines=suffix != ".json")
    for endings, read in (
        (frozenset({".feather", ".arrow"}), lambda raw: [feather(raw)]),
        (WORKBOOKS, workbook),
        (DATABASES, database),
        (frozenset({".html", ".htm"}), html_tables),
    ):
        if suffix in endings:
            return read(whole)
    raise Unreadable(f"files ending in {suffix or 'nothing'} are not read as tables")


def _json(text: str, *, lines: bool) -> list[RawTable]:
    if lines:
        return json_tables(parse_lines(text))
    try:
        return json_tables(parse_json(text))
    except ValueError as error:
        # JSON lines are often called .json.
        if isinstance(error, Unreadable) or "Extra data" not in str(error):
            raise
        return json_tables(parse_lines(text))


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
