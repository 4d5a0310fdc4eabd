"""Dimension 3.4: which of four points a comparison with a benchmark meets."""

import re

from evaluator.judge.rules.delivered import BENCHMARK, Delivered
from evaluator.judge.rules.figures import figures
from evaluator.judge.rules.text import Piece
from evaluator.judge.rules.view import View, ruled
from records.judging import Finding

_SAME = re.compile(
    r"same (?:dates?|period|window|days|sessions|span|start|time|horizon)|identical (?:dates|period|window)|matched (?:dates|period)|aligned"
)
_BASIS = re.compile(
    r"total[- ]return|dividends? (?:are |is )?(?:re-?invested|included)|(?:including|with|incl\.?|excluding|without|ex) dividends?|price[- ](?:return|only|index)|dividends? (?:are|is) missing|adjusted clos"
)
_ALPHA = re.compile(
    r"\balpha\b|excess return|active return|(?:ahead of|behind|above|below|over|under|outperform\w*|underperform\w*|beat\w*|lag\w*|trail\w*)\b"
)
_ALPHA_WORD = re.compile(r"\balpha\b|excess return")
_MEANS = re.compile(
    r"positive|negative|because|means?\b|earned (?:more|less)|explain|due to|came from|comes from|reflects|driven by|sign\b|in exchange|compensat|after (?:adjust|account)|attributable|more than|less than"
)
_RISK = ("max_drawdown", "volatility", "sharpe", "sortino")
_RETURN = ("total_return", "cagr")


def judge(view: View) -> Finding:
    """Return the finding of 3.4; the score is counted from its hits."""
    pieces = [p for p in view.written(talk=True, spec=True) if p.kind != "code" and not p.low.endswith("?")]
    tables = [
        p
        for t in view.case.delivery.tables
        if t.role in ("metrics", "other")
        for p in _rows(view, t.role)
        if "benchmark" in " ".join(p.header) or BENCHMARK.search(p.low)
    ]
    about = [
        p
        for p in (*pieces, *tables)
        if BENCHMARK.search(p.low.replace("_", " "))
        or BENCHMARK.search(p.section)
        or any(BENCHMARK.search(h) for h in p.header)
    ]
    named = bool(about)
    about += [p for p in pieces if named and _ALPHA_WORD.search(p.low)]
    near = [*about, *_beside(pieces, set(about))]
    if not about:
        return ruled("3.4", None, "no benchmark is named")
    points = (
        ("same dates", next((p for p in near if _SAME.search(p.low)), None)),
        ("total-return basis", next((p for p in near if _BASIS.search(p.low)), None)),
        ("return and risk side by side", _side_by_side(view, about)),
        ("excess with its sign explained", _explained(about)),
    )
    found = {point: piece for point, piece in points if piece is not None}
    has_figure = any(figures(p.text) for p in about)
    hits = ["named", *(found if has_figure else ())]
    return ruled("3.4", None, f"points met: {', '.join(found) or 'none'}", found.values() or about[:2], hits=hits)


def _beside(pieces: list[Piece], about: set[Piece]) -> list[Piece]:
    """Return what stands next to a passage on the benchmark, under the same title."""
    found = []
    for at, piece in enumerate(pieces):
        around = pieces[max(0, at - 2) : at + 3]
        if any(p in about and (p.doc, p.section) == (piece.doc, piece.section) for p in around):
            found.append(piece)
    return found


def _rows(view: View, role: str) -> list[Piece]:
    return list(view.rows(role, limit=60))


def _side_by_side(view: View, about: list[Piece]) -> Piece | None:
    """A return and a risk figure of the benchmark beside the strategy's own."""
    numbers = Delivered(view)
    own, other = numbers.metrics, numbers.benchmark
    both = [name for name in (*_RETURN, *_RISK) if name in other and name in own]
    if any(name in both for name in _RETURN) and any(name in both for name in _RISK):
        return next((p for p in about if p.kind == "row"), about[0])
    return next((p for p in about if p.kind != "row" and _pairs(p)), None)


def _pairs(piece: Piece) -> bool:
    low = piece.low
    risk = re.search(r"sharpe|drawdown|volatility", low) is not None
    back = re.search(r"return|cagr|%", low) is not None
    return risk and back and len(figures(low)) >= 4


def _explained(about: list[Piece]) -> Piece | None:
    for piece in about:
        hit = _ALPHA.search(piece.low)
        if (
            hit
            and figures(piece.text)
            and piece.kind != "row"
            and _MEANS.search(piece.low[: hit.start()] + " " + piece.low[hit.end() :])
        ):
            return piece
    return None
