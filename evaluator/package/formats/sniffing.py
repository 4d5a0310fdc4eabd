"""The dialect of a delimited text from its first rows: delimiter, preamble, header rows, column types."""

import csv
import re
from collections import Counter
from dataclasses import dataclass

from evaluator.package.formats.raw import LEVEL, Unreadable, unique
from evaluator.package.headers import DATE, SYMBOL, TEXT, normalised
from evaluator.package.numbers import NA_CELLS, is_european, is_plain_number

SNIFFED_ROWS = 1_000
_DELIMITERS = ",;\t|"
_SHOWN = 60
_DATES = frozenset({*DATE, ""}) - {"unnamed_0"}
_CORNER = re.compile(r"^(ticker|symbol|price|field|attributes|variable)s?$")
_CELL = 100_000


@dataclass(frozen=True)
class Dialect:
    """How a delimited text is laid out."""

    delimiter: str
    skip: int
    """Physical lines before the first row of values."""
    names: list[str]
    """Distinct column names; the levels of a header of several rows are joined."""
    text: frozenset[str]
    """Columns that are read as text."""
    european: bool
    guesses: tuple[str, ...]


def sniff(head: str) -> Dialect:
    """Return the dialect of a text from its first part. Raises Unreadable when it has no line."""
    lines = head.splitlines()[: SNIFFED_ROWS + 50]
    first = [line for line in lines if line.strip()][:_SHOWN]
    if not first:
        raise Unreadable("the file is empty")
    delimiter, width = _delimiter(first)
    at = _header(lines, delimiter, width)
    guesses: list[str] = []
    if at:
        guesses.append(f"{at} lines before the header are left out")
    rows = [_split(line, delimiter) for line in lines[at : at + SNIFFED_ROWS]]
    names, depth = header_names(rows)
    if depth > 1:
        guesses.append(f"the header has {depth} rows")
    body = [row for row in rows[depth:] if any(cell.strip() for cell in row)]
    if body and len(names) == max(len(row) for row in body) - 1 and len(rows[0]) == width - 1:
        names = ["", *names]
        guesses.append("the first column has no header")
    european = any(is_european(cell) for row in body[:200] for cell in row) if delimiter != "," else False
    if european:
        guesses.append("decimal commas")
    names = unique(names)
    return Dialect(
        delimiter, at + depth, names, _text_columns(names, body, european=european), european, tuple(guesses)
    )


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line[:_CELL]], delimiter=delimiter), [])
    except csv.Error:
        return line[:_CELL].split(delimiter)


def _delimiter(lines: list[str]) -> tuple[str, int]:
    """Return the delimiter that cuts most lines into the same number of cells, and that number."""
    best, best_key = (",", 1), (0.0, 0.0, 0)
    for delimiter in _DELIMITERS:
        counts = Counter(len(_split(line, delimiter)) for line in lines)
        width, hits = max(counts.items(), key=lambda item: (item[1], item[0]))
        if width == 1 and len(counts) > 1:
            width, hits = max(((w, n) for w, n in counts.items() if w > 1), key=lambda item: (item[1], item[0]))
        key = (round(hits / len(lines), 1) if width > 1 else 0.0, hits / len(lines) if width > 1 else 0.0, width)
        if key > best_key:
            best, best_key = (delimiter, width), key
    return best


def _header(lines: list[str], delimiter: str, width: int) -> int:
    """Return the number of the header line: the first that has about as many cells as the table is wide."""
    fallback = None
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        cells = _split(line, delimiter)
        if line.lstrip().startswith("#") and len(cells) < max(width, 2):
            continue
        if fallback is None:
            fallback = number
        filled = sum(bool(cell.strip()) for cell in cells)
        if len(cells) >= width - 1 and (filled > 1 or width <= 2) and filled >= len(cells) / 2:
            return number
    if fallback is None:
        raise Unreadable("the file holds nothing but comments")
    return fallback


def header_names(rows: list[list[str]]) -> tuple[list[str], int]:
    """Return the column names and how many rows they take."""
    header = [cell.replace("\ufeff", "").strip() for cell in rows[0]]
    if len(rows) < 3 or len(header) < 2 or len(rows[1]) != len(header):
        return header, 1
    second = [cell.strip() for cell in rows[1]]
    third = [cell.strip() for cell in rows[2]] if len(rows[2]) == len(header) else []
    labels = [cell for cell in second[1:] if cell]
    words = bool(labels) and not any(is_plain_number(cell) for cell in labels)
    named_index = bool(third) and normalised(third[0]) in _DATES and not any(third[1:]) and bool(third[0])
    corner = bool(_CORNER.match(second[0].lower())) and words
    bare = not second[0] and words and len(set(header[1:])) < len(header) - 1
    if not (named_index and words) and not corner and not bare:
        return header, 1
    filled: list[str] = []
    for cell in header:
        bare_cell = re.sub(r"\.\d+$", "", cell)
        filled.append(bare_cell if bare_cell or not filled else filled[-1])
    joined = [LEVEL.join(part for part in pair if part) for pair in zip(filled[1:], second[1:], strict=True)]
    index = third[0] if named_index else "Date"
    return [index, *joined], 3 if named_index else 2


def _text_columns(names: list[str], body: list[list[str]], *, european: bool) -> frozenset[str]:
    """Return the columns whose header or whose first cells say that they are no plain numbers."""
    if european:
        return frozenset(names)
    out = set()
    missing = frozenset(NA_CELLS)
    known = {normalised(name) for name in names}
    # Beside dates and symbols a value is a number; alone it may be any word of a specification.
    text = TEXT - {"value"} if known & {*DATE} and known & {*SYMBOL[:-3]} else TEXT
    for place, name in enumerate(names):
        if normalised(name) in text or name.startswith("Unnamed: "):
            out.add(name)
            continue
        cells = (row[place].strip() for row in body if place < len(row))
        if not all(cell in missing or is_plain_number(cell) for cell in cells):
            out.add(name)
    return frozenset(out)
