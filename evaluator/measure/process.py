"""Dimension 3.8: the six links from prices to metrics, each present and each recomputing from the one before."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evaluator.measure.case import Case
from evaluator.measure.equity_gap import equity_gap
from evaluator.measure.holdings import decision_fits
from evaluator.measure.metric_check import NOT_OF_THE_CURVE, check_metrics
from evaluator.measure.recompute import COMPOSITE, Recomputed
from evaluator.measure.verdict import scored
from evaluator.quant.absent import Absent
from evaluator.quant.selection import selected_sets
from records.grade import Judgement

_AGREE = 0.95
_RANK_AGREE = 0.99
_WEIGHT = 0.01
_EQUITY = 0.005


@dataclass(frozen=True)
class Link:
    """One link; `matches` is None when it stands but nothing could be recomputed against it."""

    present: bool
    matches: bool | None
    detail: str


def judge(case: Case) -> Judgement:
    """Return the verdict of 3.8."""
    own = Recomputed(case.main, case.spec, case.main.signal_days)
    links = {name: link(case, own) for name, link in _LINKS.items()}
    present = sum(link.present for link in links.values())
    evidence = [
        f"{name} {'absent' if not link.present else 'unverified' if link.matches is None else 'matches' if link.matches else 'differs'}: {link.detail}"
        for name, link in links.items()
    ]
    unverified = any(link.present and link.matches is None for link in links.values())
    wrong = [name for name, link in links.items() if link.present and not link.matches]
    if present < len(links):
        score = 0 if present <= 1 else 1 if present <= 3 else 2
        gone = ", ".join(name for name, link in links.items() if not link.present)
        return scored(
            "3.8", score, f"{present} of 6 links are there, absent: {gone}", evidence, complete=not unverified
        )
    if wrong:
        return scored("3.8", 3, f"not recomputing: {', '.join(wrong)}", evidence, complete=not unverified)
    return scored("3.8", 4, "every link recomputes from the one before", evidence)


def _absent(detail: str) -> Link:
    return Link(present=False, matches=None, detail=detail)


def _signals(case: Case, own: Recomputed) -> Link:
    """L1: prices and fundamentals -> signals."""
    if case.main.signals is None:
        return _absent("no signal values")
    if isinstance(case.main.inputs, Absent):
        return _absent(case.main.inputs.reason)
    outside = [name for name in case.spec.factors if name.startswith("?")]
    if outside or not case.spec.factors:
        detail = f"outside the grammar: {', '.join(outside)}" if outside else "no factor is stated or found"
        return Link(present=True, matches=None, detail=detail)
    results: list[tuple[str, float, float]] = []
    for name in case.spec.factors:
        found = _one_signal(name, own, alone=len(case.spec.factors) == 1)
        if isinstance(found, Absent):
            return _absent(found.reason)
        results.append((name, *found))
    detail = ", ".join(f"{name} {cells:.1%} of cells, {dates:.1%} of dates by rank" for name, cells, dates in results)
    fits = all(cells >= _AGREE or dates >= _AGREE for _, cells, dates in results)
    return Link(present=True, matches=fits, detail=detail)


def _one_signal(name: str, own: Recomputed, *, alone: bool) -> tuple[float, float] | Absent:
    """Return how close one delivered factor comes to the own one."""
    delivered = own.delivered_signals.get(name)
    if delivered is None and alone:
        delivered = own.delivered_signals.get(COMPOSITE)
    if delivered is None:
        return Absent(f"no values of {name}")
    scores = own.factor(name)
    return Absent(f"{name}: {scores.reason}") if isinstance(scores, Absent) else _closeness(delivered, scores)


def _closeness(delivered: pd.DataFrame, own: pd.DataFrame) -> tuple[float, float]:
    """Return the share of cells within 1e-3 relative and the share of dates with a rank correlation of .99."""
    days, names = delivered.index.intersection(own.index), delivered.columns.intersection(own.columns)
    if not len(days) or not len(names):
        return 0.0, 0.0
    theirs, ours = delivered.loc[days, names], own.loc[days, names]
    cells = theirs.notna()
    close = (theirs - ours).abs() <= 1e-3 * ours.abs() + 1e-9
    ranks = theirs.where(ours.notna()).rank(axis=1).corrwith(ours.where(theirs.notna()).rank(axis=1), axis=1)
    return float(close[cells].sum().sum() / max(cells.sum().sum(), 1)), float((ranks >= _RANK_AGREE).mean())


def _selections(case: Case, own: Recomputed) -> Link:
    """L2: signals -> selected names."""
    run, n = case.main, case.spec.n_holdings
    if run.selections is None:
        return _absent("no selections")
    if run.signals is None:
        return _absent("no signal values to select from")
    if n is None:
        return Link(present=True, matches=None, detail="the number of names is neither stated nor found")
    chosen = own.chosen_as(case.spec.combination, n)
    if isinstance(chosen, Absent):
        return Link(present=True, matches=None, detail=chosen.reason)
    theirs, ours = selected_sets(run.selections), selected_sets(chosen)
    common = [day for day in theirs if day in ours]
    if not common:
        return Link(present=True, matches=False, detail="no date in common with the signals")
    same = sum(theirs[day] == ours[day] for day in common) / len(theirs)
    return Link(
        present=True, matches=same >= _AGREE, detail=f"same {n} names on {same:.1%} of {len(theirs)} decision dates"
    )


def _weights(case: Case, own: Recomputed) -> Link:
    """L3: selected -> target weights."""
    targets = case.main.targets
    if targets is None:
        return _absent("no target weights")
    if case.main.selections is None:
        return _absent("no selections to weight")
    mine = own.targets
    if isinstance(mine, Absent):
        return Link(present=True, matches=None, detail=mine.reason)
    known = mine.index[mine.notna().any(axis=1)].intersection(targets.index)
    if not len(known):
        return Link(present=True, matches=False, detail="no date in common with the selections")
    names = targets.columns.union(mine.columns)
    gap = (
        (
            targets.loc[known].reindex(columns=names, fill_value=0.0)
            - mine.loc[known].reindex(columns=names, fill_value=0.0).fillna(0.0)
        )
        .abs()
        .max(axis=1)
    )
    paused = _in_cash_by_stop(case, targets.loc[known])
    fits = float(((gap <= _WEIGHT) | paused).mean())
    worst = f"largest gap {float(gap[~paused].max()) if (~paused).any() else 0.0:.4f}"
    return Link(
        present=True,
        matches=fits >= _AGREE,
        detail=f"{case.spec.weighting} on {fits:.1%} of {len(known)} dates, {worst}",
    )


def _in_cash_by_stop(case: Case, targets: pd.DataFrame) -> "pd.Series[bool]":
    """Dates whose targets are all cash while a portfolio stop keeps the rebuilt book out of the market."""
    book = case.rebuilt
    empty = targets.abs().sum(axis=1) <= 1e-9
    if case.spec.risk_control != "drawdown_stop" or isinstance(book, Absent):
        return pd.Series(data=False, index=targets.index)
    out = book.exposure.reindex(targets.index).fillna(0.0) <= 0.02
    return empty & out


def _fills(case: Case, own: Recomputed) -> Link:  # noqa: ARG001 one shape for all links
    """L4: target weights -> fills."""
    targets, book = case.main.targets, case.rebuilt
    if targets is None or case.main.trades is None:
        return _absent("no target weights" if targets is None else "no usable trade log")
    if isinstance(book, Absent):
        return Link(present=True, matches=None, detail=book.reason)
    fits = decision_fits(case)
    if not fits:
        return Link(present=True, matches=None, detail="no decision with room for its fills")
    wrong = [fit for fit in fits if not (fit.shares_fit or fit.largest_weight_gap <= 1e-3)]
    share = 1 - len(wrong) / len(fits)
    detail = f"{share:.1%} of {len(fits)} decisions reach their target shares" + (
        f", first miss {wrong[0].date.date()}: {wrong[0].worst}" if wrong else ""
    )
    return Link(present=True, matches=share >= _AGREE and _exits_have_reasons(case), detail=detail)


def _exits_have_reasons(case: Case) -> bool:
    """Whether sells by timing or risk control say so, where the delivery has such a rule."""
    trades = case.main.trades
    rules = (case.spec.market_timing not in (None, "always_invested")) or case.spec.risk_control not in (None, "none")
    if trades is None or not rules:
        return True
    if "reason" not in trades.columns:
        return False
    sells = trades[trades["side"] < 0]
    return bool(sells["reason"].fillna("").astype(str).str.strip().ne("").all())


def _equity(case: Case, own: Recomputed) -> Link:  # noqa: ARG001 one shape for all links
    """L5: fills -> equity."""
    if case.main.trades is None or case.main.equity is None:
        return _absent("no usable trade log" if case.main.trades is None else "no equity curve")
    if isinstance(case.rebuilt, Absent):
        return _absent(case.rebuilt.reason)
    gap = equity_gap(case)
    if gap is None or not np.isfinite(gap.largest):
        return Link(present=True, matches=False, detail="no session in common")
    return Link(present=True, matches=gap.largest <= _EQUITY, detail=gap.text)


def _metrics(case: Case, own: Recomputed) -> Link:  # noqa: ARG001 one shape for all links
    """L6: equity -> metrics."""
    equity, book = case.main.equity, case.rebuilt
    if equity is None or not case.main.reported:
        return _absent("no equity curve" if equity is None else "no metrics table")
    if isinstance(book, Absent):
        return Link(present=True, matches=None, detail=book.reason)
    report = check_metrics(case, book, equity)
    held = [check for check in report.checks if check.within is not None and check.name not in NOT_OF_THE_CURVE]
    if not held:
        return Link(present=True, matches=None, detail="no reported metric can be held against the equity")
    wrong = [check.name for check in held if not check.within]
    return Link(
        present=True,
        matches=not wrong,
        detail=f"outside tolerance: {', '.join(wrong)}" if wrong else f"{len(held)} metrics",
    )


_LINKS: dict[str, Callable[[Case, Recomputed], Link]] = {
    "L1": _signals,
    "L2": _selections,
    "L3": _weights,
    "L4": _fills,
    "L5": _equity,
    "L6": _metrics,
}
