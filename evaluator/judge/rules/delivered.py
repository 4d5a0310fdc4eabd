"""The delivered numbers a conclusion can be held against, by metric, and the claims that prose makes about them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from evaluator.judge.rules.figures import Figure, figures
from evaluator.judge.rules.text import Piece
from evaluator.judge.rules.view import View
from evaluator.package.metric_names import canonical_metric
from evaluator.package.numbers import parse_number

_RAW = ("prices", "fundamentals", "market", "signals", "selections", "weights", "trades", "equity", "positions", "spec")
_MAX_CELLS = 60_000
LABELS: dict[str, re.Pattern[str]] = {
    "sharpe": re.compile(r"sharpe(?: ratio)?"),
    "max_drawdown": re.compile(
        r"(?:max(?:imum|\.)? |worst |peak[- ]to[- ]trough |deepest )?(?:drawdown|draw-down|mdd)\b|peak[- ]to[- ]trough"
    ),
    "volatility": re.compile(r"volatility|annuali[sz]ed vol\b|\bvol\b"),
    "cagr": re.compile(
        r"cagr|annuali[sz]ed (?:net )?returns?|compound(?:ed)? annual(?: growth)?(?: rate| return)?|annual returns?|(?:per|a) year|p\.a\.|per annum|annually|annuali[sz]ed"
    ),
    "total_return": re.compile(
        r"(?:total|cumulative|net|overall|gross)? ?returns?\b|returned|gain(?:ed)?\b|earned|made\b|lost\b|profit of"
    ),
    "turnover": re.compile(r"turnover"),
    "trades": re.compile(r"trades?\b|fills\b|transactions"),
    "win_rate": re.compile(r"(?:win|hit) rate|winning (?:trades|months)"),
    "exposure": re.compile(r"exposure"),
    "beta": re.compile(r"\bbeta\b"),
    "alpha": re.compile(r"\balpha\b"),
}
MAIN = ("total_return", "cagr", "sharpe")
BENCHMARK = re.compile(
    r"benchmark|\bspy\b|s&p(?: ?500)?|\bindex\b|\bthe market\b|buy[- ]and[- ]hold|equal[- ]weighted (?:universe|basket)|russell|nasdaq|\bqqq\b|\bvoo\b"
)
_OTHER = re.compile(
    r"in[- ]sample|out[- ]of[- ]sample|\boos\b|gross|before costs|stress|variant|worst|best|each (?:year|month)|per trade|per position|average|target|stop|threshold|month\b|quarter\b|day\b|weekly|in (?:19|20)\d\d\b"
    r"|\b(?:19|20)\d\d (?:return|was|saw|lost)|standard error|confidence|interval|±|\+/-|t-stat|spread|difference|excess|ahead|behind|gap|points|\bbps\b|largest|smallest|cost|fees?\b|between|range"
)
_LOSS = re.compile(r"\blost\b|\bloss\b|\blosing\b|\bfell\b|declin|\bdown\b|negative|shrank|dropped")
_GAIN = re.compile(r"gain|earned|\bmade\b|profit|\brose\b|\bgrew\b|\bup\b")
_CLAUSE = re.compile(
    r"\s*(?:[;:]|,(?!\d)|\(|\)|\bwhile\b|\bversus\b|\bvs\.?\b|\bcompared (?:with|to)\b|\bagainst\b|\bthan\b|\bwhereas\b|\bbut\b|\band\b)\s*"
)


@dataclass(frozen=True)
class Claim:
    """A number that a sentence gives for a metric of the main run."""

    metric: str
    figure: Figure
    piece: Piece
    benchmark: bool
    sense: int
    """-1 a loss and 1 a gain by its words, 0 neither."""


@dataclass(frozen=True)
class Delivered:
    """Numbers of the delivered tables."""

    view: View

    @cached_property
    def metrics(self) -> dict[str, float]:
        """Metrics of the main run: the metrics table, else the report's own table, with what the equity curve shows."""
        found = dict(self.from_report)
        found |= self._from_equity()
        found |= {k: v for k, v in self.view.case.main.reported.items() if np.isfinite(v)}
        return found

    @cached_property
    def from_report(self) -> dict[str, float]:
        """Metrics that stand in tables of the reports, strategy first column, 'benchmark_' for the other."""
        found: dict[str, float] = {}
        for text in self.view.reports:
            for piece in text.pieces:
                if piece.kind == "row" and len(piece.cells) >= 2:
                    _from_row(piece, found)
        return found

    def _from_equity(self) -> dict[str, float]:
        curve = self.view.case.main.equity
        if curve is None or len(curve) < 2 or not np.isfinite(curve.to_numpy()).all() or (curve <= 0).any():
            return {}
        return {
            "total_return": float(curve.iloc[-1] / curve.iloc[0] - 1),
            "max_drawdown": float((curve / curve.cummax() - 1).min()),
        }

    @cached_property
    def benchmark(self) -> dict[str, float]:
        """Metrics of the benchmark."""
        found = {k.removeprefix("benchmark_"): v for k, v in self.metrics.items() if k.startswith("benchmark_")}
        for table in self.view.case.delivery.tables:
            if table.role not in _RAW and table.group == "main" and len(table.frame) <= 200:
                found |= _benchmark_column(table.frame)
        return found

    @cached_property
    def exists(self) -> bool:
        """Whether any number was delivered to hold a conclusion against."""
        return bool(self.metrics)

    @cached_property
    def cells(self) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        """All numbers of the small tables and of the report's tables, absolute and sorted."""
        values: list[float] = list(self.metrics.values())
        for table in self.view.case.delivery.tables:
            if table.role in _RAW or len(values) > _MAX_CELLS:
                continue
            numeric = (
                table.frame.head(2_000).apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
            )
            values.extend(numeric[np.isfinite(numeric)].ravel()[:_MAX_CELLS].tolist())
        for text in self.view.reports:
            values.extend(f.value for p in text.pieces if p.kind == "row" for f in figures(p.text))
        return np.sort(np.abs(np.array(values[: 2 * _MAX_CELLS], dtype=float)))

    def holds(self, figure: Figure) -> bool:
        """Whether some delivered number rounds to the figure."""
        scales = (1.0, 100.0) if figure.unit == "" else (1.0,)
        return any(self._near(abs(figure.value) / s, figure.step / s) for s in scales)

    def _near(self, value: float, step: float) -> bool:
        slack = step * 1.02 + 1e-12
        at = int(np.searchsorted(self.cells, value - slack))
        return at < len(self.cells) and bool(self.cells[at] <= value + slack)


def _from_row(piece: Piece, found: dict[str, float]) -> None:
    name = canonical_metric(piece.cells[0])
    if name is None:
        return
    for header, cell in zip(piece.header[1:] or ("",) * 8, piece.cells[1:], strict=False):
        value = parse_number(cell)
        if np.isfinite(value) and not re.search(r"differ|excess|basis|note", header):
            prefix = "benchmark_" if BENCHMARK.search(header) and not name.startswith("benchmark_") else ""
            found.setdefault(prefix + name, float(value))


def _benchmark_column(frame: pd.DataFrame) -> dict[str, float]:
    columns = {str(column).lower(): column for column in frame.columns}
    other = next((columns[c] for c in columns if BENCHMARK.search(c.replace("_", " "))), None)
    label = next((columns[c] for c in columns if c in ("measure", "metric", "name", "key", "statistic", "label")), None)
    if other is None or label is None:
        return {}
    found = {}
    for name, cell in zip(frame[label], frame[other], strict=True):
        metric, value = canonical_metric(str(name)), parse_number(cell)
        if metric is not None and np.isfinite(value):
            found[metric] = float(value)
    return found


def claims(piece: Piece) -> Iterator[Claim]:
    """Yield the numbers a sentence gives for metrics of the strategy or the benchmark, clause by clause."""
    if piece.kind == "row":
        return
    low = piece.low.replace("\u2212", "-")
    at = 0
    last = ""
    on_benchmark = False
    for clause in _CLAUSE.split(low):
        start = low.find(clause, at) if clause else at
        at = start + len(clause)
        named = [name for name, pattern in LABELS.items() if pattern.search(clause)]
        last = last if not named else named[0]
        if BENCHMARK.search(clause):
            on_benchmark = True
        elif re.search(r"strateg|portfolio|backtest|\bit\b|\bwe\b", clause):
            on_benchmark = False
        if not _OTHER.search(clause):
            yield from _in_clause(clause, piece, benchmark=on_benchmark, last=last)


def _in_clause(clause: str, piece: Piece, *, benchmark: bool, last: str) -> Iterator[Claim]:
    spans = [(name, hit.start(), hit.end()) for name, pattern in LABELS.items() for hit in pattern.finditer(clause)]
    sense = -1 if _LOSS.search(clause) else 1 if _GAIN.search(clause) else 0
    for figure in figures(clause):
        name = _label_of(figure, spans, clause) or (last if not spans and figure.unit == "%" else "")
        if name and _fits_unit(name, figure):
            yield Claim(name, figure, piece, benchmark, sense)


def _label_of(figure: Figure, spans: list[tuple[str, int, int]], clause: str) -> str:
    best, distance = "", 60
    for name, start, end in spans:
        gap = (
            figure.start - end if end <= figure.start else (start - figure.end) + (0 if start - figure.end <= 3 else 12)
        )
        if name == "cagr" and start >= figure.end and start - figure.end <= 3:
            return "cagr"
        if 0 <= gap < distance:
            best, distance = name, gap
    if best == "total_return" and re.search(r"annual|a year|per year|p\.a\.|cagr|compound", clause):
        return "cagr"
    return best


def _fits_unit(name: str, figure: Figure) -> bool:
    if name in ("sharpe", "beta"):
        return figure.unit in ("", "x")
    if name == "trades":
        return figure.unit == "" and figure.value == int(figure.value)
    if name == "turnover":
        return figure.unit in ("", "x", "%")
    return figure.unit == "%"
