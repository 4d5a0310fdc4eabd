"""One file with several strategies or parameter runs to one table for each run."""

import ast
from typing import Any

import pandas as pd

from evaluator.package.formats.raw import RawTable
from evaluator.package.headers import SYMBOL, pick

_RUN = (
    "strategy",
    "strategy_name",
    "run_id",
    "run",
    "scenario",
    "variant",
    "backtest_id",
    "model",
    "portfolio_name",
    "config_id",
)
_MOST = 500


def split_runs(raw: RawTable, headers: list[str]) -> list[RawTable]:
    """Return one table per value of a run column, or the table itself."""
    raw = _tuples(raw, headers)
    if raw.run or len(raw.frame) < 2:
        return [raw]
    at = pick(headers, _RUN)
    if at is None or len(headers) < 3:
        return [raw]
    column = raw.frame.iloc[:, at]
    if pd.api.types.is_float_dtype(column):
        return [raw]
    names = column.astype(object).map(lambda cell: str(cell).strip())
    distinct = [name for name in dict.fromkeys(names) if name]
    if not 1 < len(distinct) <= _MOST or (len(distinct) > len(names) / 2 and not _one_row_each(headers, names)):
        return [raw]
    guess = f"{raw.frame.columns[at]} names {len(distinct)} runs in one file"
    rest = raw.frame.drop(columns=[raw.frame.columns[at]])
    return [
        RawTable(
            raw.key, rest[names == name].reset_index(drop=True), (*raw.guesses, guess), raw.european, raw.role, name
        )
        for name in distinct
    ]


def _one_row_each(headers: list[str], names: "pd.Series[Any]") -> bool:
    """A summary has one row for each strategy and metrics as columns."""
    words = {"sharpe", "sharpe_ratio", "total_return", "cagr", "max_drawdown", "volatility"}
    return names.is_unique and len(words & set(headers)) >= 2


def _tuples(raw: RawTable, headers: list[str]) -> RawTable:
    """Vectorbt prints a column of several levels as a tuple: its last level is the symbol, the others are a run."""
    at = pick(headers, SYMBOL)
    if at is None or not len(raw.frame):
        return raw
    column = raw.frame.iloc[:, at]
    head = column.head(20).astype(object).map(lambda cell: str(cell).startswith("(") and str(cell).endswith(")"))
    if not head.all():
        return raw
    parsed = {cell: _parts(str(cell)) for cell in column.unique()}
    frame = raw.frame.copy()
    frame[raw.frame.columns[at]] = column.astype(object).map(lambda cell: parsed[cell][-1])
    sets = {parts[:-1] for parts in parsed.values()}
    guess = "the last level of the column is the symbol"
    if len(sets) > 1:
        frame["run_id"] = column.astype(object).map(lambda cell: "/".join(parsed[cell][:-1]))
        headers.append("run_id")
    return RawTable(raw.key, frame, (*raw.guesses, guess), raw.european, raw.role, raw.run)


def _parts(cell: str) -> tuple[str, ...]:
    try:
        found = ast.literal_eval(cell[:1000])
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        found = None
    return tuple(str(part) for part in found) if isinstance(found, tuple) and found else (cell,)
