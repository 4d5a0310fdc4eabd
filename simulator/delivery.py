"""What kind of thing a delivered file is to the user, told from its name and its capped text.

Tables are read with the standard csv and json modules only. Everything is guarded: a file that does not parse is a file
whose words can still be looked at.
"""

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from records.decision import ViewFile

REPORT_SUFFIXES = (".md", ".markdown", ".rst", ".txt", ".html", ".htm", ".pdf", ".docx", ".ipynb")
TABLE_SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")
BINARY_TABLE_SUFFIXES = (".parquet", ".feather", ".xlsx", ".xls", ".pkl", ".pickle", ".h5", ".db", ".sqlite")

DATE = re.compile(
    r"\b(?:19|20)\d\d[-/.]?(?:0[1-9]|1[0-2])[-/.]?(?:0[1-9]|[12]\d|3[01])\b|\b\d{1,2}[/.]\d{1,2}[/.](?:19|20)?\d\d\b"
)
DATE_COLUMN = re.compile(r"date|time|day|session|timestamp|日期")
PRICE_COLUMN = re.compile(r"price|close|open\b|fill|cost_basis|价格|價格")
TRADE_COLUMN = re.compile(
    r"side|action|buy|sell|qty|quantity|shares|size|amount|signed|direction|fee|commission|reason|pnl|entry|exit"
)
CLOSE_COLUMN = re.compile(r"close|price|adj")
TRADE_NAME = re.compile(r"trade|fill|order|transaction|log(?!\.)|blotter|execution|ledger")
PRICE_NAME = re.compile(r"price|ohlc|quote|bars|market_?data|history|close")
METRIC_NAME = re.compile(r"metric|stat|performance|result|summary|kpi|tearsheet")
EQUITY_NAME = re.compile(r"equity|nav|portfolio_value|curve|returns")
SPEC_NAME = re.compile(r"spec|param|assum|config|setting|strategy|plan|design|rules")

MAX_JSON_CHARS = 20_000
MAX_ROWS = 60

Kind = Literal["report", "trades", "prices", "metrics", "equity", "spec", "sources", "code", "other"]


@dataclass(frozen=True)
class Table:
    """The head of a table: column names in lower case and the rows that were seen whole."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def is_report(file: ViewFile) -> bool:
    """Return whether the file is one to read from top to bottom."""
    name = file.path.lower()
    return name.endswith(REPORT_SUFFIXES) and not name.rsplit("/", 1)[-1].startswith(("requirements", "license"))


def is_unread(file: ViewFile) -> bool:
    """Return whether the user sees only that the file is there."""
    return file.text is None


def base_name(file: ViewFile) -> str:
    """Return the file's own name in lower case."""
    return file.path.rsplit("/", 1)[-1].lower()


def table_of(file: ViewFile) -> Table | None:
    """Return the head of a delivered table, or None when the text is none."""
    name = base_name(file)
    if not file.text:
        return None
    if name.endswith((".json", ".jsonl", ".ndjson")):
        return _json_table(file.text)
    if name.endswith((".csv", ".tsv", ".txt")):
        return _csv_table(file.text)
    return None


def holds_trades(file: ViewFile) -> bool:
    """Return whether the file is a log of trades with dates and prices."""
    name = base_name(file)
    if is_unread(file):
        return name.endswith(BINARY_TABLE_SUFFIXES) and TRADE_NAME.search(name) is not None
    table = table_of(file)
    if table is None or not table.rows:
        return False
    columns = " ".join(table.columns)
    named = TRADE_NAME.search(name) is not None
    looks = TRADE_COLUMN.search(columns) is not None
    dated = DATE_COLUMN.search(columns) is not None and any(DATE.search(cell) for cell in table.rows[0])
    return (named or looks) and dated and PRICE_COLUMN.search(columns) is not None and looks


def holds_prices(file: ViewFile) -> bool:
    """Return whether the file is a table of market prices by date, long or wide."""
    name = base_name(file)
    if is_unread(file):
        return name.endswith(BINARY_TABLE_SUFFIXES) and PRICE_NAME.search(name) is not None
    table = table_of(file)
    if table is None or not table.rows or holds_trades(file):
        return False
    columns = " ".join(table.columns)
    dated = any(DATE.search(cell) for cell in table.rows[0])
    has_close = CLOSE_COLUMN.search(columns) is not None
    return dated and (has_close or PRICE_NAME.search(name) is not None) and len(table.columns) > 1


def headings(file: ViewFile) -> list[str]:
    """Return the headings of a report in lower case: Markdown, underlined, bold lines, numbered lines and HTML."""
    found = []
    lines = (file.text or "").splitlines()
    for place, line in enumerate(lines):
        bare = line.strip()
        following = lines[place + 1].strip() if place + 1 < len(lines) else ""
        underlined = bool(bare) and len(following) >= 3 and set(following) <= set("=-~")
        bold = re.match(r"(?:[-*] )?(?:\*\*|__)[^*_]{2,60}(?:\*\*|__)", bare)
        numbered = re.fullmatch(r"(?:\d{1,2}[.)]|[IVX]+\.)\s+[A-Za-z][^.:]{2,60}:?", bare)
        tag = re.search(r"<h[1-6][^>]*>(.*?)</h[1-6]>", bare, re.IGNORECASE)
        capitals = bare.isupper() and 4 <= len(bare) <= 60
        if bare.startswith("#") or underlined or bold or numbered or capitals:
            found.append((bold.group() if bold else bare).strip("#*_- :").lower())
        elif tag:
            found.append(re.sub(r"<[^>]+>", "", tag.group(1)).strip().lower())
    return found


def _csv_table(text: str) -> Table | None:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        return None
    delimiter = max((",", "\t", ";", "|"), key=lines[0].count)
    try:
        rows = list(csv.reader(lines[: MAX_ROWS + 1], delimiter=delimiter))
    except csv.Error:
        return None
    columns = tuple(cell.strip().lower() for cell in rows[0])
    whole = tuple(tuple(cell.strip() for cell in row) for row in rows[1:] if len(row) == len(columns))
    return Table(columns, whole)


def _json_table(text: str) -> Table | None:
    entries = _json_entries(text[:MAX_JSON_CHARS])
    records = [entry for entry in entries if isinstance(entry, dict)][:MAX_ROWS]
    if not records:
        return None
    columns = tuple(str(key).lower() for key in records[0])
    rows = tuple(tuple(str(value) for value in entry.values()) for entry in records if len(entry) == len(columns))
    return Table(columns, rows)


def _json_entries(text: str) -> Sequence[object]:
    """Return the records of JSON, of JSON lines, or of a JSON text cut in the middle."""
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError):
        return _loose_objects(text)
    if isinstance(loaded, list):
        return loaded
    if isinstance(loaded, dict):
        lists = [value for value in loaded.values() if isinstance(value, list)]
        return lists[0] if lists else [loaded]
    return []


def _loose_objects(text: str) -> list[object]:
    found: list[object] = []
    for match in re.finditer(r"\{[^{}]{1,4000}\}", text):
        try:
            found.append(json.loads(match.group()))
        except (ValueError, RecursionError):
            continue
    return found
