"""Dimension 2.10: which of nine boundary cases the delivery rules on; a case that is only named does not count."""

import re

from evaluator.judge.rules.text import Piece
from evaluator.judge.rules.view import View, ruled
from records.judging import Finding

_RULE = (
    r"(?:exclud|left out|leaves? out|drop|skip|not (?:filled|bought|ranked|traded|sold|held|allowed|eligible)|nothing is filled|filled|carr(?:y|ied)|forward|remov|ignor|wait|sold|sells?|kept|keeps?|hold|held|"
    r"liquidat|clos(?:ed|es) at|cash|alphabetic|symbol order|by (?:ticker|symbol|name|market cap|higher|lower|larger)|broken by|break|first (?:in|by)|scaled|reduc|pro[- ]?rat|round(?:ed)? down|cut|adjust|paid|credited|booked|reinvest|starts?|begins?|marked|valued|never|only (?:after|at|once|when)|no (?:trade|re-?entry|decision)|until|equal(?:ly)? (?:shared|split)|remain|stays?|all candidates|fewer)"
)
CASES: dict[str, re.Pattern[str]] = {
    "missing data": re.compile(
        r"missing|incomplete|\bnans?\b|not enough history|insufficient (?:data|history)|without (?:a |enough |full )?(?:price|score|data|history)|gaps? in (?:the )?(?:data|prices)"
    ),
    "halted or delisted name": re.compile(
        r"delist|halt|suspend|stops? trading|prices? end|ends? early|acquired|bankrupt|no longer (?:trades|listed|quoted)"
    ),
    "split or dividend": re.compile(r"\bsplits?\b|dividends?|corporate actions?"),
    "fewer candidates than holdings": re.compile(
        r"fewer (?:\w+ ){0,3}(?:candidates|names|stocks|than)|less than (?:n|\d+) (?:names|stocks|candidates)|not enough (?:candidates|names|stocks)|too few (?:\w+ )?(?:candidates|names|stocks)|only (?:\w+ )?(?:few|k|m) (?:names|candidates)|insufficient (?:candidates|names)"
    ),
    "tie in rank": re.compile(r"\bties?\b|\btied\b|equal (?:scores?|ranks?)|same (?:score|rank)\b"),
    "date without a signal": re.compile(
        r"(?:no|without an?y?|empty|missing) signals?|no candidates?\b|no names? (?:qualif|pass|is eligible)|none (?:qualif|pass)|signal (?:is )?(?:unavailable|missing|absent|undefined)"
    ),
    "insufficient cash": re.compile(
        r"(?:insufficient|not enough|too little|short of|lack of|exceeds?(?: the)?(?: available)?) (?:\w+ )?cash|cash (?:is|does|runs|falls|shortfall|short|constraint)|cannot afford|never borrow|no leverage|buys? (?:are |is )?(?:scaled|cut|reduced)"
    ),
    "first and last day": re.compile(
        r"first (?:and last )?(?:day|session|decision|trade|date|rebalance)|last (?:day|session|date) (?:of the (?:test|backtest|sample)|open)|end of (?:the )?(?:backtest|test|sample)|final (?:day|session)|warm-?up|open positions (?:are )?(?:marked|closed|valued|liquidated)|look-?back (?:is )?complete"
    ),
    "re-entry after a stop": re.compile(
        r"re-?ent(?:er|ry|ers|ered|ering)|buy\w* back|bought back|cool-?down|after (?:a|the|being) stop\w*|back in(?:to)? (?:the )?(?:market|position)"
    ),
}
_RULED = re.compile(_RULE)
_NEGATED = re.compile(
    r"not (?:considered|handled|covered|modelled|modeled|addressed|specified|defined|treated|discussed)|to ?do|out of scope|unclear|undefined how"
)
_MAX_CASES_A_PIECE = 2
"""A sentence that names more cases than this lists words and rules on none."""


def judge(view: View) -> Finding:
    """Return the finding of 2.10; the score is the count of its hits."""
    pieces = [piece for piece in view.words if piece.kind != "code" and not piece.low.endswith("?")]
    found: dict[str, Piece] = {}
    for piece in pieces:
        low = piece.low.replace("_", " ")
        if _NEGATED.search(low):
            continue
        here = [case for case, pattern in CASES.items() if pattern.search(low)]
        if len(here) > _MAX_CASES_A_PIECE:
            continue
        for case in here:
            if case not in found and _rules_on(case, piece, low):
                found[case] = piece
    names = ", ".join(found) or "none"
    return ruled("2.10", None, f"{len(found)} of nine boundary cases ruled on: {names}", found.values(), hits=found)


def _rules_on(case: str, piece: Piece, low: str) -> bool:
    """Whether the passage says what happens; the words that name the case do not count as the rule."""
    if piece.kind == "row" and len(piece.cells) >= 2:
        rest = " ".join(cell for cell in piece.cells if not CASES[case].fullmatch(cell.lower())).lower()
        return len(rest.split()) >= 4 and _RULED.search(CASES[case].sub(" ", rest)) is not None
    rest = CASES[case].sub(" ", low)
    return len(rest.split()) >= 3 and _RULED.search(rest) is not None
