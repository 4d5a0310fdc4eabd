"""Mutants made by changing delivered files after a clean run; texts follow the tables where the flaw is in a figure."""

import re

import pandas as pd

from tests.controls.again import retold
from tests.controls.attempts import Attempt
from tests.controls.control import edited

LATE = ("2022-01-03", "2022-01-04", "2022-01-05", "2022-01-06", "2022-01-07", "2022-01-10", "2022-01-11")


def appended(it: Attempt, name: str, days: tuple[str, ...], column: str = "date") -> None:
    """Repeat a table's last row under later dates."""
    it.edit(
        name,
        lambda table: pd.concat(
            [table, *(table.iloc[[-1]].assign(**{column: day}) for day in days)], ignore_index=True
        ),
    )


def metric(it: Attempt, name: str, value: float) -> None:
    """Give a reported metric another value, in table, report and message."""

    def changed(table: pd.DataFrame) -> None:
        if (table["metric"] == name).sum() != 1:
            raise ValueError(f"metrics.csv: expected one row {name}")
        table.loc[table["metric"] == name, "value"] = value

    it.edit("metrics", changed)
    retold(it)


def quiet_rows(it: Attempt) -> pd.Series:
    """Return the price rows, as a mask, of sessions on which nothing is filled."""
    prices = it.typed("prices")
    return ~prices["date"].isin(set(it.typed("trades")["fill_date"]))


# --------------------------------------------------------------------------------------------- 1.1 after the cut


@edited("news-after-the-cut", "momentum", "TradingAgents#203, AI-Trader#76 (flaw 32)")
def _(it: Attempt) -> None:
    rows = [
        (day, "AAPL", "Shares rise after strong holiday sales") for day in ("2021-12-30", "2022-01-05", "2022-02-01")
    ]
    it.write("news", pd.DataFrame(rows, columns=["date", "symbol", "headline"]))


@edited("bt-news-after-the-cut", "bt", "TradingAgents#1275 (flaw 32) beside a tool's tables")
def _(it: Attempt) -> None:
    rows = [("2021-12-15", "FOMC statement"), ("2022-01-26", "FOMC statement"), ("2022-03-16", "FOMC raises rates")]
    it.write("calendar_of_events", pd.DataFrame(rows, columns=["Date", "event"]))


@edited("one-price-after-the-cut", "stop", "one bar too many in the price table")
def _(it: Attempt) -> None:
    appended(it, "prices", LATE[:1])


@edited("a-week-after-the-cut", "volume", "seven bars too many in the price table")
def _(it: Attempt) -> None:
    appended(it, "prices", LATE)


@edited("index-after-the-cut", "vectorbt", "two rows of the index too many")
def _(it: Attempt) -> None:
    appended(it, "index", LATE[:2], "Date")


@edited("statement-after-the-cut", "drawdown", "a statement announced after the last permitted date")
def _(it: Attempt) -> None:
    def later(table: pd.DataFrame) -> None:
        table.loc[table.index[-1], ["period_end", "announced"]] = ["2021-12-31", "2022-02-03"]

    it.edit("fundamentals", later)


@edited("signal-after-the-cut", "momentum", "a decision after the last permitted date")
def _(it: Attempt) -> None:
    appended(it, "signals", ("2022-01-31",))


# -------------------------------------------------------------------------------------------- 1.4 quality of data


@edited("rows-twice", "momentum", "duplicated rows in the price table")
def _(it: Attempt) -> None:
    it.edit("prices", lambda table: pd.concat([table, table.iloc[:: len(table) // 150]]).sort_index())


@edited("bt-rows-twice", "bt", "duplicated rows in a tool's price table")
def _(it: Attempt) -> None:
    it.edit("prices", lambda table: pd.concat([table, table.iloc[::120]]).sort_index())


@edited("high-below-close", "stop", "FinRL#1344: bars whose high lies below the close")
def _(it: Attempt) -> None:
    quiet = quiet_rows(it)

    def bent(table: pd.DataFrame) -> None:
        rows = table.index[quiet][::25]
        table.loc[rows, "high"] = table.loc[rows, ["open", "close"]].min(axis=1) * 0.99

    it.edit("prices", bent)


@edited("lows-of-zero", "drawdown", "zeros where the vendor had no low")
def _(it: Attempt) -> None:
    quiet = quiet_rows(it)

    def zero(table: pd.DataFrame) -> None:
        table.loc[table.index[quiet][::12], "low"] = 0.0

    it.edit("prices", zero)


# ------------------------------------------------------------------------------------- prices that do not belong


@edited("split-unadjusted", "momentum", "archimedes#1126, alpaca-backtrader#125, pyfolio#510 (flaw 14)")
def _(it: Attempt) -> None:
    symbol = it.typed("trades")["symbol"].value_counts().index[0]

    def raw(table: pd.DataFrame) -> None:
        rows = (table["symbol"] == symbol) & (table["date"] < "2018-06-01")
        table.loc[rows, ["open", "high", "low", "close", "adj_close"]] *= 2

    it.edit("prices", raw)


@edited("closes-adjusted-opens-raw", "momentum", "yfinance#2219 #2510, FinRL#1344 (flaw 15)")
def _(it: Attempt) -> None:
    it.edit("prices", lambda table: table.assign(close=table["adj_close"]))


@edited("fills-at-one-price", "drawdown", "lumibot#991 (flaw 18): fills of one name at one price")
def _(it: Attempt) -> None:
    def constant(table: pd.DataFrame) -> None:
        rows = table.index[table["symbol"] == table["symbol"].value_counts().index[0]]
        table.loc[rows, "price"] = table.loc[rows, "price"].iloc[0]

    it.edit("trades", constant)


# ------------------------------------------------------------------------------------------------- trade log


@edited("one-fill-on-its-signal-day", "momentum", "one fill dated as its signal")
def _(it: Attempt) -> None:
    def early(table: pd.DataFrame) -> None:
        table.loc[len(table) // 2, "signal_date"] = table.loc[len(table) // 2, "fill_date"]

    it.edit("trades", early)


@edited("bt-fill-on-its-signal-day", "bt", "one fill dated as its signal, in a tool's log")
def _(it: Attempt) -> None:
    def early(table: pd.DataFrame) -> None:
        table.loc[len(table) // 2, "signal_date"] = table.loc[len(table) // 2, "Date"]

    it.edit("transactions", early)


@edited("one-fill-twice", "stop", "a duplicated fill without id")
def _(it: Attempt) -> None:
    def twice(table: pd.DataFrame) -> pd.DataFrame:
        table = table.drop(columns="fill_id")
        small = (table["quantity"] * table["price"]).idxmin()
        return pd.concat([table, table.loc[[small]]]).sort_values(["fill_date", "side"], ascending=[True, False])

    it.edit("trades", twice)


@edited("fill-on-a-closed-day", "momentum", "zipline#2381 (flaw 35): a fill on 2018-12-05")
def _(it: Attempt) -> None:
    closed(it, "trades", "fill_date", "quantity", "price")


@edited("bt-fill-on-a-sunday", "bt", "zipline#2381 (flaw 35) in a tool's log")
def _(it: Attempt) -> None:
    closed(it, "transactions", "Date", "quantity", "price")


def closed(it: Attempt, name: str, day: str, quantity: str, price: str) -> None:
    """Move the smallest fill that has a weekend after it to the Saturday."""

    def moved(table: pd.DataFrame) -> None:
        days = pd.to_datetime(table[day])
        value = (table[quantity] * table[price]).abs()
        row = value[days.dt.day_of_week == 4].idxmin()
        table.loc[row, day] = str((days[row] + pd.Timedelta(days=1)).date())

    it.edit(name, moved)


@edited("no-log", "bt", "the trade log is not delivered")
def _(it: Attempt) -> None:
    (it.deliver / "transactions.csv").unlink()


@edited("no-log-stop", "momentum", "the trade log is not delivered")
def _(it: Attempt) -> None:
    (it.deliver / "trades.csv").unlink()


@edited("no-signal-dates", "momentum", "fills without the date of their signal")
def _(it: Attempt) -> None:
    it.edit("trades", lambda table: table.drop(columns="signal_date"))


@edited("no-signals", "bt", "signal values are not delivered")
def _(it: Attempt) -> None:
    (it.deliver / "signals.csv").unlink()


@edited("no-announcement-dates", "drawdown", "optimizer#245 (flaw 10): statements without announcement")
def _(it: Attempt) -> None:
    it.edit("fundamentals", lambda table: table.drop(columns="announced"))


@edited("sold-more-than-held", "volume", "a sell larger than the holding")
def _(it: Attempt) -> None:
    def more(table: pd.DataFrame) -> None:
        last = table.index[table["side"] == "SELL"][5]
        table.loc[last, "quantity"] *= 3

    it.edit("trades", more)


@edited("bought-off-the-list", "momentum", "sp500#23 (flaw 33): a bought name that the list does not hold")
def _(it: Attempt) -> None:
    trades = it.typed("trades")
    first = trades[trades["side"] == "BUY"].iloc[11]
    day, symbol = first["signal_date"], first["symbol"]
    it.edit("selections", lambda table: table[(table["date"] != day) | (table["symbol"] != symbol)])


@edited("vectorbt-bought-off-the-list", "vectorbt", "sp500#23 (flaw 33) with a tool")
def _(it: Attempt) -> None:
    orders = it.typed("orders")
    first = orders[orders["Side"] == "Buy"].iloc[11]
    day, symbol = first["Signal Date"], first["Column"]
    it.edit("selected", lambda table: table[(table["date"] != day) | (table["ticker"] != symbol)])


# ----------------------------------------------------------------------------------------------- 2.12 reasons


@edited("no-reasons", "volume", "trades without reason")
def _(it: Attempt) -> None:
    it.edit("trades", lambda table: table.drop(columns=["reason", "trigger"]))


@edited("no-reasons-under-a-stop", "stop", "trades without reason where a rule exits")
def _(it: Attempt) -> None:
    it.edit("trades", lambda table: table.drop(columns=["reason", "trigger"]))


@edited("no-triggers", "momentum", "reasons without the value behind them")
def _(it: Attempt) -> None:
    it.edit("trades", lambda table: table.drop(columns="trigger"))


@edited("few-reasons", "bt", "three fills in ten say why")
def _(it: Attempt) -> None:
    def few(table: pd.DataFrame) -> None:
        table.loc[table.index % 10 > 2, ["reason", "trigger"]] = ""

    it.edit("transactions", few)


@edited("triggers-untrue", "vectorbt", "ranks in the log that are not those of the list")
def _(it: Attempt) -> None:
    it.edit(
        "orders",
        lambda table: table.assign(Trigger=table["Trigger"].str.replace(r"rank=(\d)", r"rank=1\1", regex=True)),
    )


# --------------------------------------------------------------------------------------------------- 3.5 fees


@edited("no-fee-column", "bt", "the fee column is left out")
def _(it: Attempt) -> None:
    it.edit("transactions", lambda table: table.drop(columns="commission"))


@edited("fees-all-zero", "momentum", "a fee column of zeros beside a stated rate")
def _(it: Attempt) -> None:
    it.edit("trades", lambda table: table.assign(fee=0.0))


@edited("cost-free-with-fees", "volume", "fees in the log of a backtest that is stated free of cost")
def _(it: Attempt) -> None:
    it.edit("trades", lambda table: table.assign(fee=(table["quantity"] * table["price"] * 1e-5).round(2)))


# ------------------------------------------------------------------------------------------ equity and metrics


@edited("drawdown-of-95", "bt", "quantstats#541 (flaw 22): a drawdown from a guessed baseline")
def _(it: Attempt) -> None:
    metric(it, "max_drawdown", -0.95)


@edited("sharpe-of-a-billion", "momentum", "pybacktest#14 (flaw 23): ** for *")
def _(it: Attempt) -> None:
    metric(it, "sharpe", 1e9)


@edited("backtrader-return-of-12", "backtrader", "trade-executor#227 #430 (flaw 34)")
def _(it: Attempt) -> None:
    metric(it, "total_return", 0.12)


@edited("trades-206", "stop", "CoursIA#13075 (flaw 29): 206 reported")
def _(it: Attempt) -> None:
    metric(it, "trades", 206)


@edited("fees-half-reported", "drawdown", "the reported sum of fees is half the log's")
def _(it: Attempt) -> None:
    fees = it.typed("metrics").set_index("metric")["value"]["total_fees"]
    metric(it, "total_fees", fees / 2)


@edited("equity-jumps", "vectorbt", "the curve is lifted by 3 % from 2018 on")
def _(it: Attempt) -> None:
    def lifted(table: pd.DataFrame) -> None:
        table.loc[table["Date"] >= "2018-01-01", "Value"] *= 1.03

    it.edit("value", lifted)


@edited("equity-half-missing", "momentum", "every tenth session is missing from the curve")
def _(it: Attempt) -> None:
    it.edit("equity", lambda table: table[(table.index % 10 != 5)])


@edited("no-equity", "vectorbt", "the equity curve is not delivered")
def _(it: Attempt) -> None:
    (it.deliver / "value.csv").unlink()


@edited("capital-nowhere", "backtrader", "the start capital is not stated")
def _(it: Attempt) -> None:
    it.edit("strategy_spec", lambda table: table[table["parameter"] != "capital"])
    it.rewrite("settings.json", lambda text: "\n".join(line for line in text.split("\n") if "capital" not in line))
    it.rewrite(
        "report.md",
        lambda text: "\n".join(line for line in text.split("\n") if "capital |" not in line).replace(
            " Capital 1,000,000 USD.", ""
        ),
    )
    it.reply(lambda text: text.replace("general: capital 1000000 (my assumption); ", ""))


def without(it: Attempt, names: dict[str, str]) -> None:
    """Leave metrics out of table and report; `names` maps each to its label in the report."""
    it.edit("metrics", lambda table: table[~table["metric"].isin(names)])
    beside = "benchmark" if (it.deliver / "benchmark.csv").exists() else "benchmark_comparison"
    it.edit(beside, lambda table: table[~table["measure"].isin(names)])
    labels = tuple(f"| {label}" for label in names.values())
    it.rewrite("report.md", lambda text: "\n".join(line for line in text.split("\n") if not line.startswith(labels)))


@edited("sharpe-unreported", "bt", "no Sharpe ratio")
def _(it: Attempt) -> None:
    without(it, {"sharpe": "Sharpe ratio"})
    it.rewrite("report.md", lambda text: text.replace(" with a Sharpe ratio of", " with a ratio of"))


@edited("core-metrics-only", "vectorbt", "only the four core metrics, without volatility, turnover or exposure")
def _(it: Attempt) -> None:
    names = {"cagr": "Annualised", "volatility": "Volatility", "turnover": "Turnover", "exposure": "Average exposure"}
    without(it, names)
    it.rewrite(
        "report.md",
        lambda text: re.sub(
            r", -?[\d.]+% a year, net",
            ", net",
            "\n".join(line for line in text.split("\n") if not line.startswith("- Turnover")),
        ),
    )


@edited("volatility-unreported", "momentum", "volatility and exposure left out of table and report")
def _(it: Attempt) -> None:
    without(it, {"volatility": "Volatility", "exposure": "Average exposure"})


# --------------------------------------------------------------------------------------------- 3.8 the process


@edited("weights-not-delivered", "bt", "target weights are not delivered")
def _(it: Attempt) -> None:
    (it.deliver / "targets.csv").unlink()


@edited("weights-of-another-scheme", "momentum", "target weights written as equal, the book holds others")
def _(it: Attempt) -> None:
    def equal(table: pd.DataFrame) -> None:
        held = (table["symbol"] != "CASH") & (table["weight"] > 0)
        table.loc[held, "weight"] = 1.0 / table[held].groupby("date")["symbol"].transform("size")

    it.edit("target_weights", equal)


@edited("selections-reversed", "vectorbt", "the list of chosen names holds others on every tenth date")
def _(it: Attempt) -> None:
    names = sorted(it.typed("prices")["Ticker"].unique())

    def others(table: pd.DataFrame) -> None:
        days = sorted(table["date"].unique())[::10]
        for day in days:
            rows = table.index[table["date"] == day]
            free = [name for name in names if name not in set(table.loc[rows, "ticker"])]
            table.loc[rows[-1], "ticker"] = free[0]

    it.edit("selected", others)
