"""Diagnostics of signals as a delivery reports them: in tables of any layout, else in the prose of its documents."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from evaluator.measure.naming import option_id
from evaluator.package.delivery import Delivery, Table
from evaluator.package.headers import normalised
from evaluator.package.numbers import parse_number

Kind = Literal["ic", "t", "spread", "hit_rate", "decay"]
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("t", re.compile(r"(^|_)(t_?stat\w*|t_value|ic_t|rank_ic_t|t)($|_)")),
    ("decay", re.compile(r"decay|half_?life|(^|_)lag_?\d|ic_(\d+d?|next|lag)")),
    ("spread", re.compile(r"spread|top_minus_bottom|long_minus_short|long_short")),
    ("hit_rate", re.compile(r"hit_(rate|ratio)|positive_(share|rate|dates)|share_(of_)?positive|ic_positive")),
    ("ic", re.compile(r"(^|_)(rank_)?ic($|_)|information_coefficient|spearman|rank_correlation")),
)
_SKIPPED = ("prices", "market", "fundamentals", "trades", "equity", "weights", "selections", "positions", "spec")
_LABELS = ("factor", "signal", "signal_name", "factor_name", "feature", "characteristic", "name")
_MOST_ROWS = 400
_WORDS = re.compile(
    r"information coefficient|rank[- ]ic\b|\bIC\b|quantile spread|quintile spread|decile spread|top minus bottom|rank correlation",
)
_NUMBER = r"[^\d\n+\-\u2212|]{0,24}(?P<value>[-+\u2212]?\d*\.?\d+\s*%?)"
_PROSE: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("t", re.compile(r"\bt[- ]?(?:stat(?:istic)?|value)?\b\s*(?:\([^)]*\))?" + _NUMBER, re.IGNORECASE)),
    ("decay", re.compile(r"\bdecay\w*" + _NUMBER, re.IGNORECASE)),
    (
        "spread",
        re.compile(r"(?:(?:quantile|quintile|decile|tercile)[- ]spread|top minus bottom)" + _NUMBER, re.IGNORECASE),
    ),
    ("hit_rate", re.compile(r"\bhit[- ]rat(?:e|io)" + _NUMBER, re.IGNORECASE)),
    (
        "ic",
        re.compile(r"(?:\bIC\b|information coefficient|rank correlation)(?:\s*\([^)]*\))?" + _NUMBER),
    ),
)
_LINE_CHARS = 2_000


@dataclass(frozen=True)
class Reported:
    """One reported diagnostic."""

    kind: Kind
    value: float
    factor: str | None
    """The grammar's id, 'composite', or the label as written; None when the passage names no signal."""
    quantiles: int
    where: str


def reported(delivery: Delivery, factors: tuple[str, ...]) -> list[Reported]:
    """Return every diagnostic with a number; prose counts only where no table has one.

    Args: factors: names of the delivered signals, which a label may repeat.
    """
    found = [one for table in delivery.tables if table.group == "main" for one in _in_table(table, factors)]
    if found:
        return found
    return [
        one
        for document in delivery.documents
        if document.kind != "code"
        for line in document.text.splitlines()
        for one in _in_line(line[:_LINE_CHARS], document.path, factors)
    ]


def is_named(delivery: Delivery) -> bool:
    """Tell whether any document or message of the agent names a diagnostic of signals."""
    texts = [document.text for document in delivery.documents if document.kind != "code"]
    texts += [message.text for message in delivery.messages if message.role != "user"]
    return any(_WORDS.search(text) for text in texts) or any(
        _kind(normalised(str(column))) == "ic" for table in delivery.tables for column in table.frame.columns
    )


def is_on_signals(table: Table) -> bool:
    """Tell whether a table read as metrics holds diagnostics of signals, by its name and its labels."""
    labels = table.frame["label"].astype(str) if "label" in table.frame.columns else pd.Series(dtype=str)
    return _is_named_for_signals(table) and any(_kind(normalised(label)) == "ic" for label in labels)


def _is_named_for_signals(table: Table) -> bool:
    return re.search(r"signal|valid|factor|(^|_)ic(_|$)", normalised(table.path)) is not None


def _kind(label: str) -> Kind | None:
    return next((kind for kind, pattern in _KINDS if pattern.search(label)), None)


def _in_table(table: Table, factors: tuple[str, ...]) -> Iterator[Reported]:
    frame = table.frame
    if table.role in _SKIPPED or not 0 < len(frame) <= _MOST_ROWS:
        dated = table.role == "other" and "date" in frame.columns
        if not dated or not len(frame):
            return
    names = {str(column): normalised(str(column)) for column in frame.columns}
    kinds = {column: _kind(name) for column, name in names.items()}
    if "ic" in kinds.values() or "spread" in kinds.values():
        yield from _wide(table, names, kinds, factors)
    elif {"label", "value"} <= set(frame.columns):
        yield from _long(table, frame["label"], frame["value"], factors)
    else:
        keys = next(
            (c for c, n in names.items() if n in ("metric", "diagnostic", "statistic", "measure", "test")), None
        )
        values = next((c for c, n in names.items() if n in ("value", "result")), None)
        if keys is not None and values is not None:
            yield from _long(table, frame[keys], frame[values], factors)


def _wide(
    table: Table, names: dict[str, str], kinds: dict[str, Kind | None], factors: tuple[str, ...]
) -> Iterator[Reported]:
    frame = table.frame
    label = next((column for wanted in _LABELS for column, name in names.items() if name == wanted), None)
    if "date" in frame.columns:
        keys = pd.Series("", index=frame.index) if label is None else frame[label].astype(str)
        for column, kind in kinds.items():
            if kind == "ic":
                numbers = pd.Series([_number(cell, names[column]) for cell in frame[column]], index=frame.index)
                for key, mean in numbers.groupby(keys).mean().items():
                    if pd.notna(mean):
                        where = f"{table.path}: mean of {names[column]}"
                        yield Reported("ic", float(mean), _factor(str(key), factors), 5, where)
        return
    for row in range(len(frame)):
        text = "" if label is None else str(frame[label].iloc[row])
        for column, kind in kinds.items():
            value = None if kind is None or column == label else _number(frame[column].iloc[row], column)
            if kind is not None and value is not None:
                where = f"{table.path}: {text} {names[column]}".replace("  ", " ")
                yield Reported(kind, value, _factor(text, factors), _quantiles(names[column]), where)


def _long(
    table: Table, keys: "pd.Series[Any]", values: "pd.Series[Any]", factors: tuple[str, ...]
) -> Iterator[Reported]:
    about_signals = _is_named_for_signals(table)
    for key, cell in zip(keys.astype(str), values, strict=True):
        name = normalised(key)
        kind, value = _kind(name), _number(cell, key)
        if kind is not None and value is not None and (kind == "ic" or about_signals or _kind_of_signals(name)):
            yield Reported(kind, value, _factor(key, factors), _quantiles(name), f"{table.path}: {key}")


def _kind_of_signals(name: str) -> bool:
    """A hit rate or a t value among performance metrics belongs to a signal only where it says so."""
    return re.search(r"(^|_)(ic|rank|signal|factor|quantile|quintile|decile|top_minus_bottom)(_|$)", name) is not None


def _in_line(line: str, path: str, factors: tuple[str, ...]) -> Iterator[Reported]:
    if not _WORDS.search(line):
        return
    name = _factor(line, factors, whole=False)
    for kind, pattern in _PROSE:
        hit = pattern.search(line)
        value = None if hit is None else _number(hit["value"], "")
        if hit is not None and value is not None:
            yield Reported(kind, value, name, _quantiles(normalised(hit.group())), f"{path}: '{line.strip()[:120]}'")


def _factor(text: str, factors: tuple[str, ...], *, whole: bool = True) -> str | None:
    plain = normalised(text)
    for name in sorted(factors, key=len, reverse=True):
        if name and normalised(name) in plain:
            return name
    known = option_id("factors", text)
    if known is not None:
        return known
    if re.search(r"composite|combined|blend|overall", plain):
        return "composite"
    return text.strip() or None if whole and _kind(plain) is None else None


def _quantiles(name: str) -> int:
    words = (("half", 2), ("third", 3), ("tercile", 3), ("quartile", 4), ("quintile", 5), ("decile", 10))
    return next((count for word, count in words if word in name), 5)


def _number(cell: Any, label: str) -> float | None:
    text = str(cell).replace("\u2212", "-").strip()
    try:
        value = float(cell) if isinstance(cell, (int, float)) else parse_number(text)
    except (TypeError, ValueError):
        return None
    if value is None or pd.isna(value):
        return None
    return value / 100 if label.strip().endswith("%") and not text.endswith("%") else float(value)
