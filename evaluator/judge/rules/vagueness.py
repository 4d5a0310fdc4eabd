"""Words that leave a rule open to two readings whatever stands beside them, by kind (rubric, 2.7).

A word of degree near a number ("about ten names") is judged where the rule is defined (`trading_rules.LOOSE`). The kinds
here are passages that no other passage repairs: what is done is left to judgement, or two things are named for one.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evaluator.judge.rules.figures import WORD_NUMBER
from evaluator.judge.rules.text import Piece

_N = rf"(?:\d{{1,4}}(?:\.\d{{1,3}})?|{WORD_NUMBER})"
_MANNER = r"(?:appropriate(?:ly)?|sensibl[ey]|suitabl[ey]|proper(?:ly)?|accordingly|careful(?:ly)?|reasonabl[ey]|prudent(?:ly)?|conservative(?:ly)?|as usual|in (?:a|an|the) (?:usual|standard|customary|normal|sensible|suitable|appropriate|robust) (?:way|manner|fashion)|so (?:that|as to))"
_DEGREE = r"(?:severe|strong|weak|attractive|significant|substantial|large|big|sharp|major|serious|deep|heavy|meaningful|material|elevated|extreme|unusual|excessive|steep|marked|pronounced|adverse|unfavou?rable|bad|poor|good|healthy|solid|promising|suitable|sensible|notable|considerable|prolonged|sustained|stressed|turbulent|nervous|choppy|shaky|rough|calm|favou?rable|hot)"
_STATE = r"(?:stabili[sz]e|improve|normali[sz]e|calm|settle|recover|ease|clear|turn|deteriorate|worsen|weaken|warrant|allow|permit|justify)"
_STATES = rf"{_STATE}(?:e?s|d|ed|n)?"
_SUBJECT = r"(?:conditions|markets?|things|the (?:situation|outlook|trend|picture|dust|tape|environment)|prices|sentiment|volatility|liquidity)"


def _any(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts))


KINDS: dict[str, re.Pattern[str]] = {
    "left to judgement": _any(
        r"\bas (?:needed|required|necessary|appropriate|warranted|we see fit|conditions (?:dictate|allow|require))\b",
        r"\b(?:if|when|where|wherever|whenever|as) (?:it |this |that )?(?:is |are |seems? |deemed |considered |makes? )?(?:needed|necessary|appropriate|warranted|sensible|sense|justified|prudent|suitable|advisable|attractive|opportune|desirable)\b",
        r"\b(?:discretion(?:ary)?|judge?ment(?:al)?|case[- ]by[- ]case|opportunistic(?:ally)?|from time to time|at (?:suitable|appropriate|opportune|convenient|regular|sensible) (?:times|moments|intervals|prices|levels))\b",
        r"\bdepend(?:s|ing)? on (?:the |each |its |their )?(?:stock|name|situation|market|conditions|circumstances|volatility|liquidity|environment|case|conviction|outlook|setup)\b",
        rf"\b(?:until|once|when|whenever|if|as soon as|after|while) {_SUBJECT} (?:\w+ ){{0,2}}{_STATES}\b",
        r"\bwhenever (?:the |a |it )?[^.;]{0,40}\b(?:material(?:ly)?|significant(?:ly)?|substantial(?:ly)?|meaningful(?:ly)?|notabl[ey]|enough|sufficient(?:ly)?)\b",
        r"\b(?:scaled?|cut|reduced?|adjusted|resized?|trimmed|raised|lowered|sized|varied|changed?) (?:\w+ ){0,4}(?:dynamically|flexibly|gradually|somewhat|as the picture)\b",
    ),
    "a way that is not said": _any(
        rf"\b(?:handled|treated|dealt with|adjusted|managed|processed|taken care of|addressed|cleaned|accounted for|limited|controlled|smoothed|floored|rescaled) {_MANNER}\b(?! (?:zero|0|nothing))",
        r"\b(?:handled|treated|dealt with|managed|sized|weighted|chosen|selected|spread|traded|executed|filled) (?:\w+ ){0,2}(?:appropriately|sensibly|suitably|properly|carefully|prudently|efficiently|promptly|discreetly|patiently)\b",
        r"\b(?:appropriate|suitable|sensible|reasonable|proper) (?:\w+ )?(?:handling|treatment|adjustment|sizing|weights?|limits?|care|measures?|caps?|window|lookback|threshold|level|interval)\b",
    ),
    "a tilt without its size": _any(
        rf"\b(?:with |and |but )?(?:an? )?(?:slight(?:ly)?|modest(?:ly)?|small|mild(?:ly)?|some|certain|little)?\s?(?:tilt(?:ed)?|lean(?:s|ing)?|bias(?:ed)?|skew(?:ed)?|emphasis|preference|overweight(?:ed|ing)?)\s(?:is given |given )?(?:to|towards?|on|in favou?r of|for)\b(?![^.;]{{0,40}}\b{_N}\s?(?:%|times|x\b|points))",
        rf"\b(?:a (?:bit|little)|somewhat|slightly|rather) (?:more|less|larger|smaller|higher|lower|heavier) (?:\w+ )?(?:weight|money|size|in|of)\b(?![^.;]{{0,40}}\b{_N}\s?%)",
    ),
    "a trigger without its level": _any(
        rf"\b(?:when|if|whenever|once|during|after|in|on|upon) (?:an? |the |of |there (?:is|are) )?(?:\w+ ){{0,4}}{_DEGREE} (?:\w+[- ]){{0,2}}(?:draw-?downs?|declines?|loss(?:es)?|falls?|drops?|sell-?offs?|moves?|stress|turbulence|volatility|conditions|markets?|weakness|trends?|downturns?|corrections?|news)\b(?![^.;]{{0,60}}(?:\b{_N}\s?%|above|below|\bor more\b|\d))",
        rf"\b(?:when|if|whenever|once) (?:the |a )?(?:market|index|trend|tape|position|stock|name|loss|drawdown|volatility|vix)(?:es|s)? (?:\w+ ){{0,2}}(?:is|are|looks?|gets?|turns?|becomes?|seems?|appears?|falls?|drops?|rises?|declines?) (?:too |very |clearly |sufficiently |really |quite )?(?:{_DEGREE}|large|high|low|much|sharply|significantly|substantially|materially|strongly|hard|ugly|negative for a while|far)\b(?![^.;]{{0,60}}(?:\b{_N}\s?%|\d))",
        r"\b(?:losses|drawdowns?|positions?|prices?|volatility|it) (?:become|becomes|get|gets|grow|grows|is|are|turn|turns) too (?:large|high|big|deep|low|expensive|wild)\b",
    ),
    "two definitions": _any(
        rf"\b(?:constituents|members|membership|list|index|universe|basket)\b[^.;]{{0,40}},? or (?:else )?(?:the|a|all|any|some|{_N})\b(?! (?:first|last)? ?(?:trading )?(?:session|day))[^.;]{{0,60}}\b(?:by|unavailable|available|names|stocks|companies|if|when|index)",
        r"\b(?:weekly|monthly|quarterly|daily|month[- ]end|quarter[- ]end)(?:,)? (?:or|and/or) (?:\w+ ){0,2}(?:whenever|when|if|as|weekly|monthly|quarterly|daily|sooner|earlier|more often|bi-?weekly)\b",
        r"\b(?:at|on) (?:the )?(?:open|close|opening|closing)(?: price)?,? (?:or|and/or) (?:at |on )?(?:the )?(?:(?:next|following|same)(?: day's)? )?(?:open|close|opening|closing|vwap|mid)\b",
        r"\b(?:equal(?:ly)?|inverse[- ]vol\w*|cap|rank|score|market[- ]cap|risk)[- ]?(?:weight\w*|parity|dollar)?,? or (?:by )?(?:equal|inverse|cap|rank|score|market|risk|conviction|volatility)[- ]?\w*",
        rf"\b(?:top|best|cheapest|highest|lowest) {_N} or (?:top |best )?{_N}\b",
        r"\b(?:e\.g\.|for example|for instance|such as|say,|something like|along the lines of) (?:the )?(?:\w+[- ]){0,3}(?:\d+|average|momentum|months?|days?|weights?|stops?|names|open|close)\b",
    ),
    "a unit that is not said": _any(
        r"\b(?:bps?|basis points|%|percent) (?:for|per|on) (?:a |each |every )?(?:trade|buy|purchase|position) in and out\b",
        r"\bin and out\b[^.;]{0,20}\b(?:bps?|basis points|%)",
        r"\bper (?:trade|side),? or (?:per )?(?:round[- ]trip|trade|side)\b",
    ),
}
_RULE_OF: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("cost", re.compile(r"\bcosts?\b|commission|\bfees?\b|slippage|\bbps\b|basis points")),
    (
        "missing data",
        re.compile(
            r"missing|incomplete|\bgaps?\b|unavailable (?:data|prices?)|no (?:price|data)|outlier|data (?:issue|problem|error)s?"
        ),
    ),
    ("rebalance calendar", re.compile(r"rebalanc|weekly|monthly|quarterly|re-?form|reviewed|calendar|re-?rank")),
    (
        "universe",
        re.compile(r"univers|constituents|members|sector|basket|compan(?:y|ies)\b[^.;]{0,20}(?:from|in)\b|\blist\b"),
    ),
    ("combination", re.compile(r"combin|blend|composite|z-?scor|signals are|mixed|averag")),
    ("risk", re.compile(r"stops?\b|drawdown|loss(?:es)?\b|exit|risk|protect|target vol|volatility target|exposure")),
    ("timing", re.compile(r"market|index|regime|to cash|in cash|invested|vix|conditions")),
    ("weighting", re.compile(r"weight|siz(?:e|ed|ing)|allocat|equal|tilt|each position")),
    ("execution", re.compile(r"execut|fill|order|\btrad(?:e|ed|es|ing)\b|open|close")),
    ("count", re.compile(r"\bnames\b|\bholdings\b|positions\b|number of|top\b|hold")),
    ("signal", re.compile(r"score|rank|signal|factor|momentum|value|quality|growth|lookback|window")),
)
_TOLD = re.compile(
    r"\?\s*$|\bif you\b|\bwould\b|\byou (?:can|may|could)\b|\blet me know\b|\bwe (?:found|see|saw)\b|\bcould\b|\bshould\b|investors?\b|\bresult"
)
"""Questions, offers and findings: no rule is written in them."""


@dataclass(frozen=True)
class Open:
    """A passage that leaves a rule open."""

    rule: str
    kind: str
    words: str
    piece: Piece


def open_passages(body: Iterable[Piece]) -> Iterator[Open]:
    """Yield the passages of the rules that leave one open, with the rule nearest to the words."""
    for piece in body:
        low = piece.low.replace("_", " ")
        if _TOLD.search(low):
            continue
        for kind, pattern in KINDS.items():
            hit = pattern.search(low)
            rule = None if hit is None else _rule_at(low, hit.start(), hit.end())
            if hit is not None and rule is not None:
                yield Open(rule, kind, hit.group().strip(), piece)
                break


def _rule_at(low: str, start: int, end: int) -> str | None:
    """Return the rule whose words stand in or closest to the passage, in its own sentence part; None when there is none."""
    best, distance = None, 120
    for name, pattern in _RULE_OF:
        for hit in pattern.finditer(low):
            gap = 0 if hit.start() < end and start < hit.end() else min(abs(hit.end() - start), abs(hit.start() - end))
            if gap < distance:
                best, distance = name, gap
    return best
