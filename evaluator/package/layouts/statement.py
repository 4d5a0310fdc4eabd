"""IBKR activity statements: one CSV with a section in the first column of every row."""

import csv
import io
import re

import pandas as pd

from evaluator.package.constants import MAX_LOOSE_CELLS
from evaluator.package.formats.raw import RawTable, Unreadable, unique

_SECTION = re.compile(rb"^\xef?\xbb?\xbf?\"?[A-Za-z /&-]{3,60}\"?,\"?(Header|Data)\"?,", re.MULTILINE)
_TRADES = re.compile(rb"^\"?Trades\"?,\"?Header\"?,", re.MULTILINE)


def is_statement(head: bytes) -> bool:
    """Tell whether a text is cut into sections like an activity statement."""
    return bool(_SECTION.match(head)) and bool(_TRADES.search(head))


def statement_tables(data: bytes) -> list[RawTable]:
    """Return the executions of stocks. Raises Unreadable when there are none."""
    header: list[str] = []
    rows: list[list[str]] = []
    dropped = 0
    for row in csv.reader(io.StringIO(data.decode("utf-8-sig", "replace"))):
        if len(row) < 4 or row[0] != "Trades":
            continue
        if row[1] == "Header":
            header = row
            continue
        if row[1] == "Data" and row[2] in ("Order", "Trade", "Execution") and row[3].startswith("Stocks"):
            rows.append([*row, *[""] * (len(header) - len(row))][: len(header)])
        else:
            dropped += 1
        if len(rows) * max(len(header), 1) > MAX_LOOSE_CELLS:
            raise Unreadable(f"more than {MAX_LOOSE_CELLS} cells in the statement")
    if not rows or not header:
        raise Unreadable("the activity statement holds no executions of stocks")
    frame = pd.DataFrame(rows, columns=unique(header), dtype=object)
    frame = frame.drop(
        columns=[name for name in ("Trades", "Header", "DataDiscriminator", "Asset Category") if name in frame]
    )
    guess = f"IBKR activity statement: {dropped} rows of lots, totals and other assets are left out"
    return [RawTable("Trades", frame, (guess,), role="trades")]
