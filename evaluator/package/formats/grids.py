"""A grid of cells (sheet, HTML or Markdown table, sectioned text) to the tables that lie in it."""

import datetime as dt
from typing import Any

import pandas as pd

from evaluator.package.formats.raw import RawTable, unique
from evaluator.package.formats.sniffing import header_names
from evaluator.package.headers import TEXT, normalised
from evaluator.package.numbers import is_plain_number

Grid = list[list[Any]]
_LOOKED = 40


def grid_tables(grid: Grid, key: str, guesses: tuple[str, ...] = ()) -> list[RawTable]:
    """Return the tables of a grid; blank rows or a title line part them."""
    tables: list[RawTable] = []
    for title, part in _parts(grid):
        made = _table(part, title if tables or title else "", key, guesses)
        if made is not None:
            tables.append(made)
    if len(tables) == 1:
        only = tables[0]
        return [RawTable(key, only.frame, only.guesses, only.european)]
    return tables


def _parts(grid: Grid) -> list[tuple[str, Grid]]:
    """Cut at blank rows and at lines of one filled cell, which are titles."""
    parts: list[tuple[str, Grid]] = []
    title = ""
    rows: Grid = []
    width = max((_filled(row) for row in grid), default=0)
    for row in grid:
        filled = _filled(row)
        if filled == 0 or (filled == 1 and width > 2):
            if len(rows) > 1:
                parts.append((title, rows))
                rows, title = [], ""
            elif rows:
                rows = []
            if filled == 1:
                title = next(_text(cell) for cell in row if _text(cell))
            continue
        rows.append(row)
    if len(rows) > 1:
        parts.append((title, rows))
    return parts


def _filled(row: list[Any]) -> int:
    return sum(bool(_text(cell)) for cell in row)


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()


def _table(rows: Grid, title: str, key: str, guesses: tuple[str, ...]) -> RawTable | None:
    start = _header_row(rows)
    rows = rows[start:]
    if len(rows) < 2:
        return None
    notes = list(guesses)
    if title or start:
        notes.append(f"title lines above the table are left out: {title or _text(rows[0][0])}"[:120])
    texts = [[_text(cell) for cell in row] for row in rows[:4]]
    width = max(len(row) for row in rows)
    names, depth = header_names([[*row, *[""] * (width - len(row))] for row in texts])
    names = unique(names)
    used = [place for place in range(width) if any(place < len(row) and _text(row[place]) for row in rows)]
    columns = {}
    for place in used:
        cells = [row[place] if place < len(row) else None for row in rows[depth:]]
        columns[names[place]] = _typed(names[place], cells)
    slug = normalised(title) if title else ""
    return RawTable(f"{key}.{slug}" if key and slug else key or slug, pd.DataFrame(columns), tuple(notes))


def _header_row(rows: Grid) -> int:
    """Return the first row that is filled as widely as the table and holds words."""
    width = max(_filled(row) for row in rows)
    for number, row in enumerate(rows[:_LOOKED]):
        words = [cell for cell in row if _text(cell) and isinstance(cell, str) and not is_plain_number(_text(cell))]
        if len(words) >= max(1, width // 2):
            return number
    return 0


def _typed(name: str, cells: list[Any]) -> "pd.Series[Any]":
    if normalised(name) in TEXT and any(isinstance(cell, str) for cell in cells):
        return pd.Series([_written(cell) for cell in cells], dtype=object)
    filled = [cell for cell in cells if cell is not None and cell != ""]
    if filled and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in filled):
        return pd.Series([float("nan") if cell is None or cell == "" else float(cell) for cell in cells])
    texts = [_text(cell) for cell in filled]
    if texts and all(isinstance(cell, str) for cell in filled) and all(is_plain_number(text) for text in texts):
        return pd.Series([float(_text(cell)) if _text(cell) else float("nan") for cell in cells])
    return pd.Series([_written(cell) for cell in cells], dtype=object)


def _written(cell: Any) -> str:
    if isinstance(cell, dt.datetime | dt.date):
        return cell.isoformat()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return _text(cell)
