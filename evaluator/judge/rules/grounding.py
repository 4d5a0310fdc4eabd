"""Dimension 4.1: whether conclusions stand on the delivered numbers, with their uncertainty and without a promise."""

import re
from collections.abc import Callable

from evaluator.judge.rules.delivered import BENCHMARK, LABELS, MAIN, Claim, Delivered, claims
from evaluator.judge.rules.sweeping import Sheet, against_tables, is_borne_out, sheets
from evaluator.judge.rules.text import Piece, Text
from evaluator.judge.rules.view import RESULTS, SUMMARY, View, ruled
from records.judging import Finding

_NEGATED = re.compile(
    r"\b(?:not|n't|never|no|fail\w*|without|neither|nor|hardly|cannot|unable|rather than|nothing)\b|n't\b|n’t\b"
)
_QUESTION = re.compile(r"\?\s*$")
_AHEAD = re.compile(
    r"out-?perform\w*|(?:beat|beats|beaten|beating|surpass\w*|exceed\w*|topped) (?:it\b|(?:\w+ ){0,3}(?:market|benchmark|index|spy|s&p))|ahead of (?:it|the|spy|s&p|its)|better (?:\w+ )?(?:than|returns than) (?:the )?(?:market|benchmark|index|spy|s&p)"
    r"|superior (?:\w+ )?returns?|(?:added|adds|generated|delivered|produced|positive) (?:\w+ )?(?:alpha|excess returns?)|(?:higher|more) (?:\w+ )?(?:return )?than (?:the )?(?:market|benchmark|index|spy|s&p)|market[- ]beating"
)
_BEHIND = re.compile(
    r"under-?perform\w*|lag(?:s|ged|ging)?\b|trail(?:s|ed|ing) (?:the|it|spy|s&p|its)|behind (?:it|the|spy|s&p|its)|worse than (?:the )?(?:market|benchmark|index|spy|s&p)"
)
_RISK_ADJUSTED = re.compile(
    r"(?:on|in|as) (?:a |an )?(?:risk[- ]adjusted|sharpe)|risk[- ]adjusted (?:out|under|basis|terms|alpha|excess)|per unit of risk|(?:higher|better|lower|worse) sharpe"
)
_UP = re.compile(
    r"profitable|made money|positive (?:\w+ )?returns?|(?:strong|solid|attractive|excellent|impressive|healthy|great|good|robust|outstanding|superb) (?:\w+ ){0,2}(?:returns?|performance|results?|profits?|gains?|growth)|performed (?:very |really |extremely )?well|works? (?:very |really )?well|\bgrew\b|strong performer|successful"
)
_DOWN = re.compile(r"lost money|negative (?:total |net )?returns?|unprofitable|ended (?:with a loss|down)")
_FEW_LOSSES = re.compile(
    r"(?:low|lower|small|limited|shallow|modest|contained|mild|minimal|tiny|controlled|manageable|little|acceptable) (?:\w+ ){0,2}(?:drawdowns?|losses|downside|risk)\b|(?:drawdowns?|losses|risk|downside) (?:\w+ ){0,3}(?:low|small|limited|shallow|modest|contained|mild|minimal|controlled|manageable|in check)\b|protect\w* (?:\w+ ){0,3}(?:capital|downside)|safe\b"
)
_SMOOTH = re.compile(
    r"(?:low|small|modest|little) (?:\w+ )?volatility|smooth (?:\w+ ){0,2}(?:curve|ride|returns?)|\bstable (?:returns|performance)"
)
_EFFICIENT = re.compile(
    r"(?:excellent|strong|high|great|outstanding|impressive|very good|superb|superior|attractive) (?:\w+ )?(?:sharpe|risk[- ]adjusted)"
)
_STEADY = re.compile(
    r"consistent\w*|every (?:single |calendar )?(?:year|month|period)|in all (?:years|periods|regimes|conditions)|robust across|always|all market conditions|across (?:all )?regimes"
)
_CERTAIN = re.compile(
    r"statistically significant|proves?\b|proven\b|proof\b|undoubtedly|without (?:any )?doubt|clearly demonstrates|risk[- ]free (?:profits?|returns?|gains?|money|strategy)|no risk\b|confirms that"
)
_CHEAP = re.compile(r"low turnover|costs? (?:are|is|were) negligible")
_PROMISE = re.compile(
    r"(?:will|should|is going to|is (?:likely|expected|set|poised|bound) to|can be expected to|are expected to) (?:\w+ ){0,3}(?:continue|keep|outperform|deliver|earn|generate|return|beat|produce|make|persist|grow|double|profit|provide|yield|perform)"
    r"|guarantee[sd]?|(?:you|investors?|clients?|holders?|one|we|anyone) (?:can|will|should|may) (?:\w+ ){0,2}(?:expect|earn|make|count on|rely on|look forward to|bank on)|expect(?:ed)? (?:future )?returns? of|going forward[^.]{0,60}(?:earn|return|outperform|deliver)|in the future[^.]{0,40}(?:will|outperform)|sure to"
)
_DISCLAIMS = re.compile(r"(?:not|n't|no|never|nothing|without|cannot|neither|n’t)\b[^.,;]{0,60}$")
_UNSURE = re.compile(
    r"confidence interval|\b\d{2}\s?% (?:ci|interval|confidence)|standard error|bootstrap|t-?stat\w*|p-?value|±|\+/-|\bnot (?:statistically )?(?:significant|distinguishable|different)|statistically indistinguishable|uncertain|could (?:be|well be|have been) (?:luck|chance|noise)|by chance|down to luck"
    r"|(?:one|single) (?:historical )?(?:path|sample|history|realisation|realization|draw)|small sample|short (?:sample|history|window)|few (?:trades|observations|years|regimes)|wide (?:range|band|margin|interval)|margin of error|within noise|cannot (?:rule out|exclude|distinguish|be distinguished)|not (?:enough|sufficient) (?:data|evidence|history)|low confidence|statistical(?:ly)? (?:weak|noise)|sampling error|inconclusive|survivorship[^.]{0,80}(?:flatter|inflat|overstat|upward|bias)|too (?:short|few)|only one (?:cycle|regime)|estimate is noisy|noisy"
)
_LENGTH = re.compile(
    r"\b\d[\d,.]*\s*(?:(?:daily|weekly|monthly|quarterly|trading|calendar|annual)\s)?(?:years?|months?|quarters?|weeks?|sessions?|trading days|days|observations|monthly returns|daily returns|rebalances|rebalancings|decisions|periods|trades|fills)\b|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty)[- ]years?\b"
    r"|\b(?:19|20)\d{2}(?:-\d{2}(?:-\d{2})?)?\s*(?:to|through|until|till|-|–|—)\s*(?:\w+\s+(?:\d{1,2},?\s+)?)?(?:19|20)\d{2}\b|from [^.]{3,25} to [^.]{0,20}(?:19|20)\d{2}"
)


def judge(view: View) -> Finding:
    """Return the finding of 4.1."""
    spoken = conclusions(view)
    if not spoken or (view.report is None and not any(_concludes(piece.low) for piece in spoken)):
        return ruled("4.1", 0, "no report and no message draws a conclusion", spoken[:2])
    numbers = Delivered(view)
    stated = [claim for piece in spoken for claim in claims(piece)]
    wrong_main, wrong_side = _contradicted(stated, numbers)
    tables = sheets(view)
    for piece in spoken:
        main, side = _words_against_numbers(piece, numbers, tables)
        wrong_main += main
        wrong_side += side
    swept = [
        (is_effect, piece, why)
        for piece in dict.fromkeys([*spoken, *_findings(view)])
        for is_effect, why in against_tables(piece, tables, numbers.metrics)
    ]
    is_about_effect = not any(claim.metric in MAIN and _is_traced(claim, numbers) for claim in stated)
    wrong_main += [(piece, why) for is_effect, piece, why in swept if is_effect and is_about_effect]
    wrong_side += [(piece, why) for is_effect, piece, why in swept if not (is_effect and is_about_effect)]
    if wrong_main:
        return _verdict(0, "the delivered numbers contradict the conclusion", wrong_main)
    traced = [c for c in stated if _is_traced(c, numbers)]
    if not any(c.metric in (*MAIN, "max_drawdown", "alpha") for c in traced):
        reason = (
            "numbers are quoted, but none of them was delivered"
            if stated
            else "no number stands behind the main conclusion"
        )
        return ruled("4.1", 1, reason, spoken[:6])
    if len(wrong_side) > 2:
        return _verdict(1, "several conclusions go against or beyond the delivered numbers", wrong_side)
    wrong_side += [(piece, "a promise of future returns") for piece in spoken if _promises(piece)]
    if wrong_side:
        return _verdict(2, "the main conclusion is supported, another one is not", wrong_side)
    return _graded(view, spoken, [c.piece for c in traced])


def _graded(view: View, spoken: list[Piece], traced: list[Piece]) -> Finding:
    everywhere = [*spoken, *view.written()]
    unsure = next((p for p in everywhere if _UNSURE.search(p.low)), None)
    length = next((p for p in everywhere if _LENGTH.search(p.low)), None)
    kept = [*traced[:4], *(p for p in (unsure, length) if p is not None)]
    if unsure is not None and length is not None:
        return ruled(
            "4.1", 4, "supported by quoted numbers, with uncertainty and sample length, without a promise", kept
        )
    lacking = "uncertainty" if unsure is None else "sample length"
    return ruled("4.1", 3, f"supported by delivered numbers; {lacking} is not stated", kept)


def _concludes(low: str) -> bool:
    return any(pattern.search(low) for pattern in (*LABELS.values(), _UP, _DOWN, _AHEAD, _BEHIND, _FEW_LOSSES))


def conclusions(view: View) -> list[Piece]:
    """Return what the delivery concludes: summary and conclusion sections, else the report's start, and the last message."""
    found: list[Piece] = []
    for text in view.reports[:3]:
        found += _of_report(text)
    if view.last is not None:
        found += [p for p in view.last.pieces if p.kind != "code" and not _QUESTION.search(p.text)]
    if not any(LABELS[name].search(p.low) or _UP.search(p.low) or _AHEAD.search(p.low) for p in found for name in MAIN):
        for text in view.reports[:3]:
            found += [p for p in text.pieces if p.kind in ("prose", "bullet")][:40]
    return list(dict.fromkeys(p for p in found if p.kind != "row"))


def _findings(view: View) -> list[Piece]:
    """Return the sentences of results sections, in which sweeping claims stand beside the tables they are about."""
    return [p for text in view.reports[:3] for p in text.under(RESULTS) if p.kind in ("prose", "bullet")][:200]


def _of_report(text: Text) -> list[Piece]:
    named = [p for p in text.under(SUMMARY) if p.kind != "code"]
    if named:
        return named
    return (
        [p for p in text.pieces if not p.section or p.section == text.titles[0]][:12]
        if text.titles
        else list(text.pieces[:12])
    )


def _verdict(score: int, reason: str, wrong: list[tuple[Piece, str]]) -> Finding:
    details = "; ".join(dict.fromkeys(why for _, why in wrong[:6]))
    return ruled("4.1", score, f"{reason}: {details}", [piece for piece, _ in wrong])


def _contradicted(stated: list[Claim], numbers: Delivered) -> tuple[list[tuple[Piece, str]], list[tuple[Piece, str]]]:
    main: list[tuple[Piece, str]] = []
    side: list[tuple[Piece, str]] = []
    for claim in stated:
        known = (numbers.benchmark if claim.benchmark else numbers.metrics).get(claim.metric)
        if known is None or (not _turned(claim, known) and (_agrees(claim, known) or numbers.holds(claim.figure))):
            continue
        why = f"{claim.metric.replace('_', ' ')} is given as {_shown(claim.figure.value, claim)}, delivered is {_shown(known, claim)}"
        is_main = claim.metric in MAIN and not claim.benchmark and _is_material(claim, known)
        (main if is_main else side).append((claim.piece, why))
    return main, side


def _is_material(claim: Claim, known: float) -> bool:
    """A slip of rounding in the main figure contradicts nothing; another number does."""
    if _turned(claim, known):
        return True
    gap = abs(abs(claim.figure.value) - abs(known))
    return gap > max(0.1 * abs(known), 3 * claim.figure.step)


def _turned(claim: Claim, known: float) -> bool:
    """Whether a gain is told as a loss or a loss as a gain."""
    if claim.metric not in ("total_return", "cagr") or abs(known) < 0.002:
        return False
    sense = claim.sense if not claim.figure.signed else 0
    return sense * known < 0


def _agrees(claim: Claim, known: float) -> bool:
    stated = claim.figure.value
    slack = max(claim.figure.step * 1.05, 0.005 * abs(known))
    if claim.metric == "max_drawdown" or not claim.figure.signed:
        stated, known = abs(stated), abs(known)
    scales = (1.0, 100.0) if claim.metric == "turnover" else (1.0,)
    return any(abs(stated / s - known) <= slack / s + 1e-12 for s in scales)


def _shown(value: float, claim: Claim) -> str:
    return f"{value:.1%}" if claim.figure.unit == "%" else f"{value:g}"


def _is_traced(claim: Claim, numbers: Delivered) -> bool:
    known = (numbers.benchmark if claim.benchmark else numbers.metrics).get(claim.metric)
    return (known is not None and _agrees(claim, known)) or (numbers.exists and numbers.holds(claim.figure))


def _asserts(pattern: re.Pattern[str], low: str) -> bool:
    """Whether the sentence affirms it: found, and not denied just before or asked."""
    if _QUESTION.search(low):
        return False
    return any(not _NEGATED.search(low[max(0, hit.start() - 40) : hit.start()]) for hit in pattern.finditer(low))


def _words_against_numbers(
    piece: Piece, numbers: Delivered, tables: list[Sheet]
) -> tuple[list[tuple[Piece, str]], list[tuple[Piece, str]]]:
    low = piece.low
    main = [(piece, why) for why in _main_words(low, numbers)]
    side = [(piece, why) for why in _side_words(low, numbers, tables)]
    return main, side


def _main_words(low: str, numbers: Delivered) -> list[str]:
    own, other, found = numbers.metrics, numbers.benchmark, []
    adjusted = _RISK_ADJUSTED.search(low) is not None
    gap = _gap(own, other, ("sharpe",) if adjusted else ("total_return", "cagr"))
    if gap is not None:
        if _asserts(_AHEAD, low) and gap < -1e-9 and not _partial(low):
            found.append(f"it claims to be ahead of the benchmark and was behind by {-gap:.3g}")
        if _asserts(_BEHIND, low) and gap > 1e-9 and BENCHMARK.search(low) and not _partial(low):
            found.append(f"it claims to be behind the benchmark and was ahead by {gap:.3g}")
    result = own.get("total_return", own.get("cagr"))
    if result is not None and result < 0 and _asserts(_UP, low):
        found.append(f"it claims success with a return of {result:.1%}")
    if result is not None and result > 0 and _asserts(_DOWN, low) and not _partial(low):
        found.append(f"it claims a loss with a return of {result:.1%}")
    return found


def _partial(low: str) -> bool:
    """Whether the sentence speaks of a part of the period or another run."""
    return (
        re.search(
            r"in[- ]sample|out[- ]of[- ]sample|\bin (?:19|20)\d\d\b|\b(?:19|20)\d\d\b(?! to| through)|some (?:years|periods)|years? (?:in|when|out)|gross|until|since|during|variant|might|may|could|if ",
            low,
        )
        is not None
    )


def _gap(own: dict[str, float], other: dict[str, float], names: tuple[str, ...]) -> float | None:
    return next((own[name] - other[name] for name in names if name in own and name in other), None)


_Check = tuple[re.Pattern[str], str, Callable[[float], bool], str]
_SIDE: tuple[_Check, ...] = (
    (_FEW_LOSSES, "max_drawdown", lambda x: abs(x) > 0.25, "it calls losses small with a maximum drawdown of {:.0%}"),
    (_SMOOTH, "volatility", lambda x: x > 0.25, "it calls the ride smooth with a volatility of {:.0%}"),
    (_EFFICIENT, "sharpe", lambda x: x < 0.7, "it praises the risk-adjusted return at a Sharpe ratio of {:.2f}"),
    (_UP, "sharpe", lambda x: x < 0.25, "it praises the result at a Sharpe ratio of {:.2f}"),
    (_CHEAP, "turnover", lambda x: x > 4, "it calls turnover or costs low at a turnover of {:.1f}"),
)


def _side_words(low: str, numbers: Delivered, tables: list[Sheet]) -> list[str]:
    found = []
    for pattern, metric, is_against, text in _SIDE:
        value = numbers.metrics.get(metric)
        if value is not None and is_against(value) and _asserts(pattern, low):
            found.append(text.format(value))
    if _asserts(_CERTAIN, low) and not re.search(r"t-?stat|p-?value|p ?[<=]|\bci\b|interval", low):
        found.append("it claims more certainty than any delivered test gives")
    if _asserts(_STEADY, low) and re.search(r"return|perform|profit|outperform|work|gain|beat", low):
        found.append(
            "it claims consistency that no delivered number shows"
            if not (_by_period(numbers) or is_borne_out(low, tables))
            else ""
        )
    return [text for text in found if text]


def _by_period(numbers: Delivered) -> bool:
    """Whether results by period were delivered and none is a loss."""
    frames = [table.frame for table in numbers.view.case.delivery.of("out_of_sample")]
    for frame in frames:
        for column in frame.columns:
            if str(column).lower() in ("total_return", "return", "cagr") and len(frame) > 2:
                return bool((frame[column].astype(float) > 0).all())
    return False


def _promises(piece: Piece) -> bool:
    low = piece.low
    if _QUESTION.search(low):
        return False
    hits = [
        h
        for h in _PROMISE.finditer(low)
        if not _DISCLAIMS.search(low[: h.start()]) and not re.search(r"\bnot\b|n't|no ", h.group())
    ]
    return any(
        re.search(r"return|profit|outperform|beat|money|gain|alpha|perform|continue|persist|\d\s?%", low[h.start() :])
        for h in hits
    )
