"""Dimension 3.3: which core metrics are reported as numbers, and whether their basis is."""

import re

from evaluator.measure.case import Case
from evaluator.measure.metric_basis import LINE, Basis, read_basis, report_lines, stated_metrics
from evaluator.measure.verdict import scored
from evaluator.package.metric_names import canonical_metric
from records.grade import Judgement

_CORE = (("total_return", "cagr"), ("sharpe",), ("max_drawdown",), ("trades",))
_FULL = ("cagr", "volatility", "turnover", "exposure")
_SPEAKS = re.compile(r"\b(?:strategy|portfolio|backtest|period|window|sample)\b", re.IGNORECASE)
_CHARS = 400_000


def judge(case: Case) -> Judgement:
    """Return the verdict of 3.3; a metrics table comes first, the last report fills what it lacks."""
    found = dict(case.main.reported)
    evidence = [f"{path}: {', '.join(sorted(found))}" for path in case.main.paths("metrics")]
    for name, value in reported_in_text(case).items():
        if name not in found and case.report is not None:
            found[name] = value
            evidence.append(f"{case.report.path}: {name} {value:g}")
    core = sum(any(name in found for name in names) for names in _CORE)
    basis = _basis(case)
    if core < 2:
        return scored("3.3", 0, f"{core} of return, Sharpe, maximum drawdown, trade count are reported", evidence)
    if core < 4:
        return scored("3.3", 1, f"{core} of the four core metrics are reported", evidence)
    whole = basis.period and basis.annualised and basis.costs
    if whole and all(name in found for name in _FULL):
        return scored("3.3", 4, "all core and further metrics with period, annualisation and basis", evidence)
    if basis.period and any(name in found for name in ("volatility", "turnover")):
        return scored("3.3", 3, "all four with dates and volatility or turnover", evidence)
    return scored("3.3", 2, "all four core metrics are reported", evidence)


def reported_in_text(case: Case) -> dict[str, float]:
    """Return canonical metric -> the first value the last report gives it; percent signs are read."""
    if case.report is None:
        return {}
    found: dict[str, float] = {}
    for hit in LINE.finditer(case.report.text[:_CHARS]):
        name = canonical_metric(hit["label"].strip(" *|-"))
        if name is None:
            continue
        text = hit["value"].replace("\u2212", "-").strip("$€ ")
        number = re.search(r"[-+]?\d[\d,]*\.?\d*", text)
        if number is not None:
            value = float(number.group().replace(",", "").rstrip("."))
            found.setdefault(name, value / 100 if text.endswith("%") else value)
    return found


def _basis(case: Case) -> Basis:
    """Return what stands beside any metric: its row in a table, its line in the report, or a line on the whole run."""
    found = Basis()
    for one in stated_metrics(case):
        found |= one.basis
    for _, line in report_lines(case):
        found |= read_basis(line)
    text = "" if case.report is None else case.report.text[:_CHARS]
    for line in text.splitlines():
        said = read_basis(line)
        if said.period and _SPEAKS.search(line):
            found |= Basis(period=True)
    return found
