"""One table at a time: role, columns, values and guesses."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.package.attempt import read_file
from evaluator.package.canonical import canonical
from evaluator.package.files import Found, group_of
from evaluator.package.headers import normalised
from evaluator.package.metric_names import canonical_metric
from evaluator.package.reading import read_tables
from evaluator.package.roles import recognise, shape_of
from tests.evaluator.worlds import backtest, market

PRICES = market(("AA", "BB", "NA", "TRUE"), end="2018-12-31")
RUN = backtest(market(end="2019-03-29"))


@pytest.fixture
def load(tmp_path: Any) -> Any:
    def _load(content: Any, name: Any = "table.csv") -> Any:
        path = tmp_path / name.replace("/", "_")
        if isinstance(content, pd.DataFrame):
            content.to_csv(path, index=False)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content, encoding="utf-8")
        tables, _, refused = read_file(Found(name, path, 1, path.stat().st_size))
        assert not refused, refused
        return tables

    return _load


def only(tables: Any, role: Any) -> Any:
    assert [table.role for table in tables] == [role]
    return tables[0].frame


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("\ufeffDate", "date"),
        ("Adj Close", "adj_close"),
        ("adjClose", "adj_close"),
        ("Return [%]", "return"),
        ("Price ($)", "price"),
        ("Price USD", "price"),
        ("# Trades", "#_trades"),
        ("<TICKER>", "ticker"),
        ("5. adjusted close", "adjusted_close"),
        ("fillingDate", "filling_date"),
    ],
)
def test_header_is_normalised(header: Any, expected: Any) -> None:
    assert normalised(header) == expected


def test_prices_keep_tickers_that_look_like_missing_values(load: Any) -> None:
    frame = only(load(PRICES), "prices")

    assert set(frame["symbol"]) == {"AA", "BB", "NA", "TRUE"}
    assert frame["date"].dtype == "datetime64[us]"
    ordered = PRICES.sort_values("date", kind="stable")
    np.testing.assert_allclose(frame["adj_close"], ordered["adj_close"], rtol=1e-12)


RENAMED = {
    "date": ["Date", "timestamp", "trade_date", "Datetime"],
    "symbol": ["Ticker", "asset", "Security", "stock_code"],
    "close": ["Close", "close_price", "last"],
    "adj_close": ["Adj Close", "adjclose", "Adjusted_Close"],
    "volume": ["Volume", "vol"],
}


@settings(max_examples=15, deadline=None)
@given(st.fixed_dictionaries({name: st.sampled_from(options) for name, options in RENAMED.items()}), st.randoms())
def test_aliases_column_order_and_row_order_do_not_matter(names: Any, random: Any) -> None:

    columns = list(PRICES.columns)
    random.shuffle(columns)
    table = PRICES[columns].sample(frac=1, random_state=1).rename(columns=names)
    (raw,) = read_tables(table.to_csv(index=False).encode(), ".csv")
    role, _ = recognise(shape_of(raw.frame, "data"))
    frame, _ = canonical(role, raw, "data")
    expected = PRICES.sort_values(["date", "symbol"]).reset_index(drop=True)
    found = frame.sort_values(["date", "symbol"]).reset_index(drop=True)

    assert role == "prices"
    np.testing.assert_allclose(found["close"], expected["close"], rtol=1e-12)
    assert found["symbol"].tolist() == expected["symbol"].tolist()


@pytest.mark.parametrize("how", ["semicolon", "tab", "bom", "utf16", "preamble", "index", "newest_first"])
def test_spellings_of_one_table_read_alike(load: Any, how: Any) -> None:
    table = PRICES[["date", "symbol", "open", "high", "low", "close"]]
    name = "prices.csv"
    if how == "semicolon":
        content = table.to_csv(index=False, sep=";", decimal=",")
    elif how == "tab":
        content, name = table.to_csv(index=False, sep="\t"), "prices.tsv"
    elif how == "bom":
        content = b"\xef\xbb\xbf" + table.to_csv(index=False).encode()
    elif how == "utf16":
        content = table.to_csv(index=False).encode("utf-16")
    elif how == "preamble":
        content = "# made by backtest.py\n# prices\n" + table.to_csv(index=False)
    elif how == "index":
        content = table.to_csv(index=True)
    else:
        content = table.iloc[::-1].to_csv(index=False)
    frame = only(load(content, name), "prices").sort_values(["date", "symbol"])

    expected = PRICES.sort_values(["date", "symbol"])
    np.testing.assert_allclose(frame["close"], expected["close"], rtol=1e-12)


def test_parquet_and_json_records_read_alike(load: Any, tmp_path: Any) -> None:
    path = tmp_path / "x.parquet"
    PRICES.to_parquet(path)
    parquet = only(load(path.read_bytes(), "prices.parquet"), "prices")
    records = PRICES.assign(date=PRICES["date"].dt.strftime("%Y-%m-%d")).to_json(orient="records")
    as_json = only(load(records, "prices.json"), "prices")
    lines = "\n".join(json.dumps(row) for row in json.loads(records))

    np.testing.assert_allclose(parquet["close"], as_json["close"], rtol=1e-9)
    assert len(only(load(lines, "prices.jsonl"), "prices")) == len(PRICES)


def test_wide_prices_equal_long_prices(load: Any) -> None:
    wide = PRICES.pivot_table(index="date", columns="symbol", values="close").reset_index()
    tables = load(wide, "prices.csv")
    frame = only(tables, "prices").sort_values(["date", "symbol"])

    np.testing.assert_allclose(frame["close"], PRICES.sort_values(["date", "symbol"])["close"], rtol=1e-12)
    assert set(frame["symbol"]) == {"AA", "BB", "NA", "TRUE"}
    assert any("wide table" in guess for guess in tables[0].guesses)


def test_one_file_per_symbol_takes_the_symbol_from_its_name(load: Any) -> None:
    tables = load(PRICES[PRICES["symbol"] == "AA"].drop(columns="symbol"), "prices/AA.csv")

    assert set(only(tables, "prices")["symbol"]) == {"AA"}
    assert any("file name" in guess for guess in tables[0].guesses)


def test_index_series_are_market_not_prices(load: Any) -> None:
    table = pd.DataFrame({"date": ["2020-01-02", "2020-01-02"], "symbol": ["^GSPC", "^VIX"], "close": [3257.0, 12.5]})

    assert only(load(table, "market.csv"), "market")["value"].tolist() == [3257.0, 12.5]
    assert only(load(table, "closes.csv"), "market").columns.tolist() == ["date", "symbol", "value"]
    wide = pd.DataFrame({"date": ["2020-01-02"], "SPY": [320.0], "VIX": [12.5]})
    assert set(only(load(wide, "market_series.csv"), "market")["symbol"]) == {"SPY", "VIX"}


def test_trades_of_the_reference_columns(load: Any) -> None:
    log = RUN.trades.assign(fill_id=range(len(RUN.trades)), trigger="selected=1;rank=2")
    frame = only(load(log, "trades.csv"), "trades")

    assert {"date", "symbol", "side", "quantity", "price", "fee", "signal_date", "reason", "trigger", "fill_id"} == set(
        frame.columns
    )
    assert set(frame["side"]) == {1.0, -1.0}
    assert (frame["date"] > frame["signal_date"]).all()
    assert frame["fee"].sum() == pytest.approx(log["fee"].sum())


@pytest.mark.parametrize(
    ("buy", "sell"), [("BUY", "SELL"), ("Bot", "Sld"), ("long", "short"), ("1", "-1"), ("多", "sell"), ("B", "S")]
)
def test_words_for_sides(load: Any, buy: Any, sell: Any) -> None:
    log = pd.DataFrame(
        {
            "Date": ["2020-01-02", "2020-01-03"],
            "Ticker": ["A", "A"],
            "Action": [buy, sell],
            "Shares": [10, 10],
            "Price": [5.0, 6.0],
        }
    )

    assert only(load(log), "trades")["side"].tolist() == [1.0, -1.0]


def test_signed_quantities_are_sides(load: Any) -> None:
    log = pd.DataFrame({"date": ["2020-01-02"] * 2, "symbol": ["A", "B"], "quantity": [10, -4], "price": [5.0, 6.0]})
    tables = load(log, "transactions.csv")
    frame = only(tables, "trades")

    assert frame["side"].tolist() == [1.0, -1.0]
    assert frame["quantity"].tolist() == [10.0, 4.0]
    assert any("sign of the quantity" in guess for guess in tables[0].guesses)


def test_cost_column_as_large_as_the_trade_is_no_fee(load: Any) -> None:
    base = {"date": ["2020-01-02"], "symbol": ["A"], "side": ["BUY"], "shares": [10], "price": [5.0]}

    assert "fee" not in only(load(pd.DataFrame({**base, "cost": [50.0]})), "trades")
    assert only(load(pd.DataFrame({**base, "cost": [0.05]})), "trades")["fee"].tolist() == [0.05]
    assert only(load(pd.DataFrame({**base, "cost_bps": [10]})), "trades")["fee"].tolist() == [pytest.approx(0.05)]


def test_orders_that_were_not_filled_are_left_out(load: Any) -> None:
    log = pd.DataFrame(
        {
            "date": ["2020-01-02", "2020-01-02"],
            "symbol": ["A", "B"],
            "side": ["BUY", "BUY"],
            "qty": [1, 1],
            "price": [5.0, 5.0],
            "status": ["Filled", "Cancelled"],
        }
    )

    assert only(load(log, "orders.csv"), "trades")["symbol"].tolist() == ["A"]


def test_total_and_repeated_header_rows_are_left_out(load: Any) -> None:
    log = "date,symbol,side,quantity,price\n2020-01-02,A,BUY,1,5\ndate,symbol,side,quantity,price\nTOTAL,,,1,5\n"
    tables = load(log, "trades.csv")

    assert len(only(tables, "trades")) == 1
    assert any("left out" in guess for guess in tables[0].guesses)


def test_unparsable_row_of_a_log_stays_visible(load: Any) -> None:
    log = "date,symbol,side,quantity,price\n2020-01-02,A,BUY,1,5\nsometime,B,BUY,1,5\n"

    assert only(load(log, "trades.csv"), "trades")["date"].isna().sum() == 1


@pytest.mark.parametrize(("scale", "name"), [(1, "weight"), (100, "weight"), (100, "weight_pct"), (10_000, "weight")])
def test_weights_in_percent_or_basis_points_become_fractions(load: Any, scale: Any, name: Any) -> None:
    table = RUN.weights.assign(weight=RUN.weights["weight"] * scale).rename(columns={"weight": name})
    frame = only(load(table, "target_weights.csv"), "weights")

    assert frame.groupby("date")["weight"].sum().to_numpy() == pytest.approx(1)


def test_wide_weights_equal_long_weights(load: Any) -> None:
    wide = RUN.weights.pivot_table(index="date", columns="symbol", values="weight").fillna(0).reset_index()
    frame = only(load(wide, "weights.csv"), "weights")
    found = frame[frame["weight"] > 0].sort_values(["date", "symbol"])

    assert found["symbol"].tolist() == RUN.weights.sort_values(["date", "symbol"])["symbol"].tolist()


def test_signals_long_and_one_column_per_factor(load: Any) -> None:
    assert only(load(RUN.signals, "signals.csv"), "signals").columns.tolist() == ["date", "symbol", "factor", "value"]
    wide = RUN.signals.rename(columns={"value": "mom_6_1"}).drop(columns="factor").assign(roe=0.1)
    frame = only(load(wide, "factor_scores.csv"), "signals")
    assert set(frame["factor"]) == {"mom_6_1", "roe"}


def test_selections_by_rank_or_by_flag(load: Any) -> None:
    assert len(only(load(RUN.selections, "selections.csv"), "selections")) == len(RUN.selections)
    flagged = RUN.selections.assign(selected=RUN.selections["rank"] <= 2).drop(columns="rank")
    frame = only(load(flagged, "picks.csv"), "selections")
    assert len(frame) == len(RUN.selections) / 2


def test_fundamentals_take_the_acceptance_time_over_the_filing_date(load: Any) -> None:
    table = pd.DataFrame(
        {
            "date": ["2023-12-31"],
            "symbol": ["A"],
            "fillingDate": ["2024-01-20"],
            "acceptedDate": ["2024-01-19 18:05:00"],
            "period": ["Q4"],
            "revenue": [10.0],
            "netIncome": [1.0],
            "weightedAverageShsOut": [5.0],
        }
    )
    frame = only(load(table, "income.csv"), "fundamentals")

    assert str(frame["announced"].iloc[0].date()) == "2024-01-22"
    assert str(frame["period_end"].iloc[0].date()) == "2023-12-31"
    assert {"revenue", "net_income", "shares", "period"} <= set(frame.columns)


def test_equity_from_value_or_from_returns(load: Any) -> None:
    assert only(load(RUN.equity, "equity.csv"), "equity").columns.tolist() == ["date", "equity", "cash"]
    nav = RUN.equity.rename(columns={"equity": "Portfolio Value"}).assign(benchmark_value=1.0)
    assert "equity" in only(load(nav, "curve.csv"), "equity")
    returns = pd.DataFrame({"date": ["2020-01-02", "2020-01-03"], "return": [0.1, -0.5]})
    assert only(load(returns, "returns.csv"), "equity")["equity"].tolist() == pytest.approx([1.1, 0.55])


def test_metrics_get_names_fractions_and_signs(load: Any) -> None:
    text = (
        "metric,value,basis\nTotal Return [%],12.5,net\nSharpe Ratio,0.8,rf 0\nMax Drawdown,25%,\n"
        "Number of trades,147,fills\nBenchmark total return,0.3,\nTotal return (gross),0.2,\nstart,2018-07-31,\n"
    )
    frame = only(load(text, "metrics.csv"), "metrics")
    found = dict(zip(frame["name"], frame["value"], strict=True))

    assert found["total_return"] == pytest.approx(0.125)
    assert found["sharpe"] == 0.8
    assert found["max_drawdown"] == -0.25
    assert found["trades"] == 147
    assert found["benchmark_total_return"] == 0.3
    assert found["gross_total_return"] == 0.2
    assert frame.set_index("name").loc["start", "text"] == "2018-07-31"


def test_metrics_of_a_json_object_with_their_basis_are_named_by_their_keys(load: Any) -> None:
    basis = "2014-01-02 to 2018-12-31; net"
    text = json.dumps({"total_return": {"value": 0.42, "basis": basis}, "trades": {"value": 598, "basis": "fills"}})

    frame = only(load(text, "metrics.json"), "metrics").set_index("name")

    assert frame["value"].to_dict() == {"total_return": 0.42, "trades": 598.0}
    assert frame.loc["total_return", "basis"] == basis


def test_metrics_of_a_json_object_and_of_percent_without_sign(load: Any) -> None:
    found = only(
        load(json.dumps({"total_return": 35.2, "max_drawdown": -18.0, "sharpe": 1.1}), "metrics.json"), "metrics"
    )
    values = dict(zip(found["name"], found["value"], strict=True))

    assert values == {"total_return": pytest.approx(0.352), "max_drawdown": pytest.approx(-0.18), "sharpe": 1.1}


def test_strategy_column_counts_and_the_benchmark_stands_apart(load: Any) -> None:
    table = pd.DataFrame({"Metric": ["CAGR", "Sharpe"], "Benchmark": [0.1, 0.5], "Strategy": [0.2, 0.9]})
    frame = only(load(table, "summary.csv"), "metrics")
    values = dict(zip(frame["name"], frame["value"], strict=True))

    assert values["cagr"] == 0.2
    assert values["benchmark_sharpe"] == 0.5


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("Return (Ann.) [%]", "cagr"),
        ("Max. Drawdown [%]", "max_drawdown"),
        ("# Trades", "trades"),
        ("annualised volatility", "volatility"),
        ("net_total_return", "total_return"),
        ("Out-of-sample Sharpe", "oos_sharpe"),
        ("SPY CAGR", "benchmark_cagr"),
        ("time_in_market", "exposure"),
        ("favourite colour", None),
    ],
)
def test_metric_labels(label: Any, name: Any) -> None:
    assert canonical_metric(label) == name


def test_specification_table_and_json_config(load: Any) -> None:
    text = "component,parameter,value,source,definition\nrisk_control,rule,drawdown_stop,user,sell all\n"
    frame = only(load(text, "specification.csv"), "spec")
    assert frame.iloc[0].to_dict() == {
        "component": "risk_control",
        "key": "rule",
        "value": "drawdown_stop",
        "source": "user",
        "definition": "sell all",
    }
    nested = {"costs": {"rate_bps": 10}, "factors": ["mom_12_1", "roe"], "n_holdings": 10}
    frame = only(load(json.dumps(nested), "config.json"), "spec")
    assert dict(zip(frame["key"], frame["value"], strict=True)) == {
        "rate_bps": "10",
        "factors": "mom_12_1+roe",
        "n_holdings": "10",
    }
    assert only(load("execution:\n  rule: next_open\n", "settings.yaml"), "spec")["component"].tolist() == ["execution"]


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("data_quality.csv", "quality"),
        ("sensitivity.csv", "sensitivity"),
        ("out_of_sample.csv", "out_of_sample"),
        ("sources.csv", "sources"),
    ],
)
def test_free_tables_go_by_their_name(load: Any, name: Any, role: Any) -> None:
    table = pd.DataFrame({"series": ["prices"], "parameter": ["x"], "value": [1], "sharpe": [0.4]})

    assert only(load(table, name), role).equals(load(table, name)[0].frame)


@pytest.mark.parametrize(
    ("path", "group"),
    [
        ("trades.csv", "main"),
        ("stress/trades.csv", "stress"),
        ("results/stress/capital/trades.csv", "stress/capital"),
        ("stress_trades.csv", "stress"),
        ("trades_stress_10x.csv", "stress_10x"),
        ("distressed.csv", "main"),
        ("data/prices.csv", "main"),
    ],
)
def test_side_runs_have_their_own_group(path: Any, group: Any) -> None:
    assert group_of(path) == group


def test_table_of_unknown_role_gets_typed_dates(load: Any) -> None:
    news = pd.DataFrame({"Published": ["2022-02-01"], "headline": ["up"], "url": ["u"]})
    (table,) = load(news, "news.csv")

    assert table.role == "other"
    assert table.frame["date"].tolist() == [pd.Timestamp("2022-02-01")]
    assert table.frame["headline"].tolist() == ["up"]
