"""Dimension 2.8b: reported diagnostics of the signals follow from the delivered signals and prices."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from evaluator.measure.case import Case
from evaluator.measure.diagnostics import Reported, is_named, reported
from evaluator.measure.recompute import COMPOSITE, Recomputed
from evaluator.measure.verdict import scored
from evaluator.quant.absent import Absent
from evaluator.quant.validation import Convention, Diagnostics, conventions, diagnose, forward_returns
from records.grade import Judgement

_NEAR = 0.02
_ROUGH = 0.05
_FURTHER = ("spread", "hit_rate", "decay")


@dataclass(frozen=True)
class _Reading:
    """One convention and the gaps it leaves."""

    convention: Convention
    own: dict[str, Diagnostics]
    gaps: dict[Reported, float | None]
    """Reported coefficient or spread -> distance to the own one; None where nothing can be recomputed."""

    @property
    def rank(self) -> tuple[float, float]:
        """Smaller is nearer to the report."""
        ics = [gap for one, gap in self.gaps.items() if one.kind == "ic" and gap is not None]
        return (max(ics, default=np.inf), sum(gap for gap in self.gaps.values() if gap is not None))


def judge(case: Case) -> Judgement:
    """Return the verdict of 2.8b."""
    run = case.main
    own = Recomputed(run, case.spec, run.signal_days)
    signals = _signals(own)
    found = reported(case.delivery, tuple(signals))
    if not found:
        if is_named(case.delivery):
            return scored("2.8b", 1, "a diagnostic is named, no number is given")
        return scored("2.8b", 0, "no diagnostic of the signals is reported")
    evidence = [f"{one.where}: {one.kind} {one.value:g}" for one in found if one.kind in ("ic", "spread")]
    panel = run.panel
    if isinstance(panel, Absent) or not signals:
        why = panel.reason if isinstance(panel, Absent) else "no signal values were delivered"
        return scored("2.8b", 2, f"numbers are given, {why}", evidence)
    first = "close" if case.spec.execution in ("next_close", "adv_cap") else "open"
    best = min(
        (
            _read(found, signals, forward_returns(panel, _days(own, signals), one), one)
            for one in conventions(panel, first=first)
        ),
        key=lambda reading: reading.rank,
    )
    return _verdict(found, best, evidence)


def _signals(own: Recomputed) -> dict[str, pd.DataFrame]:
    """Return delivered signals by name, and the composite they make where none is delivered."""
    found = dict(own.delivered_signals)
    if found and COMPOSITE not in found and own.composite is not None:
        found[COMPOSITE] = own.composite
    return found


def _days(own: Recomputed, signals: dict[str, pd.DataFrame]) -> pd.DatetimeIndex:
    """Return the decision dates that carry a signal; every signal date where decisions name too few."""
    dated = pd.DatetimeIndex(sorted(set().union(*(set(frame.index) for frame in signals.values()))))
    decided = dated.intersection(own.dates)
    return decided if len(decided) > 1 else dated


def _read(
    found: list[Reported], signals: dict[str, pd.DataFrame], ahead: pd.DataFrame, convention: Convention
) -> _Reading:
    made = {name: diagnose(signal, ahead) for name, signal in signals.items()}
    own = {name: one for name, one in made.items() if not isinstance(one, Absent)}
    gaps: dict[Reported, float | None] = {}
    for one in found:
        if one.kind in ("ic", "spread"):
            mine = own.get(_name(one, own))
            value = None if mine is None else mine.mean_ic if one.kind == "ic" else mine.spread[one.quantiles]
            gaps[one] = None if value is None else abs(one.value - value)
    return _Reading(convention, own, gaps)


def _name(one: Reported, own: dict[str, Diagnostics]) -> str:
    """A diagnostic that names no signal is that of the score traded on."""
    if one.factor is not None and one.factor in own:
        return one.factor
    if one.factor is not None and len(own) > 1:
        return one.factor
    return COMPOSITE if COMPOSITE in own else next(iter(own), "")


def _verdict(found: list[Reported], best: _Reading, evidence: list[str]) -> Judgement:
    evidence = [*evidence, f"return from the {best.convention.text}"]
    evidence += [
        f"{name}: own mean rank IC {one.mean_ic:.4f}, t {one.t:.2f}, hit rate {one.hit_rate:.1%}, top minus bottom fifth "
        f"{one.spread[5]:.4f}, one decision later {one.decay:.4f}, {one.dates} dates with at least {one.least} names"
        for name, one in sorted(best.own.items())
    ]
    ics = [gap for one, gap in best.gaps.items() if one.kind == "ic"]
    spreads = [gap for one, gap in best.gaps.items() if one.kind == "spread" and gap is not None]
    known = [gap for gap in ics if gap is not None]
    if not known and not spreads:
        return scored("2.8b", 2, "numbers are given, none can be recomputed from the delivered signals", evidence)
    kinds = {one.kind for one in found}
    near = bool(ics) and len(known) == len(ics) and max(known) <= _NEAR
    if near and "t" in kinds and kinds & set(_FURTHER):
        return scored("2.8b", 4, f"every mean rank IC is within {max(known):.4f} of the own one", evidence)
    if (known and max(known) <= _ROUGH) or (not known and max(spreads) <= _ROUGH):
        worst = max(known or spreads)
        lacking = "" if near else ", not every one within 0.02"
        lacking += "" if "t" in kinds else ", no t-statistic"
        lacking += "" if kinds & set(_FURTHER) else ", no further diagnostic"
        return scored("2.8b", 3, f"largest gap {worst:.4f}{lacking}", evidence)
    return scored("2.8b", 2, f"reported figures are {max(known or spreads):.4f} from the own ones", evidence)
