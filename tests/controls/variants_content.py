"""Clean variants: fills, prices and names of another kind, folders and reports of another shape."""

import re
import shutil

import numpy as np
import pandas as pd

from tests.controls.again import patched, rerun, respecified
from tests.controls.attempts import Attempt
from tests.controls.control import clean
from tests.controls.mutants_process import ended


@clean("fills-in-two", "momentum", "every fill split in two at the same price")
def _(it: Attempt) -> None:
    def halves(table: pd.DataFrame) -> pd.DataFrame:
        first = table.assign(
            quantity=table["quantity"] // 2, fee=table["fee"] * (table["quantity"] // 2) / table["quantity"]
        )
        second = table.assign(quantity=table["quantity"] - first["quantity"], fee=table["fee"] - first["fee"])
        both = pd.concat([first, second]).sort_index(kind="stable")
        both = both[both["quantity"] > 0].reset_index(drop=True)
        return both.assign(fill_id=both.index + 1)

    it.edit("trades", halves)


@clean("bt-fractional-shares", "bt", "pyfolio#602, pyfolio-reloaded#33 (flaw 30): fractional fills rebuild rightly")
def _(it: Attempt) -> None:
    patched(it, "integer_positions=True", "integer_positions=False")


@clean("smaller-capital", "staged", "another start capital")
def _(it: Attempt) -> None:
    respecified(it, "general", "capital", "250000")


@clean("quarterly", "momentum", "decisions once a quarter")
def _(it: Attempt) -> None:
    respecified(it, "portfolio_construction", "rebalance", "quarterly")


@clean("more-names", "volume", "seven names held")
def _(it: Attempt) -> None:
    respecified(it, "portfolio_construction", "n_holdings", "7")


@clean("delisted-and-sold", "stop", "a held name whose prices end is sold at its last close")
def _(it: Attempt) -> None:
    ended(it)
    rerun(it)


@clean("raw-prices-with-split", "volume", "a split as it was quoted, with its event in the table")
def _(it: Attempt) -> None:
    symbol, day = it.typed("trades")["symbol"].value_counts().index[0], "2018-06-01"

    def raw(table: pd.DataFrame) -> None:
        rows = (table["symbol"] == symbol) & (table["date"] < day)
        table.loc[rows, ["open", "high", "low", "close", "dividends"]] *= 2
        table["volume"] = np.where(rows, table["volume"] / 2, table["volume"])
        table["stock_splits"] = table["stock_splits"].astype(float)
        table.loc[(table["symbol"] == symbol) & (table["date"] == day), "stock_splits"] = 2.0

    def log(table: pd.DataFrame) -> pd.DataFrame:
        rows = (table["symbol"] == symbol) & (table["fill_date"] < day)
        return table.assign(
            quantity=np.where(rows, table["quantity"] / 2, table["quantity"]),
            price=np.where(rows, table["price"] * 2, table["price"]),
        )

    it.edit("prices", raw)
    it.edit("trades", log)
    if (it.deliver / "stress").is_dir():
        it.edit("stress/trades", log)


@clean("share-class-tickers", "momentum", "BRK.B in the prices, BRK-B in the log")
def _(it: Attempt) -> None:
    symbol = it.typed("trades")["symbol"].value_counts().index[0]
    for name in ("prices", "signals", "fundamentals", "universe"):
        it.edit(name, lambda table: table.replace({"symbol": {symbol: "BRK.B"}}))
    for name in ("trades", "selections", "target_weights"):
        it.edit(name, lambda table: table.replace({"symbol": {symbol: "BRK-B"}}))


@clean("backtrader-full-book", "backtrader", "97 % of the equity at work")
def _(it: Attempt) -> None:
    it.rewrite("settings.json", lambda text: text.replace('"invested": 0.95', '"invested": 0.97'))
    rerun(it)


@clean("vectorbt-eight-names", "vectorbt", "eight names held")
def _(it: Attempt) -> None:
    it.rewrite("settings.json", lambda text: text.replace('"n_holdings": 6', '"n_holdings": 8'))
    rerun(it)


@clean("news-before-the-cut", "momentum", "news of the tested years beside the tables")
def _(it: Attempt) -> None:
    rows = [("2020-03-16", "AAPL", "Markets fall sharply"), ("2021-12-30", "AAPL", "A quiet end of the year")]
    it.write("news", pd.DataFrame(rows, columns=["date", "symbol", "headline"]))


# ------------------------------------------------------------------------------------------------ folders, reports


@clean("in-folders", "momentum", "data, results and texts in folders of their own")
def _(it: Attempt) -> None:
    for folder, names in {
        "data": ("prices.csv", "market.csv", "fundamentals.csv", "universe.csv", "sources.csv"),
        "results": ("trades.csv", "equity.csv", "signals.csv", "selections.csv", "target_weights.csv", "metrics.csv"),
        "docs": ("report.md", "rules.md", "specification.csv"),
    }.items():
        (it.deliver / folder).mkdir()
        for name in names:
            shutil.move(it.deliver / name, it.deliver / folder / name)


def html(text: str) -> str:
    """Return Markdown as simple HTML: headings, bullets, tables and paragraphs."""
    out, rows = [], []
    for line in [*text.split("\n"), ""]:
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not all(set(cell) <= set("-: ") for cell in cells):
                rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
            continue
        if rows:
            out.append("<table>" + "".join(rows) + "</table>")
            rows = []
        level = len(line) - len(line.lstrip("#"))
        if level:
            out.append(f"<h{level}>{line.lstrip('# ')}</h{level}>")
        elif line.startswith("- "):
            out.append(f"<ul><li>{line[2:]}</li></ul>")
        elif line.strip():
            out.append(f"<p>{line}</p>")
    return "<!doctype html><html><body>" + "\n".join(out) + "</body></html>"


@clean("report-html", "stop", "the report as a web page")
def _(it: Attempt) -> None:
    (it.deliver / "report.html").write_text(html(it.text("report.md")), encoding="utf-8")
    (it.deliver / "report.md").unlink()


@clean("bt-report-html", "bt", "a tool's report as a web page")
def _(it: Attempt) -> None:
    (it.deliver / "report.html").write_text(html(it.text("report.md")), encoding="utf-8")
    (it.deliver / "report.md").unlink()


@clean("other-headings", "drawdown", "other headings than the reference's")
def _(it: Attempt) -> None:
    names = {
        "# Backtest report": "# What your idea would have done",
        "## Summary": "## In short",
        "## Method": "## How it works",
        "## Results": "## Performance",
        "## Limitations": "## What to be careful about",
    }

    def changed(text: str) -> str:
        for old, new in names.items():
            text = text.replace(old + "\n", new + "\n")
        return text

    it.rewrite("report.md", changed)


def bulleted(text: str) -> str:
    """Return a Markdown text with each table row as a bullet 'first: second (third, ...)'."""
    out = []
    for line in text.split("\n"):
        if not line.startswith("|"):
            out.append(line)
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if all(set(cell) <= set("-: ") for cell in cells) or cells[0] in ("metric", "measure", "component"):
            continue
        rest = f" ({', '.join(cells[2:])})" if len(cells) > 2 else ""
        out.append(f"- {cells[0]}: {cells[1]}{rest}")
    return "\n".join(out)


@clean("bullets-for-tables", "vectorbt", "a report without tables")
def _(it: Attempt) -> None:
    it.rewrite("report.md", bulleted)


@clean("reference-bullets", "momentum", "the reference's report without tables")
def _(it: Attempt) -> None:
    it.rewrite("report.md", bulleted)


@clean("report-as-text", "volume", "the report as plain text under another name")
def _(it: Attempt) -> None:
    plain = re.sub(r"^#+ *", "", it.text("report.md"), flags=re.MULTILINE)
    (it.deliver / "findings_report.txt").write_text(plain, encoding="utf-8")
    (it.deliver / "report.md").unlink()


@clean("long-prose", "backtrader", "a report with a foreword and an appendix")
def _(it: Attempt) -> None:
    it.rewrite(
        "report.md",
        lambda text: (
            text.replace(
                "## Method", "This document has a summary, the method, the results and the limitations.\n\n## Method", 1
            )
            + "\n## Appendix\n\nEvery table named above lies beside this report as a CSV file.\n"
        ),
    )
