"""Wide quotes with the name and the field in the header (yfinance, AAPL_close) to long prices."""

import re
from collections import Counter
from typing import Any

import pandas as pd

from evaluator.package.formats.raw import LEVEL, RawTable
from evaluator.package.headers import DATE, PRICES, normalised, pick
from evaluator.package.numbers import parse_numbers

_FIELD = {
    alias: name for name, aliases in PRICES.items() for alias in (name, *aliases) if len(alias) > 1 and alias != "price"
}
_WORDS = "|".join(sorted((re.escape(word).replace("_", "[_ ]?") for word in _FIELD), key=len, reverse=True))
_AFTER = re.compile(rf"^(?P<symbol>.+?)[_ ./:-](?P<field>{_WORDS})$", re.IGNORECASE)
_BEFORE = re.compile(rf"^(?P<field>{_WORDS})[_ ./:-](?P<symbol>.+)$", re.IGNORECASE)


def quotes_by_column(raw: RawTable, headers: list[str]) -> list[RawTable] | None:
    """Return long prices, or a wide table with one header level; None when the header is plain."""
    at = pick(headers, DATE)
    if at is None or len(headers) < 2:
        return None
    names = [str(name) for place, name in enumerate(raw.frame.columns) if place != at]
    levels = sum(LEVEL in name for name in names) > len(names) / 2
    cut = {name: _levels(name, names) if levels else _words(name) for name in names}
    known = {name: pair for name, pair in cut.items() if pair is not None}
    if len(known) < 0.8 * len(names):
        return _last_level(raw, at) if levels else None
    if not levels and (pick(headers, ("symbol", "ticker")) is not None or _plain_quotes(headers, known)):
        return None
    parts: dict[str, dict[str, pd.Series[Any]]] = {}
    for name, (symbol, field) in known.items():
        fields = parts.setdefault(symbol, {})
        fields.setdefault(field, parse_numbers(raw.frame[name], european=raw.european))
    days = raw.frame.iloc[:, at]
    frames = [pd.DataFrame({"date": days, "symbol": symbol, **fields}) for symbol, fields in parts.items()]
    long = pd.concat(frames, ignore_index=True)
    fields_found = [name for name in long.columns if name not in ("date", "symbol")]
    long = long[long[fields_found].notna().any(axis=1)].reset_index(drop=True)
    guesses = (*raw.guesses, f"columns name the symbol and the field of {len(parts)} symbols")
    if levels and "close" in long.columns and "adj_close" not in long.columns:
        guesses = (*guesses, "no adjusted close beside the close: the close is taken as it is (yfinance adjusts it)")
    return [RawTable(raw.key, long, guesses, role="prices")]


def _plain_quotes(headers: list[str], known: dict[str, tuple[str, str]]) -> bool:
    """'Adj Close' is a field with a space, no name with a field: a plain table has its fields bare as well."""
    bare = sum(name in _FIELD for name in headers)
    return bare >= 2 or len(known) < 2


def _levels(name: str, names: list[str]) -> tuple[str, str] | None:
    parts = name.split(LEVEL)
    if len(parts) < 2:
        return None
    place = _field_level(names)
    if place is None or place >= len(parts):
        return None
    field = _FIELD.get(normalised(parts[place]))
    rest = [part for number, part in enumerate(parts) if number != place and part.strip()]
    return (rest[-1].strip(), field) if field and rest else None


def _field_level(names: list[str]) -> int | None:
    hits: Counter[int] = Counter()
    for name in names:
        for place, part in enumerate(name.split(LEVEL)):
            hits[place] += normalised(part) in _FIELD
    place, count = max(hits.items(), key=lambda item: item[1])
    return place if count > 0.8 * len(names) else None


def _words(name: str) -> tuple[str, str] | None:
    found = _AFTER.match(name) or _BEFORE.match(name)
    if found is None:
        return None
    field = _FIELD.get(normalised(found["field"])) or _FIELD.get(re.sub(r"[_ ]", "", found["field"].lower()))
    symbol = found["symbol"].strip()
    return (symbol, field) if field and normalised(symbol) not in ("adj", "adjusted", "avg", "cum") else None


def _last_level(raw: RawTable, at: int) -> list[RawTable]:
    """Keep the last level of a header whose levels are parameters and a name; each set of parameters is a run."""
    names = [str(name) for name in raw.frame.columns]
    runs: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        if place != at:
            runs.setdefault(name.rpartition(LEVEL)[0], []).append(place)
    tables = []
    for run, places in runs.items():
        frame = raw.frame.iloc[:, [at, *places]]
        frame = frame.set_axis([names[at], *(names[place].rpartition(LEVEL)[2] for place in places)], axis=1)
        guess = "the last level of the header is the symbol"
        tables.append(
            RawTable(raw.key, frame, (*raw.guesses, guess), raw.european, raw.role, run if len(runs) > 1 else raw.run)
        )
    return tables
