"""Dimension 2.9: whose choice each parameter is, and why it has its value."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from evaluator.judge.rules.text import Piece
from evaluator.judge.rules.view import View, ruled
from records.judging import Finding

_USER = re.compile(
    r"\buser\b|\bclient\b|\byours?\b|you (?:gave|asked|said|chose|specified|set|want|requested|told)|your (?:request|requirement|choice|word|instruction)|\bgiven\b|as requested|requested"
)
_OWN = re.compile(
    r"own (?:choice|assumption|default)|my (?:own )?(?:choice|assumption|default|pick)|\bmine\b|\bagent\b|assum(?:ed|ption)|\bi (?:chose|picked|set|took|use)|\bdefault\b|\bchosen\b|\bours?\b|\bwe (?:chose|picked|set|use)"
)
_PARAMETER = re.compile(
    r"window|look-?back|holdings|top \d|\bn\b|threshold|stop|target|rebalanc|weight|cost|bps|capital|cooldown|half-?life|covariance|execution|volume|start|end\b|benchmark|split|positions|sma|names|frequency|period"
)
_WHY = re.compile(
    r"because|since\b|so that|in order|to (?:avoid|keep|limit|reduce|match|balance|allow|give|ensure|spread|hold)|standard|usual|common|convention|literature|typical|matches|enough|shortest|longest|keeps|avoids|balances|spreads|requirement|plain case|nothing is added|follows|as in|half of|about a year|one year|chosen for"
)
_BACKED = re.compile(
    r"\b[A-Z][a-z]{2,20}(?:,? (?:and|&) [A-Z][a-z]{2,20}| et al\.?)?,?\s*\(?(?:19|20)\d{2}\)?|https?://|sensitivity|sharpe (?:of |from |between )?-?\d|\d+(?:\.\d+)?\s?%? (?:vs|versus|against|instead of)|\b\w+\.csv\b"
)


@dataclass(frozen=True)
class _Line:
    piece: Piece
    owner: str
    explained: bool
    backed: bool


def judge(view: View) -> Finding:
    """Return the finding of 2.9."""
    lines = [line for piece in view.words for line in [_line(piece)] if line is not None]
    if not lines:
        return _unmarked(view)
    own = [line for line in lines if line.owner == "own"]
    quoted = [line.piece for line in [*own, *lines]][:10]
    names = _merged(_key(line.piece) for line in own)
    explained = _covered(names, (line for line in own if line.explained))
    if not own:
        return ruled("2.9", 2, "the user's parameters are marked, own choices are not", quoted)
    if len(explained) < 0.6 * len(names):
        return ruled("2.9", 2, f"{len(explained)} of {len(names)} own choices are explained", quoted)
    backed = _covered(names, (line for line in own if line.backed))
    marked_user = any(line.owner == "user" for line in lines)
    if marked_user and len(backed) >= 0.8 * len(names):
        return ruled("2.9", 4, "each parameter is marked, own ones rest on a source or a sensitivity figure", quoted)
    return ruled(
        "2.9",
        3,
        f"own choices are explained; on a source or a sensitivity figure rest {len(backed)} of {len(names)}",
        quoted,
    )


def _unmarked(view: View) -> Finding:
    """Return the finding where no line says whose choice a value is."""
    valued = [p for p in view.words if _PARAMETER.search(p.low) and re.search(r"\d", p.text)]
    listed = [p for p in valued if p.kind in ("row", "bullet")]
    held = set(valued)
    reasoned = [p for p in view.written(talk=True) if p in held and _WHY.search(p.low)]
    if len(reasoned) >= 3:
        return ruled("2.9", 3, "values are explained, but not told apart from the user's", reasoned)
    if reasoned or listed:
        return ruled("2.9", 1, "parameters are listed without a reason", listed[:5] or reasoned)
    return ruled("2.9", 0, "no parameter is explained")


def _line(piece: Piece) -> _Line | None:
    if piece.kind == "code" or piece.low.endswith("?") or not _PARAMETER.search(piece.low.replace("_", " ")):
        return None
    owner = _owner(piece)
    if owner is None:
        return None
    value_like = re.search(r"\d", piece.text) is not None or piece.kind == "row"
    if not value_like:
        return None
    rest = " ".join(piece.cells[2:]) if piece.kind == "row" and len(piece.cells) > 2 else piece.text
    explained = _WHY.search(rest.lower()) is not None and len(rest.split()) >= 5
    return _Line(piece, owner, explained, explained and _BACKED.search(rest) is not None)


def _owner(piece: Piece) -> str | None:
    """Whose choice a line says it is: by its own column in a table, by its words in prose."""
    if piece.kind == "row":
        cells = [cell.lower() for cell in piece.cells if len(cell.split()) <= 5]
        if any(_OWN.fullmatch(cell) or _OWN.match(cell) for cell in cells):
            return "own"
        return "user" if any(_USER.match(cell) for cell in cells) else None
    if _OWN.search(piece.low):
        return "own"
    return "user" if _USER.search(piece.low) else None


def _key(piece: Piece) -> str:
    """The parameter of a line, so that two tables that list it count it once."""
    if piece.kind == "row" and piece.cells:
        return " ".join(re.findall(r"[a-z]+", " ".join(piece.cells[:2]).lower()))
    hit = _PARAMETER.search(piece.low)
    return hit.group() if hit else piece.low[:20]


def _merged(keys: Iterable[str]) -> set[str]:
    """Return the shortest form of each parameter's name: 'timing rule' covers 'timing rule always invested'."""
    out: set[str] = set()
    for key in sorted(set(keys), key=len):
        if not any(key.startswith(short) for short in out):
            out.add(key)
    return out


def _covered(names: set[str], lines: Iterable[_Line]) -> set[str]:
    return {name for line in lines for name in names if _key(line.piece).startswith(name)}
