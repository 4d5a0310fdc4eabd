"""Tables whose cells hold lists: zipline's performance frame, backtrader's transactions."""

import ast
import re
from typing import Any

import pandas as pd

from evaluator.package.formats.objects import LIST_ROW
from evaluator.package.formats.raw import RawTable
from evaluator.package.headers import DATE, pick

_STAMP = re.compile(r"Timestamp\('([^']{4,40})'(?:,\s*tz='([^']*)')?[^)]*\)")
_DATETIME = re.compile(r"datetime\.datetime\(([\d, ]{6,40})[^()]*(?:\([^()]*\)|<[^<>]*>)?[^()]*\)")
_ASSET = re.compile(r"(?:Equity|Asset|Future)\(\s*\d+\s*(?:\[([^\]]*)\])?[^)]*\)")
_NUMPY = re.compile(r"np\.(?:float64|int64|float32|int32)\(([^()]*)\)")
_REPR = re.compile(r"<[^<>]*>")
_NAN = re.compile(r"\b(?:nan|NaT|inf)\b")
_LONGEST = 200_000


def packed_cells(raw: RawTable, headers: list[str]) -> list[RawTable] | None:
    """Return the tables inside the cells; None when no cell holds a list."""
    if "transactions" in headers and ("portfolio_value" in headers or "positions" in headers):
        return _zipline(raw, headers)
    at = pick(headers, DATE)
    if at is None or len(headers) != 2:
        return None
    cells = raw.frame.iloc[:, 1 - at]
    if not cells.head(5).map(lambda cell: str(cell).startswith("[[")).all() or not len(cells):
        return None
    rows = []
    for day, cell in zip(raw.frame.iloc[:, at], cells, strict=True):
        found = [row for row in _value(cell) or [] if isinstance(row, list) and len(row) == len(LIST_ROW)]
        rows += [{"date": day, **dict(zip(LIST_ROW, row, strict=True))} for row in found]
    frame = pd.DataFrame(rows).drop(columns="sid", errors="ignore")
    return [
        RawTable(raw.key, frame, (*raw.guesses, "cells hold lists of amount, price, sid, symbol, value"), role="trades")
    ]


def _value(cell: object) -> Any:
    """Return the Python value that a cell prints; None when it is none. Nothing is called."""
    if isinstance(cell, list | dict):
        return cell
    text = str(cell)
    if len(text) > _LONGEST or not text.startswith(("[", "{")):
        return None
    text = _STAMP.sub(lambda m: repr(m[1] + ("+00:00" if m[2] == "UTC" and "+" not in m[1] else "")), text)
    text = _DATETIME.sub(_moment, text)
    text = _ASSET.sub(lambda m: repr(m[1] or m[0]), text)
    text = _NAN.sub("None", _REPR.sub("None", _NUMPY.sub(r"\1", text)))
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _moment(found: "re.Match[str]") -> str:
    parts = [int(part) for part in found[1].split(",") if part.strip()][:6]
    parts += [1, 1, 1, 0, 0, 0][len(parts) :]
    year, month, day, hour, minute, second = parts
    zone = "+00:00" if "UTC" in found[0] or "utc" in found[0] else ""
    return repr(f"{year:04d}-{month:02d}-{day:02d} {hour:02d}:{minute:02d}:{second:02d}{zone}")


def _zipline(raw: RawTable, headers: list[str]) -> list[RawTable]:
    frame = raw.frame.set_axis(headers, axis=1)
    orders: dict[Any, dict[str, Any]] = {}
    for cell in frame.get("orders", []):
        for order in _value(cell) or []:
            if isinstance(order, dict) and isinstance(order.get("id"), str):
                orders[order["id"]] = order
    fills = [fill for cell in frame["transactions"] for fill in (_value(cell) or []) if isinstance(fill, dict)]
    total: dict[Any, float] = {}
    for fill in fills:
        key = str(fill.get("order_id"))
        total[key] = total.get(key, 0.0) + abs(_number(fill.get("amount")))
    rows = [_fill(fill, orders.get(str(fill.get("order_id")), {}), total) for fill in fills]
    guess = (*raw.guesses, "zipline performance frame: fills and orders are read from its cells")
    tables = [RawTable(_key(raw, "transactions"), pd.DataFrame(rows), guess, role="trades")] if rows else []
    at = pick(headers, DATE)
    if at is not None and "portfolio_value" in headers:
        book = {"date": frame.iloc[:, at], "equity": frame["portfolio_value"]}
        book |= {"cash": frame["ending_cash"]} if "ending_cash" in headers else {}
        tables.append(RawTable(_key(raw, "portfolio_value"), pd.DataFrame(book), guess, role="equity"))
    if "starting_cash" in headers and len(frame):
        money = pd.DataFrame({"metric": ["initial_capital"], "value": [str(frame["starting_cash"].iloc[0])]})
        tables.append(RawTable(_key(raw, "capital"), money, guess, role="metrics"))
    return tables


def _key(raw: RawTable, name: str) -> str:
    return f"{raw.key}.{name}" if raw.key else name


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _fill(fill: dict[str, Any], order: dict[str, Any], total: dict[Any, float]) -> dict[str, Any]:
    amount = _number(fill.get("amount"))
    whole = total.get(str(fill.get("order_id")), 0.0)
    fee = fill.get("commission")
    if fee is None and isinstance(order.get("commission"), int | float) and whole:
        fee = _number(order.get("commission")) * abs(amount) / whole
    return {
        "date": fill.get("dt"),
        "symbol": str(fill.get("sid", fill.get("symbol"))),
        "quantity": amount,
        "price": fill.get("price"),
        "fee": 0.0 if fee is None else fee,
        "signal_date": order.get("created"),
    }
