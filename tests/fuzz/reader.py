"""The one thing the fuzzer and the seed test do: bytes with a name in front, read as a delivered file."""

from pathlib import Path

from evaluator.package.attempt import read_file
from evaluator.package.delivery import Table
from evaluator.package.files import Found
from evaluator.quant.accounting import rebuild
from evaluator.quant.entry import late_rows
from evaluator.quant.panel import price_panel

NAMES = (
    *("trades.csv", "prices.csv", "equity.csv", "weights.csv", "metrics.csv", "signals.tsv", "data.json", "rows.jsonl"),
    *(
        "prices.parquet",
        "prices.feather",
        "trades.csv.gz",
        "data.zip",
        "run.db",
        "report.md",
        "report.html",
        "config.yaml",
    ),
    *("positions.csv", "log.txt", "book.xlsx"),
)
"""The first byte of an input chooses the name; new names go to the end, so that seeds keep their meaning."""


def read_bytes(data: bytes, folder: Path) -> tuple[list[Table], list[str]]:
    """Read one input as a delivered file and use its tables as grading does. Returns tables and refusals."""
    name = NAMES[data[0] % len(NAMES)] if data else NAMES[0]
    path = folder / name
    path.write_bytes(data[1:])
    tables, document, refused = read_file(Found(name, path, 1, len(data) - 1 if data else 0))
    assert tables or refused or document is not None or not data[1:].strip() or name.endswith((".zip", ".md", ".html"))
    prices = [table.frame for table in tables if table.role == "prices"]
    panel = price_panel(prices[0]) if prices else None
    for table in tables:
        assert isinstance(table.guesses, tuple)
        late_rows(table.frame, "2020-01-01")
        if table.role == "trades" and panel:
            rebuild(table.frame, panel)
    return tables, refused
