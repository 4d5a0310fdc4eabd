"""Dimensions 1.5 and 1.6: claims worded to the grade of their source, and disclosed checks of the data."""

import re

from evaluator.judge.rules.sources import VENDORS
from evaluator.judge.rules.text import Piece
from evaluator.judge.rules.view import View, first, ruled
from records.judging import Finding

_OVER = re.compile(
    r"(?:studies|research|experts|literature|everyone|history|evidence) (?:shows?|proves?|agrees?|knows?|has shown|have shown|confirms?)\b(?![^.]{0,60}(?:\(?\d{4}\)?|https?))|it is (?:well[- ])?known|well[- ]known fact|proven\b|proves?\b|undeniabl|without doubt|always (?:works|outperforms|beats|wins)|guarantee[sd]?\b|as everyone knows|famous(?:ly)?|certain(?:ly)? to|\bobviously\b|never fails|no risk\b"
)
_DISCLAIMED = re.compile(r"\b(?:not|no|nothing|never|cannot|neither|without)\b")
_INVENTED = re.compile(
    r"(?:simulated|synthetic|made[- ]up|random(?:ly generated)?|placeholder|mock|dummy|hypothetical|invented) (?:\w+ )?(?:prices?|data|returns?|series)"
)
_FROM_MEMORY = re.compile(
    r"(?:prices?|figures?|returns?|fundamentals?|numbers?|data)\b[^.]{0,40}(?:from|by) (?:my )?(?:own )?(?:memory|training|knowledge)|(?:a|some) blog"
)
_GRADES = {
    "filing": re.compile(r"filings?|10-[kq]|\bsec\b|edgar|audited"),
    "vendor": re.compile(r"vendor|\bapi\b|data provider|data service"),
    "web": re.compile(r"web ?(?:page|site)|blog|news article|wikipedia|published|paper|literature|research"),
    "own": re.compile(
        r"own (?:estimate|choice|assumption|calculation)|computed|calculated|derived|my (?:estimate|assumption)|assumption"
    ),
}
_GRADING = re.compile(
    r"grade|tier|quality of (?:the )?(?:source|evidence)|evidence (?:level|strength|quality)|reliab|source type|strength of evidence|confidence in (?:the )?source|primary source|secondary source"
)
_TOPICS = {
    "missing": re.compile(r"missing|\bnans?\b|null values|incomplete rows"),
    "gaps": re.compile(r"\bgaps?\b|session gaps|missing (?:sessions|days)|stale|without a bar"),
    "duplicates": re.compile(r"duplicat"),
    "outliers": re.compile(
        r"outlier|extreme|spike|jumps?\b|moves? (?:of )?(?:more|over|above|larger) (?:than )?\d|implausible|large moves"
    ),
    "survivorship": re.compile(r"survivor|delist|end (?:early|before)|point[- ]in[- ]time (?:member|constitu)"),
    "adjustment basis": re.compile(r"adjust(?:ed|ment)|split[- ]adjust|dividend[- ]adjust|corporate action"),
}
_CHECKED = re.compile(r"check|found|count|rows|none|no \w+|were|was|there (?:are|is)|detected|share|identified|flag|\d")
_NUMBER = re.compile(r"(?<![\w-])\d[\d,]*(?:\.\d+)?(?:\s?%)?|\b(?:zero|none|no)\b")
_DONE = re.compile(
    r"drop|exclud|left (?:out|in|as)|kept|keep|fill|remov|not (?:filled|removed|changed|traded)|nothing|flag|correct|wait|forward|carried|disclos|report|list|delivered|used|sold|marked|ignored|would be|treated|credited|accepted|flatter|under-?represent|winsor|clip|verified|confirmed|replac|already|inside"
)
_GENERIC = re.compile(
    r"(?:data|prices)\b[^.]{0,30}(?:were|was|is|are|has been|have been) (?:\w+ )?(?:clean|check|validat|verif|quality|high)|clean(?:ed)? data|data quality|quality checks?|sanity[- ]check|high[- ]quality data"
)


def grade_match(view: View) -> Finding:
    """Return the finding of 1.5."""
    passages = [*view.rows("sources"), *view.words]
    named = [name for name, pattern in VENDORS.items() if first(passages, pattern)]
    invented = next((p for p in passages if _asserted(_INVENTED, p)), None)
    if invented is not None or not (named or any(re.search(r"https?://", p.text) for p in passages)):
        why = "claims rest on data of no source" if invented is None else "the data are made up or from memory"
        return ruled("1.5", 0, why, [] if invented is None else [invented])
    recalled = first(passages, _FROM_MEMORY)
    if recalled is not None and not _DISCLAIMED.search(recalled.low):
        return ruled("1.5", 1, "figures rest on memory or a blog", [recalled])
    over = [p for p in view.written(talk=True) if _OVER.search(p.low) and not _denied(p)]
    if len(over) >= 3:
        return ruled("1.5", 1, "claims are stronger than any named source", over)
    if over:
        return ruled("1.5", 2, "the main claims match, some reach further than their source", over)
    graded = _graded(view)
    kinds = {name for name, pattern in _GRADES.items() if any(pattern.search(p.low) for p in graded)}
    if len(kinds) >= 3:
        return ruled(
            "1.5", 4, f"grades of the sources are stated ({', '.join(sorted(kinds))}) and no claim exceeds them", graded
        )
    return ruled(
        "1.5", 3, f"sources are named ({', '.join(named)}), claims do not exceed them, grades are not stated", graded
    )


def _denied(piece: Piece) -> bool:
    hit = _OVER.search(piece.low)
    return hit is not None and _DISCLAIMED.search(piece.low[max(0, hit.start() - 40) : hit.end()]) is not None


def _asserted(pattern: re.Pattern[str], piece: Piece) -> bool:
    hit = pattern.search(piece.low)
    return hit is not None and _DISCLAIMED.search(piece.low[max(0, hit.start() - 20) : hit.start()]) is None


def _graded(view: View) -> list[Piece]:
    """Return passages that grade a source: beside a word of grading, or under such a title, or in such a column."""
    found = []
    for piece in view.written():
        here = (
            _GRADING.search(piece.low)
            or _GRADING.search(piece.section)
            or any(_GRADING.search(h) for h in piece.header)
        )
        if here and any(pattern.search(piece.low) for pattern in _GRADES.values()) and len(piece.text.split()) >= 3:
            found.append(piece)
    return found


def self_check(view: View) -> Finding:
    """Return the finding of 1.6."""
    passages = [*view.rows("quality"), *(p for p in view.written(talk=True) if p.kind != "code")]
    here: dict[str, list[Piece]] = {
        name: [p for p in passages if pattern.search(p.low) and _is_check(p)] for name, pattern in _TOPICS.items()
    }
    named = {name: pieces for name, pieces in here.items() if pieces}
    counted = {name: [p for p in pieces if _counts(p)] for name, pieces in named.items()}
    counted = {name: pieces for name, pieces in counted.items() if pieces}
    quoted = [pieces[0] for pieces in (counted or named).values()]
    if counted:
        treated = [
            name for name, pieces in named.items() if name in counted and any(_DONE.search(p.low) for p in pieces)
        ]
        if len(treated) == len(_TOPICS):
            return ruled("1.6", 4, "all six checks with numbers and what was done about each", quoted)
        lacking = ", ".join(name for name in _TOPICS if name not in treated)
        return ruled("1.6", 3, f"checks with numbers: {', '.join(counted)}; not complete: {lacking}", quoted)
    if len(named) >= 2:
        return ruled("1.6", 2, f"checks named without results: {', '.join(named)}", quoted)
    generic = first(passages, _GENERIC)
    if generic is not None or named:
        return ruled("1.6", 1, "one general sentence on the data", quoted or [generic] if generic else quoted)
    return ruled("1.6", 0, "no word on the quality of the data")


def _is_check(piece: Piece) -> bool:
    """Whether it speaks of the delivered data, not of a rule for the future; a list of words speaks of nothing."""
    topics = sum(1 for pattern in _TOPICS.values() if pattern.search(piece.low))
    return piece.section == "quality" or (
        "boundary" not in piece.section and _CHECKED.search(piece.low) is not None and topics <= 4
    )


def _counts(piece: Piece) -> bool:
    topics = sum(1 for pattern in _TOPICS.values() if pattern.search(piece.low))
    return len(_NUMBER.findall(piece.low)) >= max(1, topics - 1)
