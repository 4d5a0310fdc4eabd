"""Dimension 5.5: is it written for this user, in the user's own terms, with the other terms defined."""

import re

from evaluator.judge.rules.text import Piece
from evaluator.judge.rules.view import View, ruled
from records.judging import Finding

_TERMS: dict[str, re.Pattern[str]] = {
    "Sharpe ratio": re.compile(r"sharpe"),
    "drawdown": re.compile(r"drawdown"),
    "volatility": re.compile(r"volatility"),
    "CAGR": re.compile(r"\bcagr\b"),
    "alpha": re.compile(r"\balpha\b"),
    "beta": re.compile(r"\bbeta\b"),
    "turnover": re.compile(r"turnover"),
    "exposure": re.compile(r"exposure"),
    "basis points": re.compile(r"\bbps\b|basis points?"),
    "information coefficient": re.compile(r"rank ic\b|\bic\b|information coefficient"),
    "t-statistic": re.compile(r"t-?stat"),
    "covariance": re.compile(r"covariance"),
    "z-score": re.compile(r"z-?scores?"),
    "survivorship": re.compile(r"survivorship"),
    "out of sample": re.compile(r"out[- ]of[- ]sample"),
    "in sample": re.compile(r"(?<!of-)(?<!of )\bin[- ]sample"),
    "rebalance": re.compile(r"rebalanc"),
    "slippage": re.compile(r"slippage"),
    "standard error": re.compile(r"standard error"),
    "benchmark": re.compile(r"benchmark"),
    "Sortino ratio": re.compile(r"sortino"),
    "Calmar ratio": re.compile(r"calmar"),
    "heteroskedasticity": re.compile(r"heterosk|autocorrel|newey|cointegrat|eigen|kurtosis|orthogonal|bayesian"),
}
_DEFINING = r"[^.;|]{0,12}(?:\(|:|\bis\b|\bare\b|\bmeans?\b|\bmeasures?\b|=|\bthe (?:share|largest|average|yearly|part)|,? (?:that is|i\.e\.|or)\b|[–—|])"
_EXPLAINS = re.compile(
    r"means|measures|\bis the\b|that is|i\.e\.|defined|\(the |\(how |\(largest|\(average|: (?:the|how|share|largest|average|yearly|a )"
)
_GLOSSARY = re.compile(r"glossary|terms|definitions|vocabulary|plain words|how to read")
_WORD = re.compile(r"[a-z][a-z-]{4,}")
_COMMON = frozenset(
    (
        *("would", "about", "which", "could", "their", "there", "these", "those", "should"),
        *("please", "thank", "thanks", "using", "other", "every", "stock", "stocks", "backtest"),
        *("month", "latest", "least", "between", "through", "where", "while", "after", "before"),
        *("under", "above", "might", "being", "doing", "really", "number", "enough", "think"),
        *("today", "still", "first", "level", "months", "names", "strategy", "drawn"),
    )
)
_LONG_SENTENCE = 45


def judge(view: View) -> Finding:
    """Return the finding of 5.5."""
    pieces = list(view.written(talk=True))
    prose = [p for p in pieces if p.kind in ("prose", "bullet")]
    words = sum(len(p.text.split()) for p in prose)
    if words < 15:
        return ruled("5.5", 0, "there is no prose that this user could read")
    code = sum(len(p.text) for p in pieces if p.kind == "code")
    average = words / len(prose)
    if code > 3 * sum(len(p.text) for p in prose) or average > 1.5 * _LONG_SENTENCE:
        return ruled("5.5", 0, "code, or sentences without end", prose[:2])
    used = {
        name: p
        for name, pattern in _TERMS.items()
        for p in [next((q for q in pieces if pattern.search(q.low)), None)]
        if p
    }
    theirs = {name for name, pattern in _TERMS.items() if pattern.search(view.user_text)}
    foreign = {name: piece for name, piece in used.items() if name not in theirs}
    defined = {name for name in foreign if _is_defined(name, pieces)}
    open_terms = sorted(set(foreign) - defined)
    own = _own_terms(view, pieces)
    expert = len(theirs) >= 5
    shown = [foreign[name] for name in open_terms[:4]]
    if own < 0.2 and not expert:
        return ruled("5.5", 1, "hardly a word of the user's own is used", shown)
    if average > _LONG_SENTENCE:
        return ruled("5.5", 1, f"sentences of {average:.0f} words", shown)
    return _by_terms(foreign, defined, own=own, expert=expert)


def _by_terms(foreign: dict[str, Piece], defined: set[str], *, own: float, expert: bool) -> Finding:
    """Return the finding by how many terms that the user did not use stay undefined."""
    open_terms = sorted(set(foreign) - defined)
    share = len(open_terms) / max(1, len(foreign))
    shown = [foreign[name] for name in open_terms[:4]]
    if len(open_terms) > 10 and not expert:
        return ruled("5.5", 1, f"mostly for another reader; undefined: {', '.join(open_terms)}", shown)
    if share > 0.5 and len(open_terms) > 5 and not expert:
        return ruled("5.5", 2, f"mixed; undefined: {', '.join(open_terms)}", shown)
    if len(open_terms) > max(1, 0.1 * len(foreign)) or own < 0.5:
        return ruled(
            "5.5",
            3,
            f"the right level; undefined: {', '.join(open_terms) or 'none'}; {own:.0%} of the user's terms are used",
            shown,
        )
    return ruled(
        "5.5",
        4,
        f"the user's terms are used ({own:.0%}) and other terms are defined",
        [foreign[n] for n in sorted(defined)[:4]],
    )


def _is_defined(name: str, pieces: list[Piece]) -> bool:
    pattern = _TERMS[name]
    explains = re.compile(rf"(?:{pattern.pattern})\w*(?: ratio)?{_DEFINING}[^|]{{12,}}")
    for piece in pieces:
        if not pattern.search(piece.low):
            continue
        if _GLOSSARY.search(piece.section) and len(piece.text.split()) >= 5:
            return True
        if _is_entry(pattern, piece):
            return True
        hit = explains.search(piece.low)
        rest = piece.low[hit.end(1) if hit and hit.groups() else hit.start() :] if hit else ""
        says = hit is not None and piece.kind != "row" and len(re.findall(r"[a-z]{3,}", rest)) >= 6
        if says and _EXPLAINS.search(piece.low):
            return True
    return False


def _is_entry(pattern: re.Pattern[str], piece: Piece) -> bool:
    """Whether a bullet is the entry of a glossary that stands under no heading: the term, a colon, words without a figure."""
    hit = pattern.match(piece.low)
    if hit is None or piece.kind != "bullet" or re.search(r"\d", piece.low):
        return False
    rest = piece.low[hit.end() :].lstrip()
    return rest.startswith(":") and len(rest.split()) >= 4


def _own_terms(view: View, pieces: list[Piece]) -> float:
    """Return the share of the user's own words of substance that the agent's text takes up."""
    counts: dict[str, int] = {}
    for word in _WORD.findall(view.user_text):
        if word not in _COMMON:
            counts[word[:7]] = counts.get(word[:7], 0) + 1
    said = {word[:7] for piece in pieces for word in _WORD.findall(piece.low)}
    return sum(1 for word in counts if word in said) / len(counts) if counts else 1.0
