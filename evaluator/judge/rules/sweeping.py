"""Sweeping claims held against delivered tables: every year, every setting, the best of all, better with than without."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evaluator.judge.rules.text import Piece
from evaluator.judge.rules.view import View
from evaluator.package.metric_names import canonical_metric
from evaluator.package.numbers import parse_number

_MAX_ROWS = 500
_MIN_ROWS = 3
_PERIOD = re.compile(
    r"^(?:calendar[ _])?(?:years?|months?|quarters?|periods?|sub[ _-]?periods?|regimes?|decades?|folds?|windows?[ _](?:start|end)|test[ _]?(?:year|period)|dates?)$"
)
_YEAR = re.compile(r"^(?:19|20)\d\d(?:[-/ ]?(?:\d\d|q[1-4]|(?:19|20)\d\d))?(?:\.0)?$", re.IGNORECASE)
_RETURN = re.compile(
    r"^(?:net|total|strategy|annual|yearly|monthly|portfolio)?[ _-]*(?:returns?|cagr|pnl|profit|performance)(?:[ _-]*(?:net|pct|%|strategy))?$",
    re.IGNORECASE,
)
_RESULT = ("sharpe", "cagr", "total_return")
_WHOLE = r"(?:every|each|all|any)(?: (?:of the|single|one|the|\w+[- ]?(?:ten|eleven|twelve)))*"
_EVERY_PERIOD = re.compile(
    rf"(?:{_WHOLE} (?:calendar |full |individual |sample |sub-?|\w+ )?(?:years?|months?|quarters?|periods?|regimes?|decades?|windows?)\b|year after year|year in,? year out|(?:never|not once|without) (?:had |has had |saw |suffered |ending |ended |posted |recorded )?(?:an? |any )?(?:single )?(?:losing|negative|down|red|bad) (?:calendar )?(?:year|month|quarter|period)|no (?:losing|negative|down|red) (?:calendar )?(?:years?|months?|quarters?|periods?))"
)
_GOOD = re.compile(
    r"positive|profit\w*|gain\w*|made money|earned|rose|up\b|grew|green|return\w*|won\b|paid|no (?:losing|negative|down|red)|never|not once|without|year after year|year in"
)
_AHEAD = re.compile(
    r"(?:beat|beats|beaten|outperform\w*|ahead of|better than|topp\w+|above) (?:\w+ ){0,3}(?:benchmark|market|index|spy|s&p|it\b)"
)
_ROBUST = re.compile(
    r"robust (?:to|across|against|for|under|with respect to|over)[^.;]{0,60}(?:parameter|choice|setting|variant|window|specification|lookback|threshold|number|every|all|any|configuration)|(?:in|un)sensitive to|\binsensitive\b|(?:does not|doesn't|do not|hardly|barely) (?:depend|change|vary|hinge|matter)[^.;]{0,40}(?:parameter|choice|setting|window|lookback|threshold|number|which|variant)|(?:regardless|independent\w*|irrespective) of[^.;]{0,30}(?:parameter|choice|setting|window|lookback|threshold|number|variant)|(?:holds?|works?|survives?|pays?)(?: up)? (?:for|across|under|in|with|at) (?:every|all|any|each)[^.;]{0,30}(?:parameter|choice|setting|variant|window|lookback|threshold|number|configuration)|(?:stable|similar|unchanged|the same) (?:across|over|for|under|in) (?:every|all|any|each)? ?(?:the )?(?:\w+ )?(?:parameters?|choices?|settings?|variants?|windows?|lookbacks?|thresholds?)"
)
_BEST = re.compile(
    r"(?:best|highest|strongest|top)(?:[- ](?:performing|ranked))?(?: (?:sharpe|return|cagr|result|setting|variant|of))?[^.;]{0,30}(?:of|among|across|out of|in) (?:all|every|the|our)? ?(?:\w+ ){0,2}(?:variants?|settings?|combinations?|configurations?|parameters?|alternatives?|versions?|runs?|options?|grid|tested|tried)|(?:beats|better than|ahead of|outperforms) (?:all|every|each|any)(?: of the)? (?:other )?(?:\w+ )?(?:variants?|settings?|combinations?|configurations?|alternatives?|versions?)"
)
_EFFECT = re.compile(
    r"\b(?P<what>stop\w*|filter|gate|overlay|target|timing|rule|cap|screen|tilt|weighting|hedge|exit|blend\w*)\b[^.;]{0,25}\b(?P<verb>halv\w+|reduc\w+|lower\w*|cut\w*|shr[aiu]nk\w*|limit\w*|improv\w+|rais\w+|increas\w+|add\w*|boost\w*|lift\w*|doubl\w+|worsen\w*|deepen\w*|hurt\w*|help\w*|leaves?)\b[^.;]{0,25}\b(?P<metric>draw-?down|volatility|risk|returns?|sharpe|cagr|performance|turnover|losses)"
)
_LESS = re.compile(r"halv|reduc|lower|cut|shr|limit")
_MORE = re.compile(r"improv|rais|increas|add|boost|lift|doubl|help")
_METRIC = {
    "risk": "max_drawdown",
    "losses": "max_drawdown",
    "returns": "cagr",
    "return": "cagr",
    "performance": "cagr",
    "drawdown": "max_drawdown",
    "draw-down": "max_drawdown",
}
_WITHOUT = re.compile(r"without|\bno\b|\boff\b|baseline|\bbase\b|unfiltered|plain|^none$")
_DENIED = re.compile(r"\b(?:not|never|no longer|n't|isn't|wasn't|hardly|nor|neither)\b[^.;]{0,30}$|n't\b[^.;]{0,30}$")
_MEANT = 0.5
"""Below this share of the best setting's figure another setting is another result."""


@dataclass(frozen=True)
class Sheet:
    """A small table of results: labels and numbers by column."""

    labels: tuple[str, ...]
    columns: dict[str, tuple[float, ...]]
    by_period: bool
    raw: tuple[str, ...]
    """Names of the columns in lower case."""


def sheets(view: View) -> list[Sheet]:
    """Return the small tables that were delivered, and those that stand in reports."""
    found = [
        _sheet([str(c) for c in table.frame.columns], table.frame.head(_MAX_ROWS).astype(str).to_numpy().tolist())
        for table in view.case.delivery.tables
        if 2 <= len(table.frame) <= _MAX_ROWS
        and len(table.frame.columns) <= 40
        and table.role not in ("spec", "prices")
    ]
    split = [table for table in view.case.delivery.tables if {"name", "value"} <= set(map(str, table.frame.columns))]
    found += _rejoined(
        [(table.group, dict(zip(table.frame["name"], table.frame["value"], strict=True))) for table in split]
    )
    for text in view.reports:
        grouped: dict[tuple[str, ...], list[list[str]]] = {}
        for piece in text.pieces:
            if piece.kind == "row" and piece.header and len(piece.header) == len(piece.cells):
                grouped.setdefault(piece.header, []).append(list(piece.cells))
        found += [_sheet(list(header), rows) for header, rows in grouped.items() if len(rows) > 1]
    return found


def _rejoined(groups: list[tuple[str, dict[object, object]]]) -> Iterator[Sheet]:
    """Put the rows of a comparison together again that were read as one run each."""
    if len({name for name, _ in groups}) < 2:
        return
    shared = [str(key) for key in groups[0][1] if all(key in values for _, values in groups)]
    rows = [[name, *(str(values[key]) for key in shared)] for name, values in groups]
    yield _sheet(["run", *shared], rows)


def _sheet(header: list[str], rows: list[list[str]]) -> Sheet:
    columns: dict[str, tuple[float, ...]] = {}
    for at, name in enumerate(header):
        values = tuple(float(parse_number(row[at])) for row in rows)
        if np.isfinite(values).all():
            columns[_key(name)] = values
    first = tuple(str(row[0]) for row in rows)
    by_period = bool(_PERIOD.match(header[0].strip().lower())) or all(_YEAR.match(cell.strip()) for cell in first)
    labels = tuple(
        " ".join(str(cell) for at, cell in enumerate(row) if _key(header[at]) not in columns).lower().replace("_", " ")
        for row in rows
    )
    return Sheet(labels, columns, by_period, tuple(name.lower() for name in header))


def _key(name: str) -> str:
    if _RETURN.match(name.strip()):
        return "cagr" if "cagr" in name.lower() else "total_return"
    return canonical_metric(name) or name.strip().lower()


def _asserted(pattern: re.Pattern[str], low: str) -> bool:
    return any(not _DENIED.search(low[max(0, hit.start() - 45) : hit.start()]) for hit in pattern.finditer(low))


def against_tables(piece: Piece, tables: list[Sheet], own: dict[str, float]) -> Iterator[tuple[bool, str]]:
    """Yield what a sentence claims and a table denies: whether it compares the run with and without a rule, and why."""
    low = piece.low
    if low.rstrip().endswith("?"):
        return
    yield from ((False, why) for why in _every_period(low, tables))
    if _asserted(_ROBUST, low):
        for name, values in _variants(tables):
            if min(values) <= 0 < max(values) or min(values) < _MEANT * max(values):
                yield (
                    False,
                    f"it claims robustness and {name.replace('_', ' ')} goes from {max(values):g} to {min(values):g} over the settings",
                )
                break
    if _asserted(_BEST, low):
        for name, values in _variants(tables):
            if name in own and own[name] < max(values) - 1e-3 * abs(max(values)):
                yield (
                    False,
                    f"it claims the best setting with {name.replace('_', ' ')} {own[name]:g}, another has {max(values):g}",
                )
                break
    yield from ((True, why) for why in _with_and_without(low, tables))


def _every_period(low: str, tables: list[Sheet]) -> Iterator[str]:
    if not _asserted(_EVERY_PERIOD, low) or not _GOOD.search(low):
        return
    wants_lead = _AHEAD.search(low) is not None
    for sheet in tables:
        values = sheet.columns.get("total_return", sheet.columns.get("cagr"))
        if not sheet.by_period or values is None or len(values) < _MIN_ROWS:
            continue
        other = next((v for k, v in sheet.columns.items() if re.search(r"bench|spy|s&p|index|market", k)), None)
        bad = [n for n, v in enumerate(values) if (v < other[n] if wants_lead and other else v < 0)]
        if bad and (other is not None or not wants_lead):
            yield f"it claims every period and {len(bad)} of {len(values)} are {'behind' if wants_lead else 'losses'}"
            return


def is_borne_out(low: str, tables: list[Sheet]) -> bool:
    """Whether a claim of consistency has a table by period behind it that holds no loss."""
    for sheet in tables:
        values = sheet.columns.get("total_return", sheet.columns.get("cagr"))
        if sheet.by_period and values is not None and len(values) >= _MIN_ROWS:
            return min(values) >= 0 and not any(True for _ in _every_period(low, tables))
    return False


def _variants(tables: list[Sheet]) -> Iterator[tuple[str, tuple[float, ...]]]:
    for sheet in tables:
        if sheet.by_period:
            continue
        for name in _RESULT:
            values = sheet.columns.get(name)
            if values is not None and len(values) >= _MIN_ROWS:
                yield name, values


def _with_and_without(low: str, tables: list[Sheet]) -> Iterator[str]:
    for hit in _EFFECT.finditer(low):
        if _DENIED.search(low[max(0, hit.start() - 30) : hit.start()]) or re.search(r"\b(?:not|never)\b", hit.group()):
            continue
        stem = hit["what"][:4]
        metric = _METRIC.get(hit["metric"], hit["metric"])
        for sheet in tables:
            plain = [n for n, label in enumerate(sheet.labels) if _WITHOUT.search(label)]
            ruled = [n for n, label in enumerate(sheet.labels) if stem in label and n not in plain]
            values = sheet.columns.get(metric, sheet.columns.get("total_return") if metric == "cagr" else None)
            if values is None or len(plain) != 1 or len(ruled) != 1:
                continue
            with_it, without = (abs(values[n]) if metric == "max_drawdown" else values[n] for n in (ruled[0], plain[0]))
            wants_less = _LESS.search(hit["verb"]) is not None
            wants_more = _MORE.search(hit["verb"]) is not None and metric != "max_drawdown"
            if (wants_less and with_it > without) or (wants_more and with_it < without):
                yield f"it says the {hit['what']} makes for a better {metric.replace('_', ' ')}: {with_it:g} with it, {without:g} without"
                return
