"""The program's part of 3.4: a delivered benchmark series gives the reported benchmark figure."""

import re
from collections.abc import Iterator
from typing import Any

import pandas as pd

from evaluator.measure.case import Case
from evaluator.measure.core_metrics import reported_in_text
from evaluator.measure.specification import spec_rows
from evaluator.quant.absent import Absent
from evaluator.quant.panel import SPY_NAMES, VIX_NAMES, series_of

_NEAR = 0.02
VERIFIED = 4
DIFFERS = 2
"""A wrong figure voids the same dates, the side by side and the excess: one point of four may stand."""
_RETURNED = re.compile(
    r"(?:benchmark|index|S&P ?500|SPY|GSPC)[^.\n]{0,90}?\b(?:returned|return of|gained|lost)\s+(?P<value>[-+\u2212]?\d[\d,]*(?:\.\d+)?)\s*%",
    re.IGNORECASE,
)


def bound(case: Case) -> tuple[int | None, str]:
    """Return the highest score of 3.4 and why; None where nothing can be checked."""
    figures = _figures(case)
    if not figures:
        return None, "no benchmark figure is read"
    series, named = _series(case)
    if not series:
        return None, "no benchmark series was delivered"
    tried: list[str] = []
    for name, values in series:
        own = _own(case, values)
        gaps = {key: abs(figures[key] - value) for key, value in own.items() if key in figures}
        if gaps and max(gaps.values()) <= _NEAR:
            return VERIFIED, f"{name} gives the reported figures within {max(gaps.values()):.4f}"
        tried += [f"{key} reported {figures[key]:.4f}, {name} gives {own[key]:.4f}" for key in gaps]
    if not tried:
        return None, "the delivered series does not cover the backtest"
    return (DIFFERS if named else None), tried[0]


def _figures(case: Case) -> dict[str, float]:
    found = {**reported_in_text(case), **case.main.reported}
    figures = {key: found[f"benchmark_{key}"] for key in ("total_return", "cagr") if f"benchmark_{key}" in found}
    if not figures and case.report is not None:
        hit = _RETURNED.search(case.report.text[:400_000])
        if hit is not None:
            figures["total_return"] = float(hit["value"].replace(",", "").replace("\u2212", "-")) / 100
    return figures


def _series(case: Case) -> tuple[list[tuple[str, "pd.Series[Any]"]], bool]:
    """Return the delivered series that may be the benchmark, and whether the delivery names one of them as it."""
    words = " ".join(_words(case)).upper()
    delivered = dict(_delivered(case))
    is_index = any(re.search(rf"(?<![A-Z0-9]){re.escape(name)}(?![A-Z0-9])", words) for name in SPY_NAMES)
    named = {
        name: values
        for name, values in delivered.items()
        if re.search(rf"(?<![A-Z0-9]){re.escape(name.upper())}(?![A-Z0-9])", words)
        or (is_index and name.upper() in SPY_NAMES)
    }
    if named:
        return list(named.items()), True
    return [(name, values) for name, values in delivered.items() if name.upper() in SPY_NAMES], False


def _words(case: Case) -> Iterator[str]:
    """Yield the passages that say what the benchmark is."""
    for row in spec_rows(case.delivery):
        if "benchmark" in row.key.lower():
            yield row.value
    for table in case.main.tables("metrics"):
        frame = table.frame
        if {"name", "label"} <= set(frame.columns):
            ours = frame[frame["name"].astype(str).str.startswith("benchmark_")]
            yield from ours["label"].astype(str)
            if "basis" in ours.columns:
                yield from ours["basis"].astype(str).unique()
    text = "" if case.report is None else case.report.text[:400_000]
    yield from (line for line in text.splitlines() if "benchmark" in line.lower())


def _delivered(case: Case) -> Iterator[tuple[str, "pd.Series[Any]"]]:
    market = case.main.frame("market")
    if market is not None and "symbol" in market.columns:
        for name in sorted(market["symbol"].dropna().astype(str).unique()):
            values = series_of(market, [name.upper().strip()])
            if name.upper() not in VIX_NAMES and not isinstance(values, Absent):
                yield name, values
    panel = case.main.panel
    if not isinstance(panel, Absent):
        for name, values in panel.proxies.items():
            if str(name).upper() not in VIX_NAMES:
                yield str(name), values.dropna()


def _own(case: Case, values: "pd.Series[Any]") -> dict[str, float]:
    """Return total return and annual growth of a series over the sessions of the delivered equity."""
    equity, spec = case.main.equity, case.spec
    start = equity.index[0] if equity is not None else pd.Timestamp(spec.start) if spec.start else None
    end = equity.index[-1] if equity is not None else pd.Timestamp(spec.end) if spec.end else None
    if start is None or end is None:
        return {}
    before, inside = values[values.index <= start], values[(values.index >= start) & (values.index <= end)]
    if len(inside) < 2 or (not len(before) and inside.index[0] > start + pd.Timedelta(days=7)):
        return {}
    first = float(before.iloc[-1]) if len(before) else float(inside.iloc[0])
    growth = float(inside.iloc[-1]) / first
    days = max((end - start).days, 1)
    return {"total_return": growth - 1, "cagr": growth ** (365.25 / days) - 1 if growth > 0 else float("nan")}
