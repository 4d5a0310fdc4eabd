"""One delivery as the rules judge reads it: texts in pieces, specification lines, code and messages, each parsed once."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from evaluator.judge.rules.text import Piece, Text, parse
from evaluator.measure.case import Case
from evaluator.measure.specification import Row, spec_rows
from records.judging import Finding, Quote

_QUOTE_CHARS = 300
_QUOTES = 12
_CODE_CHARS = 200_000
_REPORT_CHARS = 160_000
"""Characters read of all reports together."""
_DOCUMENTS = 40
_TALK_CHARS = 80_000
_MESSAGES = 60

SUMMARY = re.compile(
    r"summary|tl;?dr|overview|abstract|bottom line|takeaway|key (?:result|finding|point)|findings|conclusion|verdict|in short|headline|at a glance"
)
METHOD = re.compile(
    r"method|approach|strategy|rules|set-?up|how (?:it|this|the)|construction|definition|design|specification|process|parameters"
)
RESULTS = re.compile(
    r"result|performance|findings|outcome|metrics|backtest (?:stat|numbers)|returns|what happened|statistics"
)
LIMITS = re.compile(
    r"limit|caveat|risk|weakness|disclaimer|what could go wrong|assumption|warning|honest|shortcoming|known issue|not covered|be careful|keep in mind|caution|watch out|beware"
)
ASIDE = re.compile(
    r"sensitiv|robust|out[- ]of[- ]sample|in[- ]sample|stress|benchmark|variant|alternativ|walk[- ]forward|what if|scenario|limit|caveat|risk|data quality"
)
"""Sections whose numbers are those of other runs than the main one."""


@dataclass(frozen=True)
class View:
    """The words of a delivery beside its case."""

    case: Case

    @cached_property
    def reports(self) -> tuple[Text, ...]:
        """The last report first, then every other report and text, as far as the budget goes."""
        main = self.case.report
        chosen = [d for d in self.case.delivery.documents if d.kind in ("report", "text")]
        chosen.sort(key=lambda d: (d is not main, d.kind != "report", d.path))
        left, found = _REPORT_CHARS, []
        for document in chosen:
            found.append(parse(document.path, document.text[:left], turn=document.turn))
            left = max(0, left - len(document.text))
        return tuple(found[:_DOCUMENTS])

    @cached_property
    def report(self) -> Text | None:
        """The last report; the longest README-like text where there is none."""
        return self.reports[0] if self.reports and self.case.report is not None else None

    @cached_property
    def talk(self) -> tuple[Text, ...]:
        """The whole conversation, oldest first; of a long message its beginning."""
        found = self.case.delivery.messages
        share = max(4_000, _TALK_CHARS // max(1, len(found)))
        return tuple(
            parse(f"turn {m.turn}", m.text[:share], turn=m.turn, role="user" if m.role == "user" else "agent")
            for m in found[-_MESSAGES:]
        )

    @cached_property
    def said(self) -> tuple[Text, ...]:
        """The agent's messages, oldest first."""
        return tuple(text for text in self.talk if text.role == "agent")

    @cached_property
    def last(self) -> Text | None:
        """The agent's last message that says something."""
        return next((text for text in reversed(self.said) if text.pieces), None)

    @cached_property
    def spec(self) -> tuple[Row, ...]:
        """Lines of the main run's specification tables."""
        return tuple(spec_rows(self.case.delivery))[:2_000]

    @cached_property
    def spec_pieces(self) -> tuple[Piece, ...]:
        """Specification lines as pieces, with what they say about themselves."""
        found = []
        for table in self.case.delivery.of("spec"):
            for row in table.frame.head(500).itertuples(index=False):
                cells = tuple("" if cell is None or cell != cell else str(cell)[:300] for cell in row)  # noqa: PLR0124 NaN is not itself
                text = " ".join(cell for cell in cells if cell)[:600]
                header = tuple(str(name).lower() for name in table.frame.columns)
                found.append(Piece(table.path, text.replace("_", " "), text, "specification", "row", cells, header))
        return tuple(found)

    @cached_property
    def code(self) -> str:
        """All delivered code in one text."""
        parts = [d.text for d in self.case.delivery.documents if d.kind == "code"]
        return "\n".join(parts)[:_CODE_CHARS]

    def written(self, *, spec: bool = False, talk: bool = False) -> Iterator[Piece]:
        """Yield the pieces of reports and texts, and of specification and messages where asked for."""
        for text in self.reports:
            yield from text.pieces
        if spec:
            yield from self.spec_pieces
        if talk:
            for text in self.said:
                yield from text.pieces

    @cached_property
    def words(self) -> tuple[Piece, ...]:
        """Everything the agent wrote for the client: reports, specification, messages."""
        return tuple(self.written(spec=True, talk=True))

    @cached_property
    def user_text(self) -> str:
        """All that the user said, in lower case."""
        return "\n".join(text.raw for text in self.talk if text.role == "user").lower()[:100_000]

    @cached_property
    def has_tables(self) -> bool:
        """Whether any table of results was delivered."""
        return any(table.role not in ("spec", "other") for table in self.case.delivery.tables)

    def rows(self, role: str, *, limit: int = 400) -> Iterator[Piece]:
        """Yield the rows of the delivered tables of one role as pieces."""
        for table in self.case.delivery.of(role):
            header = tuple(str(name).lower() for name in table.frame.columns)
            for row in table.frame.head(limit).itertuples(index=False):
                cells = tuple("" if cell is None or cell != cell else str(cell)[:400] for cell in row)  # noqa: PLR0124 NaN is not itself
                text = " ".join(cells)[:600]
                yield Piece(table.path, text, text, role, "row", cells, header)


def quotes(pieces: Iterable[Piece]) -> tuple[Quote, ...]:
    """Return the pieces as quotes, each once, clipped."""
    found: dict[tuple[str, str], Quote] = {}
    for piece in pieces:
        text = piece.raw[:_QUOTE_CHARS]
        if text and len(found) < _QUOTES:
            found.setdefault((piece.doc, text), Quote(doc=piece.doc, text=text))
    return tuple(found.values())


def ruled(
    dimension: str, score: int | None, reason: str, pieces: Iterable[Piece] = (), *, hits: Iterable[str] = ()
) -> Finding:
    """Return the rules judge's finding."""
    return Finding(
        dimension=dimension,
        judge="rules",
        score=score,
        hits=tuple(dict.fromkeys(hits)),
        quotes=quotes(pieces),
        reason=reason,
    )


def first(pieces: Iterable[Piece], pattern: re.Pattern[str]) -> Piece | None:
    """Return the first piece the pattern finds."""
    return next((piece for piece in pieces if pattern.search(piece.low)), None)


def all_of(pieces: Iterable[Piece], pattern: re.Pattern[str]) -> list[Piece]:
    """Return the pieces the pattern finds."""
    return [piece for piece in pieces if pattern.search(piece.low)]
