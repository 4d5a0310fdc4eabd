"""Dimension 3.1: nothing in the backtest knew its future."""

import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from evaluator.measure.case import Case
from evaluator.measure.recompute import COMPOSITE, Recomputed
from evaluator.measure.statement_dates import knowledge
from evaluator.measure.verdict import scored
from evaluator.quant.absent import Absent
from evaluator.quant.causality import offset_test, residual_test
from evaluator.quant.entry import (
    late_fills,
    outside_range,
    relabelled_share,
    survivorship,
    too_early,
)
from evaluator.quant.factors import needs_statements
from records.grade import Judgement
from records.grammar import load_grammar

_RELABELLED = 0.95
_MIN_LAG_DAYS = 5.0
"""No company announces a quarter within days of its end: such dates are period ends under another name."""
_SHOWN = 3


@dataclass
class _Findings:
    """What the checks found: violations make 0, gaps bound the score."""

    violations: list[str] = field(default_factory=list)
    bounds: list[tuple[int, str]] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)
    complete: bool = True

    def bound(self, score: int, why: str) -> None:
        self.bounds.append((score, why))


def judge(case: Case) -> Judgement:
    """Return the verdict of 3.1."""
    run = case.main
    if run.trades is None and run.weights is None:
        return scored("3.1", 0, "neither fills nor weights were delivered")
    found = _Findings()
    fills = None
    if run.trades is None:
        found.bound(2, "no fills: only decision-dated weights can be followed")
    else:
        fills = run.dated_fills
        _fills(case, fills, found)
    _statements(case, found)
    _signals(case, found)
    _survivorship(case, found)
    if found.violations:
        return scored("3.1", 0, found.violations[0], [*found.violations, *found.evidence], complete=found.complete)
    score, why = min(found.bounds, default=(4, "every fill follows its signal and every signal recomputes on its date"))
    return scored("3.1", score, why, [*(text for _, text in found.bounds), *found.evidence], complete=found.complete)


def _fills(case: Case, fills: pd.DataFrame, found: _Findings) -> None:
    dated = fills["signal_date"].notna()
    if not dated.any():
        found.bound(1, "no fill has a signal date and no decision-dated table implies one")
        return
    late = late_fills(fills)
    if len(late):
        rows = ", ".join(
            f"{row.symbol} {_day(row.date)} on a signal of {_day(row.signal_date)}"
            for row in late.head(_SHOWN).itertuples()
        )
        found.violations.append(f"{len(late)} fills are not later than their signal: {rows}")
    if not dated.all():
        found.bound(1 if dated.mean() < 0.5 else 2, f"{int((~dated).sum())} fills have no signal date")
    if (fills["signal_origin"] == "inferred").any():
        found.bound(3, "signal dates are inferred from the delivered decisions")
    found.evidence.append(f"{len(fills)} fills, {int(dated.sum())} with a signal date")
    panel = case.main.panel
    if isinstance(panel, Absent):
        found.bound(1, panel.reason)
        return
    share = relabelled_share(fills, panel)
    if not isinstance(share, Absent) and share >= _RELABELLED:
        found.violations.append(f"{share:.0%} of the fills carry the signal session's close under a later date")
    outside = outside_range(fills, panel)
    if not isinstance(outside, Absent) and len(outside):
        found.evidence.append(f"{len(outside)} fill prices lie outside the session's range")
    need = Recomputed(case.main, case.spec, case.main.signal_days).lookback
    early = too_early(fills, panel, lookback=need)
    if len(early):
        names = ", ".join(f"{row.symbol} {_day(row.date)}" for row in early.head(_SHOWN).itertuples())
        found.violations.append(f"{len(early)} trades precede the {need} sessions of prices they need: {names}")


def _statements(case: Case, found: _Findings) -> None:
    """A factor built on statements needs announcement dates, and its values must not know later ones."""
    factors = [name for name in case.spec.factors if needs_statements(name)]
    if not factors:
        return
    run = case.main
    if isinstance(run.statements, Absent):
        found.bound(1, f"a factor needs statements: {run.statements.reason}")
        return
    lag = (run.statements.announced - run.statements.period_end) / np.timedelta64(1, "D")
    if float(np.median(lag)) < _MIN_LAG_DAYS:
        found.bound(
            1, f"statements are announced {float(np.median(lag)):.0f} days after their period: no announcement dates"
        )
    if isinstance(run.inputs, Absent) or run.signals is None:
        return
    own = Recomputed(run, case.spec, run.signal_days)
    for name in factors:
        known = knowledge(own, name)
        if known.after_fill:
            found.violations.append(
                f"{known.after_fill} delivered values of {name} rest on statements announced after the fill they served"
            )
        elif known.after_signal:
            found.bound(
                3, f"{known.after_signal} delivered values of {name} rest on statements announced after their date"
            )


def _signals(case: Case, found: _Findings) -> None:
    run = case.main
    if run.signals is None:
        found.bound(2, "signal values were not delivered")
        return
    own = Recomputed(run, case.spec, pd.DatetimeIndex(run.signals["date"].dropna().unique()).sort_values())
    inputs = run.inputs
    if isinstance(inputs, Absent):
        return
    _unknown_factors(case, own, found)
    recomputed = 0
    for name in case.spec.factors:
        delivered = own.delivered_signals.get(name)
        if delivered is None and len(case.spec.factors) == 1:
            delivered = own.delivered_signals.get(COMPOSITE)
        scores = own.factor(name)
        if delivered is None or isinstance(scores, Absent):
            continue
        recomputed += 1
        offset = offset_test(delivered, name, inputs)
        if not isinstance(offset, Absent) and offset.violation:
            found.violations.append(f"delivered {name} equals its own value {offset.offset} sessions later")
        residual = residual_test(delivered, scores, inputs.panel)
        if not isinstance(residual, Absent) and residual.violation:
            found.violations.append(f"delivered {name} knows returns after its date beyond what its definition can")
        agree = _agreement(delivered, scores)
        found.evidence.append(f"{name}: {agree:.1%} of the delivered values recompute on data up to their date")
        if agree < 0.95:
            found.bound(3, f"delivered {name} does not recompute within 1e-3 on its own date")
    if recomputed < max(len(case.spec.factors), 1):
        found.bound(3, "not every delivered signal can be recomputed")


def _unknown_factors(case: Case, own: Recomputed, found: _Findings) -> None:
    """No causality test can run on a factor without known definition: that must not read as one that was passed."""
    known = {factor.id for factor in load_grammar().factors}
    used = {*case.spec.factors, *(set(own.delivered_signals) - {COMPOSITE} if not case.spec.factors else ())}
    unknown = sorted(used - known)
    if unknown or not used:
        what = ", ".join(unknown) or "no factor is known"
        found.bound(2, f"no causality test ran on factors outside the grammar: {what}")
        found.complete = False


def _agreement(delivered: pd.DataFrame, own: pd.DataFrame) -> float:
    """Return the share of delivered cells within 1e-3 relative of the own value."""
    days, names = delivered.index.intersection(own.index), delivered.columns.intersection(own.columns)
    theirs = delivered.loc[days, names].to_numpy(dtype=float)
    ours = own.loc[days, names].to_numpy(dtype=float)
    known = ~pd.isna(theirs) & ~pd.isna(ours)
    if not known.any():
        return 0.0
    return float((abs(theirs - ours)[known] <= 1e-3 * abs(ours)[known] + 1e-9).mean())


def _survivorship(case: Case, found: _Findings) -> None:
    panel = case.main.panel
    if isinstance(panel, Absent) or not survivorship(panel):
        return
    texts = [document.text for document in case.delivery.documents] + [
        message.text for message in case.delivery.messages if message.role != "user"
    ]
    if any(re.search(r"surviv", text, re.IGNORECASE) for text in texts):
        found.evidence.append("no name of a wide, long universe ever ends; survivorship is disclosed")
    else:
        found.bound(3, "no name of a wide, long universe ever ends and survivorship is not disclosed")


def _day(value: object) -> str:
    return str(pd.Timestamp(value).date())  # type: ignore[arg-type]
