"""Bytes of one data file to raw tables: encodings, delimiters, JSON shapes, parquet. Knows no roles."""

import csv
import io
import json
import math
import warnings
from dataclasses import dataclass
from typing import Any

import pandas as pd

from evaluator.package.constants import MAX_CELLS, MAX_COLUMNS, MAX_JSON_DEPTH, MAX_KEYS, MAX_ROWS
from evaluator.package.headers import TEXT, normalised
from evaluator.package.numbers import NA_CELLS

DELIMITED = frozenset({".csv", ".tsv", ".tab"})
DATA_SUFFIXES = DELIMITED | {".json", ".jsonl", ".ndjson", ".parquet", ".pq"}
FAULTS = (ValueError, TypeError, LookupError, ArithmeticError, OSError, RecursionError, MemoryError, AttributeError)
"""What the parsers raise on broken files; pyarrow's and pandas' own errors derive from these, except ArrowException."""


class Unreadable(ValueError):  # noqa: N818 -- a finding about the delivery, not a fault of ours
    """The file is no table; the message says why."""


@dataclass(frozen=True)
class RawTable:
    """One table as delivered: headers untouched, text columns as text."""

    key: str
    """'' or what tells several tables of one file apart."""
    frame: pd.DataFrame
    guesses: tuple[str, ...] = ()
    european: bool = False
    """Decimal commas."""


def read_tables(data: bytes, suffix: str) -> list[RawTable]:
    """Read one file. Raises Unreadable with the reason, never anything else."""
    try:
        if suffix in DELIMITED:
            return [_delimited(data)]
        if suffix in (".jsonl", ".ndjson"):
            return _json_tables([json.loads(line) for line in _decoded(data)[0].splitlines() if line.strip()])
        if suffix == ".json":
            return _json_tables(json.loads(_decoded(data)[0]))
        if suffix in (".parquet", ".pq"):
            return [_parquet(data)]
    except Unreadable:
        raise
    except FAULTS as error:
        raise Unreadable(f"{type(error).__name__}: {str(error)[:200]}") from error
    raise Unreadable(f"files ending in {suffix or 'nothing'} are not read as tables")


def _decoded(data: bytes) -> tuple[str, tuple[str, ...]]:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16"), ("text is UTF-16",)
    try:
        return data.decode("utf-8-sig"), ()
    except UnicodeDecodeError:
        return data.decode("latin-1"), ("text is not UTF-8, read as Latin-1",)


def _delimited(data: bytes) -> RawTable:
    guesses: tuple[str, ...] = ()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or not _is_utf8(data):
        text, guesses = _decoded(data)
        data = text.encode()
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\x00" in data[:4096]:
        raise Unreadable("the file holds NUL bytes, it is no text")
    skip, first = _first_line(data)
    delimiter = max(",;\t|", key=first.count)
    headers = next(csv.reader([first], delimiter=delimiter))
    if len(headers) > MAX_COLUMNS:
        raise Unreadable(f"{len(headers)} columns, at most {MAX_COLUMNS} are read")
    if delimiter not in first:
        delimiter = ","
    names = _unique(headers)
    text_columns = [n for n, h in zip(names, headers, strict=True) if normalised(h) in TEXT or not h.strip()]
    rows = min(MAX_ROWS, MAX_CELLS // max(len(names), 1))
    frame, lost = _parsed(data, delimiter, names, text_columns, skip, rows)
    if lost:
        guesses = (*guesses, lost)
    if len(frame) > rows:
        raise Unreadable(f"more than {rows} rows, that is the most that is read of {len(names)} columns")
    if skip:
        guesses = (*guesses, f"{skip} lines before the header are left out")
    return RawTable("", frame, guesses, european=delimiter == ";" and b"," in data[:65536])


def _parsed(
    data: bytes, delimiter: str, names: list[str], text_columns: list[str], skip: int, rows: int
) -> tuple[pd.DataFrame, str]:
    """Return the rows and what was lost on the way, in words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = pd.read_csv(
            io.BytesIO(data),
            sep=delimiter,
            header=None,
            names=names,
            index_col=False,
            skiprows=skip + 1,
            dtype=dict.fromkeys(text_columns, "str"),
            keep_default_na=False,
            na_values={n: NA_CELLS for n in names if n not in text_columns},
            nrows=rows + 1,
            low_memory=False,
            on_bad_lines="warn",
            skip_blank_lines=True,
            encoding="utf-8",
            encoding_errors="replace",
        )
    odd = [str(one.message) for one in caught if issubclass(one.category, pd.errors.ParserWarning)]
    return frame, f"rows longer than the header lose cells or are left out: {odd[0][:120].strip()}" if odd else ""


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _first_line(data: bytes) -> tuple[int, str]:
    """Return how many preamble lines precede the header, and the header line."""
    lines = data[:1_000_000].decode("utf-8", "replace").splitlines()
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        comment = line.lstrip().startswith("#") and max(line.count(d) for d in ",;\t|") == 0
        if not comment:
            return number, line
    raise Unreadable("the file is empty")


def _unique(headers: list[str]) -> list[str]:
    """Make repeated or empty headers distinct, in place order."""
    seen: dict[str, int] = {}
    out = []
    for place, header in enumerate(headers):
        name = header.strip() or ("Unnamed: 0" if place == 0 else f"Unnamed: {place}")
        count = seen.get(name, 0)
        seen[name] = count + 1
        out.append(name if count == 0 else f"{name}.{count}")
    return out


def _parquet(data: bytes) -> RawTable:
    import pyarrow as pa  # noqa: PLC0415 -- only when a parquet file is delivered
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        file = pq.ParquetFile(io.BytesIO(data))
        meta = file.metadata
        if meta.num_rows > MAX_ROWS or meta.num_rows * max(meta.num_columns, 1) > MAX_CELLS:
            raise Unreadable(f"{meta.num_rows} rows x {meta.num_columns} columns, at most {MAX_CELLS} cells are read")
        if meta.num_columns > MAX_COLUMNS:
            raise Unreadable(f"{meta.num_columns} columns, at most {MAX_COLUMNS} are read")
        frame = file.read().to_pandas()
    except pa.ArrowException as error:
        raise Unreadable(f"not a readable parquet file: {str(error)[:200]}") from error
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    frame.columns = pd.Index(_unique([_level_name(c) for c in frame.columns]))
    return RawTable("", frame)


def _level_name(column: object) -> str:
    return "_".join(str(part) for part in column if str(part)) if isinstance(column, tuple) else str(column)


def _json_tables(found: Any) -> list[RawTable]:
    _bounded(found, 0)
    if isinstance(found, list):
        return [RawTable("", _records(found))]
    if not isinstance(found, dict):
        raise Unreadable("the JSON is neither a list nor an object")
    if {"columns", "data"} <= set(found) and isinstance(found["data"], list):
        return [RawTable("", pd.DataFrame(found["data"], columns=[str(c) for c in found["columns"]]))]
    tables = [
        RawTable(str(key), _records(value), ("one table per key of a JSON object",))
        for key, value in found.items()
        if isinstance(value, list) and value and isinstance(value[0], dict)
    ]
    rest = {k: v for k, v in found.items() if not (isinstance(v, list) and v and isinstance(v[0], dict))}
    if rest:
        tables.insert(0, RawTable("", _object_table(rest)))
    return tables


def _bounded(value: Any, depth: int) -> None:
    if depth > MAX_JSON_DEPTH:
        raise Unreadable(f"JSON is nested deeper than {MAX_JSON_DEPTH} levels")
    if isinstance(value, dict):
        for inner in value.values():
            if isinstance(inner, dict | list):
                _bounded(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, dict | list):
                _bounded(inner, depth + 1)


def _records(rows: list[Any]) -> pd.DataFrame:
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise Unreadable("the JSON list does not hold one object per row")
    if len(rows) > MAX_ROWS:
        raise Unreadable(f"more than {MAX_ROWS} rows")
    return pd.DataFrame(rows).rename(columns=str)


def _object_table(found: dict[str, Any]) -> pd.DataFrame:
    """An object of objects keyed by date is a wide table; anything else is flattened to key and value."""
    inner = list(found.values())
    if len(found) >= 3 and all(isinstance(v, dict) and v for v in inner) and _dated(list(found)):
        wide = pd.DataFrame.from_dict(found, orient="index")
        return wide.rename(columns=str).rename_axis("date").reset_index()
    if len(found) >= 3 and all(_is_number(v) for v in inner) and _dated(list(found)):
        return pd.DataFrame({"date": list(found), "value": inner})
    flat = flatten(found)
    return pd.DataFrame({"key": list(flat), "value": [str(v) for v in flat.values()]})


def _dated(keys: list[str]) -> bool:
    return all(len(str(k)) >= 8 and str(k)[:4].isdigit() for k in keys[:20])


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and (value != value or math.isfinite(value))  # noqa: PLR0124 -- NaN


def flatten(found: Any, prefix: str = "", depth: int = 0) -> dict[str, Any]:
    """Return 'a.b.c' -> leaf of nested objects and lists, at most 5,000 leaves."""
    if depth > MAX_JSON_DEPTH:
        raise Unreadable(f"configuration is nested deeper than {MAX_JSON_DEPTH} levels")
    if isinstance(found, list | tuple) and all(not isinstance(v, dict | list | tuple) for v in found):
        return {prefix: "+".join(str(v) for v in found)}
    if isinstance(found, dict):
        pairs: Any = found.items()
    elif isinstance(found, list | tuple):
        pairs = enumerate(found)
    else:
        return {prefix: found}
    out: dict[str, Any] = {}
    for key, value in pairs:
        out |= flatten(value, f"{prefix}.{key}" if prefix else str(key), depth + 1)
        if len(out) > MAX_KEYS:
            raise Unreadable(f"more than {MAX_KEYS} keys")
    return out
