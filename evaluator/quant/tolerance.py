"""Reported figures against rebuilt ones: one set of conventions must explain them all (evaluator.md 2.6 item 7)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from evaluator.quant.metrics import DEFAULT, Conventions, performance, round_trips, trade_counts, trade_metrics

TOLERANCE: dict[str, float] = {
    "total_return": 0.02,
    "cagr": 0.02,
    "annual_return_mean": 0.02,
    "volatility": 0.02,
    "max_drawdown": 0.02,
    "win_rate": 0.02,
    "win_rate_days": 0.02,
    "exposure": 0.02,
    "best_day": 0.02,
    "worst_day": 0.02,
    "turnover": 0.1,
    "sharpe": 0.5,
    "sortino": 0.5,
    "calmar": 0.5,
    "information_ratio": 0.5,
}
RELATIVE: dict[str, float] = {"final_equity": 0.02, "total_fees": 0.01, "capital": 0.001}
"""Tolerances as a share of the own figure."""
_TOOL_MARKS: tuple[tuple[str, frozenset[str], Conventions], ...] = (
    (
        "backtesting.py",
        frozenset({"return (ann.) [%]", "max. drawdown [%]", "# trades"}),
        Conventions(name="backtesting.py", cagr="periods", sharpe="geometric"),
    ),
    (
        "vectorbt",
        frozenset({"total return [%]", "max drawdown duration", "omega ratio"}),
        Conventions(name="vectorbt", periods=365.0, cagr="periods"),
    ),
)


_TIME_IN_MARKET = re.compile(r"exposure time|time in market|time_in_market", re.IGNORECASE)
"""Labels of backtesting.py and QuantStats that count sessions, not money."""
_DUST = 1e-9


@dataclass(frozen=True)
class MetricCheck:
    """One reported figure."""

    name: str
    reported: float
    own: float | None
    gap: float | None
    within: bool | None
    """None: there is nothing to compare it with."""


@dataclass(frozen=True)
class MetricReport:
    """All reported figures under the conventions that explain most of them."""

    conventions: Conventions
    checks: tuple[MetricCheck, ...]
    count_basis: str | None
    """What the reported number of trades counts; None when it matches no basis or is not reported."""

    def get(self, name: str) -> MetricCheck | None:
        """Return the check of one metric; None when it was not reported."""
        return next((check for check in self.checks if check.name == name), None)


def compare_metrics(
    reported: Mapping[str, float],
    equity: "pd.Series[Any]",
    *,
    capital: float | None = None,
    cash: "pd.Series[Any] | None" = None,
    trades: pd.DataFrame | None = None,
    rate_bps: float = 0.0,
    stated: Conventions | None = None,
    labels: Sequence[str] = (),
    trips: pd.DataFrame | None = None,
) -> MetricReport:
    """Compare canonical metrics (fractions, drawdown negative or positive) with those of an equity series.

    Args: equity: rebuilt or delivered; stated: conventions the report names; labels: metric labels as delivered, which
    tell the tool they come from; trips: `round_trips` of the trades, where they are at hand.
    """
    trips = round_trips(trades) if trips is None else trips
    counts = trade_counts(trades, trips)
    base = trade_metrics(trades, equity, cash, rate_bps=rate_bps, trips=trips)
    if capital is not None:
        base["capital"] = capital
    if cash is not None and any(_TIME_IN_MARKET.search(label) for label in labels):
        base["exposure"] = _time_in_market(equity, cash)
    best: MetricReport | None = None
    for conventions in _sets(stated, labels):
        own = {**performance(equity, capital=capital, conventions=conventions), **base}
        if conventions.wins == "days":
            own["win_rate"] = own.get("win_rate_days", float("nan"))
        made = _report(reported, own, counts, conventions)
        if best is None or _misses(made) < _misses(best):
            best = made
    assert best is not None  # noqa: S101 -- _sets yields at least the defaults
    return best


def _time_in_market(equity: "pd.Series[Any]", cash: "pd.Series[Any]") -> float:
    """Return the share of sessions with a position at their own close or at the one before."""
    held = (equity - cash).abs() > _DUST * equity.abs()
    return float((held | held.shift(1, fill_value=False)).mean())


def _misses(report: MetricReport) -> int:
    return sum(check.within is False for check in report.checks)


def _sets(stated: Conventions | None, labels: Sequence[str]) -> list[Conventions]:
    """Return the sets to try, most trusted first; each also with the other exponent and the other win rate."""
    found = [] if stated is None else [stated]
    seen = {label.strip().lower() for label in labels}
    found += [conventions for _, marks, conventions in _TOOL_MARKS if len(marks & seen) >= 2]
    found.append(DEFAULT)
    out: list[Conventions] = []
    for one in found:
        other = replace(one, cagr="periods" if one.cagr == "calendar" else "calendar")
        out += [one, other, replace(one, wins="days"), replace(other, wins="days")]
    return out


def _report(
    reported: Mapping[str, float], own: Mapping[str, float], counts: Mapping[str, int], conventions: Conventions
) -> MetricReport:
    checks = []
    basis = None
    for name, value in reported.items():
        if name == "trades":
            basis = next((key for key, count in counts.items() if count == round(value)), None)
            mine = float(counts["fills"]) if counts else None
            gap = None if mine is None else value - (counts[basis] if basis else mine)
            checks.append(MetricCheck(name, value, mine, gap, (basis is not None) if counts else None))
        elif name in TOLERANCE or name in RELATIVE:
            checks.append(_check(name, value, own.get(name)))
    return MetricReport(conventions, tuple(checks), basis)


def _check(name: str, reported: float, own: float | None) -> MetricCheck:
    if own is None or own != own:  # noqa: PLR0124 -- NaN
        return MetricCheck(name, reported, None, None, None)
    if name == "max_drawdown":
        reported = -abs(reported)
    reported, own = float(reported), float(own)
    gap = reported - own
    limit = RELATIVE[name] * max(abs(own), 1e-9) + 0.01 if name in RELATIVE else TOLERANCE[name]
    return MetricCheck(name, reported, own, gap, abs(gap) <= limit)
