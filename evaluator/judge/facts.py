"""What programs tell a model judge about a delivery: counts, ranges and source strings, never a verdict."""

import re
from collections.abc import Callable, Iterator
from itertools import combinations, islice
from numbers import Real
from typing import Any

import pandas as pd

from evaluator.judge.fence import plain_id
from evaluator.measure.case import Case
from evaluator.measure.runs import DATA_FAULTS
from evaluator.package.delivery import Table
from evaluator.package.headers import normalised
from evaluator.package.metric_names import canonical_metric

SERIES = ("prices", "fundamentals", "market", "signals", "news", "universe", "other")
MAX_LINES = 40
LINE_CHARS = 300
DOCUMENT_CHARS = 200_000
SOURCE_CHARS = 2_000_000
"""Searched for source strings, of one document and of all."""
_URL = re.compile(r"https?://[^\s\"'<>|)\]]+", re.IGNORECASE)
_CALL = re.compile(
    r"\b(?:GET|endpoint|api call|fmp\w*|yfinance|fred)\b[^\n]{0,200}|(?<![\w-])[\w-]+\?(?:symbol|from|to|series)[^\s\"'<>]+",
    re.IGNORECASE,
)
_COST = re.compile(r"cost|fee|bps|commission|slippage")
_FIRST = ("start", "start_date", "from", "begin", "first_date", "period_start", "train_start", "test_start")
_LAST = ("end", "end_date", "to", "last_date", "period_end", "train_end", "test_end")
_SAMPLE = ("sample", "period", "split", "set", "window", "fold", "name", "part", "segment")


def facts_for(dimension: str, case: Case) -> str:
    """Return the facts for one dimension as lines of text; empty where programs have none. Never raises for the data."""
    source = _FACTS.get(dimension)
    if source is None:
        return ""
    try:
        lines = [_line(line) for line in islice(source(case), MAX_LINES)]
    except DATA_FAULTS as fault:
        lines = [f"the delivered tables stopped this look ({type(fault).__name__})"]
    return "\n".join(lines)


def _series(case: Case) -> Iterator[str]:
    """Yield every delivered series and the source strings that stand near its name."""
    sources = list(_source_strings(case))
    yield f"{len(sources)} source strings (URLs, calls) stand in the delivery"
    for table in case.delivery.tables:
        if table.role not in SERIES:
            continue
        stem = plain_id(table.path).rsplit("/", 1)[-1].split("#")[0].rsplit(".", 1)[0]
        near = [text for _, line, text in sources if stem and stem.lower() in line.lower()]
        yield f"series {plain_id(table.path)} ({table.role}; {_extent(table.frame)}): " + (
            f"{len(near)} source strings on lines that name it, {near[0]}" if near else "no line names it with a source"
        )
    for doc, _, text in sources[: MAX_LINES // 2]:
        yield f"source string in {doc}: {text}"


def _source_strings(case: Case) -> Iterator[tuple[str, str, str]]:
    """Yield (document, line, source string), each string once."""
    seen: set[str] = set()
    for doc, line in _lines(case):
        short = line[:2_000]
        for hit in (*_URL.finditer(short), *_CALL.finditer(_URL.sub(" ", short))):
            text = hit.group().strip().rstrip(".,;`")
            if text not in seen and len(seen) < 10 * MAX_LINES:
                seen.add(text)
                yield doc, line, text[:LINE_CHARS]


def _lines(case: Case) -> Iterator[tuple[str, str]]:
    left = SOURCE_CHARS
    texts = [(f"turn {message.turn}", message.text) for message in case.delivery.messages if message.role != "user"]
    texts += [(plain_id(document.path), document.text) for document in case.delivery.documents]
    for doc, text in texts:
        part = text[: min(left, DOCUMENT_CHARS)]
        left -= len(part)
        yield from ((doc, line) for line in part.splitlines())
    for table in case.delivery.of("sources"):
        for row in table.frame.head(500).itertuples(index=False, name=None):
            yield plain_id(table.path), " ".join(str(value)[:500] for value in row)


def _extent(frame: pd.DataFrame) -> str:
    said = [f"{len(frame)} rows"]
    if "symbol" in frame.columns:
        said.append(f"{frame['symbol'].nunique()} symbols")
    if "date" in frame.columns and frame["date"].notna().any():
        said.append(f"{frame['date'].min():%Y-%m-%d} to {frame['date'].max():%Y-%m-%d}")
    return ", ".join(said)


def _counts(case: Case) -> Iterator[str]:
    """Yield the counts and the rebuilt figures of measured.json."""
    for name, value in case.facts().items():
        yield f"{name}: {value}"


def _specification(case: Case) -> Iterator[str]:
    """Yield the specification as a program read it from the delivery."""
    for field, value in case.spec.model_dump(mode="json", exclude={"schema_version", "evidence", "origins"}).items():
        origin = case.spec.origins.get(field)
        if value not in (None, [], {}):
            yield f"{field}: {value}" + (f" ({origin})" if origin else "")


def _benchmark(case: Case) -> Iterator[str]:
    """Yield the extent of delivered market series, and of the strategy's own equity."""
    market = case.main.frame("market")
    if market is None:
        yield "no market or benchmark series was delivered"
    else:
        names = market["symbol"].astype(str) if "symbol" in market.columns else pd.Series("series", index=market.index)
        for name, rows in market.groupby(names.to_numpy(), sort=True):
            known = rows.dropna(subset=["date", "value"]).sort_values("date")
            if len(known) > 1 and float(known["value"].iloc[0]) != 0:
                change = float(known["value"].iloc[-1]) / float(known["value"].iloc[0]) - 1
                yield f"series {name}: {_extent(known)}, from first to last {change:+.4f}"
    equity = case.main.equity
    if equity is not None and len(equity):
        yield f"strategy equity: {equity.index[0]:%Y-%m-%d} to {equity.index[-1]:%Y-%m-%d}"


def _sensitivity(case: Case) -> Iterator[str]:
    """Yield which parameters vary in delivered tables, their grids, and whether cost is among them."""
    tables = case.delivery.of("sensitivity")
    grids: dict[str, list[str]] = {}
    for table in tables:
        grids |= {name: grid for name, grid in _varied(table) if len(grid) > 1}
    yield f"{len(tables)} sensitivity tables delivered; {len(grids)} parameters vary in them"
    for name, grid in grids.items():
        yield f"{plain_id(name)}: {', '.join(grid[:12])}"
    yield f"cost is among them: {'yes' if any(_COST.search(normalised(name)) for name in grids) else 'no'}"
    yield f"other runs with fills of their own: {len(case.others)}"


def _varied(table: Table) -> Iterator[tuple[str, list[str]]]:
    """Yield parameter and grid of a table with one column per parameter, or with columns parameter and value."""
    frame = table.frame.head(5_000)
    headers = {normalised(column): column for column in frame.columns}
    if "parameter" in headers and "value" in headers:
        for name, rows in frame.groupby(frame[headers["parameter"]].astype(str), sort=True):
            yield str(name), _grid(rows[headers["value"]])
        return
    for header, column in headers.items():
        if canonical_metric(header) is None:
            yield str(column), _grid(frame[column])


def _grid(column: "pd.Series[Any]") -> list[str]:
    values = set(column.dropna())
    if values and all(isinstance(value, Real) for value in values):
        return [f"{float(value):.10g}" for value in sorted(values)]
    return sorted({str(value)[:40] for value in values})


def _samples(case: Case) -> Iterator[str]:
    """Yield the date range of each sample, whether ranges overlap, and whether other columns are equal across them."""
    tables = case.delivery.of("out_of_sample")
    yield f"{len(tables)} out-of-sample tables delivered"
    for table in tables:
        frame = table.frame.head(500)
        headers = {normalised(column): column for column in frame.columns}
        first, last = _first_of(headers, _FIRST), _first_of(headers, _LAST)
        label = _first_of(headers, _SAMPLE)
        if first is None or last is None:
            yield f"{plain_id(table.path)}: no columns with start and end dates"
            continue
        starts = pd.to_datetime(frame[first], errors="coerce")
        ends = pd.to_datetime(frame[last], errors="coerce")
        names = frame[label].astype(str) if label is not None else pd.Series(range(len(frame))).astype(str)
        spans = [span for span in dict.fromkeys(zip(names, starts, ends, strict=True)) if span[1] == span[1]]
        for name, start, end in spans[:12]:
            yield f"{plain_id(table.path)}: sample {name[:60]} from {start:%Y-%m-%d} to {end:%Y-%m-%d}"
        crossing = sum(a[1] <= b[2] and b[1] <= a[2] for a, b in combinations(spans[:50], 2))
        yield f"{plain_id(table.path)}: {crossing} pairs of samples overlap"
        others = [c for h, c in headers.items() if c not in (first, last, label) and canonical_metric(h) is None]
        for column in others[:10]:
            equal = len(set(frame[column].astype(str))) == 1
            yield f"{plain_id(table.path)}: {plain_id(str(column))} is {'equal' if equal else 'not equal'} across rows"


def _first_of(headers: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((headers[name] for name in names if name in headers), None)


def _line(text: str) -> str:
    return " ".join(text.split())[:LINE_CHARS]


_FACTS: dict[str, Callable[[Case], Iterator[str]]] = {
    "1.2": _series,
    "1.3": _series,
    "1.5": _series,
    "2.7": _specification,
    "2.9": _specification,
    "3.4": _benchmark,
    "4.1": _counts,
    "4.5": _sensitivity,
    "4.6": _samples,
}
