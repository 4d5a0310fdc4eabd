"""SQLite files: a private copy, opened read-only and immutable, plain tables only, a bounded number of steps."""

import os
import re
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from evaluator.package.constants import MAX_LOOSE_CELLS, MAX_TABLES, SQLITE_STEPS
from evaluator.package.formats.raw import RawTable, Unreadable, check_size, unique

_EVERY = 100_000
_ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ})
_PLAIN = re.compile(r"^\s*create\s+table\b", re.IGNORECASE)
_SURELY_COMPUTED = re.compile(r"\bgenerated\s+always\b|\bas\s*\(", re.IGNORECASE)


def database(data: bytes) -> list[RawTable]:
    """Read the tables of an SQLite file; views, virtual and generated tables are left out. Raises Unreadable."""
    handle, name = tempfile.mkstemp(suffix=".sqlite")
    try:
        with os.fdopen(handle, "wb") as copy:
            copy.write(data)
        connection = sqlite3.connect(f"file:{name}?mode=ro&immutable=1", uri=True, isolation_level=None)
        try:
            return _tables(connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise Unreadable(f"not a readable SQLite file: {str(error)[:200]}") from error
    finally:
        Path(name).unlink()


def _tables(connection: sqlite3.Connection) -> list[RawTable]:
    steps = 0

    def stop() -> int:
        nonlocal steps
        steps += _EVERY
        return int(steps > SQLITE_STEPS)

    connection.set_progress_handler(stop, _EVERY)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")
    connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchmany(5_000)
    plain = [name for kind, name, sql in rows if kind == "table" and _readable(name, sql)]
    others = [str(name) for kind, name, sql in rows if kind == "view" or (kind == "table" and not _readable(name, sql))]
    if len(plain) > MAX_TABLES:
        raise Unreadable(f"{len(plain)} tables, at most {MAX_TABLES} are read")
    guesses = (f"views and computed tables are left out: {', '.join(others[:5])[:120]}",) if others else ()
    found: list[RawTable] = []
    cells = 0
    for name in plain:
        frame = _frame(connection, str(name), MAX_LOOSE_CELLS - cells)
        cells += frame.size
        found.append(RawTable("" if len(plain) == 1 else str(name), frame, (f"SQLite table {name}", *guesses)))
    if not found:
        raise Unreadable("the SQLite file holds no plain table")
    return found


def _readable(name: object, sql: object) -> bool:
    text = str(sql or "")
    return bool(_PLAIN.match(text)) and not _SURELY_COMPUTED.search(text) and not str(name).startswith("sqlite_")


def _frame(connection: sqlite3.Connection, name: str, allowance: int) -> pd.DataFrame:
    quoted = name.replace('"', '""')
    cursor = connection.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 -- the name is quoted, the authorizer allows reading only
    names = unique([str(column[0]) for column in cursor.description])
    check_size(0, len(names))
    rows: list[Any] = []
    while part := cursor.fetchmany(10_000):
        rows += part
        if len(rows) * len(names) > allowance:
            raise Unreadable(f"more than {MAX_LOOSE_CELLS} cells in the SQLite file")
    frame = pd.DataFrame(rows, columns=names)
    for column in frame.columns:
        if frame[column].map(lambda cell: isinstance(cell, bytes)).any():
            frame[column] = frame[column].map(lambda cell: None if isinstance(cell, bytes) else cell)
    return frame
