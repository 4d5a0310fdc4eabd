"""Dimension 3.6: the delivered code, run once more on the delivered data, makes the delivered results again."""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pandas as pd

from evaluator.measure.case import Case
from evaluator.measure.runs import Run
from evaluator.measure.verdict import not_run, scored
from evaluator.package.delivery import RerunOutput
from evaluator.quant.tolerance import RELATIVE, TOLERANCE, compare_metrics
from records.grade import Judgement
from records.rerun import Rerun

ROWS_EQUAL: Final = 0.99
EQUITY_GAP: Final = 0.001
SAME: Final = 1e-6
"""Relative gap up to which two numbers of a trade log are the same; printing cuts digits."""
_KEY = ("date", "symbol", "side")
_NUMBERS = ("quantity", "price", "fee")
_CORE = ("total_return", "sharpe", "max_drawdown")


@dataclass(frozen=True)
class _Found:
    """One comparison in words; None: there was nothing to compare."""

    agrees: bool | None
    text: str


def judge(case: Case) -> Judgement:
    """Return the verdict of 3.6."""
    output = case.delivery.rerun
    if output is None:
        return not_run("3.6", "the delivered code was not run again, which needs a container engine")
    record = output.record
    evidence = _told(record)
    if record.end == "no_code":
        return scored("3.6", 0, record.why, evidence)
    if record.entry in record.not_parsed or (not record.entry and record.not_parsed):
        return scored("3.6", 0, f"the code does not parse: {next(iter(record.not_parsed))}", evidence)
    if not record.ran_well:
        return scored("3.6", 1, _why_not(record), evidence)
    return _compared(case, output, evidence)


def _compared(case: Case, output: RerunOutput, evidence: list[str]) -> Judgement:
    again = Run(replace(case.delivery, tables=_with_inputs(case, output)))
    trades, equity = _trades(case.main.trades, again.trades), _equity(case.main.equity, again.equity)
    metrics = _metrics(case, again)
    evidence += [trades.text, equity.text, metrics.text, *output.refused]
    if trades.agrees and equity.agrees:
        return scored("3.6", 4, "trade log and equity come out again on the delivered data", evidence)
    if metrics.agrees:
        wrong = " and ".join(name for name, one in (("trade log", trades), ("equity", equity)) if not one.agrees)
        return scored("3.6", 3, f"the metrics come out again, {wrong} not", evidence)
    return scored("3.6", 2, "it runs, and its outputs are missing or do not agree with the delivered ones", evidence)


def _with_inputs(case: Case, output: RerunOutput) -> tuple[Any, ...]:
    """The regenerated tables, and of the delivered ones those that are data; no result is taken from the delivery."""
    lent = tuple(table for table in case.delivery.tables if table.role in ("prices", "market", "fundamentals"))
    made = {table.path for table in output.tables}
    return (*output.tables, *(table for table in lent if table.path not in made))


def _told(record: Rerun) -> list[str]:
    """Return the evidence that the record itself gives."""
    lines = [f"entry point: {record.why}"]
    if record.argv:
        ended = record.end.replace("_", " ") if record.exit_code is None else f"exit code {record.exit_code}"
        lines.append(f"ran: {ended} after {record.duration_s:.1f} s")
    if record.withheld:
        state = "needed, given back" if record.given_back else "to be made again"
        lines.append(f"not given to the code, {state}: {', '.join(record.withheld[:10])}")
    lines += [f"does not parse: {name}: {reason}" for name, reason in list(record.not_parsed.items())[:5]]
    if not record.ran_well and record.stderr.strip():
        lines.append(f"last words: {' '.join(record.stderr.strip().splitlines()[-1].split())}")
    if record.files:
        lines.append(f"made or changed: {', '.join(entry.path for entry in record.files[:10])}")
    return [*lines, *record.notes[:10]]


def _why_not(record: Rerun) -> str:
    if record.end == "no_entry":
        return "nothing says how the code is started"
    if record.end == "timed_out":
        return f"it does not end within its {record.duration_s:.0f} s"
    if record.end == "box_ended":
        return "it takes its container down"
    return f"it ends with exit code {record.exit_code}"


def _trades(delivered: pd.DataFrame | None, again: pd.DataFrame | None) -> _Found:
    if delivered is None or again is None:
        return _Found(None, f"trade log: {'none delivered' if delivered is None else 'none was made again'}")
    share = rows_equal(delivered, again)
    return _Found(share >= ROWS_EQUAL, f"trade log: {share:.2%} of {max(len(delivered), len(again))} rows are equal")


def rows_equal(delivered: pd.DataFrame, again: pd.DataFrame) -> float:
    """Return the share of fills that stand in both logs, of the longer log: same day, name, side and numbers.

    Numbers agree within 1e-6; columns that only one log has are not compared. Several fills of one name, side and day
    are paired in the order of their quantities.
    """
    numbers = [name for name in _NUMBERS if name in delivered.columns and name in again.columns]
    left, right = (_numbered(frame, numbers) for frame in (delivered, again))
    both = left.merge(right, on=[*_KEY, "_place"], how="inner", suffixes=("", "_again"))
    same = np.ones(len(both), dtype=bool)
    for name in numbers:
        ours, theirs = both[name].to_numpy(dtype=float), both[f"{name}_again"].to_numpy(dtype=float)
        same &= np.isclose(ours, theirs, rtol=SAME, atol=SAME, equal_nan=True)
    return float(same.sum()) / max(len(delivered), len(again), 1)


def _numbered(frame: pd.DataFrame, numbers: list[str]) -> pd.DataFrame:
    """Return the compared columns with the place of each fill among those of its day, name and side."""
    rows = frame[[*_KEY, *numbers]].sort_values([*_KEY, *numbers], kind="stable")
    return rows.assign(_place=rows.groupby(list(_KEY), sort=False, dropna=False).cumcount())


def _equity(delivered: "pd.Series[Any] | None", again: "pd.Series[Any] | None") -> _Found:
    if delivered is None or again is None:
        return _Found(None, f"equity: {'none delivered' if delivered is None else 'none was made again'}")
    common = delivered.index.intersection(again.index)
    missing = len(delivered.index.symmetric_difference(again.index))
    if not len(common):
        return _Found(agrees=False, text="equity: no session in common")
    gap = float((again[common] / delivered[common] - 1).abs().max())
    agrees = bool(np.isfinite(gap)) and gap <= EQUITY_GAP and missing <= 1
    return _Found(agrees, f"equity: largest gap {gap:.4%}, {missing} sessions in one of both only")


def _metrics(case: Case, again: Run) -> _Found:
    """Hold the delivered figures against the regenerated ones, else against figures of the regenerated equity."""
    reported = case.main.reported
    gaps = {
        name: abs(value - again.reported[name]) <= _limit(name, again.reported[name])
        for name, value in reported.items()
        if name in again.reported and (name in TOLERANCE or name in RELATIVE)
    }
    if not gaps and again.equity is not None and len(again.equity) > 1:
        capital = reported.get("capital")
        report = compare_metrics(reported, again.equity, capital=capital, labels=case.main.metric_labels)
        gaps = {check.name: check.within for check in report.checks if check.within is not None}
    if not any(name in gaps for name in _CORE):
        return _Found(None, "metrics: none was made again that can be compared")
    wrong = sorted(name for name, within in gaps.items() if not within)
    return _Found(
        not wrong,
        f"metrics: {len(gaps)} compared, {'outside tolerance: ' + ', '.join(wrong) if wrong else 'all within'}",
    )


def _limit(name: str, own: float) -> float:
    return RELATIVE[name] * max(abs(own), 1e-9) + 0.01 if name in RELATIVE else TOLERANCE[name]
