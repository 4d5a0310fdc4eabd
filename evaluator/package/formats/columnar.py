"""Parquet and Feather, read in batches under a count; nested columns are left out in words."""

import io
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd

from evaluator.package.constants import MAX_CELLS, MAX_FILE_BYTES, MIB
from evaluator.package.formats.raw import RawTable, Unreadable, check_size, level_name, unique

_BATCH = 65_536
_ALLOWANCE = 768 * MIB
"""What the decoders may take; a page header can claim any size before it is checked."""
_LONGEST_TEXT = 32_768


def parquet(data: Any) -> RawTable:
    """Read one parquet file. Raises Unreadable with the reason."""
    import pyarrow as pa  # noqa: PLC0415 -- only when such a file is delivered
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with _bounded_memory():
            source = pa.BufferReader(pa.py_buffer(data))
            schema = pq.read_schema(source)
            texts = [field.name for field in schema if _is_text(field.type)]
            file = pq.ParquetFile(pa.BufferReader(pa.py_buffer(data)), read_dictionary=texts)
            meta = file.metadata
            check_size(meta.num_rows, meta.num_columns)
            if sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups)) > 2 * MAX_FILE_BYTES:
                raise Unreadable(f"the file unpacks to more than {2 * MAX_FILE_BYTES} bytes")
            flat = [field.name for field in schema if not pa.types.is_nested(field.type)]
            table = _collected(file.iter_batches(_BATCH, columns=flat), file.schema_arrow, flat)
            return _finished(table, [name for name in schema.names if name not in flat])
    except pa.ArrowException as error:
        raise Unreadable(f"not a readable parquet file: {str(error)[:200]}") from error


def feather(data: Any) -> RawTable:
    """Read one Feather (Arrow IPC) file. Raises Unreadable with the reason."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import feather as arrow_feather  # noqa: PLC0415

    try:
        with _bounded_memory():
            raw = bytes(data[: len(data)])
            if raw.startswith(b"FEA1"):
                table = arrow_feather.read_table(io.BytesIO(raw))
            else:
                reader = pa.ipc.open_file(pa.BufferReader(raw))
                batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
                table = _collected(batches, reader.schema, reader.schema.names)
            check_size(table.num_rows, table.num_columns)
            flat = [field.name for field in table.schema if not pa.types.is_nested(field.type)]
            return _finished(table.select(flat), [name for name in table.column_names if name not in flat])
    except pa.ArrowException as error:
        raise Unreadable(f"not a readable Feather file: {str(error)[:200]}") from error


def _is_text(kind: Any) -> bool:
    import pyarrow as pa  # noqa: PLC0415

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind))


def _collected(batches: Any, schema: Any, names: list[str]) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    kept = []
    rows = size = 0
    for batch in batches:
        rows += batch.num_rows
        size += batch.nbytes
        check_size(rows, batch.num_columns)
        if size > 2 * MAX_CELLS * 8:
            raise Unreadable("the file unpacks to more bytes than its rows explain")
        kept.append(batch)
    table = pa.Table.from_batches(kept, schema=kept[0].schema) if kept else schema.empty_table().select(names)
    return table.unify_dictionaries().replace_schema_metadata(schema.metadata)


def _finished(table: Any, nested: list[str]) -> RawTable:
    import pyarrow as pa  # noqa: PLC0415

    guesses = [f"column {name} holds lists or objects and is left out" for name in nested[:5]]
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if pa.types.is_dictionary(kind) and not pa.types.is_string(kind.value_type):
            column = column.cast(kind.value_type)  # noqa: PLW2901
            kind = column.type
        if pa.types.is_decimal(kind) or pa.types.is_float16(kind):
            column = column.cast(pa.float64())  # noqa: PLW2901
            guesses.append(f"column {name}: {kind} is read as a float")
        elif pa.types.is_date(kind):
            column = column.cast(pa.timestamp("us"))  # noqa: PLW2901
        elif pa.types.is_duration(kind) or pa.types.is_time(kind) or pa.types.is_interval(kind):
            column = column.cast(pa.string()) if pa.types.is_time(kind) else column.cast(pa.int64())  # noqa: PLW2901
        _check_texts(column)
        columns.append(column)
    frame = pa.table(columns, names=table.column_names).replace_schema_metadata(table.schema.metadata).to_pandas()
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    frame.columns = pd.Index(unique([level_name(_label(c)) for c in frame.columns]))
    return RawTable("", frame, tuple(guesses))


def _check_texts(column: Any) -> None:
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import compute  # noqa: PLC0415

    values = column
    if pa.types.is_dictionary(column.type):
        values = pa.chunked_array([chunk.dictionary for chunk in column.chunks[:1]], type=column.type.value_type)
    if _is_text(values.type) and len(values):
        longest = compute.max(compute.binary_length(values)).as_py() or 0
        if longest > _LONGEST_TEXT:
            raise Unreadable(f"a cell of {longest} bytes, at most {_LONGEST_TEXT} are read")


def _label(column: object) -> object:
    """Column labels of several levels are stored as the text of a tuple."""
    if isinstance(column, str) and column.startswith("('") and column.endswith(")"):
        return tuple(part.strip().strip("'\"") for part in column[1:-1].split(","))
    return column


@contextmanager
def _bounded_memory() -> Iterator[None]:
    """Let what is allocated inside fail at an allowance over what the process holds now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123 -- a kernel file
        held = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData"))
    wanted = held + _ALLOWANCE
    limited = (soft == resource.RLIM_INFINITY or wanted < soft) and (hard == resource.RLIM_INFINITY or wanted < hard)
    if limited:
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
    try:
        yield
    finally:
        if limited:
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
