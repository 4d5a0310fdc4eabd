"""Delimited text: typed in one pass where the first thousand rows are plain, leniently where they are not."""

import io
import mmap
import warnings
from typing import Any

import pandas as pd

from evaluator.package.constants import MAX_LOOSE_BYTES, MAX_LOOSE_CELLS
from evaluator.package.formats.raw import RawTable, Unreadable, check_size
from evaluator.package.formats.sniffing import Dialect, sniff
from evaluator.package.numbers import NA_CELLS

Bytes = bytes | mmap.mmap
_HEAD = 1_000_000
_CHUNK = 1 << 24
_RETRIES = 4


def delimited(data: Bytes) -> RawTable:
    """Read one delimited text. Raises Unreadable, or what the parsers raise."""
    head = data[:_HEAD]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _loose(data, _text(data, "utf-16"), ("text is UTF-16",))
    if b"\x00" in head[:4096]:
        return _without_mark(data, head)
    try:
        decoded = _cut(head, len(data)).decode("utf-8-sig")
    except UnicodeDecodeError:
        return _loose(data, _text(data, "latin-1"), ("text is not UTF-8, read as Latin-1",))
    dialect = sniff(decoded)
    breaks = _line_breaks(data)
    check_size(max(breaks - dialect.skip, 0), len(dialect.names))
    frame = None if dialect.european else _typed(data, dialect)
    if frame is not None:
        return RawTable("", frame, dialect.guesses)
    return _loose(data, None, (), dialect)


def _without_mark(data: Bytes, head: bytes) -> RawTable:
    """Every second byte NUL is UTF-16 without its mark; anything else with NUL is no text."""
    sample = head[:4000]
    for codec, zeros in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[::2])):
        if zeros.count(0) > 0.9 * len(zeros):
            return _loose(data, _text(data, codec), (f"text is {codec.upper()} without a mark",))
    raise Unreadable("the file holds NUL bytes, it is no text")


def _text(data: Bytes, codec: str) -> str:
    if len(data) > MAX_LOOSE_BYTES:
        raise Unreadable(f"{len(data)} bytes that are not UTF-8, at most {MAX_LOOSE_BYTES} are read")
    return bytes(data[: len(data)]).decode(codec)


def _cut(head: bytes, size: int) -> bytes:
    """Return the head up to its last whole line, so that no character is cut in two."""
    if size <= len(head):
        return head
    return head[: head.rfind(b"\n") + 1] or head[:-4]


def _line_breaks(data: Bytes) -> int:
    feeds = returns = 0
    for at in range(0, len(data), _CHUNK):
        chunk = data[at : at + _CHUNK]
        feeds += chunk.count(b"\n")
        returns += chunk.count(b"\r") if not feeds else 0
    return max(feeds, returns)


def _typed(data: Bytes, dialect: Dialect) -> pd.DataFrame | None:
    """Return the frame read with the sniffed types; None when some row does not keep to them."""
    import pyarrow as pa  # noqa: PLC0415 -- costs 0.2 s and only data files need it
    from pyarrow import csv as arrow_csv  # noqa: PLC0415

    text = set(dialect.text)
    uneven = False

    def odd(_: Any) -> str:
        nonlocal uneven
        uneven = True
        return "skip"

    for _ in range(_RETRIES):
        types = {n: pa.dictionary(pa.int32(), pa.string()) if n in text else pa.float64() for n in dialect.names}
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(pa.py_buffer(data)),
                read_options=arrow_csv.ReadOptions(
                    column_names=dialect.names, skip_rows=dialect.skip, block_size=_CHUNK, use_threads=True
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=dialect.delimiter, newlines_in_values=False, invalid_row_handler=odd
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=types, null_values=NA_CELLS, strings_can_be_null=False
                ),
            )
        except pa.ArrowException as fault:
            column = _culprit(str(fault), dialect.names)
            if column is None or column in text:
                return None
            text.add(column)
            continue
        return None if uneven else _as_frame(table)
    return None


def _culprit(message: str, names: list[str]) -> str | None:
    """Return the column that pyarrow names in 'In CSV column #3: ...'."""
    place = message.partition("In CSV column #")[2].partition(":")[0]
    return names[int(place)] if place.isdigit() and int(place) < len(names) else None


def _as_frame(table: Any) -> pd.DataFrame:
    import pyarrow as pa  # noqa: PLC0415

    distinct = 0
    columns: dict[str, Any] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_dictionary(column.type):
            whole = column.unify_dictionaries().combine_chunks() if column.num_chunks > 1 else column
            distinct += sum(len(chunk.dictionary) for chunk in _chunks(whole)[:1])
            columns[name] = whole.to_pandas()
        else:
            columns[name] = column.to_pandas()
        if distinct > MAX_LOOSE_CELLS:
            raise Unreadable(f"more than {MAX_LOOSE_CELLS} distinct texts")
    return pd.DataFrame(columns, copy=False)


def _chunks(column: Any) -> list[Any]:
    return list(column.chunks) if hasattr(column, "chunks") else [column]


def _loose(data: Bytes, text: str | None, guesses: tuple[str, ...], dialect: Dialect | None = None) -> RawTable:
    """Read rows of uneven length, other encodings and decimal commas, all columns that need it as text."""
    if len(data) > MAX_LOOSE_BYTES:
        raise Unreadable(
            f"{len(data)} bytes with rows that do not keep to one shape, at most {MAX_LOOSE_BYTES} are read"
        )
    if text is not None:
        data = text.encode()
    raw = bytes(data[: len(data)]).removeprefix(b"\xef\xbb\xbf")
    if dialect is None:
        dialect = sniff(raw[:_HEAD].decode("utf-8", "replace"))
    check_size(0, len(dialect.names))
    rows = MAX_LOOSE_CELLS // max(len(dialect.names), 1)
    frame, lost = _parsed(raw, dialect, rows)
    if len(frame) > rows:
        raise Unreadable(f"more than {rows} rows, that is the most that is read of {len(dialect.names)} columns")
    guesses = (*guesses, *dialect.guesses, *([lost] if lost else []))
    return RawTable("", frame, guesses, european=dialect.european)


def _parsed(data: bytes, dialect: Dialect, rows: int) -> tuple[pd.DataFrame, str]:
    """Return the rows and what was lost on the way, in words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = pd.read_csv(
            io.BytesIO(data),
            sep=dialect.delimiter,
            header=None,
            names=dialect.names,
            index_col=False,
            skiprows=dialect.skip,
            dtype=dict.fromkeys(dialect.text, "str"),
            keep_default_na=False,
            na_values={name: NA_CELLS for name in dialect.names if name not in dialect.text},
            nrows=rows + 1,
            low_memory=False,
            on_bad_lines="warn",
            skip_blank_lines=True,
            encoding="utf-8",
            encoding_errors="replace",
        )
    odd = [str(one.message) for one in caught if issubclass(one.category, pd.errors.ParserWarning)]
    return frame, f"rows longer than the header lose cells or are left out: {odd[0][:120].strip()}" if odd else ""
