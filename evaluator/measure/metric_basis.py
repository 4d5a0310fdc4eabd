"""Whether each reported metric says what it stands on: period, annualisation, gross or net, risk-free rate (5.3, 3.3)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields

from evaluator.measure.case import Case
from evaluator.package.metric_names import canonical_metric

LEVELS = ((4, 0.95), (3, 0.75), (2, 0.50), (1, 0.25))
_PERIOD = ("total_return", "cagr", "volatility", "sharpe", "sortino", "calmar", "information_ratio", "max_drawdown")
_COUNTED = (*_PERIOD, "win_rate", "win_rate_days", "turnover", "exposure", "trades", "total_fees", "alpha", "beta")
_DATED = (*_COUNTED, "best_day", "worst_day", "final_equity")
_ANNUAL = ("cagr", "volatility", "sharpe", "sortino", "calmar", "information_ratio", "turnover", "alpha")
_COSTS = (
    "total_return",
    "cagr",
    "sharpe",
    "sortino",
    "calmar",
    "information_ratio",
    "max_drawdown",
    "final_equity",
    "alpha",
)
_RISK_FREE = ("sharpe", "sortino", "alpha")
_VARIANT = re.compile(r"^(benchmark|gross|oos|is)_")

_YEAR = r"(?:19|20)\d{2}"
_DAY = rf"{_YEAR}-\d{{2}}-\d{{2}}|{_YEAR}/\d{{2}}/\d{{2}}|\d{{1,2}} [A-Z][a-z]+ {_YEAR}|[A-Z][a-z]+ \d{{1,2}}, {_YEAR}|[A-Z][a-z]+ {_YEAR}"
_SPAN = re.compile(rf"(?:{_DAY}|{_YEAR})\s*(?:to|through|until|till|and|[-\u2013\u2014]+|\.\.)\s*(?:{_DAY}|{_YEAR})\b")
_ONE_DAY = re.compile(_DAY)
_ANNUALISED = re.compile(
    r"annuali[sz]|\bper (?:year|annum|day|month)\b|\b(?:a|each) year\b|\byearly\b|\bannual\b|\bcagr\b|\bann\b|\bp\.?a\b"
    r"|\b(?:252|365(?:\.25)?|260)\b|\bdaily\b|\bmonthly\b",
    re.IGNORECASE,
)
_NOT_COSTS = r"(?! ?-?(?:income|profit\w*|margin|assets?|exposure|worth|sales|debt|leverage|long|short|liquidation))"
_NET = re.compile(
    rf"\b(?:net|gross)\b{_NOT_COSTS}|\b(?:after|before|without|excluding|including) (?:\w+ )?(?:costs?|fees|commissions?)\b|cost[- ]free",
    re.IGNORECASE,
)
_RF = re.compile(r"risk[- ]?free|\brf\b|t-?bills?|excess of cash", re.IGNORECASE)
_FOR_ALL = re.compile(
    r"\b(?:all|every|each|these)\b[^.\n]{0,40}\b(?:figures?|metrics?|numbers?|returns?|results?|statistics|ratios?)\b"
    r"|unless (?:otherwise )?(?:stated|noted)|unless otherwise",
    re.IGNORECASE,
)
LINE = re.compile(
    r"(?P<label>[A-Za-z][A-Za-z0-9 .()%/_-]{2,60}?)\s*(?:[:=|]|\bis\b|\bof\b)\s*(?P<value>[-+\u2212]?[$€]?\d[\d,.]*\s*%?)"
)
"""A label with its number in a report."""
_CHARS = 400_000


@dataclass(frozen=True)
class Basis:
    """What a text says of the figure beside it."""

    period: bool = False
    day: bool = False
    annualised: bool = False
    costs: bool = False
    risk_free: bool = False

    def __or__(self, other: "Basis") -> "Basis":
        """Return what either says."""
        return Basis(*(getattr(self, one.name) or getattr(other, one.name) for one in fields(self)))


@dataclass(frozen=True)
class Stated:
    """One reported metric with the words that stand with it."""

    name: str
    label: str
    basis: Basis

    @property
    def lacking(self) -> tuple[str, ...]:
        """What a reader would have to guess."""
        base, is_index = _VARIANT.sub("", self.name), self.name.startswith("benchmark_")
        needs = (
            ("period", base in _DATED, self.basis.period or (base == "final_equity" and self.basis.day)),
            ("annualisation", base in _ANNUAL, self.basis.annualised),
            ("gross or net", base in _COSTS and not is_index, self.basis.costs),
            ("risk-free rate", base in _RISK_FREE, self.basis.risk_free),
        )
        return tuple(name for name, needed, said in needs if needed and not said)


def read_basis(text: str) -> Basis:
    """Return what a text states. The words are those of a basis, not of a strategy: net income is no net return."""
    return Basis(
        period=_SPAN.search(text) is not None,
        day=_ONE_DAY.search(text) is not None,
        annualised=_ANNUALISED.search(text) is not None,
        costs=_NET.search(text) is not None,
        risk_free=_RF.search(text) is not None,
    )


def stated_metrics(case: Case) -> list[Stated]:
    """Return each reported metric whose basis matters, once; those of the metrics tables, else those of the report.

    What is said beside one row of a metric holds for its other rows, and how the strategy's figure is annualised holds
    for the benchmark's beside it.
    """
    beside: dict[str, Basis] = {}
    for name, line in report_lines(case):
        beside[name] = beside.get(name, Basis()) | read_basis(line)
    labels = {name: name for name in beside}
    in_tables = _in_tables(case)
    if in_tables:
        labels = {name: label for name, (label, _) in in_tables.items()}
        beside = {name: basis | beside.get(name, Basis()) for name, (_, basis) in in_tables.items()}
    shared = _of_report(case)
    found = []
    for name, label in labels.items():
        base = _VARIANT.sub("", name)
        if base in _DATED:
            of_base = beside.get(base, Basis())
            basis = shared | beside[name] | Basis(annualised=of_base.annualised, risk_free=of_base.risk_free)
            found.append(Stated(name, label, basis))
    return found


def _in_tables(case: Case) -> dict[str, tuple[str, Basis]]:
    """Return canonical name -> label and what the metrics tables say beside it."""
    found: dict[str, tuple[str, Basis]] = {}
    for table in case.main.tables("metrics"):
        frame = table.frame
        if not {"name", "label", "text", "value"} <= set(frame.columns):
            continue
        common = _of_table(dict(zip(frame["name"].astype(str), frame["text"].astype(str), strict=True)))
        notes = frame["basis"] if "basis" in frame.columns else [""] * len(frame)
        for name, label, note, value in zip(frame["name"], frame["label"], notes, frame["value"], strict=True):
            if isinstance(name, str) and value == value:  # noqa: PLR0124 NaN
                before = found.get(name, ("", Basis()))[1]
                own = read_basis(f"{label} {name}; {note}".replace("_", " "))
                found[name] = (str(label), before | own | common)
    return found


def report_lines(case: Case) -> Iterator[tuple[str, str]]:
    """Yield (canonical name, line) for each labelled figure of the last report."""
    text = "" if case.report is None else case.report.text[:_CHARS]
    for line in text.splitlines():
        for hit in LINE.finditer(line):
            name = canonical_metric(hit["label"].strip(" *|-"))
            if name is not None:
                yield name, line


def program_score(share: float) -> int:
    """Return the score that a share of metrics with basis allows (rubric 5.3)."""
    return next((level for level, limit in LEVELS if share >= limit), 0)


def bound(case: Case) -> tuple[int, str]:
    """Return the highest score of 5.3 and the share behind it in words."""
    stated = stated_metrics(case)
    if not stated:
        return 0, "no metric is reported"
    whole = [one for one in stated if not one.lacking]
    share = len(whole) / len(stated)
    lacking = [f"{one.label}: {', '.join(one.lacking)}" for one in stated if one.lacking]
    more = f"; lacking {'; '.join(lacking[:3])}" if lacking else ""
    return program_score(share), f"{len(whole)} of {len(stated)} reported metrics state their basis{more}"


def _of_report(case: Case) -> Basis:
    """What the report says of all its figures at once."""
    text = "" if case.report is None else case.report.text[:_CHARS]
    found = Basis()
    for line in text.splitlines():
        if _FOR_ALL.search(line):
            found |= read_basis(line)
    return found


def _of_table(rows: dict[str, str]) -> Basis:
    """What rows of the metrics table itself say of the others: start and end, periods per year, risk-free rate."""
    return Basis(
        period=bool(_ONE_DAY.search(rows.get("start", ""))) and bool(_ONE_DAY.search(rows.get("end", ""))),
        annualised="periods_per_year" in rows,
        risk_free="risk_free" in rows,
    )
