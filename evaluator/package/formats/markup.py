"""Tables inside HTML and Markdown texts."""

import re
from typing import Any

from evaluator.package.constants import MAX_LOOSE_CELLS, MAX_TABLES
from evaluator.package.formats.grids import Grid, grid_tables
from evaluator.package.formats.raw import RawTable, Unreadable, check_size
from evaluator.package.headers import normalised

_RULE = re.compile(r"^\s*\|?\s*:?-{1,}:?\s*(\|\s*:?-{1,}:?\s*)*\|?\s*$")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_BOLD = re.compile(r"\*\*|__|`")
_FENCE = re.compile(r"^\s*(```|~~~)")
_SPAN = 50


def html_tables(data: bytes) -> list[RawTable]:
    """Return the tables of an HTML text, named by caption, id or the heading above. Raises Unreadable."""
    from lxml import etree, html  # type: ignore[import-untyped]  # noqa: PLC0415 -- only when HTML is delivered

    parser = html.HTMLParser(no_network=True, huge_tree=False, recover=True, remove_comments=True)
    try:
        root = html.document_fromstring(data, parser=parser)
    except (etree.LxmlError, ValueError, AssertionError) as error:
        raise Unreadable(f"not a readable HTML file: {str(error)[:200]}") from error
    found: list[RawTable] = []
    cells = 0
    heading = ""
    for node in root.iter("h1", "h2", "h3", "h4", "caption", "table"):
        if node.tag != "table":
            heading = _words(node)
            continue
        caption = node.find("caption")
        name = _words(caption) if caption is not None else str(node.get("id") or "") or heading
        grid = _grid(node)
        cells += sum(len(row) for row in grid)
        if cells > MAX_LOOSE_CELLS or len(found) > MAX_TABLES:
            raise Unreadable(f"more than {MAX_LOOSE_CELLS} cells or {MAX_TABLES} tables in the HTML file")
        found += grid_tables(grid, normalised(name)[:60] or f"table_{len(found) + 1}", ("a table inside HTML",))
    return _distinct(found)


def _words(node: Any) -> str:
    return " ".join("".join(node.itertext()).split())[:500]


def _grid(table: Any) -> Grid:
    rows: Grid = []
    for row in table.iter("tr"):
        if row.xpath("count(ancestor::table)") > table.xpath("count(ancestor-or-self::table)"):
            continue
        cells: list[str] = []
        for cell in row.iterchildren("td", "th"):
            span = str(cell.get("colspan") or "1")
            cells += [_words(cell)] + [""] * (min(int(span), _SPAN) - 1 if span.isdigit() and len(span) < 6 else 0)
        check_size(len(rows), len(cells))
        rows.append(cells)
    return rows


def markdown_tables(text: str) -> list[RawTable]:
    """Return the pipe tables of a Markdown text, named by the heading above them."""
    found: list[RawTable] = []
    heading, fenced = "", False
    lines = text.splitlines()
    at = 0
    while at < len(lines) and len(found) < MAX_TABLES:
        line = lines[at]
        if _FENCE.match(line):
            fenced = not fenced
        title = _HEADING.match(line)
        if title and not fenced:
            heading = title.group(1)
        if not fenced and "|" in line and at + 1 < len(lines) and "-" in lines[at + 1] and _RULE.match(lines[at + 1]):
            rows = [line]
            at += 2
            while at < len(lines) and "|" in lines[at] and lines[at].strip():
                rows.append(lines[at])
                at += 1
            found += _markdown(rows, heading, len(found))
            continue
        at += 1
    return _distinct(found)


def _markdown(rows: list[str], heading: str, number: int) -> list[RawTable]:
    grid: Grid = [[_BOLD.sub("", cell).strip() for cell in _cells(row)] for row in rows]
    width = len(grid[0])
    check_size(len(grid), width)
    grid = [row[:width] for row in grid]
    key = normalised(heading)[:60] or f"table_{number + 1}"
    return grid_tables(grid, key, ("a table inside Markdown",))


def _cells(row: str) -> list[str]:
    row = row.strip().removeprefix("|")
    row = row[:-1] if row.endswith("|") and not row.endswith("\\|") else row
    return [cell.replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)]


def _distinct(tables: list[RawTable]) -> list[RawTable]:
    """Number the tables that share a heading."""
    seen: dict[str, int] = {}
    out = []
    for table in tables:
        count = seen[table.key] = seen.get(table.key, 0) + 1
        key = table.key if count == 1 else f"{table.key}_{count}"
        out.append(RawTable(key, table.frame, table.guesses, table.european))
    return out
