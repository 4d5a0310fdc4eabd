"""The parts of a request in the words of clients and advisers, and what a user has said about each."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evaluator.judge.rules.figures import Figure, figures
from evaluator.judge.rules.text import Piece, Text

TOPICS: dict[str, re.Pattern[str]] = {
    "signal": re.compile(
        r"momentum|reversal|earnings yield|book[- ]to|free cash flow|\broe\b|return on equity|profitab|accruals?|low[- ]vol|low beta|growth|surprise|small[- ]?cap|factors?\b|signals?\b|rank(?:ing|ed)?\b|characteristic|stock selection|52[- ]week|lookback|look-back|pick (?:the )?stocks|value stocks|quality"
    ),
    "combination": re.compile(r"combin|blend|z-?score|composite|average(?:d)? rank|sequential"),
    "timing": re.compile(
        r"market[- ](?:timing|filter|regime)|timing|moving average|\bsma\b|\bvix\b|breadth|always invested|fully invested|to cash when|trend filter|step aside"
    ),
    "weighting": re.compile(
        r"weight|position siz|sizing|allocat|risk parity|min(?:imum)?[- ]variance|mean[- ]variance|inverse vol"
    ),
    "covariance": re.compile(r"covariance|ledoit|ewma|shrinkage"),
    "risk": re.compile(
        r"stop[- ]?loss|\bstops?\b|drawdown|risk (?:control|rule|limit|management|overlay)|vol(?:atility)?[- ]target|cut losses|protect"
    ),
    "execution": re.compile(
        r"execut|fill(?:s|ed)?\b|next (?:day|open|close|session)|at the (?:open|close)|staged|volume cap|share of (?:daily|the day's) volume|trade at\b|orders?\b"
    ),
    "cost": re.compile(
        r"transaction costs?|trading costs?|\bcosts?\b|commission|\bfees?\b|\bbps\b|basis points|slippage"
    ),
    "count": re.compile(
        r"\bholdings\b|how many (?:\w+ )?(?:stocks|names|positions|holdings|companies)|number of (?:stocks|names|positions|holdings)|top \d+|\d+ (?:names|stocks|positions|holdings)|at most \d+|hold \d+|max(?:imum)? (?:holdings|positions)|portfolio size"
    ),
    "rebalance": re.compile(r"rebalanc\w*|how often|weekly|monthly|quarterly|frequency"),
    "universe": re.compile(
        r"universe|which stocks|what stocks|sector\b|s&p 500|russell|tickers|pool of|drawn from|dow ?(?:30|jones)|nasdaq|basket|only .{0,30}stocks"
    ),
    "period": re.compile(
        r"period|date range|start date|end date|from what date|which years|time ?frame|start(?:ing)? (?:in|from)|through (?:19|20)\d\d|since (?:19|20)\d\d|from (?:\w+ ){0,3}(?:19|20)\d\d|history|general (?:start|end)\b|^(?:start|end)\b"
    ),
    "capital": re.compile(
        r"capital|starting (?:cash|amount|balance)|how much money|account size|portfolio value|\$\s?\d"
    ),
    "benchmark": re.compile(r"benchmark|compare (?:it )?(?:to|with|against)|\bspy\b|index fund"),
}
_ASKING = re.compile(
    r"^(?:still )?(?:open|to settle|to decide|missing|unclear|undecided|needed|outstanding|questions?)(?: (?:points?|questions?|items?|issues?|from you|for you|now|still))?\s?:(?! ?(?:nothing|none|no\b|-|all))|\bplease (?:confirm|tell|give|choose|pick|decide|say|specify|provide|send|advise)\b(?! if (?:any|anything|something))|\b(?:i|we) (?:still |also |only |just )?(?:need|require|miss|lack|am missing|are missing)\b[^.]{0,20}(?:your|from you|to know|:)|\b(?:left|up) (?:to|for) you to (?:decide|settle|confirm)\b|\b(?:need|require)(?:s|d)? (?:from you|your (?:input|word|answer|decision|call))\b|"
    r"\?\s*[\"')*_]*\s*$|^(?:please (?:tell|confirm|specify|let me know|state|share)|let me know (?:which|what|whether|how|if)|tell me (?:which|what|whether|how)|could you (?:tell|specify|confirm|clarify)|i(?:'d| would) (?:like|need) (?:to know|your (?:word|view|choice))|which\b|what\b|how\b|do you\b|should\b|would you\b|is there\b)"
)
_CALLS = re.compile(
    r"open\b|question|need|tell me|confirm|decide|settle|missing|know from you|only you|your (?:view|call|word|input|answer)|unclear|clarif"
)
"""A line before a list that asks for answers, whether it ends the points with question marks or not."""
_ASKING_TITLE = re.compile(
    r"^(?:open|questions?|need(?:ed)?|to (?:confirm|decide|settle)|please confirm|what i need|still open|missing)(?: (?:points?|questions?|items?|issues?|from you|for you|to know|from your side))*$"
)
_CAP = re.compile(r"at most|no more than|up to|maximum|not more than|fewer than|limit")
_NO_VIEW = re.compile(
    r"no (?:strong )?(?:preference|view|opinion)|up to you|your (?:call|choice)|you (?:choose|decide|pick)|whatever you think|don'?t (?:mind|care)|not sure|as you see fit|nothing else|none of that|leave (?:it|that) to you"
)


@dataclass(frozen=True)
class Stated:
    """A number that a user gave for a topic."""

    topic: str
    figure: Figure
    turn: int
    piece: Piece


def topics_of(low: str) -> set[str]:
    """Return the topics a lower-case sentence speaks of."""
    return {name for name, pattern in TOPICS.items() if pattern.search(low)}


def questions(text: Text) -> Iterator[Piece]:
    """Yield the sentences in which a message asks; what is listed under a call for answers asks too."""
    asking_block = -1
    for piece in text.pieces:
        if piece.kind in ("code", "row"):
            continue
        listed = piece.kind == "bullet" and (
            0 <= piece.block - asking_block <= 1 or _ASKING_TITLE.search(piece.section.rsplit(" > ", 1)[-1])
        )
        if (piece.text.endswith(":") and _CALLS.search(piece.low)) or (listed and asking_block >= 0):
            asking_block = piece.block
        if listed or _ASKING.search(piece.low):
            yield piece


def is_question(piece: Piece) -> bool:
    """Whether a sentence asks."""
    return _ASKING.search(piece.low) is not None


def answered(text: Text) -> set[str]:
    """Return the topics on which a user's message says something."""
    found: set[str] = set()
    for piece in text.pieces:
        if not piece.low.endswith("?"):
            found |= topics_of(piece.low)
    return found


def leaves_open(text: Text) -> bool:
    """Whether a user's message leaves choices to the adviser."""
    return any(_NO_VIEW.search(piece.low) for piece in text.pieces)


def numbers_given(text: Text) -> Iterator[Stated]:
    """Yield the numbers a user gives, with the topic of the clause they stand in."""
    for piece in text.pieces:
        if piece.low.endswith("?"):
            continue
        for clause in re.split(r"[;,]\s|\band\b|\bbut\b", piece.low):
            about = topics_of(clause) & {"risk", "cost", "count", "capital", "execution", "timing"}
            for figure in figures(clause):
                topic = _topic(about, figure, is_cap=_CAP.search(clause) is not None)
                if topic:
                    yield Stated(topic, figure, text.turn, piece)


def _topic(about: set[str], figure: Figure, *, is_cap: bool) -> str:
    """Return the one topic a number gives; a cap ("at most 10") is no number to be matched."""
    if figure.unit == "bps":
        return "cost"
    if figure.unit == "money":
        return "capital" if "capital" in about else ""
    if figure.unit == "%":
        return next((name for name in ("risk", "cost", "execution", "timing") if name in about), "")
    return "count" if "count" in about and 1 <= figure.value <= 500 and not is_cap else ""
