"""Dimension 4.4: risks of this strategy, with figures, and what would make the user stop."""

import re

from evaluator.judge.rules.figures import figures
from evaluator.judge.rules.text import Piece
from evaluator.judge.rules.view import LIMITS, View, first, ruled
from records.judging import Finding

_RISKS: dict[str, re.Pattern[str]] = {
    "worst period": re.compile(
        r"worst (?:month|day|year|week|quarter|period|drawdown)|(?:maximum|max|deep(?:est)?) drawdown|drawdown of|lost \d|longest (?:time|period|drawdown)|below (?:a |its )?previous high|largest loss"
    ),
    "concentration": re.compile(
        r"concentrat|largest (?:target )?weight|single (?:name|stock|position)|few names|only \d+ (?:names|stocks|positions)|sector (?:exposure|tilt|weight|bet)|one sector|same sector"
    ),
    "turnover and capacity": re.compile(
        r"turnover|capacity|liquidity|market impact|slippage|share of (?:the )?(?:day'?s |daily )?volume|day's volume|costs? (?:would|eat|drag|are higher|assum)"
    ),
    "data limits": re.compile(
        r"(?:data|prices?|statements?|fundamentals?) (?:\w+ ){0,4}(?:missing|limit|gap|restat|latest version|one vendor|error|not|only|stand|model)|restate|look-?ahead|one vendor|single vendor|vendor"
    ),
    "survivorship": re.compile(
        r"survivor|delist|failed (?:firms|companies)|today'?s (?:constituents|members|list)|names given in advance"
    ),
    "regime": re.compile(
        r"regime|bull market|rising market|momentum crash|factor (?:crash|crowding|reversal)|crowd|sharp (?:reversal|rebound)|whipsaw|interest rates?|recession|2020|2008|covid|value trap|reversal of"
    ),
    "estimation": re.compile(
        r"overfit|data[- ]min|in[- ]sample|estimation error|parameter|short (?:sample|history)|small sample|one (?:historical )?path|few (?:observations|years)|covariance (?:is|estimate)"
    ),
    "rule risk": re.compile(
        r"stop (?:can|may|might|was|sells)|gap(?:s|ped)? (?:through|down|below|overnight)|sold at the bottom|cash drag|in cash|exposure|leverage|borrow|overnight|execution (?:risk|at)|open price|fills? (?:at|may)"
    ),
    "market": re.compile(r"beta of|market (?:risk|exposure)|long[- ]only|falls with|correlat"),
}
_BOILERPLATE = re.compile(
    r"past performance|no guarantee|not (?:financial|investment) advice|markets can|investing involves|risk of loss|do your own research|consult|all investments|may lose"
)
_SUBSTANCE = re.compile(
    r"may|might|can\b|could|would|will|risk|bias|flatter|overstat|understat|suffer|lost|lose|worst|largest|longest|was|were|is\b|are\b|means|depends|ignores?|assum"
)
_STOP = re.compile(
    r"(?:stop|abandon|exit|halt|switch (?:it )?off|reconsider|walk away|give up|pull|retire|pause|quit)\w*\b[^.]{0,80}(?:\bif\b|\bwhen\b|\bonce\b|\bshould\b|after|exceed|below|above|worse)|(?:\bif\b|\bwhen\b|\bonce\b)[^.]{0,120}(?:stop|abandon|reconsider|walk away|halt|pause|quit|give up)|(?:reasons?|signs?|conditions?|rule|case|grounds) (?:to|for|that would make you) (?:stop|abandon|exit|quit|stopping)|what would (?:make|stop)|kill (?:criteria|switch)|stopping rule|would be (?:a )?reasons? to stop"
)
_RULE_SECTION = re.compile(r"method|rule|parameter|specification|risk (?:control|rule)|setup|signal")


def judge(view: View) -> Finding:
    """Return the finding of 4.4."""
    pieces = [p for p in view.written(talk=True) if p.kind != "code" and not p.low.endswith("?")]
    told: dict[str, list[Piece]] = {}
    for piece in pieces:
        if _is_risk(piece):
            topics = [name for name, pattern in _RISKS.items() if pattern.search(piece.low)]
            if len(topics) <= 3:
                for name in topics:
                    told.setdefault(name, []).append(piece)
    distinct = _distinct(told)
    quoted = [p for found in told.values() for p in found[:1]]
    boiler = first(pieces, _BOILERPLATE)
    if len(distinct) < 2:
        if not distinct and boiler is None:
            return ruled("4.4", 0, "no risk is disclosed")
        return ruled(
            "4.4", 1, f"{', '.join(distinct) or 'only general warnings'}", quoted or ([boiler] if boiler else [])
        )
    if len(distinct) == 2:
        return ruled("4.4", 2, f"two risks of this strategy: {', '.join(distinct)}", quoted)
    numbered = [name for name in distinct if any(_has_number(p) for p in told[name])]
    stop = next(
        (p for p in pieces if _STOP.search(p.low) and not _RULE_SECTION.search(p.section) and not _is_rule(p)), None
    )
    if len(numbered) >= 3 and stop is not None:
        return ruled(
            "4.4", 4, f"risks with numbers ({', '.join(numbered)}) and what would make one stop", [*quoted, stop]
        )
    if numbered:
        lacking = "what would make the user stop" if stop is None else "more numbers"
        return ruled(
            "4.4", 3, f"risks: {', '.join(distinct)}; with a number: {', '.join(numbered)}; missing: {lacking}", quoted
        )
    return ruled("4.4", 2, f"risks without any number: {', '.join(distinct)}", quoted)


def _is_risk(piece: Piece) -> bool:
    """Whether a passage discloses: under a title of limits, or in a sentence that weighs; a list of words does not."""
    if len(piece.text.split()) < 6 or not _SUBSTANCE.search(piece.low):
        return False
    if LIMITS.search(piece.section) and not re.search(r"risk (?:control|rule|management)", piece.section):
        return True
    return (
        piece.kind != "row"
        and re.search(r"\brisks?\b|bias|caveat|limitation|careful|beware|warning", piece.low) is not None
        and not _is_rule(piece)
    )


def _is_rule(piece: Piece) -> bool:
    return re.match(r"(?:risk control|risk rule|stop[- ]loss|rule)\b", piece.low) is not None


def _distinct(told: dict[str, list[Piece]]) -> list[str]:
    """Return topics of which each has a passage of its own, so that one sentence is not three risks."""
    used: set[Piece] = set()
    out = []
    for name, pieces in sorted(told.items(), key=lambda pair: len(pair[1])):
        own = next((p for p in pieces if p not in used), None)
        if own is not None:
            used.add(own)
            out.append(name)
    return out


def _has_number(piece: Piece) -> bool:
    return bool(figures(piece.text))
