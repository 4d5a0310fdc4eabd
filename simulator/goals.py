"""The user's four core goals, each observed with the messages or files that show it (evaluator.md 6.3, step 6).

The user does not recompute: a report that looks right is signed off, which is the silent failure the grade exists for.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from records.decision import Goal, Observation, View, ViewFile
from records.task import Task
from simulator import delivery

NAMED_SOURCE = re.compile(
    r"\b(?:fmp|financial ?modeling ?prep|yahoo|yfinance|stooq|alpha ?vantage|polygon|tiingo|quandl|nasdaq data link|iex|bloomberg|refinitiv"
    r"|crsp|wrds|compustat|edgar|sec\.gov|fred|alpaca|databento|eodhd|simfin|tushare|twelve ?data|marketstack|finnhub|intrinio|norgate)\b"
    r"|https?://[\w.-]+",
    re.IGNORECASE,
)
METRICS: dict[str, re.Pattern[str]] = {
    "the total return": re.compile(
        r"(?:total|net|cumulative|annual\w*|overall|final|portfolio|strategy)?[ _]?(?:return|cagr|performance|gain)[^\n]{0,60}?-?\d",
        re.IGNORECASE,
    ),
    "the Sharpe ratio": re.compile(r"sharpe[^\n]{0,60}?-?\d", re.IGNORECASE),
    "the maximum drawdown": re.compile(r"(?:draw[ _-]?down|mdd)[^\n]{0,60}?-?\d", re.IGNORECASE),
    "the number of trades": re.compile(
        r"(?:(?:number|count|total|n|no\.?|#)[ _]?(?:of )?[ _]?(?:trades?|fills?|transactions?|orders?|round trips?)|trades?[ _]?(?:count|executed|made|total)?|fills?)[^\n]{0,40}?\d"
        r"|\d[\d,]*\s+(?:\w+ )?(?:trades?|fills?|transactions?|orders?|round trips?)\b",
        re.IGNORECASE,
    ),
}
SECTIONS: dict[str, re.Pattern[str]] = {
    "summary": re.compile(r"summar|overview|abstract|tl;?dr|key (?:take|find)|at a glance|in brief|highlights"),
    "method": re.compile(
        r"method|approach|strategy|set-?up|design|how (?:it|the|we|i)|rules|specification|implementation|process"
    ),
    "results": re.compile(r"result|performance|findings|outcome|metrics|returns"),
    "limitations": re.compile(
        r"limit|caveat|weakness|risks?\b|assumption|what (?:this|it) (?:does not|doesn't)|shortcoming|known issue|disclaimer"
    ),
}


@dataclass(frozen=True)
class Standing:
    """The four observations and, for each unmet goal, what is missing in words."""

    observations: tuple[Observation, ...]
    lacking: dict[Goal, str]

    @property
    def is_complete(self) -> bool:
        """Whether every core goal is met."""
        return not self.lacking


def observe(task: Task, view: View) -> Standing:
    """Return how each goal stands after the view's last message."""
    lacking: dict[Goal, str] = {}
    observations = (
        _backtest(view, lacking),
        _data(task, view, lacking),
        _metrics(view, lacking),
        _report(view, lacking),
    )
    return Standing(observations, lacking)


def reports(view: View) -> list[ViewFile]:
    """Return the delivered reports that can be read, one called report or summary first."""
    found = [file for file in view.files if delivery.is_report(file) and file.text]
    return sorted(found, key=lambda file: "report" not in file.path.lower() and "summary" not in file.path.lower())


def _unread_reports(view: View) -> list[ViewFile]:
    """Return reports in a format the user does not read; they count as present, their sections are taken on trust."""
    return [file for file in view.files if delivery.is_report(file) and delivery.is_unread(file)]


def _words_of(view: View, file: ViewFile) -> str:
    """Return a report's text; for one that is not read, what the agent says beside it."""
    if file.text is not None:
        return file.text
    return "\n".join(message.text for message in view.messages if message.role == "agent" and message.turn >= file.turn)


def _seen(goal: Goal, lacking: dict[Goal, str], evidence: Sequence[str], missing: str | None) -> Observation:
    if missing is None:
        return Observation(goal=goal, status="met", evidence=tuple(dict.fromkeys(evidence)))
    lacking[goal] = missing
    return Observation(goal=goal, status="missing", evidence=tuple(dict.fromkeys(evidence)))


def _backtest(view: View, lacking: dict[Goal, str]) -> Observation:
    logs = [file.id for file in view.files if delivery.holds_trades(file)]
    return _seen("backtest", lacking, logs, None if logs else "trades")


def _data(task: Task, view: View, lacking: dict[Goal, str]) -> Observation:
    tables = [file for file in view.files if delivery.holds_prices(file)]
    named = [file.id for file in view.files if file.text and NAMED_SOURCE.search(file.text)]
    named += [m.id for m in view.messages if m.role == "agent" and NAMED_SOURCE.search(m.text)]
    with_symbols = [file for file in tables if _has_symbols(task, file)]
    missing = None if with_symbols and named else "prices"
    return _seen("data_real", lacking, [file.id for file in with_symbols] + named[:2], missing)


def _has_symbols(task: Task, file: ViewFile) -> bool:
    """Return whether the table names a stock; one that is not read has it by its name."""
    if file.text is None:
        return True
    where = f"{file.path} {file.text}"
    if task.scope.symbols:
        return any(re.search(rf"(?<![A-Za-z]){re.escape(symbol)}(?![A-Za-z])", where) for symbol in task.scope.symbols)
    return re.search(r"(?<![A-Za-z])[A-Z]{1,5}(?![A-Za-z])", where) is not None


def _metrics(view: View, lacking: dict[Goal, str]) -> Observation:
    found = reports(view) or _unread_reports(view)
    text = "\n".join(_words_of(view, file) for file in found)
    absent = [name for name, pattern in METRICS.items() if not pattern.search(text)]
    located = [file.id for file in view.files if _locates_metrics(file)]
    if absent:
        return _seen("metrics_trace", lacking, [file.id for file in found], _listed(absent))
    if not located:
        return _seen("metrics_trace", lacking, [file.id for file in found], _listed(list(METRICS)))
    return _seen("metrics_trace", lacking, [*(file.id for file in found[:2]), *located[:3]], None)


def _locates_metrics(file: ViewFile) -> bool:
    """Return whether the numbers can be found in the file: a metrics table, or the equity curve they come from."""
    name = delivery.base_name(file)
    is_table = name.endswith((*delivery.TABLE_SUFFIXES, *delivery.BINARY_TABLE_SUFFIXES))
    named = delivery.METRIC_NAME.search(name) or delivery.EQUITY_NAME.search(name)
    return is_table and named is not None and file.text != ""


def _report(view: View, lacking: dict[Goal, str]) -> Observation:
    found = reports(view)
    unread = _unread_reports(view)
    if unread and not found:
        return _seen("report", lacking, [file.id for file in unread], None)
    if not found:
        return _seen("report", lacking, [], "summary, method, results and limitations")
    titles = [title for file in found for title in delivery.headings(file)]
    absent = [name for name, pattern in SECTIONS.items() if not any(pattern.search(title) for title in titles)]
    return _seen("report", lacking, [file.id for file in found], _listed(absent) if absent else None)


def _listed(parts: Sequence[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
