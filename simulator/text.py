"""An agent's message as units to read: sentences, list items and table rows, each with the line that introduces it.

Nothing here knows strategies. Code blocks are left out except lines that ask or hold a placeholder, since a question may
hide there.
"""

import re
import unicodedata
from dataclasses import dataclass, replace

DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−"), "-")
QUOTES = {ord("’"): "'", ord("‘"): "'", ord("“"): '"', ord("”"): '"'}

LIST_ITEM = re.compile(
    r"^\s*(?:[-*+•·✅⬜☐◦▪‣]|[-*•]?\s*\(?(?:[a-z]?\d{1,2}(?:\.\d)?|[a-h]|[ivx]{1,4})[.)]|[a-z]\d{1,2}\s*[:-]|\[\s?\w?\s?\])\s+"
)
BOLD_HEAD = re.compile(
    r"^(\s*(?:[-*+•]\s+|\(?\w{1,3}[.)]\s+)?)(?:\*\*|__)([^*_]{1,60}?)[.:]?(?:\*\*|__)\s*[:.–-]?\s+(?=\S)"
)
HEADING = re.compile(r"^\s*(?:#{1,6}\s+.{1,60}|\*\*[^*]{1,60}\*\*\s*:?|.{1,60}:)\s*$")
IDENTIFIER = re.compile(r"(?<=[a-z0-9])_(?=[a-z0-9])")
PLACEHOLDER = re.compile(
    r"\?|\b(?:placeholder|todo|tbd|fixme|to be (?:decided|confirmed|defined)|assum\w+|my (?:guess|default))\b"
)
TABLE_RULE = re.compile(r"^\s*\|?[\s:|-]+\|?\s*$")
SENTENCE_END = re.compile(r"(?<=[.!?;])(?<!i\.e\.)(?<!e\.g\.)(?<!vs\.)(?<!approx\.)\s+(?=[^\s])|(?<=[?])(?=[A-Za-z])")
INLINE_ITEM = re.compile(r"(?:(?<=[:;,.?])|(?<=\band))\s+\((?:[ivx]{1,4}|[a-h]|\d{1,2})\)\s+")
SHORT_CONFIRMATION = re.compile(
    r"^(?:right|ok(?:ay)?|correct|fair(?: enough)?|agreed?|yes|fine|good|sound(?:s)? (?:good|right|ok(?:ay)?)"
    r"|(?:does|is) (?:that|this|it) (?:ok(?:ay)?|work|right|correct|fine|alright)(?: for you)?"
    r"|any objections?|objections?|shout if (?:that|this) is wrong|thoughts|makes sense|deal)\s*[?.!]*$"
)
MAX_CHARS = 60_000
"""No message of a sane agent is longer; a hostile one costs no more than this."""


@dataclass(frozen=True)
class Unit:
    """One sentence, list item or table row, lower case."""

    text: str
    lead: str = ""
    """The line that introduces the list or table the unit belongs to; '' for running text."""
    listed: bool = False
    context: str = ""
    """The heading over the unit, or else the sentence before it in its paragraph; '' at the start."""


def normalise(text: str) -> str:
    """Return the text in one Unicode form, lower case, with plain dashes and quotes."""
    return unicodedata.normalize("NFKC", text).translate(DASHES | QUOTES).lower()


def collapsed(text: str) -> str:
    """Return a form in which two messages are compared: letters and digits only, single spaces."""
    return " ".join(re.findall(r"[a-z0-9%]+", normalise(text)))


def readable(text: str) -> str:
    """Return a normalised text with identifiers as words: 'stop_pct' becomes 'stop pct'."""
    return IDENTIFIER.sub(" ", text)


def units(message: str) -> list[Unit]:
    """Return the units of a message in reading order."""
    found: list[Unit] = []
    lead = previous = heading = ""
    for line in _lines(normalise(message[:MAX_CHARS])):
        if not line.strip():
            continue
        if _is_table_row(line):
            row = _table_row(line)
            if row:
                found.append(Unit(row, lead=previous, listed=True, context=heading))
            continue
        item = LIST_ITEM.match(line)
        if item:
            lead = lead or previous
            found.extend(_run(_sentences(line[item.end() :]), heading or lead, lead=lead, listed=True))
            continue
        introduction, *inline = INLINE_ITEM.split(line)
        if inline:
            found.extend(_run(_sentences(introduction.lstrip("#> ")), heading))
            for text in inline:
                found.extend(_run(_sentences(text), introduction, lead=introduction, listed=True))
            continue
        lead = ""
        parts = _sentences(line.lstrip("#> "))
        found.extend(_run(parts, heading or previous))
        previous = parts[-1] if parts else previous
        heading = previous if HEADING.match(line) else ""
    return _joined(found)


def _run(parts: list[str], context: str, *, lead: str = "", listed: bool = False) -> list[Unit]:
    """Return sentences that follow each other as units, each with the one before it as context."""
    before = [context, *parts]
    return [Unit(part, lead=lead, listed=listed, context=before[place]) for place, part in enumerate(parts)]


def _lines(text: str) -> list[str]:
    lines: list[str] = []
    in_code = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            in_code = not in_code
            continue
        if not in_code:
            headed = BOLD_HEAD.sub(r"\1\2: ", line)
            lines.append(readable(headed.replace("**", "").replace("`", "").replace("__:", "___:")))
        elif PLACEHOLDER.search(line):
            lines.append(readable(_code_line(line)))
    return lines


def _code_line(line: str) -> str:
    """Return the comment of a code line when it asks in words, else the whole line."""
    comment = re.search(r"(?:#|//)\s*(.+)", line)
    code = line[: comment.start()].strip() if comment else line
    return comment.group(1) if comment and not code else f"{code} {comment.group(1)}" if comment else code


def _is_table_row(line: str) -> bool:
    return line.count("|") >= 2


def _table_row(line: str) -> str:
    if TABLE_RULE.match(line):
        return ""
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    head, *rest = [cell for cell in cells if cell] or [""]
    return f"{head}: {', '.join(rest)}" if rest else head


def _sentences(line: str) -> list[str]:
    return [part.strip() for part in SENTENCE_END.split(line.strip()) if re.search(r"[^\W_]", part)]


def _joined(found: list[Unit]) -> list[Unit]:
    """Join a short confirmation ('Right?') to the unit before it."""
    joined: list[Unit] = []
    for unit in found:
        if joined and SHORT_CONFIRMATION.match(unit.text):
            last = joined[-1]
            joined[-1] = replace(last, text=f"{last.text} {unit.text}")
        else:
            joined.append(unit)
    return joined
