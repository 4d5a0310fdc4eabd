"""Dimension 5.3 before its program bound: units, periods, terms, definitions, and no hype."""

import re

from evaluator.judge.rules.delivered import LABELS
from evaluator.judge.rules.figures import DAY, figures
from evaluator.judge.rules.text import Piece
from evaluator.judge.rules.view import View, ruled
from records.judging import Finding

_HYPE = re.compile(
    r"amazing|incredible|game[- ]chang|skyrocket|massive (?:gains?|returns?)|to the moon|crush(?:es|ed|ing)? (?:the|it)|unbeatable|holy grail|guaranteed|risk[- ]free (?:profit|return|gain)|mind-?blowing|killer|explosive|huge (?:profits?|gains?|returns?)|insane|revolutionary|world[- ]class|unparalleled|!{2,}|phenomenal|spectacular|stunning|🚀|💰|🔥|🎉|supercharge"
)
_CARELESS = re.compile(
    r"\btodo\b|\btbd\b|\bfixme\b|\bxxx\b|lorem ipsum|\[insert|<insert|placeholder|\?\?\?|\bnan%?\b|\binf%?\b|\{[a-z_]{2,30}\}|undefined\b|none%"
)
_PERIOD = re.compile(
    r"annuali[sz]ed|a year|per year|p\.a\.|cagr|per annum|whole period|full period|total\b|cumulative|monthly|daily|over the (?:period|same)"
)
_BASIS = re.compile(r"\bnet\b|\bgross\b|after costs|before costs|risk[- ]free|252|365")
_DEFINES = re.compile(
    r"defined as|is the (?:share|ratio|largest|standard|average|number|annual|mean|return|fall)|means?\b|measured (?:as|by|on)|computed (?:as|from|on)|annuali[sz]ed (?:with|by|using|over)|(?:p\[t|close\[)|periods (?:a|per) year|risk[- ]free rate"
)


def judge(view: View) -> Finding:
    """Return the finding of 5.3; the program's bound is applied where it is settled."""
    pieces = [p for p in view.written(talk=True) if p.kind != "code"]
    if view.report is None or not pieces:
        return ruled("5.3", 0, "there is no report to judge")
    careless = [p for p in pieces if _CARELESS.search(p.low)]
    hype = [p for p in pieces if _HYPE.search(p.low)]
    stated = [p for p in pieces if any(pattern.search(p.low) for pattern in LABELS.values()) and figures(p.text)]
    if len(careless) >= 3 or len(hype) >= 3:
        return ruled("5.3", 0, "careless or promotional throughout", [*careless[:3], *hype[:3]])
    if not stated:
        return ruled("5.3", 1, "no figure with a unit is given", [*careless, *hype])
    return _by_units(pieces, stated, careless, hype)


def _by_units(pieces: list[Piece], stated: list[Piece], careless: list[Piece], hype: list[Piece]) -> Finding:
    """Return the finding by how many figures carry unit, period and definition."""
    bare = [p for p in stated if not _has_units(p)]
    share = 1 - len(bare) / len(stated)
    everything = " ".join(p.low for p in pieces)[:400_000]
    dated = len(set(DAY.findall(everything))) >= 2
    based = len({hit.group() for hit in _BASIS.finditer(everything)}) >= 2 and _PERIOD.search(everything) is not None
    defined = [p for p in pieces if _DEFINES.search(p.low)]
    if share < 0.5 or not (dated or based):
        return ruled(
            "5.3",
            1,
            f"{share:.0%} of the figures carry their unit, period {'stated' if dated else 'missing'}",
            bare[:5],
        )
    if share < 0.8 or careless or hype or not (dated and based):
        return ruled(
            "5.3",
            2,
            f"{share:.0%} of the figures carry their unit; careless passages {len(careless)}, hype {len(hype)}",
            [*bare[:3], *careless, *hype],
        )
    if share < 0.95 or len(defined) < 3 or not _steady(stated):
        return ruled(
            "5.3",
            3,
            "units and terms are consistent; definitions or decimals are not throughout",
            [*bare[:3], *defined[:2]],
        )
    return ruled("5.3", 4, "units, periods and definitions throughout, no hype", defined[:4])


def _has_units(piece: Piece) -> bool:
    """Whether every figure beside a metric of returns or losses carries its unit."""
    if not re.search(r"return|drawdown|volatility|cagr", piece.low) or re.search(
        r"sharpe|ratio|trades|beta|sessions|window|day", piece.low
    ):
        return True
    found = figures(piece.text)
    return any(figure.unit for figure in found)


def _steady(stated: list[Piece]) -> bool:
    """Whether percentages of headline metrics are printed with few different precisions."""
    decimals = {
        len(hit.group(1) or "") for p in stated if p.kind != "row" for hit in re.finditer(r"\d(?:\.(\d+))?\s?%", p.text)
    }
    return len(decimals) <= 3
