"""Dimension 1.1: no dated row of the delivery lies after the last date that may be used."""

import re

import pandas as pd

from evaluator.measure.case import Case
from evaluator.measure.verdict import scored
from evaluator.package.headers import CLOCK
from evaluator.package.reading import DATA_SUFFIXES, PACKED_DATA
from evaluator.package.workspace import holds_prices, late_raw_rows
from evaluator.quant.entry import late_rows
from records.grade import Judgement

_BACKTEST = ("trades", "equity", "signals", "selections", "weights", "positions")
_DATA = ("prices", "fundamentals", "market")
_UNDATED = ("sources",)
"""Retrieval stamps are no observation dates (rubric 1.1)."""
_RAW = ("sources", "quality", "sensitivity", "out_of_sample", "stress")
"""Roles whose columns are free: their dates are found here, whatever the file is called."""
_DATA_FILE = re.compile(
    rf"({'|'.join(re.escape(end) for end in sorted(DATA_SUFFIXES | PACKED_DATA))})(#[^:]*)?: ", re.IGNORECASE
)
_SHOWN = 3
_MANY = 5
"""Late data rows that still make level 1 (rubric 1.1)."""


def judge(case: Case) -> Judgement:
    """Return the verdict of 1.1."""
    cut = pd.Timestamp(case.t_cut)
    evidence: list[str] = []
    late = {"backtest": 0, "data": 0, "other": 0}
    dated_tables = 0
    for table in case.delivery.tables:
        if not len(table.frame):
            continue
        if table.role in _RAW:
            disguised = holds_prices(table.frame)
            without = frozenset() if disguised else CLOCK
            rows = late_raw_rows(table.frame, cut, without=without) if disguised or table.role not in _UNDATED else 0
            if rows:
                late["data" if disguised else "other"] += rows
                evidence.append(f"{table.path}: {rows} rows after {cut.date()}")
            continue
        dated_tables += table.role in _DATA and _is_dated(table.frame)
        found = late_rows(table.frame, case.t_cut)
        if not len(found):
            continue
        kind = "backtest" if table.role in _BACKTEST else "data" if table.role in _DATA else "other"
        late[kind] += found["row"].nunique()
        first = ", ".join(
            f"{name} {day:%Y-%m-%d}"
            for name, day in found[["column", "date"]].head(_SHOWN).itertuples(index=False, name=None)
        )
        evidence.append(f"{table.path}: {len(found)} dates after {cut.date()}: {first}")
    return _verdict(case, late, dated_tables, evidence)


def _verdict(case: Case, late: dict[str, int], dated_tables: int, evidence: list[str]) -> Judgement:
    files = [f"workspace: {path}" for path in case.delivery.late_workspace_files]
    seen = max((call.last_date for call in case.delivery.calls if call.last_date is not None), default=None)
    calls = [] if seen is None else [f"calls: the latest row of an answer is of {seen}; answers are evidence only"]
    read = [f"{table.path}: read as {table.role}, {len(table.frame)} rows" for table in case.delivery.tables]
    ladder = (
        (
            late["backtest"] > 0,
            0,
            f"{late['backtest']} fills, equity, signal, weight or position rows are late",
            evidence,
        ),
        (late["data"] > _MANY, 0, f"{late['data']} data rows are late", evidence),
        (not dated_tables, 0, "no dated data table was delivered", evidence),
        (late["data"] > 0, 1, f"{late['data']} data rows are late", evidence),
        (late["other"] > 0, 2, f"{late['other']} rows of tables outside the backtest are late", evidence),
        (bool(files), 3, f"{len(files)} captured workspace files hold late rows", files),
        (True, 4, f"every dated row is at or before {case.t_cut}", [*calls, *read]),
    )
    score, why, lines = next((score, why, lines) for holds, score, why, lines in ladder if holds)
    unread = _unread(case.delivery.refused)
    return scored("1.1", score, why, [*unread, *lines], complete=not unread)


def _unread(refused: tuple[str, ...]) -> list[str]:
    """Return the refused data files of the delivery: what could not be read may hold late rows."""
    return [
        f"not read: {text}"
        for text in refused
        if _DATA_FILE.search(text) and not text.endswith((", not scanned", ": the file is empty"))
    ]


def _is_dated(frame: pd.DataFrame) -> bool:
    return any(pd.api.types.is_datetime64_any_dtype(frame[column]) for column in frame.columns)
