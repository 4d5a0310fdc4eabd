"""Dimension 3.3: which core metrics are reported as numbers, and whether their basis is."""

import re

from evaluator.measure.case import Case
from evaluator.measure.verdict import scored
from evaluator.package.metric_names import canonical_metric
from records.grade import Judgement

_CORE = (("total_return", "cagr"), ("sharpe",), ("max_drawdown",), ("trades",))
_FULL = ("cagr", "volatility", "turnover", "exposure")
_LINE = re.compile(
    r"(?P<label>[A-Za-z][A-Za-z0-9 .()%/_-]{2,60}?)\s*(?:[:=|]|\bis\b|\bof\b)\s*(?P<value>[-+\u2212]?[$€]?\d[\d,.]*\s*%?)"
)
_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")


def judge(case: Case) -> Judgement:
    """Return the verdict of 3.3; a metrics table comes first, the last report fills what it lacks."""
    found = dict(case.main.reported)
    evidence = [f"{path}: {', '.join(sorted(found))}" for path in case.main.paths("metrics")]
    for name, value in _in_report(case).items():
        if name not in found and case.report is not None:
            found[name] = value
            evidence.append(f"{case.report.path}: {name} {value:g}")
    core = sum(any(name in found for name in names) for names in _CORE)
    dated, periods, basis = _basis(case)
    if core < 2:
        return scored("3.3", 0, f"{core} of return, Sharpe, maximum drawdown, trade count are reported", evidence)
    if core < 4:
        return scored("3.3", 1, f"{core} of the four core metrics are reported", evidence)
    if dated and periods and basis and all(name in found for name in _FULL):
        return scored("3.3", 4, "all core and further metrics with period, annualisation and basis", evidence)
    if dated and any(name in found for name in ("volatility", "turnover")):
        return scored("3.3", 3, "all four with dates and volatility or turnover", evidence)
    return scored("3.3", 2, "all four core metrics are reported", evidence)


def _in_report(case: Case) -> dict[str, float]:
    if case.report is None:
        return {}
    found: dict[str, float] = {}
    for hit in _LINE.finditer(case.report.text[:400_000]):
        name = canonical_metric(hit["label"].strip(" *|-"))
        if name is None:
            continue
        text = hit["value"].replace("\u2212", "-").strip("$€ ")
        number = re.search(r"[-+]?\d[\d,]*\.?\d*", text)
        if number is not None:
            value = float(number.group().replace(",", "").rstrip("."))
            found.setdefault(name, value / 100 if text.endswith("%") else value)
    return found


def _basis(case: Case) -> tuple[bool, bool, bool]:
    """Return whether metrics or report state start and end, periods per year, and gross or net."""
    parts = [case.report.text] if case.report else []
    for table in case.delivery.of("metrics"):
        parts += [" ".join(str(cell) for cell in row) for row in table.frame.itertuples(index=False)]
    text = "\n".join(parts).lower()
    dated = len(set(_DAY.findall(text))) >= 2
    return (
        dated,
        re.search(r"\b(?:252|365|12|52)\b|annuali[sz]", text) is not None,
        re.search(r"\b(?:net|gross)\b", text) is not None,
    )
