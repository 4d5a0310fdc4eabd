"""Dimension 5.2: summary, method, results and limitations, and whether an answer is found in a minute."""

import re

from evaluator.judge.rules.text import Piece, Text
from evaluator.judge.rules.view import LIMITS, METHOD, RESULTS, SUMMARY, View, ruled
from records.judging import Finding

_PARTS = {"summary": SUMMARY, "method": METHOD, "results": RESULTS, "limitations": LIMITS}
_BODY = {
    "summary": re.compile(r"."),
    "method": re.compile(r"signal|rank|weight|rebalanc|buy|hold|factor|score|fill|cost|univers|select"),
    "results": re.compile(r"\d"),
    "limitations": re.compile(r"bias|risk|limit|survivor|data|sample|assum|cost|may|might|not|only"),
}
_FILE = re.compile(
    r"\b[\w./-]{1,80}\.(?:csv|json|md|py|ipynb|parquet|xlsx|html|txt|yaml|yml|png|svg|sqlite|db)\b", re.IGNORECASE
)
_LONGEST = 60
"""Pieces under one title after which a reader searches."""
_PAGE = 900
"""Pieces of a report after which no answer is found in a minute."""


def judge(view: View) -> Finding:
    """Return the finding of 5.2."""
    report = view.report
    if report is None or not report.pieces:
        return ruled("5.2", 0, "no report was delivered")
    found = {name: piece for name in _PARTS for piece in [_part(name, report)] if piece is not None}
    if len(found) < 2:
        return ruled(
            "5.2",
            1,
            f"fragments: of summary, method, results, limitations there is {', '.join(found) or 'none'}",
            report.pieces[:2],
        )
    if len(found) < 4:
        return ruled("5.2", 2, f"found {', '.join(found)} only", found.values())
    files = {hit.group().lower() for piece in report.pieces for hit in _FILE.finditer(piece.text)}
    trouble = _trouble(report, files)
    if trouble:
        return ruled("5.2", 3, f"all four parts, but {', '.join(trouble)}", found.values())
    return ruled("5.2", 4, f"all four parts under their titles and {len(files)} files named", found.values())


def _part(name: str, report: Text) -> Piece | None:
    """Return a passage of the part: under a title of its own, and saying something of its kind."""
    under = [p for p in report.under(_PARTS[name]) if name != "summary" or p.kind != "row"]
    words = sum(len(p.text.split()) for p in under)
    return next((p for p in under if _BODY[name].search(p.low)), None) if words >= 8 else None


def _trouble(report: Text, files: set[str]) -> list[str]:
    trouble = []
    if len(files) < 3:
        trouble.append("the files are not indexed")
    places = [at for at, piece in enumerate(report.pieces) if SUMMARY.search(piece.section)]
    if places and places[0] > len(report.pieces) // 3 and len(report.pieces) > 40:
        trouble.append("the summary does not come first")
    lengths: dict[str, int] = {}
    for piece in report.pieces:
        if piece.kind not in ("row", "code"):
            lengths[piece.section] = lengths.get(piece.section, 0) + 1
    if max(lengths.values(), default=0) > _LONGEST:
        trouble.append("a section runs on without titles")
    if len(report.pieces) > _PAGE:
        trouble.append("it is too long to search")
    return trouble
