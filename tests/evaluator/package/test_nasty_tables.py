"""Tables laid out in ways that plain readers get wrong (variants 12 to 30 of the catalogue)."""

import decimal
import io
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evaluator.quant.calendar import sessions
from tests.evaluator.worlds import backtest, market

PRICES = market(("AAA", "BBB"), end="2018-03-29")[["date", "symbol", "open", "high", "low", "close", "volume"]]
RUN = backtest(market(end="2019-03-29"))
HEAD = "date,symbol,side,quantity,price\n"


def wide(separator: str, *, field_first: bool = False) -> pd.DataFrame:
    table = PRICES.pivot_table(index="date", columns="symbol", values=["open", "close"])
    names = [f"{f}{separator}{s}" if field_first else f"{s}{separator}{f}" for f, s in table.columns]
    return table.set_axis(names, axis=1).reset_index()


def parquet(frame: pd.DataFrame, **extra: Any) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer, **extra)
    return buffer.getvalue()


TABLE = PRICES.pivot_table(index="date", columns="symbol", values=["open", "close"])
PRICE_FORMS: dict[str, tuple[str, Any]] = {
    "symbol_field": ("prices.csv", wide("_")),
    "field_symbol": ("prices.csv", wide("_", field_first=True)),
    "two levels in parquet": ("prices.parquet", parquet(TABLE)),
    "symbols in the index": ("prices.parquet", parquet(PRICES.set_index(["date", "symbol"]))),
    "numbered rows": ("prices.csv", PRICES.to_csv()),
    "newest first": ("prices.csv", PRICES.iloc[::-1]),
    "stooq": (
        "prices.txt",
        PRICES.assign(date=PRICES["date"].dt.strftime("%Y%m%d"), per="D", time="000000")[
            ["symbol", "per", "date", "time", "open", "high", "low", "close", "volume"]
        ].to_csv(
            index=False,
            header=["<TICKER>", "<PER>", "<DATE>", "<TIME>", "<OPEN>", "<HIGH>", "<LOW>", "<CLOSE>", "<VOL>"],
        ),
    ),
    "json nested": (
        "prices.json",
        json.dumps(
            {
                symbol: {
                    str(day.date()): {"open": o, "close": c}
                    for day, o, c in rows[["date", "open", "close"]].itertuples(index=False)
                }
                for symbol, rows in PRICES.groupby("symbol")
            }
        ),
    ),
    "json by name": (
        "prices.json",
        json.dumps(
            {
                symbol: rows.assign(date=rows["date"].astype(str))[["date", "open", "close"]].to_dict("records")
                for symbol, rows in PRICES.groupby("symbol")
            }
        ),
    ),
}


@pytest.mark.parametrize("form", PRICE_FORMS)
def test_12_13_and_21_prices_in_every_form(one: Any, form: str) -> None:
    name, content = PRICE_FORMS[form]
    frame = one("prices", name, content).frame.sort_values(["date", "symbol"])
    expected = PRICES.sort_values(["date", "symbol"])

    assert frame["symbol"].tolist() == expected["symbol"].tolist()
    np.testing.assert_allclose(frame["close"], expected["close"], rtol=1e-9)
    np.testing.assert_allclose(frame["open"], expected["open"], rtol=1e-9)
    assert (frame["date"].to_numpy() == expected["date"].to_numpy()).all()


@pytest.mark.parametrize("orient", ["records", "split", "index", "columns", "table", "lines", "lists"])
def test_13_json_in_every_orientation(one: Any, orient: str) -> None:
    log = RUN.trades.assign(
        fill_date=RUN.trades["fill_date"].astype(str), signal_date=RUN.trades["signal_date"].astype(str)
    )
    if orient == "lines":
        content = log.to_json(orient="records", lines=True)
    elif orient == "lists":
        content = json.dumps({name: log[name].tolist() for name in log.columns})
    else:
        content = log.to_json(orient=orient)
    frame = one("trades", "trades.json", content).frame

    np.testing.assert_allclose(frame["price"], RUN.trades["price"], rtol=1e-9)
    assert len(frame) == len(RUN.trades)


def test_13_nan_and_infinity_literals(one: Any) -> None:
    table = one("metrics", "metrics.json", '{"total_return": 0.1, "sharpe": NaN, "calmar": Infinity, "trades": 3}')

    assert table.frame.set_index("name")["value"]["total_return"] == 0.1


def test_14_preamble_repeated_headers_totals_and_duplicates(one: Any) -> None:
    rows = "2024-01-02,AAA,BUY,1,5\n2024-01-02,AAA,BUY,1,5\n"
    text = f"Trade log\nMade by: backtest, version 2\n\n{HEAD}{rows}{HEAD}2024-01-03,AAA,SELL,2,5\nTOTAL,,,4,\n"
    table = one("trades", "trades.csv", text)

    assert len(table.frame) == 3
    assert table.frame["side"].tolist() == [1.0, 1.0, -1.0]
    assert any("before the header" in guess for guess in table.guesses)
    assert any("left out" in guess for guess in table.guesses)


@pytest.mark.parametrize(("side", "sign"), [("SELL_SHORT", 1), ("Sell Short", 1), ("SELL", -1), ("short", 1)])
def test_15_shorts_by_word_or_by_sign(one: Any, side: str, sign: int) -> None:
    frame = one("trades", "trades.csv", f"{HEAD}2024-01-02,AAA,{side},{5 * sign},10\n2024-01-03,AAA,BUY,5,9\n").frame

    assert frame["side"].tolist() == [-1.0, 1.0]
    assert frame["quantity"].tolist() == [5.0, 5.0]


TRADING_VIEW = (
    "Trade #,Type,Signal,Date/Time,Price USD,Contracts,Profit USD,Profit %\n"
    "2,Exit long,Open,2024-03-01,12.00,50,—,—\n2,Entry long,Long,2024-02-01,11.00,50,—,—\n"
    "1,Exit short,Cover,2024-01-10,9.00,100,100,10%\n1,Entry short,Short,2024-01-02,10.00,100,100,10%\n"
)
LOCAL = (
    "交易 #,類型,訊號,日期/時間,價格 USD,合約\n1,多單出場,賣出,2024-01-10,12,100\n1,多單進場,買入,2024-01-02,10,100\n"
)


def test_16_and_17_pairs_of_rows_newest_first_with_an_open_end(one: Any) -> None:
    table = one("trades", "NASDAQ_AAPL.csv", TRADING_VIEW)

    assert table.frame["side"].tolist() == [-1.0, 1.0, 1.0]
    assert table.frame["price"].tolist() == [10.0, 9.0, 11.0]
    assert any("open at the end" in guess for guess in table.guesses)
    assert any("two rows a trade" in guess for guess in table.guesses)


def test_16_pairs_in_another_language(one: Any) -> None:
    assert one("trades", "trades.csv", LOCAL).frame["side"].tolist() == [1.0, -1.0]


ROUND_TRIPS = {
    "quantconnect": "Entry Time,Symbols,Exit Time,Direction,Entry Price,Exit Price,Quantity,P&L,Fees,Drawdown,IsWin,Order Ids\n"
    '2024-01-02T14:31:00Z,AAPL,2024-01-10T14:31:00Z,Buy,10,12,100,200,4,0,1,"1,2"\n',
    "agent": "entry_date,exit_date,ticker,quantity,entry_vwap,exit_vwap,net_realized_pl,fees\n"
    "2024-01-02,2024-01-10,AAPL,100,10,12,196,4\n",
    "pyfolio": "symbol,open_dt,close_dt,buy_price,sell_price,shares,commission\nAAPL,2024-01-02,2024-01-10,10,12,100,4\n",
}


@pytest.mark.parametrize("form", ROUND_TRIPS)
def test_16_round_trips_are_two_fills_with_a_split_fee(one: Any, form: str) -> None:
    table = one("trades", "trades.csv", ROUND_TRIPS[form])
    frame = table.frame

    assert frame["side"].tolist() == [1.0, -1.0]
    assert [d.strftime("%Y-%m-%d") for d in frame["date"]] == ["2024-01-02", "2024-01-10"]
    assert frame["price"].tolist() == [10.0, 12.0]
    assert frame["quantity"].tolist() == [100.0, 100.0]
    assert frame["fee"].tolist() == pytest.approx([4 * 10 / 22, 4 * 12 / 22])
    assert set(frame["symbol"]) == {"AAPL"}


@pytest.mark.parametrize("empty", ["", "NaT", "None", "-"])
def test_17_missing_exit_is_no_fill(one: Any, empty: str) -> None:
    text = "entry_date,exit_date,ticker,quantity,entry_price,exit_price\n2024-01-02,2024-01-10,A,1,10,12\n"
    table = one("trades", "trades.csv", f"{text}2024-01-11,{empty},A,1,12,{empty}\n")

    assert table.frame["side"].tolist() == [1.0, -1.0, 1.0]


def test_17_round_trips_without_quantity_keep_their_rows(one: Any) -> None:
    text = "entry_date,exit_date,ticker,entry_price,exit_price,pnl_pct\n2024-01-02,2024-01-10,A,10,12,20\n"
    table = one("trades", "trades.csv", text)

    assert len(table.frame) == 2
    assert any("without a quantity" in guess for guess in table.guesses)


@pytest.mark.parametrize("word", ["Canceled", "Cancelled", "Rejected", "Expired", "Invalid", "Margin"])
def test_18_orders_that_never_filled(one: Any, word: str) -> None:
    text = "Time,Symbol,Price,Quantity,Type,Status,Value,Tag\n"
    text += (
        f"2024-01-02T14:31:00Z,AAPL,10,100,Market,Filled,1000,\n2024-01-03T14:31:00Z,AAPL,10,-100,Market,{word},0,\n"
    )
    table = one("trades", "orders.csv", text)

    assert table.frame["quantity"].tolist() == [100.0]
    assert any("not filled" in guess for guess in table.guesses)


def test_19_split_fills_and_both_sides_on_one_day(one: Any) -> None:
    rows = "2024-01-02,A,BUY,60,5\n2024-01-02,A,BUY,40,5\n2024-01-03,A,SELL,100,6\n2024-01-03,A,BUY,50,6\n"
    frame = one("trades", "trades.csv", HEAD + rows).frame

    assert (frame["side"] * frame["quantity"]).tolist() == [60.0, 40.0, -100.0, 50.0]


def test_20_calendar_days_and_month_end_labels(deliver: Any) -> None:
    days = pd.date_range("2024-01-05", "2024-01-09")
    equity = pd.DataFrame({"date": days, "equity": [100.0, 100.0, 100.0, 101.0, 102.0]})
    weights = pd.DataFrame({"date": ["2024-03-31", "2024-04-30"], "symbol": ["A", "A"], "weight": [1.0, 1.0]})
    delivery = deliver({"equity.csv": equity, "weights.csv": weights}, t_cut="2024-12-31")
    (curve,), (targets,) = delivery.of("equity"), delivery.of("weights")

    assert curve.frame["equity"].tolist() == [100.0, 101.0, 102.0]
    assert [d.strftime("%Y-%m-%d") for d in targets.frame["date"]] == ["2024-03-28", "2024-04-30"]
    assert any("closed days" in guess for guess in targets.guesses)


def test_20_sunday_before_the_data_is_the_start_capital(one: Any) -> None:
    table = one("equity", "equity.csv", ",s\n2022-01-02,100.0\n2022-01-03,100.5\n2022-01-04,101.0\n")

    assert table.frame["equity"].tolist() == [100.0, 100.5, 101.0]
    assert str(table.frame["date"].iloc[0].date()) == "2021-12-31"


def runs(names: tuple[str, str]) -> pd.DataFrame:
    log = pd.read_csv(io.StringIO(f"{HEAD}2024-01-02,A,BUY,1,5\n2024-01-03,A,SELL,1,6\n2024-01-04,A,BUY,1,5\n"))
    return pd.concat([log.assign(strategy=names[0]), log.assign(strategy=names[1])])


def test_22_run_named_by_the_report_is_the_main_one(deliver: Any) -> None:
    report = "# Report\n\nThe results are those of mom_12_1 with ten names.\n"
    delivery = deliver({"trades.csv": runs(("mom_12_1", "low_vol")), "report.md": report})

    assert [table.group for table in delivery.tables] == ["main", "run/low_vol"]
    assert "named by" not in delivery.tables[0].guesses


def test_22_runs_that_nobody_names_are_no_main_run(deliver: Any) -> None:
    delivery = deliver({"trades.csv": runs(("a1", "a2"))})

    assert delivery.of("trades") == ()
    assert all("does not say" in table.guesses[-1] for table in delivery.tables)


@pytest.mark.parametrize(
    ("spelt", "plain"),
    [
        ("BRK.B", "BRK-B"),
        ("BRK/B", "BRK-B"),
        ("BRK B", "BRK-B"),
        ("brk-b", "BRK-B"),
        ("AAPL.US", "AAPL"),
        ("BRK.B.US", "BRK-B"),
        ("NASDAQ:AAPL", "AAPL"),
        ("AAPL US Equity", "AAPL"),
        ("AAPL R735QTJ8XC9X", "AAPL"),
        ("10107.0", "10107"),
        ("^GSPC", "^GSPC"),
    ],
)
def test_23_spellings_of_one_ticker(one: Any, spelt: str, plain: str) -> None:
    assert one("trades", "trades.csv", f"{HEAD}2024-01-02,{spelt},BUY,1,5\n").frame["symbol"].tolist() == [plain]


def test_24_old_ticker_takes_the_prices_of_the_new_one(deliver: Any) -> None:
    prices = "date,symbol,open,close\n2021-01-04,META,270,269\n2021-01-05,META,268,271\n"
    delivery = deliver({"prices.csv": prices, "trades.csv": f"{HEAD}2021-01-05,FB,BUY,10,268\n"})
    (table,) = delivery.of("trades")

    assert table.frame["symbol"].tolist() == ["META"]
    assert any("FB is META" in guess for guess in table.guesses)


def test_25_fractional_shares_and_fills_in_cents(deliver: Any) -> None:
    prices = "date,symbol,open,close\n2021-01-04,A,2.70,2.69\n2021-01-05,A,2.68,2.71\n"
    delivery = deliver({"prices.csv": prices, "trades.csv": f"{HEAD}2021-01-05,A,BUY,10.375,271\n"})
    (table,) = delivery.of("trades")

    assert table.frame["quantity"].tolist() == [10.375]
    assert table.frame["price"].tolist() == pytest.approx([2.71])
    assert any("divided by 100" in guess for guess in table.guesses)


@pytest.mark.parametrize(("base", "header"), [(100.0, "index"), (1.0, "nav")])
def test_26_equity_index_beside_a_stated_capital(deliver: Any, base: float, header: str) -> None:
    equity = f"date,{header if header != 'index' else 'equity'}\n2021-01-04,{base}\n2021-01-05,{1.1 * base}\n"
    metrics = '{"initial_capital": 50000, "total_return": 0.1, "sharpe": 1}'
    trades = f"{HEAD}2021-01-05,A,BUY,1000,20\n"
    delivery = deliver({"equity.csv": equity, "metrics.json": metrics, "trades.csv": trades})

    assert delivery.of("equity")[0].frame["equity"].tolist() == pytest.approx([50_000.0, 55_000.0])


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("date,return\n2021-01-04,0.10\n2021-01-05,-0.50\n", [1.1, 0.55]),
        ("date,return [%]\n2021-01-04,10\n2021-01-05,-50\n", [1.1, 0.55]),
        ("date,equity\n2021-01-04,0\n2021-01-05,0.25\n2021-01-06,0.5\n", [1.0, 1.25, 1.5]),
        ("date,equity\n2021-01-04,0\n2021-01-05,25\n2021-01-06,50\n", [1.0, 1.25, 1.5]),
    ],
)
def test_26_equity_as_returns_or_percent(one: Any, text: str, levels: list[float]) -> None:
    assert one("equity", "equity.csv", text).frame["equity"].tolist() == pytest.approx(levels)


def test_28_parquet_types(one: Any) -> None:
    days = sessions("2024-01-02", "2024-01-04")
    frame = pd.DataFrame(
        {
            "date": [day.date() for day in days],
            "symbol": pd.Categorical(["AAA", "NA", "AAA"]),
            "side": ["BUY", "BUY", "SELL"],
            "quantity": pd.array([1, 2, 1], dtype="Int64"),
            "price": [decimal.Decimal("1.25"), decimal.Decimal("2.5"), decimal.Decimal("3.75")],
            "signal_date": days.tz_localize("America/New_York"),
        }
    )
    table = one("trades", "trades.parquet", parquet(frame))

    assert table.frame["price"].tolist() == [1.25, 2.5, 3.75]
    assert table.frame["symbol"].tolist() == ["AAA", "NA", "AAA"]
    assert table.frame["quantity"].tolist() == [1.0, 2.0, 1.0]
    assert (table.frame["date"] == table.frame["signal_date"]).all()
    assert any("decimal" in guess for guess in table.guesses)


def test_29_rows_beyond_the_cap_are_refused_in_words(deliver: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("evaluator.package.formats.raw.MAX_ROWS", 10)
    delivery = deliver({"trades.csv": HEAD + "2024-01-02,A,BUY,1,5\n" * 20})

    assert delivery.tables == ()
    assert "20 rows, at most 10 are read" in delivery.refused[0]


def test_30_formula_in_a_cell_is_text(one: Any) -> None:
    table = one(
        "trades", "trades.csv", 'date,symbol,side,quantity,price,reason\n2024-01-02,A,BUY,1,5,"=HYPERLINK(""x"")"\n'
    )

    assert table.frame["reason"].tolist() == ['=HYPERLINK("x")']
