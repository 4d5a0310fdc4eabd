"""The package a model judge reads: conversation, last two reports, tables as head, tail and figures, code, other texts.

Everything is capped; what is left out is said where it is missing. The same cuts are what quotes are looked for in, so
a quote can only stand in something that the judge was shown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluator.judge.fence import plain_id, tag_for
from evaluator.judge.tables import show
from evaluator.package.delivery import Delivery, Document, Table
from evaluator.package.quoting import flat

CONVERSATION_CHARS = 120_000
"""Characters of a kind of piece, shared out so that long pieces are cut first. Together about 80,000 tokens."""
REPORT_CHARS = 80_000
TABLE_CHARS = 60_000
CODE_CHARS = 40_000
TEXT_CHARS = 20_000
FIGURES_CHARS = 2_000
"""Of one table, on top of its rows."""
REPORTS = 2
MAX_PIECES = 60
"""Of one kind; the rest is named only."""
_ORDER = (
    *("spec", "metrics", "sources", "quality", "sensitivity", "out_of_sample", "stress", "trades", "equity"),
    *("weights", "selections", "signals", "prices", "market", "fundamentals"),
)


@dataclass(frozen=True)
class Piece:
    """One thing shown: a message, a document or a table."""

    doc: str
    what: str
    text: str
    note: str = ""
    """Figures of a table: said by us, never quotable."""
    is_delivered: bool = True
    """False for the user's words, which are no part of the delivery."""


@dataclass(frozen=True)
class Package:
    """The delivery as it is shown, and what quotes are looked for in."""

    text: str
    documents: dict[str, str]
    """id -> flattened text of what the agent handed over."""
    user: dict[str, str]
    """id -> flattened text of the user's messages."""


def build_package(delivery: Delivery) -> Package:
    """Return the package of one delivery; the same delivery gives the same bytes."""
    shown = list(pieces(delivery))
    body = "\0".join(f"{piece.doc}\n{piece.text}\n{piece.note}" for piece in shown)
    tag = tag_for(body)
    lines = [f"<{tag}>"]
    for piece in shown:
        lines += [f'<{tag} doc="{piece.doc}" kind="{piece.what}">', piece.text, f"</{tag} doc>"]
        lines += [f"<{tag} figures>", piece.note, f"</{tag} figures>"] if piece.note else []
    lines.append(f"</{tag}>")
    return Package("\n".join(lines), _haystack(shown, delivered=True), _haystack(shown, delivered=False))


def pieces(delivery: Delivery) -> Iterator[Piece]:
    """Yield what is shown, in reading order."""
    messages = [
        Piece(f"user {message.turn}", "user message", message.text, is_delivered=False)
        if message.role == "user"
        else Piece(f"turn {message.turn}", "agent message", message.text)
        for message in delivery.messages
    ]
    yield from _fair(messages, CONVERSATION_CHARS)
    reports = sorted((d for d in delivery.documents if d.kind == "report"), key=lambda d: (d.turn, len(d.text), d.path))
    yield from _fair([_document(d) for d in reports[-REPORTS:]], REPORT_CHARS)
    tables = sorted(delivery.tables, key=lambda table: (table.group != "main", _rank(table), table.path))
    yield from _fair([_table(table) for table in tables[:MAX_PIECES]], TABLE_CHARS)
    code = sorted((d for d in delivery.documents if d.kind == "code"), key=lambda d: (-d.turn, d.path))
    yield from _fair([_document(d) for d in code[:MAX_PIECES]], CODE_CHARS)
    texts = sorted((d for d in delivery.documents if d.kind not in ("report", "code")), key=lambda d: (-d.turn, d.path))
    yield from _fair([_document(d) for d in texts[:MAX_PIECES]], TEXT_CHARS)
    yield _listing(delivery, reports[:-REPORTS], (tables[MAX_PIECES:], code[MAX_PIECES:], texts[MAX_PIECES:]))


def cut(text: str, limit: int) -> str:
    """Return the text, or its first two thirds and last third with what is missing between them said."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = limit - head
    return f"{text[:head]}\n[... {len(text) - limit} characters left out here ...]\n{text[len(text) - tail :]}"


def fair_limit(lengths: Sequence[int], budget: int) -> int:
    """Return the largest limit per piece with which all pieces together keep to the budget; short ones stay whole."""
    left, rest = budget, len(lengths)
    for length in sorted(lengths):
        if length * rest > left:
            return left // rest
        left -= length
        rest -= 1
    return max(lengths, default=0)


def _fair(shown: Sequence[Piece], budget: int) -> Iterator[Piece]:
    limit = fair_limit([len(piece.text) for piece in shown], budget)
    for piece in shown:
        yield Piece(piece.doc, piece.what, cut(piece.text, limit), piece.note, is_delivered=piece.is_delivered)


def _document(document: Document) -> Piece:
    return Piece(plain_id(document.path), f"{document.kind}, turn {document.turn}", document.text)


def _table(table: Table) -> Piece:
    rows, figures = show(table.frame, whole=_rank(table) <= _ORDER.index("stress"))
    what = f"table read as {table.role}, turn {table.turn}"
    what = what if table.group == "main" else f"{what}, other run"
    return Piece(plain_id(table.path), what, rows, cut(figures, FIGURES_CHARS))


def _rank(table: Table) -> int:
    return _ORDER.index(table.role) if table.role in _ORDER else len(_ORDER)


def _listing(delivery: Delivery, reports: Sequence[Document], rest: Sequence[Sequence[Document | Table]]) -> Piece:
    """Return what was delivered and is not shown, by name."""
    lines = [f"older report, not shown: {plain_id(document.path)}" for document in reports]
    lines += [f"not shown for size: {plain_id(piece.path)}" for left in rest for piece in left]
    lines += [f"not read: {plain_id(sentence)}" for sentence in delivery.refused]
    return Piece("list of what is not shown", "list", cut("\n".join(lines) or "nothing", 4_000), is_delivered=False)


def _haystack(shown: Sequence[Piece], *, delivered: bool) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for piece in shown:
        if piece.is_delivered == delivered and piece.what != "list":
            found.setdefault(piece.doc, []).append(flat(piece.text))
    return {doc: "\n".join(texts) for doc, texts in found.items()}
