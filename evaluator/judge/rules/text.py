"""Reports and messages as pieces: sentences, bullets and table rows, each under its headings. Linear in the text.

Markdown, HTML and plain text give the same pieces for the same words, whatever the marks of headings and lists are.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import Literal

MAX_CHARS = 120_000
"""Characters read of one text; what a client must scroll through beyond that is not read either."""
MAX_PIECES = 4_000
PIECE_CHARS = 600
"""A longer run without an end is cut into parts; every pattern of this package sees at most this much at once."""

PieceKind = Literal["prose", "bullet", "row", "code"]

_TAG_BREAKS = (
    (re.compile(r"<(?:script|style)\b[^<>]{0,300}>[^<]{0,100000}", re.IGNORECASE), " "),
    (re.compile(r"<h([1-6])\b[^<>]{0,300}>", re.IGNORECASE), "\n\n# "),
    (re.compile(r"<li\b[^<>]{0,300}>", re.IGNORECASE), "\n- "),
    (re.compile(r"</t[dh]>", re.IGNORECASE), " | "),
    (re.compile(r"<tr\b[^<>]{0,300}>", re.IGNORECASE), "\n| "),
    (re.compile(r"</?(?:p|div|br|ul|ol|table|section|pre|h[1-6]|tr|li)\b[^<>]{0,300}>", re.IGNORECASE), "\n"),
    (re.compile(r"<!?/?[a-zA-Z-][^<>]{0,300}>"), ""),
)
_LOOKS_HTML = re.compile(r"<(?:html|body|h[1-6]|p|div|table|ul)\b", re.IGNORECASE)
_HASH = re.compile(r"^[ \t]{0,3}(#{1,6})[ \t]+(\S.{0,200})$")
_BOLD_LINE = re.compile(r"^[ \t]{0,3}(?:\*\*|__)([^*_]{1,120})(?:\*\*|__)[ \t]*:?[ \t]*$")
_LABEL = re.compile(
    r"^(?:[-*+][ \t]+)?(?:\*\*|__)([^*_]{1,60}?)[ \t]*:?[ \t]*(?:\*\*|__)[ \t]*[:.\u2013\u2014-]?[ \t]*(?=\S)"
)
_UNDERLINE = re.compile(r"^[ \t]*(?:={3,}|-{3,})[ \t]*$")
_BULLET = re.compile(r"^[ \t]*(?:[-*+\u2022\u2013]|\(?\d{1,3}[.)]|[a-z][.)])[ \t]+(?=\S)")
_RULE_ROW = re.compile(r"^[\s|:+=-]+$")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
_ABBREVIATION = re.compile(r"\b(e\.g|i\.e|vs|approx|cf|et al|etc|incl|resp|no|fig|p\.a)\.(?=[\s,])", re.IGNORECASE)
_END = re.compile(r"(?<=[.!?])[\"')\]*_]{0,3}\s+(?=[\"'(\[*_`$]{0,3}[A-Z0-9\u00c0-\u00dc])")
_MARKUP = re.compile(r"\*{1,3}|_{2,3}|`+|^#{1,6}\s+|!?\[(?=[^\]]{0,200}\]\()|\]\([^)\s]{0,300}\)")
_WORD = re.compile(r"[a-z][a-z'-]*")
_LIST_WORDS = 25
"""Words from which on a passage without joining words is a list."""
_JOINING = frozenset(
    (
        *(
            "the",
            "a",
            "an",
            "is",
            "are",
            "was",
            "were",
            "of",
            "to",
            "and",
            "or",
            "in",
            "on",
            "at",
            "by",
            "for",
            "with",
            "it",
            "this",
            "that",
            "be",
            "as",
        ),
        *(
            "from",
            "not",
            "has",
            "have",
            "had",
            "will",
            "we",
            "i",
            "you",
            "your",
            "my",
            "its",
            "than",
            "then",
            "if",
            "when",
            "each",
            "no",
            "but",
            "so",
        ),
    )
)
_SPACE = re.compile(r"\s+")
_DIGITS = re.compile(r"\d{19,}")
_RUN = re.compile(r"\S{301,}")
"""No number and no word is longer; cut, they cannot slow a pattern down."""
_KNOWN_TITLE = re.compile(
    r"^(?:\d{1,2}(?:\.\d{1,2})?[.)]?\s+)?(?:executive |key |main |final )?(?:tl;?dr|summary|overview|abstract|bottom line|takeaways?|findings?|conclusions?"
    r"|method(?:ology|s)?|approach|strategy(?: (?:rules|definition|specification))?|rules|setup|how it works|data(?: and method| sources?| quality)?|results?"
    r"|performance(?: summary)?|backtest results|limitations?|caveats?|risks?(?: and (?:limitations|caveats))?|disclaimers?|next steps?|files|deliverables"
    r"|what i understood|open (?:questions|points)|assumptions)\s*:?$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Piece:
    """One sentence, bullet sentence, table row or code line."""

    doc: str
    text: str
    """Without marks of emphasis and lists, single spaces."""
    raw: str
    """As delivered but for white space, so that a quote is found again."""
    section: str
    """Titles above it in lower case, joined by ' > '."""
    kind: PieceKind = "prose"
    cells: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    turn: int = 0
    block: int = 0
    """Sentences of one paragraph, bullet or row share it."""

    @property
    def low(self) -> str:
        """The text in lower case."""
        return self.text.lower()


@dataclass(frozen=True)
class Text:
    """A parsed document or message."""

    doc: str
    raw: str
    titles: tuple[str, ...]
    pieces: tuple[Piece, ...]
    turn: int = 0
    role: str = "agent"

    def under(self, pattern: re.Pattern[str]) -> tuple[Piece, ...]:
        """Return the pieces under a title that the pattern finds."""
        return tuple(piece for piece in self.pieces if pattern.search(piece.section))


@dataclass
class _Reader:
    doc: str
    turn: int
    titles: list[str] = field(default_factory=list)
    stack: list[tuple[int, str]] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    paragraph: list[str] = field(default_factory=list)
    kind: PieceKind = "prose"
    header: tuple[str, ...] = ()
    block: int = 0

    @property
    def section(self) -> str:
        return " > ".join(title for _, title in self.stack)

    def open(self, level: int, title: str) -> None:
        self.flush()
        name = clean(title).strip(" :#").lower()
        self.stack = [*((depth, text) for depth, text in self.stack if depth < level), (level, name)]
        self.titles.append(name)
        self.header = ()

    def flush(self) -> None:
        joined = " ".join(self.paragraph)
        self.paragraph = []
        for raw in sentences(joined):
            self.add(raw, self.kind)
        self.kind = "prose"
        self.block += 1

    def add(self, raw: str, kind: PieceKind, cells: tuple[str, ...] = ()) -> None:
        text = clean(raw)
        if text and len(self.pieces) < MAX_PIECES and (kind in ("row", "code") or not is_word_list(text)):
            piece = Piece(
                self.doc,
                text,
                _SPACE.sub(" ", raw).strip(),
                self.section,
                kind,
                cells,
                self.header,
                self.turn,
                self.block,
            )
            self.pieces.append(piece)


def clean(raw: str) -> str:
    """Return the words without marks of emphasis, links and lists."""
    return _SPACE.sub(" ", _MARKUP.sub("", _BULLET.sub("", raw))).strip()


def is_word_list(text: str) -> bool:
    """Whether a passage only lists words, or says the same few again and again; it states nothing."""
    words = _WORD.findall(text.lower())
    if len(words) < _LIST_WORDS:
        return False
    joining = sum(1 for word in words if word in _JOINING)
    return (joining < 0.04 * len(words) and not any(mark.isdigit() for mark in text)) or len(set(words)) < 0.15 * len(
        words
    )


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a paragraph; an abbreviation ends none."""
    guarded = _ABBREVIATION.sub(lambda hit: hit.group(1).replace(".", "\x00") + "\x00", text)
    for part in _END.split(guarded):
        whole = part.replace("\x00", ".").strip()
        for at in range(0, len(whole), PIECE_CHARS):
            yield whole[at : at + PIECE_CHARS]


def parse(doc: str, text: str, *, turn: int = 0, role: str = "agent") -> Text:
    """Return a text's pieces under their titles."""
    raw = text[:MAX_CHARS].replace("\r\n", "\n").replace("\r", "\n")
    raw = _DIGITS.sub(lambda hit: hit.group()[:18], raw)
    raw = _RUN.sub(lambda hit: hit.group()[:300], raw)
    if _LOOKS_HTML.search(raw[:20_000]):
        for pattern, instead in _TAG_BREAKS:
            raw = pattern.sub(instead, raw)
        raw = unescape(raw)
    reader = _Reader(doc, turn)
    lines = raw.split("\n")
    fenced = False
    for at, line in enumerate(lines):
        if _FENCE.match(line[:200]):
            reader.flush()
            fenced = not fenced
        elif fenced:
            reader.add(line[:PIECE_CHARS], "code")
        else:
            _take(reader, line, lines[at + 1][:200] if at + 1 < len(lines) else "")
    reader.flush()
    return Text(doc, raw, tuple(reader.titles), tuple(reader.pieces), turn, role)


def _take(reader: _Reader, line: str, following: str) -> None:
    short = line[:260]
    if not line.strip():
        reader.flush()
        reader.header = ()
        return
    title = _title(short, following) if len(line) <= 260 else None
    if title is not None:
        reader.open(*title)
    elif _UNDERLINE.match(short) and len(line) <= 260:
        reader.flush()
    elif line.count("|") >= 2 or (line.lstrip().startswith("|") and "|" in line.strip()[1:]):
        reader.flush()
        _row(reader, line[:4_000], following)
    else:
        _prose(reader, line)


def _title(line: str, following: str) -> tuple[int, str] | None:
    hit = _HASH.match(line)
    if hit:
        return len(hit.group(1)), hit.group(2)
    hit = _BOLD_LINE.match(line)
    if hit:
        return 3, hit.group(1)
    bare = line.strip()
    if _UNDERLINE.match(following) and "|" not in line and len(bare) <= 90 and not _BULLET.match(line):
        return (1 if "=" in following else 2), bare
    shouted = bare.isupper() and 3 < len(bare) <= 60 and not bare.endswith((".", "?", "!"))
    if shouted or (len(bare) <= 60 and _KNOWN_TITLE.match(bare)):
        return 2, bare
    return None


def _row(reader: _Reader, line: str, following: str) -> None:
    if _RULE_ROW.match(line):
        return
    cells = tuple(clean(cell) for cell in line.strip().strip("|").split("|"))
    if _RULE_ROW.match(following) and "-" in following:
        reader.header = tuple(cell.lower() for cell in cells)
        return
    reader.add(line[:PIECE_CHARS], "row", cells)


def _prose(reader: _Reader, line: str) -> None:
    label = _LABEL.match(line[:260])
    if label is not None and _KNOWN_TITLE.match(label.group(1).strip()):
        reader.open(3, label.group(1))
        line = line[label.end() :]
    if _BULLET.match(line[:40]):
        reader.flush()
        reader.kind = "bullet"
    reader.paragraph.append(line.strip())
