"""Dimensions 1.2 and 1.3: where each delivered series comes from, and whether a second source was set beside the first."""

import re
from dataclasses import dataclass

from evaluator.judge.rules.text import Piece
from evaluator.judge.rules.view import View, all_of, first, ruled
from records.judging import Finding

VENDORS: dict[str, re.Pattern[str]] = {
    "Financial Modeling Prep": re.compile(r"financial ?modeling ?prep|\bfmp\b"),
    "Yahoo": re.compile(r"yahoo|yfinance"),
    "SEC": re.compile(r"\bsec\.gov|\bedgar\b|\bsec (?:filings?|edgar)|\b10-[kq]\b"),
    "FRED": re.compile(r"\bfred\b|stlouisfed"),
    "Stooq": re.compile(r"stooq"),
    "Alpha Vantage": re.compile(r"alpha ?vantage"),
    "Tiingo": re.compile(r"tiingo"),
    "Polygon": re.compile(r"polygon\.io|\bpolygon\b"),
    "Nasdaq": re.compile(r"nasdaq data link|quandl|nasdaq\.com"),
    "Bloomberg": re.compile(r"bloomberg"),
    "Refinitiv": re.compile(r"refinitiv|\blseg\b|reuters"),
    "CRSP": re.compile(r"\bcrsp\b|compustat|wrds"),
    "Cboe": re.compile(r"\bcboe\b"),
    "French library": re.compile(r"ken(?:neth)? french|french (?:data )?library"),
    "Wikipedia": re.compile(r"wikipedia"),
    "EODHD": re.compile(r"eodhd|eod historical"),
    "IEX": re.compile(r"\biex\b"),
    "Simfin": re.compile(r"simfin"),
}
_SERIES = {
    "prices": re.compile(r"price|bars?\b|ohlc|close|eod|dividend-adjusted"),
    "fundamentals": re.compile(r"fundamental|statement|income|balance|cash[- ]flow|earnings|filing"),
    "market": re.compile(r"\bspy\b|\bvix\b|index|market series|market\.csv|benchmark"),
}
_LINK = re.compile(
    r"https?://\S{4,}|\b(?:stable|api/v\d)/[\w/-]{3,}|\b[\w-]{3,40}/[\w-]{2,40}(?:/[\w-]{2,40}){0,4}\?|\byf\.download\(|\bendpoint\b[^.]{0,30}[\w-]{4,}|historical-price-eod[\w/-]*|/(?:v\d|stable)/[\w/-]+"
)
_PARAMETERS = {
    "symbols": re.compile(r"symbols?\W|tickers?\W|\b[A-Z]{2,5}(?:[|, ]+[A-Z]{1,5}){2,}"),
    "start": re.compile(
        r"(?:from|start|period1|begin)\w{0,6}\W{1,4}(?:19|20)\d{2}|(?:19|20)\d{2}-\d{2}-\d{2}\s*(?:to|through|until|\.\.|–|-|/)"
    ),
    "end": re.compile(
        r"(?:\bto|end|period2|until)\w{0,6}\W{1,4}(?:19|20)\d{2}|(?:to|through|until|\.\.|–|-|/)\s*(?:19|20)\d{2}-\d{2}-\d{2}"
    ),
    "adjustment": re.compile(r"adjust|split|total[- ]return|raw\b|as reported|announced|accepted|filing"),
}
_RETRIEVED = re.compile(
    r"(?:retriev|download|fetch|access|pulled|as of)\w*[^.]{0,40}(?:19|20)\d{2}-\d{2}-\d{2}|(?:19|20)\d{2}-\d{2}-\d{2}[T ]\d{2}:\d{2}",
    re.IGNORECASE,
)
_CROSS = re.compile(
    r"cross[- ]?check|reconcil|second source|compared? (?:with|to|against) (?:\w+ ){0,4}(?:source|vendor|yahoo|stooq|sec|edgar|fred|another)|against (?:a |the )?(?:second|independent)|both sources|two sources|agree(?:s|d|ment)? (?:with|between|within)|verified against"
)
_DENIED = re.compile(
    r"\bno (?:second|other|independent)|not (?:been )?(?:cross|verif|compar|reconcil)|\bone vendor\b|single (?:source|vendor)|could not|only between|were not|was not|never"
)
_SHARE = re.compile(r"\d+(?:\.\d+)?\s?%|\b\d[\d,]* of \d|\b\d[\d,]* (?:rows|values|closes|days|disagree)")
_HANDLED = re.compile(r"disagree\w*|differ\w*|discrepan\w*|mismatch\w*|outside")


@dataclass(frozen=True)
class _Series:
    name: str
    pieces: tuple[Piece, ...]
    """Passages that name the series beside a link or a call."""

    @property
    def linked(self) -> bool:
        return bool(self.pieces)

    @property
    def complete(self) -> bool:
        text = "\n".join(piece.text for piece in self.pieces)
        low = text.lower()
        asked = ["symbols"] if self.name == "fundamentals" else list(_PARAMETERS)
        has_all = all(_PARAMETERS[name].search(text) or _PARAMETERS[name].search(low) for name in asked)
        return has_all and _RETRIEVED.search(text) is not None


def traceability(view: View) -> Finding:
    """Return the finding of 1.2."""
    delivered = [role for role in _SERIES if view.case.main.frame(role) is not None]
    passages = [*view.rows("sources"), *view.words]
    named = _vendors(passages)
    linked = [piece for piece in passages if _LINK.search(piece.text) and _was_called(piece, view)]
    if not named and not linked:
        return ruled("1.2", 0, "no source is named for any series")
    series = [
        _Series(role, tuple(p for p in linked if _SERIES[role].search(p.low))) for role in delivered or ["prices"]
    ]
    pieces = [piece for one in series for piece in one.pieces[:3]] or list(named.values())
    others = [piece for piece in linked if any(pattern.search(piece.low) for pattern in _SERIES.values())]
    if not any(one.linked for one in series) and not others:
        return ruled("1.2", 1, f"{', '.join(named) or 'a source'} is named, no series carries a link or call", pieces)
    key = [one for one in series if one.name in ("prices", "fundamentals")]
    lost = [one.name for one in key if not one.linked]
    if lost or not key:
        return ruled("1.2", 2, f"no link or call for {', '.join(lost) or 'the prices'}", pieces)
    partial = [one.name for one in series if not one.complete]
    if partial or not delivered:
        return ruled(
            "1.2",
            3,
            f"each key series has its call; parameters or time of retrieval incomplete for {', '.join(partial) or 'series not delivered'}",
            pieces,
        )
    return ruled("1.2", 4, "each delivered series carries its call, parameters and time of retrieval", pieces)


def _was_called(piece: Piece, view: View) -> bool:
    """Where the log of requests is there, a call that never went out traces nothing."""
    calls = view.case.delivery.calls
    if not calls:
        return True
    targets = {part for call in calls for part in (call.target.lower().split("?")[0].rstrip("/"), call.tool.lower())}
    tails = {"/".join(target.split("/")[-2:]) for target in targets if "/" in target} | targets
    hosts = {call.target.lower().split("//")[-1].split("/")[0] for call in calls if call.route == "web"}
    low = piece.low
    return any(len(tail) > 3 and tail in low for tail in tails) or any(host and host in low for host in hosts)


def _vendors(passages: list[Piece]) -> dict[str, Piece]:
    found = {}
    for name, pattern in VENDORS.items():
        piece = first(passages, pattern)
        if piece is not None and not (_DENIED.search(piece.low) and not _LINK.search(piece.text)):
            found[name] = piece
    return found


def diversity(view: View) -> Finding:
    """Return the finding of 1.3."""
    passages = [*view.rows("sources"), *view.words]
    named = _vendors(passages)
    if not named and first(passages, _LINK) is None:
        return ruled("1.3", 0, "no source can be identified")
    if len(named) < 2:
        return ruled("1.3", 1, f"one source ({', '.join(named) or 'unnamed'}), none set beside it", named.values())
    checks = [piece for piece in all_of([*passages, *view.rows("quality")], _CROSS) if not _DENIED.search(piece.low)]
    if not checks:
        return ruled("1.3", 2, f"{', '.join(named)}; no field is cross-checked", named.values())
    text = " ".join(piece.low for piece in checks)
    if (
        _SHARE.search(text)
        and _HANDLED.search(" ".join(p.low for p in all_of(passages, _HANDLED)))
        and len(text.split()) > 12
    ):
        return ruled("1.3", 4, f"{', '.join(named)}, cross-checked with numbers, disagreements handled", checks)
    return ruled(
        "1.3",
        3,
        f"{', '.join(named)}, cross-checked without the share of agreement or what was done about the rest",
        checks,
    )
