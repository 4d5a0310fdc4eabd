"""Dimension 4.2: numbers in results and conclusions stand in a delivered table or beside the file that holds them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from evaluator.measure.case import Case
from evaluator.measure.citation_cells import Candidates, Cells
from evaluator.measure.verdict import scored
from records.grade import Judgement

_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s+(?P<hash>.+?)|\*\*(?P<bold>[^*]+)\*\*)\s*#*\s*$")
_SECTIONS = re.compile(
    r"result|conclusion|summary|performance|finding|outcome|sensitivity|out[- ]of[- ]sample|stress", re.IGNORECASE
)
_NUMBER = re.compile(
    r"(?P<cur>[$€£]\s?)?(?P<sign>[-+\u2212])?(?P<body>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<unit>\s?%|\s?bps?\b|\s?basis points?|\s?percent\b|x\b)?"
)
_SKIP = re.compile(
    r"\d{4}-\d{2}-\d{2}|\b(?:19|20)\d{2}\b|\b\d+(?:\.\d+){2,}|^\s*\d+(?:\.\d+)*[.)]\s|`[^`]*`|\b(?:365(?:\.25)?|252|12)\s+(?:periods|(?:trading )?days|months)\b|https?://\S+|\b\w+_\d+\w*|\b[A-Za-z]+\d+\b"
)
_METRIC = re.compile(
    r"return|sharpe|sortino|calmar|drawdown|volatil|turnover|exposure|trades?\b|fills?\b|cagr|win rate|equity|fees?\b|cost|alpha|beta|excess",
    re.IGNORECASE,
)
"""Annualisation conventions are no results either."""
_MOST_ON_A_LINE = 16
_SOURCE = re.compile(r"[\w./-]+\.(?:csv|json|parquet|xlsx|tsv)\b", re.IGNORECASE)
_LEVELS = ((4, 0.90), (3, 0.75), (2, 0.50), (1, 0.25))
_MAX_CHARS = 400_000
_LINE_CHARS = 4_000


@dataclass(frozen=True)
class _Claim:
    value: float
    signed: float
    step: float
    """Half a unit of the last printed digit."""
    is_percent: bool
    line: str


def judge(case: Case) -> Judgement:
    """Return the verdict of 4.2."""
    report = case.report
    if report is None:
        return scored("4.2", 0, "no report was delivered")
    claims = list(_claims(report.text[:_MAX_CHARS]))
    if not claims:
        return scored("4.2", 0, f"{report.path} makes no numeric claim in results or conclusions")
    cells = Candidates(case.delivery.tables)
    files = {table.path.split("#")[0].rsplit("/", 1)[-1].lower() for table in case.delivery.tables}
    stand = [claim for claim in claims if _traced(claim, cells, files)]
    found = {id(claim) for claim in stand}
    lost = [claim for claim in claims if id(claim) not in found and not _is_difference(claim, stand)]
    share = 1 - len(lost) / len(claims)
    evidence = [f"{report.path}: {len(claims) - len(lost)} of {len(claims)} numeric claims stand in a delivered table"]
    evidence += [f"not traced: {claim.value:g} in '{claim.line[:120]}'" for claim in lost[:5]]
    score = next((level for level, limit in _LEVELS if share > limit or (level < 4 and share >= limit)), 0)
    return scored("4.2", score, f"{share:.0%} of the numeric claims are traced", evidence)


def _claims(text: str) -> Iterator[_Claim]:
    inside = not any(_SECTIONS.search(title) for title in _titles(text))
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
            continue
        heading = _HEADING.match(line)
        if heading is not None:
            inside = _SECTIONS.search(heading["hash"] or heading["bold"]) is not None
            continue
        if inside and not fenced:
            yield from _line_claims(line[:_LINE_CHARS])


def _titles(text: str) -> list[str]:
    found = (_HEADING.match(line) for line in text.splitlines())
    return [hit["hash"] or hit["bold"] for hit in found if hit is not None]


def _line_claims(line: str) -> Iterator[_Claim]:
    plain = _SKIP.sub(" ", line)
    speaks = _METRIC.search(line) is not None
    for hit in _NUMBER.finditer(plain):
        unit = (hit["unit"] or "").strip().lower()
        if not unit and not speaks and not hit["cur"]:
            continue
        body = hit["body"].replace(",", "")
        decimals = len(body.partition(".")[2])
        value = float(body)
        yield _Claim(
            value,
            -value if hit["sign"] in ("-", "\u2212") else value,
            0.5 * 10.0**-decimals,
            unit in ("%", "percent"),
            line.strip(),
        )


def _traced(claim: _Claim, cells: Candidates, files: set[str]) -> bool:
    if any(name.group().rsplit("/", 1)[-1].lower() in files for name in _SOURCE.finditer(claim.line)):
        return True
    return _stands(claim, cells.anywhere) or _stands(claim, cells.named(claim.line))


def _is_difference(claim: _Claim, stand: list[_Claim]) -> bool:
    """Tell whether a figure is one traced figure of its line minus another, printed alike: ahead of a benchmark by."""
    beside = [
        other
        for other in stand
        if other.line == claim.line and other.is_percent == claim.is_percent and other.step == claim.step
    ]
    slack = 3 * claim.step * (1 + 1e-6)
    return len(beside) <= _MOST_ON_A_LINE and any(
        abs(abs(one.signed - two.signed) - claim.value) <= slack for one, two in combinations(beside, 2)
    )


def _stands(claim: _Claim, cells: Cells) -> bool:
    scales = (1.0, 0.01) if claim.is_percent else (1.0, 0.01, 100.0)
    return any(cells.has(claim.value * scale, claim.step * scale) for scale in scales)
