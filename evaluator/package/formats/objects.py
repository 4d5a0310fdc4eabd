"""JSON and JSON lines to tables: records, split, column and index orientation, nested by name and date."""

import json
import math
import re
from typing import Any

import pandas as pd

from evaluator.package.constants import MAX_JSON_DEPTH, MAX_KEYS, MAX_LOOSE_CELLS, MAX_ROWS, MAX_TABLES
from evaluator.package.formats.raw import RawTable, Unreadable

_STAMP = re.compile(r"^(\d{4}-\d{2}-\d{2}|\d{8}$|\d{4}/\d{2}/\d{2}|\d{10}$|\d{13}$|\d{4}-\d{2}$)")
_SYMBOL = re.compile(r"(?:\d+[.:]\s*)?(?:symbol|ticker)", re.IGNORECASE)
_COUNT = re.compile(r"^\d{1,7}$")
LIST_ROW = ("amount", "price", "sid", "symbol", "value")
"""Cells of backtrader's Transactions analyzer."""


def parse_json(text: str) -> Any:
    """Return the value of a JSON text. Raises Unreadable when it is nested too deep, else what json raises."""
    found = json.loads(text, parse_int=_whole)
    _bounded(found, 0)
    return found


def parse_lines(text: str) -> list[Any]:
    """Return the values of JSON lines."""
    rows = [json.loads(line, parse_int=_whole) for line in text.splitlines() if line.strip()]
    _bounded(rows, 0)
    return rows


def _whole(digits: str) -> int | float:
    """Integers of thousands of digits cost quadratic time; as floats they are infinite, which is no number."""
    return int(digits) if len(digits) <= 20 else float(digits)


def _bounded(value: Any, depth: int) -> None:
    if depth > MAX_JSON_DEPTH:
        raise Unreadable(f"JSON is nested deeper than {MAX_JSON_DEPTH} levels")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(inner, dict | list):
            _bounded(inner, depth + 1)


def json_tables(found: Any) -> list[RawTable]:
    """Return the tables of a JSON value, one per key where an object holds several."""
    if isinstance(found, list):
        return [RawTable("", _rows(found))]
    if not isinstance(found, dict):
        raise Unreadable("the JSON is neither a list nor an object")
    whole = _oriented(found)
    if whole is not None:
        return [whole]
    held = {key: value for key, value in found.items() if _is_table(value)}
    if len(held) > MAX_TABLES:
        raise Unreadable(f"{len(held)} tables, at most {MAX_TABLES} are read")
    rest = {key: value for key, value in found.items() if key not in held}
    tables = _stacked(held) if not rest else None
    if tables is None:
        tables = []
        for key, value in held.items():
            for one in json_tables(value):
                name = f"{key}.{one.key}" if one.key else str(key)
                tables.append(RawTable(name, one.frame, ("one table per key of a JSON object", *one.guesses)))
    symbol = _symbol_of(rest)
    if symbol and len(held) == 1:
        tables = [
            one
            if {"symbol", "ticker"} & {str(column).lower() for column in one.frame.columns}
            else RawTable(one.key, one.frame.assign(symbol=symbol), one.guesses)
            for one in tables
        ]
    if rest:
        tables.insert(0, RawTable("", _object_table(rest)))
    return tables


def _symbol_of(rest: dict[Any, Any]) -> str:
    """Return the symbol that stands beside a table or in a head of it (Alpha Vantage's Meta Data); '' when none does."""
    heads = [value for value in rest.values() if isinstance(value, dict)]
    for level in (rest, *heads):
        for key, value in level.items():
            if _SYMBOL.fullmatch(str(key)) and isinstance(value, str):
                return value
    return ""


def _oriented(found: dict[str, Any]) -> RawTable | None:
    """Return the one table of pandas' own shapes and of objects keyed by date; None when it is something else."""
    if {"columns", "data"} <= set(found) and isinstance(found["data"], list):
        frame = pd.DataFrame(found["data"], columns=[str(c) for c in found["columns"]])
        index = found.get("index")
        if (
            isinstance(index, list)
            and len(index) == len(frame)
            and not all(isinstance(i, int) and i < 1e6 for i in index)
        ):
            frame.insert(0, "index", index)
        return RawTable("", frame)
    if {"schema", "data"} <= set(found) and isinstance(found["data"], list):
        return RawTable("", _rows(found["data"]))
    return _keyed(found) if found else None


def _keyed(found: dict[str, Any]) -> RawTable | None:
    inner = list(found.values())
    if all(isinstance(v, dict) and v for v in inner):
        return _nested({str(key): value for key, value in found.items()})
    if _dated(list(found)) and all(isinstance(v, list) for v in inner):
        return _dated_lists(found)
    if all(isinstance(v, list) and len(v) == len(inner[0]) > 1 for v in inner) and not any(
        isinstance(cell, dict | list) for v in inner for cell in v[:5]
    ):
        return RawTable("", pd.DataFrame(found).rename(columns=str), ("JSON of one list per column",))
    return None


def _nested(found: dict[str, dict[str, Any]]) -> RawTable | None:
    outer, inner = list(found), [str(key) for value in found.values() for key in list(value)[:3]]
    leaves = [leaf for value in list(found.values())[:20] for leaf in list(value.values())[:3]]
    deep = [leaf for leaf in leaves if isinstance(leaf, dict)]
    if deep and len(deep) == len(leaves):
        return _three_levels(found, outer, inner)
    if any(isinstance(leaf, dict | list) for leaf in leaves):
        return None
    return _two_levels(found, outer, inner)


def _two_levels(found: dict[str, dict[str, Any]], outer: list[str], inner: list[str]) -> RawTable | None:
    if _dated(outer):
        wide = pd.DataFrame.from_dict(found, orient="index")
        return RawTable("", wide.rename(columns=str).rename_axis("date").reset_index())
    if _dated(inner):
        wide = pd.DataFrame(found)
        frame = wide.rename(columns=str).rename_axis("date").reset_index()
        return RawTable("", frame, ("JSON nested as name, date",))
    if all(_COUNT.match(key) for key in inner):
        return RawTable("", pd.DataFrame(found).rename(columns=str).reset_index(drop=True), ("JSON of columns",))
    if all(_COUNT.match(key) for key in outer):
        return RawTable("", pd.DataFrame.from_dict(found, orient="index").rename(columns=str).reset_index(drop=True))
    return None


def _three_levels(found: dict[str, Any], outer: list[str], inner: list[str]) -> RawTable | None:
    """Return {name: {date: {field: x}}} and {date: {name: {field: x}}} as a long table."""
    by_date = _dated(outer)
    if not by_date and not _dated(inner):
        return None
    rows = []
    for first, level in found.items():
        for second, fields in level.items():
            if isinstance(fields, dict):
                day, symbol = (first, second) if by_date else (second, first)
                rows.append({"date": day, "symbol": symbol, **{str(k): v for k, v in fields.items()}})
    if rows and len(rows) * len(rows[0]) > MAX_LOOSE_CELLS:
        raise Unreadable(f"more than {MAX_LOOSE_CELLS} cells")
    return RawTable("", pd.DataFrame(rows), ("JSON nested by name and date",))


def _dated_lists(found: dict[str, Any]) -> RawTable | None:
    """Return {date: [rows]} and {date: [names]}."""
    flat = [(day, cell) for day, cells in found.items() for cell in cells]
    if not flat:
        return None
    if all(isinstance(cell, dict) for _, cell in flat):
        return RawTable("", pd.DataFrame([{"date": day, **cell} for day, cell in flat]).rename(columns=str))
    if all(isinstance(cell, list) and len(cell) == len(LIST_ROW) for _, cell in flat):
        rows = [{"date": day, **dict(zip(LIST_ROW, cell, strict=True))} for day, cell in flat]
        return RawTable("", pd.DataFrame(rows), ("lists are read as amount, price, sid, symbol, value",))
    if all(isinstance(cell, str) for _, cell in flat):
        rows = [
            {"date": day, "symbol": cell, "rank": rank + 1}
            for day, cells in found.items()
            for rank, cell in enumerate(cells)
        ]
        return RawTable("", pd.DataFrame(rows), ("lists of names per date are selections in order",), role="selections")
    return None


def _is_table(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], dict)
    if not isinstance(value, dict) or len(value) < 2:
        return False
    if {"columns", "data"} <= set(value):
        return True
    return _dated([str(key) for key in value]) or (
        all(isinstance(v, dict) and len(v) > 1 and _dated([str(k) for k in v]) for v in value.values())
    )


def _stacked(held: dict[str, Any]) -> list[RawTable] | None:
    """Return one table of {name: [rows]} when all have the same columns and none says its name."""
    lists = [value for value in held.values() if isinstance(value, list)]
    if len(held) < 2 or len(lists) != len(held):
        return None
    first = set(lists[0][0])
    if any(set(value[0]) != first for value in lists) or first & {"symbol", "ticker"}:
        return None
    rows = [{"symbol": str(key), **row} for key, value in held.items() for row in value if isinstance(row, dict)]
    return [RawTable("", _rows(rows), ("the keys of the JSON object are the symbols",))]


def _rows(rows: list[Any]) -> pd.DataFrame:
    if len(rows) > MAX_ROWS:
        raise Unreadable(f"more than {MAX_ROWS} rows")
    if rows and all(isinstance(row, list) for row in rows) and len({len(row) for row in rows}) == 1:
        if all(isinstance(cell, str) for cell in rows[0]) and len(rows) > 1:
            return pd.DataFrame(rows[1:], columns=rows[0])
        raise Unreadable("the JSON list holds rows without names")
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise Unreadable("the JSON list does not hold one object per row")
    width = len({key for row in rows[:1000] for key in row})
    if width * len(rows) > MAX_LOOSE_CELLS * 2:
        raise Unreadable(f"{len(rows)} rows x {width} keys, at most {2 * MAX_LOOSE_CELLS} cells are read from JSON")
    return pd.DataFrame(rows).rename(columns=str)


def _object_table(found: dict[str, Any]) -> pd.DataFrame:
    """An object of numbers keyed by date is a series; anything else is flattened to key and value."""
    inner = list(found.values())
    if len(found) >= 3 and all(_is_number(v) for v in inner) and _dated(list(found)):
        return pd.DataFrame({"date": list(found), "value": inner})
    if len(found) > 1 and all(isinstance(v, dict) and _is_number(v.get("value")) for v in inner):
        # {name: {value, unit, basis}}: one row for each name, what is said of it beside it.
        return pd.DataFrame(
            [{"key": key, **{str(k): str(v) for k, v in fields.items()}} for key, fields in found.items()]
        )
    flat = flatten(found)
    return pd.DataFrame({"key": list(flat), "value": [str(v) for v in flat.values()]})


def _dated(keys: list[str]) -> bool:
    return bool(keys) and all(_STAMP.match(str(key)) for key in keys[:20])


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
