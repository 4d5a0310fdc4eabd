"""Whether report, specification table and code give the same value of a rule."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from evaluator.judge.rules.figures import WORD_NUMBER, number_word
from evaluator.judge.rules.schemes import CALENDARS, WEIGHTINGS
from evaluator.judge.rules.text import Piece
from evaluator.judge.rules.view import View
from evaluator.measure.naming import plain

_N = rf"(\d{{1,4}}|{WORD_NUMBER})"
_NOT_PERIOD = r"(?![\s-]?%|\.\d|[\s-]?(?:bps|days?|months?|weeks?|sessions?|years?|trading|fills|trades|percent))"
_COUNT = re.compile(
    rf"\b(?:top|best|highest)(?:[- ](?:ranked|scoring|scored))?[- ]{_N}\b{_NOT_PERIOD}"
    rf"|\b(?:holds?|holding|selects?|picks?|buys?|owns?|keeps?)\s+(?:exactly |only |always |the )*(?:top |best |highest[- ]ranked )?{_N}\b{_NOT_PERIOD}"
    rf"|\b{_N} (?:\w+ ){{0,2}}(?:names|stocks|companies|shares|tickers)\b[^.;]{{0,45}}(?:are |is |were )?(?:held|selected|bought|chosen|picked|owned)\b"
    rf"|\b{_N}[- ](?:stock|name)s? portfolio|(?:number of (?:holdings|names|stocks|positions)|portfolio size|holdings|positions)\s*(?:[:=(|]|is|are)?\s*{_N}\b{_NOT_PERIOD}"
    rf"|\b{_N} (?:equal(?:ly)?[- ]weighted )?(?:holdings|positions)\b|\b{_N} (?:highest|lowest|cheapest|strongest|smallest|best|top)\b|n holdings\D{{0,12}}(\d{{1,4}})\b"
)
_COST = re.compile(r"(\d+(?:\.\d+)?)\s?(?:bps?|basis points?)\b|rate bps\D{0,4}(\d+(?:\.\d+)?)")
_COST_TOPIC = re.compile(r"cost|commission|fee|slippage|per trade|one[- ]way|bps")
_STOP = re.compile(r"(\d+(?:\.\d+)?)\s?%")
_STOP_TOPIC = re.compile(
    r"stop[- ]?loss|\bstop\b|drawdown (?:stop|control|limit)|cut to cash|vol(?:atility)?[- ]target|target vol"
)
_OTHER_RUN = re.compile(
    r"sensitiv|variant|alternativ|instead|versus|\bvs\b|compar|stress|would|varied|tested|also ran|earlier|previously|changed from|was \d|univers|pool|spread|excess|alpha|ahead|behind|"
    r"fewer than|at least|benchmark|index fund|\?$|maximum drawdown|max drawdown|observed|worst"
)

_READS_SPEC = re.compile(r"specification|\bconfig\b|\.json\b|\.ya?ml\b|\bparams\b")
"""Code that reads its values from a file has defaults, no values of its own."""
_OF_SCORES = re.compile(r"z-?scores?|composite|blend|combin|average of|factors?\b|signals?\b")


_EXECUTIONS = {
    "next open": re.compile(
        r"(?:next|following|subsequent|t\s?\+\s?1)(?:'s|’s)?(?: |-)(?:\w+(?:'s|’s)?[ -]){0,3}?open|open(?:ing price)? (?:of|on) (?:the )?(?:next|following|t\s?\+\s?1)"
    ),
    "next close": re.compile(
        r"(?:next|following|subsequent|t\s?\+\s?1)(?:'s|’s)?(?: |-)(?:\w+(?:'s|’s)?[ -]){0,3}?clos(?:e|ing)|clos(?:e|ing price) (?:of|on) (?:the )?(?:next|following|t\s?\+\s?1)"
    ),
    "same close": re.compile(
        r"same[- ](?:day|session)(?:'s|’s)?[- ]close|(?<!up to the )(?<!decided at the )close of (?:the same|the signal|the decision|t\b)|\bclose t\b"
    ),
}
_FILLS = re.compile(r"fill|execut|order|trade[sd]? (?:at|on)|bought|\bnext\b")
_SKIPS = re.compile(
    r"p\[t\s?[-\u2212]\s?2[0-3]\]|(?:leav\w+ out|left out|exclud\w*|without|skip\w*|omit\w*|drop\w*|minus|less|not counting) (?:the |its )?(?:latest|last|most recent|newest|freshest|final) (?:month|21|\d+ sessions)"
    r"|(?:up to|until|ending|to) (?:one|a|1) month (?:ago|before|earlier)|\b(?:12|6)[- ]?[-–][- ]?1\b"
)
_MOMENTUM_IN_CODE = re.compile(
    r"\bdef (?:mom\w*|score|signal|ret\w*)|pct_change\(|\b(?:LOOKBACK|252|126)\b[^\n]{0,40}\]?\s*-\s*1|/\s*\w+(?:\.\w+)?[\[(][^\n]{0,30}(?:LOOKBACK|252|126)"
)
_SKIP_IN_CODE = re.compile(r"\b2[0-3]\b|skip|\bgap\b|\blag\b|month|(?:12|6)_1", re.IGNORECASE)


@dataclass(frozen=True)
class _Check:
    what: str
    in_words: Callable[[str], set[str]]
    spec_keys: tuple[str, ...]
    in_code: re.Pattern[str]


def _numbers(pattern: re.Pattern[str], topic: re.Pattern[str] | None = None) -> Callable[[str], set[str]]:
    def find(low: str) -> set[str]:
        if topic is not None and not topic.search(low):
            return set()
        groups = (group for hit in pattern.finditer(low) for group in hit.groups() if group)
        return {f"{value:g}" for value in map(number_word, groups) if value is not None}

    return find


def _names(options: dict[str, re.Pattern[str]], topic: re.Pattern[str] | None = None) -> Callable[[str], set[str]]:
    def find(low: str) -> set[str]:
        if topic is not None and not topic.search(low):
            return set()
        return {name for name, pattern in options.items() if pattern.search(low)}

    return find


_CHECKS = (
    _Check(
        "number of names",
        _numbers(_COUNT),
        (
            "n_holdings",
            "holdings",
            "top_n",
            "n_names",
            "n_stocks",
            "number_of_holdings",
            "positions",
            "n",
            "max_holdings",
        ),
        re.compile(
            r"\b(?:n_?holdings|top_?n|n_?names|n_?stocks|n_?positions|num_(?:holdings|stocks|positions))\s*[:=]\s*(\d{1,4})\b",
            re.IGNORECASE,
        ),
    ),
    _Check(
        "transaction cost",
        _numbers(_COST, _COST_TOPIC),
        ("rate_bps", "cost_bps", "bps", "commission_bps", "transaction_cost_bps", "transaction_cost", "cost"),
        re.compile(r"\b\w{0,20}bps\w{0,10}\s*[:=]\s*(\d+(?:\.\d+)?)", re.IGNORECASE),
    ),
    _Check(
        "rebalance calendar",
        _names(
            {k: v for k, v in CALENDARS.items() if k != "daily"}, re.compile(r"rebalanc|re-?form|decision|re-?rank")
        ),
        ("rebalance", "rebalancing", "rebalance_frequency", "frequency", "rebalance_calendar"),
        re.compile(r"rebalanc\w{0,20}\s*[:=]\s*[\"'](weekly|monthly|quarterly)", re.IGNORECASE),
    ),
    _Check(
        "weighting",
        _names(WEIGHTINGS),
        ("weighting", "weighting_scheme", "weights", "position_sizing"),
        re.compile(r"weight\w{0,20}\s*[:=]\s*[\"'](\w{3,30})[\"']", re.IGNORECASE),
    ),
    _Check(
        "execution",
        _names(_EXECUTIONS, _FILLS),
        ("fill", "fills", "execution", "fill_price", "price", "timing", "option", "method"),
        re.compile(r"\b(?:fill|execution|exec)\w{0,12}\s*[:=]\s*[\"'](\w{3,30})[\"']", re.IGNORECASE),
    ),
    _Check(
        "level of the risk rule",
        _numbers(_STOP, _STOP_TOPIC),
        ("threshold", "stop", "stop_loss", "stop_level", "drawdown_threshold", "target", "vol_target", "target_vol"),
        re.compile(
            r"\b(?:stop_?loss|stop|drawdown_stop|vol_target|target_vol)\w{0,12}\s*[:=]\s*(\d+(?:\.\d+)?)", re.IGNORECASE
        ),
    ),
)


def _unskipped(view: View, body: list[Piece]) -> list[tuple[str, Piece]]:
    """A report that leaves the latest month out, beside code that computes a return up to today."""
    told = next((piece for piece in body if _SKIPS.search(piece.low) and not _OTHER_RUN.search(piece.low)), None)
    if told is None or not _MOMENTUM_IN_CODE.search(view.code) or _SKIP_IN_CODE.search(view.code):
        return []
    if _READS_SPEC.search(view.code):
        return []
    return [("signal: the report leaves the latest month out, the code does not", told)]


def disagreements(view: View, body: list[Piece]) -> list[tuple[str, Piece]]:
    """Return the rules whose documents disagree, with the passage of the report."""
    found = _unskipped(view, body)
    for check in _CHECKS:
        told = [(piece, values) for piece in body for values in [_told(check, piece)] if values]
        if not told:
            continue
        words: set[str] = set().union(*(values for _, values in told))
        spec = _in_spec(check, view)
        code = set() if spec and _READS_SPEC.search(view.code) else _in_code(check, view)
        for where, values in (("the specification", spec), ("the code", code)):
            if values and not any(_same(a, b) for a in words for b in values):
                text = f"{check.what}: the report says {'/'.join(sorted(words))}, {where} {'/'.join(sorted(values))}"
                found.append((text, told[0][0]))
                break
        else:
            firm = [(p, v) for p, v in told if len(v) == 1]
            clash = next((p for p, v in firm if not any(_same(a, b) for a in v for b in firm[0][1])), None)
            if clash is not None:
                found.append((f"{check.what}: two passages give {'/'.join(sorted(words))}", clash))
    return found


def _told(check: _Check, piece: Piece) -> set[str]:
    low = piece.low.replace("_", " ")
    if _OTHER_RUN.search(low) or (check.what == "weighting" and _OF_SCORES.search(low)):
        return set()
    return check.in_words(low)


def _in_spec(check: _Check, view: View) -> set[str]:
    values: set[str] = set()
    for row in view.spec:
        if plain(row.key) not in check.spec_keys or (
            check.what.startswith("level") and "timing" in plain(row.component)
        ):
            continue
        values |= _values(check, row.value)
    return values


def _in_code(check: _Check, view: View) -> set[str]:
    values: set[str] = set()
    for hit in check.in_code.finditer(view.code):
        values |= _values(check, hit.group(1))
    return values


_NAMED = {"rebalance calendar": CALENDARS, "weighting": WEIGHTINGS, "execution": _EXECUTIONS}


def _values(check: _Check, text: str) -> set[str]:
    low = text.lower().replace("_", " ")
    number = re.search(r"\d+(?:\.\d+)?", low)
    if check.what in _NAMED:
        names = {k: v for k, v in _NAMED[check.what].items() if v.search(low)}
        bare = plain(text)
        return set(names) or ({"equal"} if bare in ("equal", "equally") and check.what == "weighting" else set())
    return {f"{float(number.group()):g}"} if number else set()


def _same(a: str, b: str) -> bool:
    """Whether two values agree; a fraction equals its percent or basis points."""
    try:
        x, y = float(a), float(b)
    except ValueError:
        return a == b
    return any(abs(x - y * scale) <= 1e-6 * max(1.0, abs(x)) for scale in (1.0, 100.0, 10_000.0, 0.01, 0.0001))
