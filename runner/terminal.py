"""What a person reads: tables by rich, JSON where a program reads. Text of agents is shown without control characters."""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from reports.table import Report, Table

_PIPE_WIDTH = 200
"""Columns when the output is no terminal; a table must not be folded in a log file."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


def console(*, stderr: bool = False) -> Console:
    """Return a console; colours only where the output is a terminal."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH
    return Console(file=stream, width=width, highlight=False, soft_wrap=False)


def safe(text: str) -> str:
    """Return text without what could drive a terminal: escapes, bells, direction marks. Line ends and tabs stay."""
    return _CONTROL.sub("", text.replace("\r\n", "\n"))


def print_json(value: Any) -> None:
    """Print one JSON document."""
    print(json.dumps(value, indent=1, ensure_ascii=False, default=str))


def print_table(table: Table, to: Console) -> None:
    """Print one table; every cell is plain text."""
    grid = RichTable(title=table.title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column, cells in zip(table.columns, _columns(table), strict=True):
        grid.add_column(column, justify="right" if _are_numbers(cells) else "left", overflow="fold")
    for row in table.rows:
        grid.add_row(*(Text(safe(cell)) for cell in row))
    to.print(grid)


def print_report(report: Report) -> None:
    """Print all tables of a run and the sentences that stand beside them."""
    to = console()
    for table in report.tables:
        print_table(table, to)
    for note in report.notes:
        to.print(Text(safe(note)))


def _columns(table: Table) -> Iterable[Sequence[str]]:
    return zip(*table.rows, strict=True) if table.rows else ((),) * len(table.columns)


def _are_numbers(cells: Sequence[str]) -> bool:
    return bool(cells) and all(re.fullmatch(r"-|-?[\d,]+(\.\d+)?", cell) for cell in cells)
