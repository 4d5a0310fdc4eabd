"""Cells that plain readers get wrong (variants 1 to 11 of the catalogue)."""

import datetime as dt
import io
from typing import Any

import openpyxl
import pandas as pd
import pytest

HEAD = "date,symbol,side,quantity,price,fee\n"


def days(table: Any, column: str = "date") -> list[str]:
    return [day.strftime("%Y-%m-%d") for day in table.frame[column]]


def test_01_european_numbers_and_dates(one: Any) -> None:
    table = one(
        "trades",
        "trades.csv",
        "Datum;Symbol;Side;Menge;Preis;Fee\n02.01.2024;AAA;BUY;1.600;1.185,60;1,25\n15.01.2024;AAA;SELL;600;185,5;0,50\n",
    )

    assert days(table) == ["2024-01-02", "2024-01-15"]
    assert table.frame["quantity"].tolist() == [1600.0, 600.0]
    assert table.frame["price"].tolist() == [1185.60, 185.5]
    assert table.frame["fee"].tolist() == [1.25, 0.5]
    assert "decimal commas" in table.guesses


def test_01_semicolons_with_decimal_points_stay_points(one: Any) -> None:
    table = one("trades", "trades.csv", "date;symbol;side;quantity;price\n2024-01-02;AAA;BUY;10;185.604\n")

    assert table.frame["price"].tolist() == [185.604]


YFINANCE = {
    "price first": "Price,Close,Close,Open,Open\nTicker,AAPL,MSFT,AAPL,MSFT\nDate,,,,\n"
    "2024-01-02,185.6,370.8,187.1,373.8\n2024-01-03,184.2,370.6,184.0,369.0\n",
    "ticker first": "Ticker,AAPL,AAPL,MSFT,MSFT\nPrice,Close,Open,Close,Open\nDate,,,,\n"
    "2024-01-02,185.6,187.1,370.8,373.8\n2024-01-03,184.2,184.0,370.6,369.0\n",
    "without names": ",Close,Close,Open,Open\n,AAPL,MSFT,AAPL,MSFT\n"
    "2024-01-02,185.6,370.8,187.1,373.8\n2024-01-03,184.2,370.6,184.0,369.0\n",
}


@pytest.mark.parametrize("how", YFINANCE)
def test_02_header_of_several_rows(one: Any, how: str) -> None:
    table = one("prices", "data.csv", YFINANCE[how])
    found = table.frame.set_index(["symbol", "date"])

    assert set(table.frame["symbol"]) == {"AAPL", "MSFT"}
    assert found.loc[("MSFT", pd.Timestamp("2024-01-03")), "open"] == 369.0
    assert found.loc[("AAPL", pd.Timestamp("2024-01-02")), "close"] == 185.6
    assert any("rows" in guess for guess in table.guesses)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["2024-03-08 00:00:00-05:00", "2024-03-11 00:00:00-04:00"], ["2024-03-08", "2024-03-11"]),  # 3
        (["1704153600000", "1704240000000"], ["2024-01-02", "2024-01-03"]),  # 4
        (["20240102", "20240103"], ["2024-01-02", "2024-01-03"]),  # 5
        (["45293", "45294"], ["2024-01-02", "2024-01-03"]),  # 6
        (["03/04/2024", "15/04/2024"], ["2024-04-03", "2024-04-15"]),  # 7
        (["03/04/2024", "04/15/2024"], ["2024-03-04", "2024-04-15"]),
        (["2024-01-02 21:00:00+00:00", "2024-01-03 21:00:00+00:00"], ["2024-01-02", "2024-01-03"]),
    ],
)
def test_03_to_07_dates(one: Any, cells: list[str], expected: list[str]) -> None:
    rows = "".join(f"{cell},AAA,BUY,1,5,0\n" for cell in cells)

    assert days(one("trades", "trades.csv", HEAD + rows)) == expected


@pytest.mark.parametrize("ticker", ["NA", "NULL", "NaN", "None", "null", "NAN", "TRUE"])
@pytest.mark.parametrize("suffix", ["csv", "json", "xlsx"])
def test_08_tickers_that_look_like_nothing(one: Any, ticker: str, suffix: str) -> None:
    frame = pd.DataFrame(
        {"date": ["2024-01-02", "2024-01-03"], "symbol": [ticker, ticker], "side": ["BUY", "SELL"], "quantity": [3, 3]}
    ).assign(price=5.0)
    buffer = io.BytesIO()
    if suffix == "xlsx":
        frame.to_excel(buffer, index=False)
    content = {"csv": frame, "json": frame.to_json(orient="records"), "xlsx": buffer.getvalue()}[suffix]

    assert one("trades", f"trades.{suffix}", content).frame["symbol"].tolist() == [ticker.upper()] * 2


@pytest.mark.parametrize("suffix", ["csv", "json"])
@pytest.mark.parametrize("how", ["bom", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
def test_09_encodings(one: Any, how: str, suffix: str) -> None:
    if suffix == "json" and how in ("utf-16-le", "utf-16-be", "latin-1"):
        pytest.skip("JSON is UTF-8 or marked")
    text = HEAD + "2024-01-02,AAA,BUY,1,5,0\n"
    if suffix == "json":
        text = '[{"date": "2024-01-02", "symbol": "AAA", "side": "BUY", "quantity": 1, "price": 5, "note": "ü"}]'
    if how == "latin-1":
        text = text.replace("AAA", "AAA").replace("fee", "geb\u00fchr")
    content = text.encode("utf-8-sig" if how == "bom" else how)

    assert one("trades", f"trades.{suffix}", content).frame["symbol"].tolist() == ["AAA"]


def test_10_numbers_with_signs_units_and_brackets(one: Any) -> None:
    rows = (
        '2024-01-02,AAA,BUY,"1,200","$1,234.50",USD 10\n2024-01-03,AAA,SELL,"1,200",1.2e3,(5.25)\n'
        "2024-01-04,AAA,BUY,3,€12.5,\u22121.5\n"
    )
    table = one("trades", "trades.csv", HEAD + rows)

    assert table.frame["quantity"].tolist() == [1200.0, 1200.0, 3.0]
    assert table.frame["price"].tolist() == [1234.5, 1200.0, 12.5]
    assert table.frame["fee"].tolist() == [10.0, 5.25, 1.5]


@pytest.mark.parametrize(
    ("cell", "value"), [("(5.2%)", -0.052), ("\u22125,2 %", -0.052), ("+12.5%", 0.125), ("35 bps", 0.0035)]
)
def test_10_percent_strings_of_metrics(one: Any, cell: str, value: float) -> None:
    table = one("metrics", "metrics.csv", f'metric,value\ntotal_return,"{cell}"\nsharpe,0.5\ntrades,10\n')

    assert table.frame.set_index("name")["value"]["total_return"] == pytest.approx(value)


@pytest.mark.parametrize("scale", [1.0, 100.0, 10_000.0])
@pytest.mark.parametrize("layout", ["long", "wide", "json"])
def test_11_weights_in_any_unit_and_layout(one: Any, scale: float, layout: str) -> None:
    long = pd.DataFrame(
        {
            "date": ["2024-01-31"] * 2 + ["2024-02-29"] * 2,
            "symbol": ["AAA", "BBB"] * 2,
            "weight": [0.25 * scale, 0.75 * scale, 0.5 * scale, 0.4 * scale],
        }
    )
    wide = long.pivot_table(index="date", columns="symbol", values="weight")
    content: Any = {"long": long, "wide": wide.reset_index(), "json": wide.to_json(orient="index")}[layout]
    suffix = "json" if layout == "json" else "csv"
    table = one("weights", f"weights.{suffix}", content)
    found = table.frame.sort_values(["date", "symbol"])

    assert found["weight"].tolist() == pytest.approx([0.25, 0.75, 0.5, 0.4])
    assert scale == 1.0 or any("divided by" in guess for guess in table.guesses)


def test_27_sheet_with_a_title_row_and_real_dates(one: Any) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Sheet1"
    sheet["A1"] = "Trade log of the momentum strategy"
    sheet.merge_cells("A1:E1")
    sheet.append([])
    sheet.append(["Date", "Ticker", "Action", "Shares", "Price"])
    sheet.append([dt.date(2024, 1, 2), "NA", "BUY", 10, 5.5])
    sheet.append([dt.date(2024, 1, 3), "AAA", "SELL", 3.5, 6])
    buffer = io.BytesIO()
    book.save(buffer)
    table = one("trades", "output.xlsx", buffer.getvalue())

    assert days(table) == ["2024-01-02", "2024-01-03"]
    assert table.frame["symbol"].tolist() == ["NA", "AAA"]
    assert table.frame["quantity"].tolist() == [10.0, 3.5]
    assert any("title" in guess for guess in table.guesses)
