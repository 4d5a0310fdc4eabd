"""Dimension 2.8a: why each signal should work, by whom it is said, when it fails, and why here."""

import re

from evaluator.judge.rules.text import Piece
from evaluator.judge.rules.view import View, ruled
from records.judging import Finding

_FAMILIES: dict[str, tuple[str, re.Pattern[str]]] = {
    "momentum": ("mom_12_1 mom_6_1 high_52w", re.compile(r"momentum|52[- ]week high|winners|trend")),
    "reversal": ("rev_21 rev_5", re.compile(r"reversal|losers|mean[- ]rever|rebound")),
    "value": (
        "earnings_yield book_to_price fcf_yield",
        re.compile(r"\bvalue\b|earnings yield|book[- ]to|free cash flow|cheap"),
    ),
    "quality": (
        "roe gross_profitability low_accruals",
        re.compile(r"quality|return on equity|\broe\b|profitab|accrual"),
    ),
    "low risk": (
        "low_vol_252 low_beta_252 low_max_21",
        re.compile(r"low[- ](?:vol|beta|risk)|lottery|maximum daily|max daily|calm"),
    ),
    "growth": ("revenue_growth sue", re.compile(r"growth|surprise|\bsue\b|drift")),
    "size": ("small_cap", re.compile(r"small[- ]?(?:cap|size|firm|compan)|size (?:effect|premium)")),
}
_CAUSE = re.compile(
    r"because|since (?:investors|the market|prices|it)|due to|under-?react|over-?react|reason|explain|investors (?:\w+ ){0,2}(?:tend|react|pay|avoid|demand|chase|over|under|are)|premium|compensat|behaviou?r|mispric|anchoring|slow(?:ly)? (?:\w+ ){0,3}(?:news|information|diffus)|constraint|risk (?:that|which)|herding|liquidity (?:provision|pressure)|the idea|rationale|lottery|leverage[- ]constrained|tends? to (?:persist|continue|outperform|revert|earn)"
)
_CITED = re.compile(
    r"\b[A-Z][a-z]{2,20}(?:,? (?:and|&) [A-Z][a-z]{2,20}| et al\.?)?,?\s*\(?(?:19|20)\d{2}\)?|https?://\S{6,}|\bdoi\b|journal of|\bnber\b|\bssrn\b"
)
_FAILS = re.compile(
    r"fails?\b|weak (?:in|when|after|during)|breaks? down|crash|suffers?|does (?:badly|poorly|not work)|stops? working|underperform\w* (?:when|in|during|after)|loses? (?:when|in|after|during)|bad in|reversals? (?:in|after)|hurts? (?:when|in)"
)
_FITS = re.compile(
    r"(?:this|these|your|the (?:chosen|given|present)) (?:universe|stocks|names|sector|pool|basket|companies|set)|fits?\b|large[- ]cap|liquid (?:us|names|stocks)|in this (?:sector|market)|for (?:these|this) "
)
_NAMES = re.compile(r"[a-z]+")


def judge(view: View) -> Finding:
    """Return the finding of 2.8a."""
    pieces = [p for p in view.written(talk=True, spec=True) if p.kind != "code" and not p.low.endswith("?")]
    reasons = [p for p in pieces if _CAUSE.search(p.low) and len(p.text.split()) >= 6]
    signals = _signals(view, pieces)
    if not reasons or not signals:
        return ruled(
            "2.8a",
            1 if reasons else 0,
            "one general sentence" if reasons else "no reason is given for any signal",
            reasons[:1],
        )
    told: dict[str, list[Piece]] = {}
    for name, pattern in signals.items():
        told[name] = _told(pattern, pieces, [other for key, other in signals.items() if key != name])
    explained = {name: near for name, near in told.items() if near}
    quoted = [p for near in explained.values() for p in near[:3]]
    if not explained:
        return ruled("2.8a", 1, "a general sentence that names no signal", reasons[:1])
    if len(explained) < len(signals):
        return ruled(
            "2.8a",
            2,
            f"a reason for {', '.join(explained)}, none for {', '.join(n for n in signals if n not in explained)}",
            quoted,
        )
    lacking = {
        "a named source": [n for n, near in explained.items() if not any(_CITED.search(p.text) for p in near)],
        "when it fails": [n for n, near in explained.items() if not any(_FAILS.search(p.low) for p in near)],
        "why it fits these stocks": [n for n, near in explained.items() if not any(_FITS.search(p.low) for p in near)],
    }
    gone = [what for what, names in lacking.items() if names]
    if lacking["a named source"]:
        return ruled("2.8a", 2, f"a reason for every signal, missing: {', '.join(gone)}", quoted)
    if gone:
        return ruled("2.8a", 3, f"reason and source for every signal, missing: {', '.join(gone)}", quoted)
    return ruled("2.8a", 4, "reason, source, failure and fit for every signal", quoted)


def _told(pattern: re.Pattern[str], pieces: list[Piece], others: list[re.Pattern[str]]) -> list[Piece]:
    """Return the paragraphs and bullets that reason about a signal, and what follows until another one is named."""
    found: list[Piece] = []
    blocks = [(p.doc, p.block) for p in pieces]
    named = {block for block, p in zip(blocks, pieces, strict=True) if pattern.search(p.low.replace("_", " "))}
    inside = False
    home = ("", "")
    for block, piece in zip(blocks, pieces, strict=True):
        low = piece.low.replace("_", " ")
        if block in named:
            inside, home = True, (piece.doc, piece.section)
        elif (piece.doc, piece.section) != home or any(other.search(low) for other in others):
            inside = False
        if inside:
            found.append(piece)
    return found if any(_CAUSE.search(p.low) and len(p.text.split()) >= 6 for p in found) else []


def _signals(view: View, pieces: list[Piece]) -> dict[str, re.Pattern[str]]:
    """Return the families of the delivered factors; of the report's words where no factor is stated."""
    stated = {name.lstrip("?") for name in view.case.spec.factors}
    found = {name: pattern for name, (ids, pattern) in _FAMILIES.items() if stated & set(ids.split())}
    if found:
        return found
    counts = {name: sum(1 for p in pieces if pattern.search(p.low)) for name, (_, pattern) in _FAMILIES.items()}
    return {name: _FAMILIES[name][1] for name, count in counts.items() if count >= 2}
