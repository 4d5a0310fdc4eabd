"""Reads the client's messages into stated requirements: options with their numbers, and the scope."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import lexicon

MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
DATE = re.compile(rf"({'|'.join(MONTHS)}) (\d{{1,2}}), (\d{{4}})|(\d{{4}})-(\d{{2}})-(\d{{2}})")
RANGE = re.compile(rf"(?:{DATE.pattern})\s*(?:up )?(?:to|through|until|-)\s*(?:{DATE.pattern})")
NOT_TICKERS = {
    "US",
    "SPY",
    "VIX",
    "I",
    "EPS",
    "A",
    "OK",
    "SD",
    "GICS",
    "EWMA",
    "ETF",
    "USD",
    "NYSE",
    "SMA",
    "ROE",
    "FCF",
}
SECTORS = {
    "communication services": "Communication Services",
    "consumer discretionary": "Consumer Cyclical",
    "consumer staples": "Consumer Defensive",
    "energy": "Energy",
    "financials": "Financial Services",
    "health care": "Healthcare",
    "healthcare": "Healthcare",
    "industrials": "Industrials",
    "information technology": "Technology",
    "materials": "Basic Materials",
    "real estate": "Real Estate",
    "utilities": "Utilities",
}
"""Sector names as clients say them, with the data vendor's."""

VALUED = {
    ("risk_control", "drawdown_stop"): "threshold",
    ("risk_control", "position_stop"): "threshold",
    ("risk_control", "vol_target"): "target",
    ("transaction_cost", "fixed_rate"): "rate_bps",
}
SOFT = {
    ("market_timing", "spy_sma"): ("window", re.compile(r"\b(\d{2,3})[\s-]*(?:day|session)")),
    ("market_timing", "spy_abs_mom"): ("lookback", re.compile(r"\b(\d{2,3})[\s-]*(?:day|session)")),
    ("market_timing", "vix_gate"): (
        "threshold",
        re.compile(r"\bvix\b[^.;]{0,30}?\b(\d{2})(?!\d|[\s-]*(?:day|session))"),
    ),
    ("market_timing", "breadth"): ("threshold", lexicon.PERCENT),
    ("market_timing", "vol_gate"): ("percentile", re.compile(r"\b(\d{2})(?:th|st|nd|rd)?[\s-]*percentile")),
    ("portfolio_construction", "inverse_vol"): ("vol_window", re.compile(r"\b(\d{2,3})[\s-]*(?:day|session)")),
    ("execution", "staged"): ("days", re.compile(r"\b(\d)\s*(?:days|sessions|opens)")),
    ("execution", "adv_cap"): ("cap", lexicon.PERCENT),
}
"""Numbers the client may add to an option; without one a usual value is taken and said."""


@dataclass
class Stated:
    """What the client has said so far; the latest word counts."""

    factors: list[str] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    """Topic -> option; topics are combination, market_timing, weighting, covariance, risk_control, execution, cost."""
    numbers: dict[str, float] = field(default_factory=dict)
    """'component/option/parameter' -> number in the client's unit (whole percent, bps, sessions)."""
    words: dict[str, str] = field(default_factory=dict)
    """Topic or factor -> the client's own sentence."""


@dataclass
class Scope:
    """The pool of stocks, the dates and the holdings limit."""

    symbols: list[str] = field(default_factory=list)
    sector: str = ""
    whole_service: bool = False
    """The client takes every stock the data service has."""
    limit: int | None = None
    start: str = ""
    end: str = ""


def topic_of(component: str, option: str) -> str:
    """Return the topic one option settles."""
    if component == "stock_selection":
        return "combination"
    if component == "portfolio_construction":
        return "covariance" if option in ("sample", "ewma", "ledoit_wolf") else "weighting"
    return "cost" if component == "transaction_cost" else component


def request_of(opening: str) -> str:
    """Return the paragraph of the first message that holds the client's request: the last one with a range of dates."""
    parts = [part for part in re.split(r"\n\s*\n", opening) if RANGE.search(part.lower())]
    return parts[-1] if parts else opening


def read_scope(opening: str) -> Scope:
    """Return pool, dates and limit of the client's request."""
    scope = Scope()
    lowered = opening.lower()
    spans = list(RANGE.finditer(lowered))
    if spans:
        days = [_iso(match) for match in DATE.finditer(spans[-1].group(0))]
        scope.start, scope.end = min(days), max(days)
    else:
        days = [_iso(match) for match in DATE.finditer(lowered)]
        scope.end = min(days) if days else ""
    found = re.search(r"never hold more than (\d+)|at most (\d+)|hold (\d+) at most|no more than (\d+)", lowered)
    if found:
        scope.limit = int(next(group for group in found.groups() if group))
    scope.whole_service = bool(re.search(r"all \d+ as the|only knows \d+|covers \d+ us names", lowered))
    scope.sector = next((vendor for said, vendor in SECTORS.items() if re.search(rf"\b{said}\b", lowered)), "")
    listed = [word for word in re.findall(r"\b[A-Z]{1,5}(?:\.[A-Z])?\b", opening) if word not in NOT_TICKERS]
    if len(listed) >= 5:
        scope.symbols = sorted(set(listed))
    return scope


def _iso(match: re.Match[str]) -> str:
    """Return a date in words or ISO form as ISO."""
    if match.group(1):
        return f"{match.group(3)}-{MONTHS.index(match.group(1)) + 1:02d}-{int(match.group(2)):02d}"
    return match.group(0)


def read_message(message: str, stated: Stated) -> list[str]:
    """Add what one message states; return the topics whose option or number is new or changed."""
    before = (list(stated.factors), dict(stated.options), dict(stated.numbers))
    said = []
    for sentence in lexicon.sentences(message):
        said += _read_sentence(sentence, stated)
    if "combination" in said and stated.options.get("combination") == "sequential_screen":
        _reorder(stated)
    changed = [name for name in stated.factors if name not in before[0]]
    changed += [topic for topic, option in stated.options.items() if before[1].get(topic) != option]
    changed += [key for key, value in stated.numbers.items() if before[2].get(key) != value]
    return changed


def _read_sentence(sentence: str, stated: Stated) -> list[str]:
    """Read one sentence; return the topics it settles."""
    text = lexicon.plain(sentence)
    if lexicon.REFUSED.search(text) or lexicon.NO_VIEW.search(text):
        return []
    whole, said = text, []
    for component, option, pattern in lexicon.RULES:
        found = re.search(pattern, text)
        if not found:
            continue
        refused = lexicon.NEGATORS.search(text[: found.start()])
        if component != "stock_selection":
            text = text[: found.start()] + " " * (found.end() - found.start()) + text[found.end() :]
        if refused and option != "adv_cap":
            continue
        topic = topic_of(component, option)
        if topic in said or not _plausible(option, whole):
            continue
        if (
            component == "transaction_cost"
            and lexicon.BPS.search(whole) is None
            and lexicon.PERCENT.search(whole) is None
        ):
            continue
        stated.options[topic] = option
        stated.words[topic] = sentence
        said.append(topic)
        _read_value(component, option, whole, stated)
    found_factors = _factors(text)
    for name in found_factors:
        if name not in stated.factors:
            stated.factors.append(name)
        stated.words.setdefault(name, sentence)
    _note_screen_order(whole, said, stated)
    _read_nulls(whole, stated)
    return said


def _read_nulls(text: str, stated: Stated) -> None:
    """Take the client's word that a component stays empty, unless another one was given before."""
    for component, option, pattern in lexicon.NULLS:
        topic = topic_of(component, option)
        if topic not in stated.options and re.search(pattern, text):
            stated.options[topic] = option
            stated.words[topic] = text


def _plausible(option: str, text: str) -> bool:
    """Reject results quoted back at us and words that need company."""
    if option == "drawdown_stop":
        return not re.search(r"draw ?downs? (?:was|of -|you report|looks)", text)
    if option == "vol_target":
        return lexicon.PERCENT.search(text) is not None
    return True


def _factors(text: str) -> list[str]:
    """Return the characteristics a sentence names, in its order."""
    found = []
    for name, pattern in lexicon.FACTORS:
        match = re.search(pattern, text)
        if not match:
            continue
        refused = lexicon.NEGATORS.search(text[: match.start()]) and name != "low_max_21"
        text = text[: match.start()] + " " * (match.end() - match.start()) + text[match.end() :]
        if not refused and name not in [known for _, known in found]:
            found.append((match.start(), name))
    return [name for _, name in sorted(found)]


def _note_screen_order(text: str, said: list[str], stated: Stated) -> None:
    """Remember the order in which a screen names its characteristics."""
    if "combination" in said and stated.options["combination"] == "sequential_screen":
        stated.words["screen order"] = "+".join(_factors(text))


def _reorder(stated: Stated) -> None:
    """Put the factors into the order the screen was described in."""
    order = [name for name in stated.words.get("screen order", "").split("+") if name in stated.factors]
    stated.factors = order + [name for name in stated.factors if name not in order]


def _read_value(component: str, option: str, text: str, stated: Stated) -> None:
    """Take the number that goes with an option."""
    name = VALUED.get((component, option))
    if name == "rate_bps":
        points, percent = lexicon.BPS.search(text), lexicon.PERCENT.search(text)
        value = float(points.group(1)) if points else float(percent.group(1)) * 100.0 if percent else None
    elif name is not None:
        percent = lexicon.PERCENT.search(text)
        value = float(percent.group(1)) if percent else None
    elif (component, option) in SOFT:
        name, pattern = SOFT[component, option]
        match = pattern.search(text)
        value = float(match.group(1)) if match else None
    else:
        return
    if value is not None:
        stated.numbers[f"{component}:{option}:{name}"] = value


def missing(stated: Stated) -> list[str]:
    """Return the topics that still need the client's word before a run makes sense."""
    out = []
    if not stated.factors:
        out.append("stock_selection")
    if len(stated.factors) > 1 and "combination" not in stated.options:
        out.append("combination")
    if stated.options.get("weighting") in ("min_variance", "mean_variance", "risk_parity"):
        out += [] if "covariance" in stated.options else ["covariance"]
    for (component, option), name in VALUED.items():
        topic = topic_of(component, option)
        if stated.options.get(topic) == option and f"{component}:{option}:{name}" not in stated.numbers:
            out.append(f"{topic} value")
    return out


def to_json(stated: Stated, scope: Scope) -> dict[str, Any]:
    """Return plain data for the state file."""
    return {"stated": stated.__dict__, "scope": scope.__dict__}


def from_json(data: dict[str, Any]) -> tuple[Stated, Scope]:
    """Return what `to_json` wrote."""
    return Stated(**data["stated"]), Scope(**data["scope"])
