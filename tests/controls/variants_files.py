"""Clean variants: the same delivery in other files, other columns, other ways to write dates and numbers."""

import gzip
import json
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing

import numpy as np
import pandas as pd

from tests.controls.attempts import Attempt
from tests.controls.control import clean

RUN = ("trades", "equity", "signals", "selections", "target_weights")
DATED = {
    "prices": ("date",),
    "trades": ("signal_date", "fill_date"),
    "equity": ("date",),
    "signals": ("date",),
    "selections": ("date",),
    "target_weights": ("date",),
    "market": ("date",),
}


def replaced(it: Attempt, name: str, suffix: str, write: Callable[[pd.DataFrame, str], None]) -> None:
    """Write a CSV table as another file and remove the CSV."""
    table = it.typed(name)
    write(table, str(it.deliver / f"{name}{suffix}"))
    (it.deliver / f"{name}.csv").unlink()


def stamped(it: Attempt, write: Callable[["pd.Series[pd.Timestamp]"], "pd.Series[object]"], *names: str) -> None:
    """Write the dates of some tables in another way."""
    for name in names or tuple(DATED):
        table = it.typed(name)
        for column in DATED[name]:
            table[column] = write(pd.to_datetime(table[column]))
        it.write(name, table)


@clean("prices-parquet", "momentum", "prices as Parquet")
def _(it: Attempt) -> None:
    replaced(
        it, "prices", ".parquet", lambda table, path: table.assign(date=pd.to_datetime(table["date"])).to_parquet(path)
    )


@clean("all-in-a-workbook", "volume", "every table a sheet of one workbook")
def _(it: Attempt) -> None:
    names = [path.stem for path in sorted(it.deliver.glob("*.csv"))]
    with pd.ExcelWriter(it.deliver / "results.xlsx") as book:
        for name in names:
            it.typed(name).to_excel(book, sheet_name=name, index=False)
    for name in names:
        (it.deliver / f"{name}.csv").unlink()


@clean("trades-json-records", "stop", "trade log as JSON records")
def _(it: Attempt) -> None:
    replaced(it, "trades", ".json", lambda table, path: table.to_json(path, orient="records"))


@clean("trades-json-split", "drawdown", "trade log as split JSON")
def _(it: Attempt) -> None:
    replaced(it, "trades", ".json", lambda table, path: table.to_json(path, orient="split"))


@clean("equity-json-index", "momentum", "equity as JSON by date")
def _(it: Attempt) -> None:
    replaced(it, "equity", ".json", lambda table, path: table.set_index("date").to_json(path, orient="index"))


@clean("trades-json-lines", "target", "trade log as JSON lines")
def _(it: Attempt) -> None:
    replaced(it, "trades", ".jsonl", lambda table, path: table.to_json(path, orient="records", lines=True))


@clean("all-in-a-database", "drawdown", "every table in one SQLite file")
def _(it: Attempt) -> None:
    with closing(sqlite3.connect(it.deliver / "backtest.sqlite")) as base:
        for path in sorted(it.deliver.glob("*.csv")):
            it.typed(path.stem).to_sql(path.stem, base, index=False)
            path.unlink()
        base.commit()


@clean("semicolons-and-commas", "momentum", "semicolons between cells, decimal commas")
def _(it: Attempt) -> None:
    for name in ("prices", *RUN, "metrics"):
        it.typed(name).to_csv(it.deliver / f"{name}.csv", index=False, sep=";", decimal=",")


@clean("prices-gzip", "stop", "prices as compressed CSV")
def _(it: Attempt) -> None:
    source = it.deliver / "prices.csv"
    with source.open("rb") as plain, gzip.open(it.deliver / "prices.csv.gz", "wb") as packed:
        shutil.copyfileobj(plain, packed)
    source.unlink()


@clean("run-zip", "bt", "the tables of the run in one archive")
def _(it: Attempt) -> None:
    with zipfile.ZipFile(it.deliver / "results.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for name in ("transactions", "equity", "signals", "selected", "targets"):
            packed.write(it.deliver / f"{name}.csv", f"{name}.csv")
            (it.deliver / f"{name}.csv").unlink()


@clean("feather", "vectorbt", "prices and signals as Feather")
def _(it: Attempt) -> None:
    for name in ("prices", "signals"):
        replaced(it, name, ".feather", lambda table, path: table.to_feather(path))


@clean("tabs", "stop", "tab separated text")
def _(it: Attempt) -> None:
    for name in RUN:
        replaced(it, name, ".tsv", lambda table, path: table.to_csv(path, sep="\t", index=False))


@clean("byte-order-mark", "momentum", "UTF-8 with a byte order mark")
def _(it: Attempt) -> None:
    for name in (*RUN, "prices", "metrics", "specification"):
        path = it.deliver / f"{name}.csv"
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())


@clean("utf-16", "drawdown", "UTF-16 as a spreadsheet exports it")
def _(it: Attempt) -> None:
    for name in (*RUN, "specification"):
        path = it.deliver / f"{name}.csv"
        path.write_text(path.read_text(encoding="utf-8"), encoding="utf-16")


@clean("windows-lines", "target", "carriage returns before the line feeds")
def _(it: Attempt) -> None:
    for path in it.deliver.glob("*.csv"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


# ------------------------------------------------------------------------------------------------ other columns


@clean("log-by-alias", "momentum", "other names for the columns of the log")
def _(it: Attempt) -> None:
    names = {
        "fill_date": "Execution Date",
        "signal_date": "Decision Date",
        "symbol": "Ticker",
        "side": "Action",
        "quantity": "Shares",
        "price": "Fill Price",
        "fee": "Commission",
        "reason": "Trade Reason",
    }
    it.edit("trades", lambda table: table.rename(columns=names))


@clean("tables-by-alias", "stop", "other names for the columns of prices, equity and weights")
def _(it: Attempt) -> None:
    prices = {"date": "Date", "symbol": "Ticker", "adj_close": "Adj Close", "stock_splits": "Stock Splits"}
    prices |= {name: name.title() for name in ("open", "high", "low", "close", "volume", "dividends")}
    it.edit("prices", lambda table: table.rename(columns=prices))
    it.edit("equity", lambda table: table.rename(columns={"date": "day", "equity": "NAV", "cash": "Cash Balance"}))
    it.edit("target_weights", lambda table: table.rename(columns={"date": "rebalance_date", "symbol": "ticker"}))


@clean("statements-as-the-service-names-them", "drawdown", "statement columns in the vendor's spelling")
def _(it: Attempt) -> None:
    names = {
        "announced": "acceptedDate",
        "period_end": "date",
        "net_income": "netIncome",
        "cost_of_revenue": "costOfRevenue",
        "gross_profit": "grossProfit",
        "operating_cash_flow": "operatingCashFlow",
        "total_assets": "totalAssets",
        "common_equity": "totalStockholdersEquity",
        "shares": "weightedAverageShsOut",
    }
    it.edit("fundamentals", lambda table: table.rename(columns=names))


@clean("weights-wide", "momentum", "one column of weights for each name")
def _(it: Attempt) -> None:
    def wide(table: pd.DataFrame) -> pd.DataFrame:
        out = table.pivot_table(index="date", columns="symbol", values="weight", aggfunc="sum").fillna(0.0)
        return out.reset_index()

    it.edit("target_weights", wide)


@clean("closes-wide", "vectorbt", "one column of closes for each name, no bars")
def _(it: Attempt) -> None:
    table = it.typed("prices").pivot_table(index="Date", columns="Ticker", values="Close").reset_index()
    (it.deliver / "prices.csv").unlink()
    it.write("close_prices", table)


@clean("weights-in-percent", "stop", "weights as percent")
def _(it: Attempt) -> None:
    it.edit(
        "target_weights",
        lambda table: table.assign(weight=table["weight"] * 100).rename(columns={"weight": "weight_pct"}),
    )


@clean("no-cash-row", "target", "weights without a row for cash")
def _(it: Attempt) -> None:
    it.edit("target_weights", lambda table: table[table["symbol"] != "CASH"])


@clean("signals-wide", "bt", "one column of scores for each name")
def _(it: Attempt) -> None:
    def wide(table: pd.DataFrame) -> pd.DataFrame:
        one = table[table["signal"] == "rev_21"]
        return one.pivot_table(index="date", columns="ticker", values="score").reset_index()

    it.edit("signals", wide)


@clean("signed-quantities", "drawdown", "no side: sells are negative")
def _(it: Attempt) -> None:
    def signed(table: pd.DataFrame) -> pd.DataFrame:
        table["quantity"] = table["quantity"] * np.where(table["side"] == "SELL", -1, 1)
        return table.drop(columns="side")

    it.edit("trades", signed)


@clean("sides-as-words", "staged", "bot and sld")
def _(it: Attempt) -> None:
    it.edit("trades", lambda table: table.assign(side=table["side"].map({"BUY": "BOT", "SELL": "SLD"})))


@clean("fees-negative", "momentum", "fees as negative amounts")
def _(it: Attempt) -> None:
    it.edit("trades", lambda table: table.assign(fee=-table["fee"]))


@clean("thousands-and-dollars", "stop", "1,234 shares at $56.78")
def _(it: Attempt) -> None:
    it.edit(
        "trades",
        lambda table: table.assign(
            quantity=table["quantity"].map("{:,}".format), price=table["price"].map("${:,.6f}".format)
        ),
    )


@clean("equity-with-more-columns", "momentum", "a curve beside its benchmark, returns and drawdown")
def _(it: Attempt) -> None:
    def more(table: pd.DataFrame) -> pd.DataFrame:
        value = table["equity"]
        return table.assign(
            daily_return=value.pct_change().fillna(0.0), drawdown=value / value.cummax() - 1, positions=5
        ).rename(columns={"equity": "portfolio_value"})

    it.edit("equity", more)


@clean("metrics-json", "volume", "metrics as one JSON object")
def _(it: Attempt) -> None:
    values = it.typed("metrics").set_index("metric")
    text = {name: {"value": row["value"], "basis": row["basis"]} for name, row in values.iterrows()}
    (it.deliver / "metrics.json").write_text(json.dumps(text), encoding="utf-8")
    (it.deliver / "metrics.csv").unlink()


@clean("settings-only", "bt", "the strategy as JSON settings beside the report")
def _(it: Attempt) -> None:
    table = it.table("strategy_spec")
    text: dict[str, dict[str, str]] = {}
    for row in table.itertuples():
        text.setdefault(str(row.component), {})[str(row.parameter)] = str(row.value)
    (it.deliver / "strategy_config.json").write_text(json.dumps(text, indent=1), encoding="utf-8")
    (it.deliver / "strategy_spec.csv").unlink()


# -------------------------------------------------------------------------------------------------- dates, order


@clean("dates-utc-midnight", "momentum", "session labels as midnight UTC")
def _(it: Attempt) -> None:
    stamped(it, lambda days: days.dt.strftime("%Y-%m-%dT00:00:00+00:00"))


@clean("dates-new-york", "stop", "stamps with the offset of New York at the close")
def _(it: Attempt) -> None:
    def at_close(days: "pd.Series[pd.Timestamp]") -> "pd.Series[object]":
        return (days + pd.Timedelta(hours=16)).dt.tz_localize("America/New_York").map(lambda day: day.isoformat())

    stamped(it, at_close, "prices", "equity")


@clean("dates-epoch-ms", "volume", "milliseconds since 1970")
def _(it: Attempt) -> None:
    stamped(it, lambda days: days.astype("datetime64[ms]").astype("int64"), "prices", "equity", "trades")


@clean("dates-as-integers", "drawdown", "20200131")
def _(it: Attempt) -> None:
    stamped(it, lambda days: days.dt.strftime("%Y%m%d").astype(int))


@clean("dates-excel-serials", "target", "days since 1899-12-30")
def _(it: Attempt) -> None:
    stamped(it, lambda days: (days - pd.Timestamp("1899-12-30")).dt.days, "equity", "signals", "selections")


@clean("dates-day-first", "stop", "31/01/2020")
def _(it: Attempt) -> None:
    stamped(it, lambda days: days.dt.strftime("%d/%m/%Y"))


@clean("dates-month-first", "momentum", "01/31/2020")
def _(it: Attempt) -> None:
    stamped(it, lambda days: days.dt.strftime("%m/%d/%Y"))


@clean("newest-first", "volume", "every table newest first")
def _(it: Attempt) -> None:
    for name in ("prices", "trades", "equity", "signals", "market"):
        it.edit(name, lambda table: table.iloc[::-1])


@clean("rows-shuffled", "momentum", "rows in no order")
def _(it: Attempt) -> None:
    for name in ("prices", *RUN):
        it.edit(name, lambda table: table.sample(frac=1, random_state=7))
