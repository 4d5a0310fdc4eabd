"""An agent's message as units to read: sentences, list items and table rows, each with the line that introduces it.

Nothing here knows strategies. Code blocks are left out except comments that ask, since a question may hide there.
"""

import re
import unicodedata
from dataclasses import dataclass

DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−"), "-")
QUOTES = {ord("’"): "'", ord("‘"): "'", ord("“"): '"', ord("”"): '"'}

LIST_ITEM = re.compile(r"^\s*(?:[-*+•·✅⬜☐◦]|\(?(?:\d{1,2}|[a-hA-H])[.)])\s+")
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


def normalise(text: str) -> str:
    """Return the text in one Unicode form, lower case, with plain dashes and quotes."""
    return unicodedata.normalize("NFKC", text).translate(DASHES | QUOTES).lower()


def collapsed(text: str) -> str:
    """Return a form in which two messages are compared: letters and digits only, single spaces."""
    return " ".join(re.findall(r"[a-z0-9%]+", normalise(text)))


def units(message: str) -> list[Unit]:
    """Return the units of a message in reading order."""
    found: list[Unit] = []
    lead = previous = ""
    for line in _lines(normalise(message[:MAX_CHARS])):
        if not line.strip():
            continue
        if _is_table_row(line):
            row = _table_row(line)
            if row:
                found.append(Unit(row, lead=previous, listed=True))
            continue
        item = LIST_ITEM.match(line)
        if item:
            lead = lead or previous
            found.extend(Unit(part, lead=lead, listed=True) for part in _sentences(line[item.end() :]))
            continue
        introduction, *inline = INLINE_ITEM.split(line)
        if inline:
            found.extend(Unit(part) for part in _sentences(introduction.lstrip("#> ")))
            found.extend(Unit(part, lead=introduction, listed=True) for text in inline for part in _sentences(text))
            continue
        lead = ""
        parts = _sentences(line.lstrip("#> "))
        found.extend(Unit(part) for part in parts)
        previous = parts[-1] if parts else previous
    return _joined(found)


def _lines(text: str) -> list[str]:
    lines: list[str] = []
    in_code = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            in_code = not in_code
            continue
        if not in_code:
            lines.append(line.replace("**", "").replace("__:", "___:"))
        elif "?" in line and (mark := re.search(r"(?:#|//)\s*(.+)", line)):
            lines.append(mark.group(1))
    return lines


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
            joined[-1] = Unit(f"{last.text} {unit.text}", lead=last.lead, listed=last.listed)
        else:
            joined.append(unit)
    return joined
