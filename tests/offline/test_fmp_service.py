"""The stand-in answers as FMP does: shapes, order, caps, refusals; and says what is not real."""

import itertools
import json
from typing import Any

import pytest

from offline.data.facts import load_facts
from offline.data.standins import FROZEN_TODAY
from offline.fmp import app
from offline.fmp.app import Service
from offline.fmp.replies import TEXT
from offline.fmp.routes import ROUTES
from tests.offline.conftest import KEY


def ask(service: Service, path: str, /, key: str = KEY, **params: str) -> Any:
    reply = service.answer(path, {name.rstrip("_"): value for name, value in params.items()}, key)
    assert reply.status == 200, reply.body
    return json.loads(reply.body)


def refused(service: Service, path: str, /, key: str = KEY, **params: str) -> tuple[int, str, str]:
    reply = service.answer(path, {name.rstrip("_"): value for name, value in params.items()}, key)
    return reply.status, reply.content_type, reply.body.decode()


def test_wrong_and_missing_keys_get_the_vendors_401(service: Service) -> None:
    for key in ("", "wrong", f"{KEY}x"):
        status, _, body = refused(service, "quote", key=key, symbol="KO")
        assert status == 401
        assert json.loads(body)["Error Message"].startswith("Invalid API KEY. Feel free to create")


def test_endpoint_outside_the_plan_gets_the_vendors_402_as_plain_text(service: Service) -> None:
    status, kind, body = refused(service, "news/stock-latest")
    assert (status, kind) == (402, TEXT)
    assert body.startswith("Restricted Endpoint: This endpoint is not available")


def test_missing_or_unreadable_parameters_get_400(service: Service) -> None:
    assert refused(service, "quote")[0] == 400
    assert refused(service, "historical-price-eod/full", symbol="KO", from_="yesterday")[2].endswith("- from")
    assert refused(service, "income-statement", symbol="KO", limit="many")[2].endswith("- limit")
    assert refused(service, "technical-indicators/sma", symbol="KO", periodLength="10", timeframe="1min")[0] == 402


def test_unknown_symbol_is_an_empty_list(service: Service) -> None:
    for path in ("historical-price-eod/full", "quote", "profile", "income-statement", "dividends", "earnings"):
        assert ask(service, path, symbol="NOSUCH") == []


def test_series_are_newest_first_and_capped_at_5000_rows(service: Service) -> None:
    rows = ask(service, "historical-price-eod/full", symbol="KO")
    dates = [row["date"] for row in rows]
    assert len(rows) == 5000
    assert dates == sorted(dates, reverse=True)
    assert dates[0] == FROZEN_TODAY


def test_from_and_to_are_inclusive(service: Service) -> None:
    rows = ask(service, "historical-price-eod/light", symbol="ko", from_="2020-01-02", to="2020-01-06")
    assert [row["date"] for row in rows] == ["2020-01-06", "2020-01-03", "2020-01-02"]
    assert ask(service, "historical-price-eod/light", symbol="KO", from_="2023-01-01") == []


def test_data_run_past_the_offline_cutoff_so_that_looking_ahead_is_possible(service: Service) -> None:
    rows = ask(service, "historical-price-eod/full", symbol="AAPL", from_="2022-01-01")
    assert rows[0]["date"] == FROZEN_TODAY > "2021-12-31"


def test_the_four_series_of_a_name_agree(service: Service) -> None:
    window = {"symbol": "KO", "from_": "2019-01-01", "to": "2019-12-31"}
    full = ask(service, "historical-price-eod/full", **window)
    light = ask(service, "historical-price-eod/light", **window)
    raw = ask(service, "historical-price-eod/non-split-adjusted", **window)
    adjusted = ask(service, "historical-price-eod/dividend-adjusted", **window)
    for a, b, c, d in zip(full, light, raw, adjusted, strict=True):
        assert a["date"] == b["date"] == c["date"] == d["date"]
        assert a["close"] == b["price"] == c["adjClose"]
        assert a["volume"] == b["volume"] == c["volume"] == d["volume"]
        assert c["splitsKnown"] is False
        assert d["adjClose"] / a["close"] == pytest.approx(d["adjOpen"] / a["open"], rel=1e-10)
        assert d["adjLow"] <= min(d["adjOpen"], d["adjClose"]) * (1 + 1e-11)


def test_dividends_explain_the_adjusted_series(service: Service) -> None:
    full = {row["date"]: row for row in ask(service, "historical-price-eod/full", symbol="MSFT", from_="2015-01-01")}
    adjusted = ask(service, "historical-price-eod/dividend-adjusted", symbol="MSFT", from_="2015-01-01")
    paid = {row["date"]: row["dividend"] for row in ask(service, "dividends", symbol="MSFT")}
    for after, before in itertools.pairwise(adjusted):
        ratio = {row["date"]: row["adjClose"] / full[row["date"]]["close"] for row in (before, after)}
        expected = 1 - paid.get(after["date"], 0) / full[before["date"]]["close"]
        assert ratio[before["date"]] / ratio[after["date"]] == pytest.approx(expected, abs=1e-9)


def test_modelled_rows_say_so_and_real_rows_do_not(service: Service) -> None:
    def marks(path: str, **params: str) -> set[bool]:
        return {row.get("modelled", False) for row in ask(service, path, **params)}

    for symbol in load_facts():
        real = symbol in {"AAPL", "AMZN", "GOOG", "META", "NFLX", "NVDA"}
        assert marks("historical-price-eod/full", symbol=symbol, from_="2013-01-02") == {not real}
    assert marks("historical-price-eod/full", symbol="AAPL", to="2012-12-31") == {True}
    assert marks("historical-price-eod/full", symbol="^GSPC", from_="2018-12-01", to="2019-01-31") == {True, False}
    assert marks("historical-price-eod/light", symbol="^VIX", from_="2014-01-03", to="2019-01-03") == {False}
    assert marks("historical-price-eod/light", symbol="^VIX", from_="2019-01-04") == {True}
    assert marks("historical-price-eod/full", symbol="^VIX") == {True}
    assert marks("dividends", symbol="KO") == {True}
    assert marks("dividends", symbol="AAPL") == {False}
    for path in ("income-statement", "balance-sheet-statement", "cash-flow-statement", "key-metrics", "ratios"):
        assert marks(path, symbol="KO") == {True}
    assert marks("earnings", symbol="KO") == {True}
    assert marks("historical-market-capitalization", symbol="KO", limit="5") == {True}
    assert marks("treasury-rates", from_="2017-03-01", to="2017-03-29") == {False}
    assert marks("treasury-rates", from_="2017-03-30", to="2017-04-28") == {True}


def test_spy_is_the_index_and_every_row_says_so(service: Service) -> None:
    spy = ask(service, "historical-price-eod/full", symbol="SPY", from_="2015-01-01", to="2015-12-31")
    index = ask(service, "historical-price-eod/full", symbol="^GSPC", from_="2015-01-01", to="2015-12-31")
    assert {row.pop("standIn") for row in spy} == {"^GSPC"}
    assert {row.pop("symbol") for row in spy} == {"SPY"}
    assert spy == [{name: value for name, value in row.items() if name != "symbol"} for row in index]
    assert ask(service, "quote", symbol="SPY")[0]["standIn"] == "^GSPC"


def test_treasury_rates_answer_at_most_90_days(service: Service) -> None:
    rows = ask(service, "treasury-rates", from_="2010-01-01", to="2016-12-30")
    assert rows[0]["date"] == "2016-12-30"
    assert "2016-09-30" < rows[-1]["date"] <= "2016-10-04"
    assert rows[0]["year10"] == 2.45
    assert "modelled" not in rows[0]


def test_statements_have_the_vendors_fields_in_order_and_both_dates(service: Service) -> None:
    (row,) = ask(service, "income-statement", symbol="AAPL", period="quarter", limit="1")
    head = (
        "date",
        "symbol",
        "reportedCurrency",
        "cik",
        "filingDate",
        "acceptedDate",
        "fiscalYear",
        "period",
        "revenue",
    )
    assert tuple(row)[: len(head)] == head
    assert row["acceptedDate"].startswith(row["filingDate"])
    assert row["fiscalYear"] == "2022"
    assert row["cik"] == "0000320193"
    assert row["operatingIncome"] == row["revenue"] - row["costAndExpenses"]
    assert row["incomeBeforeTax"] == row["operatingIncome"] + row["totalOtherIncomeExpensesNet"]
    years = ask(service, "income-statement", symbol="AAPL")
    assert {year["period"] for year in years} == {"FY"}
    assert len(years) == 14


def test_balance_sheet_parts_add_up(service: Service) -> None:
    for symbol in load_facts():
        for row in ask(service, "balance-sheet-statement", symbol=symbol, period="quarter", limit="8"):
            assert row["totalAssets"] == row["totalCurrentAssets"] + row["totalNonCurrentAssets"]
            assert row["totalLiabilities"] == row["totalCurrentLiabilities"] + row["totalNonCurrentLiabilities"]
            assert row["totalLiabilities"] + row["totalEquity"] == row["totalAssets"]
            assert row["totalStockholdersEquity"] == row["commonStock"] + row["retainedEarnings"]
            assert row["otherNonCurrentAssets"] >= 0, symbol
            assert row["otherNonCurrentLiabilities"] >= 0, symbol


def test_market_cap_history_uses_only_announced_shares(service: Service) -> None:
    quarters = ask(service, "income-statement", symbol="MSFT", period="quarter")
    caps = {row["date"]: row["marketCap"] for row in ask(service, "historical-market-capitalization", symbol="MSFT")}
    prices = {row["date"]: row["price"] for row in ask(service, "historical-price-eod/light", symbol="MSFT")}
    announced = quarters[4]["acceptedDate"][:10]
    day_before = max(day for day in caps if day < announced)
    assert caps[day_before] == round(prices[day_before] * quarters[5]["weightedAverageShsOut"])
    on_the_day = min(day for day in caps if day >= announced)
    assert caps[on_the_day] == round(prices[on_the_day] * quarters[4]["weightedAverageShsOut"])


def test_membership_has_the_point_in_time_traps(service: Service) -> None:
    today = {row["symbol"] for row in ask(service, "sp500-constituent")}
    assert {"META", "AMD"} <= today
    assert "RRC" not in today
    changes = ask(service, "historical-sp500-constituent")
    amd = [
        (row["date"], bool(row["addedSecurity"])) for row in changes if "AMD" in (row["symbol"], row["removedTicker"])
    ]
    assert ("2017-03-20", True) in amd
    assert ("2013-09-20", False) in amd or any(not added and day.startswith("2013-09") for day, added in amd)
    assert max(row["date"] for row in changes) <= FROZEN_TODAY


def test_search_finds_names_with_prices_first_and_indices(service: Service) -> None:
    assert ask(service, "search-name", query="coca")[0]["symbol"] == "KO"
    assert ask(service, "search-symbol", query="AAPL")[0]["symbol"] == "AAPL"
    assert [row["symbol"] for row in ask(service, "search-symbol", query="SPY")] == ["SPY"]
    assert ask(service, "search-symbol", query="^VI")[0]["symbol"] == "^VIX"
    assert ask(service, "search-cik", cik="320193")[0]["symbol"] == "AAPL"
    assert len(ask(service, "search-name", query="inc", limit="7")) == 7


def test_lists_and_screener_hold_exactly_the_names_with_prices(service: Service) -> None:
    listed = {row["symbol"] for row in ask(service, "stock-list")}
    assert listed == set(load_facts())
    assert {row["symbol"] for row in ask(service, "company-screener")} == listed
    technology = ask(service, "company-screener", sector="Technology", marketCapMoreThan="1000000000000")
    assert {row["symbol"] for row in technology} == {"AAPL", "MSFT"}
    assert ask(service, "company-screener", isEtf="true") == []
    assert ask(service, "company-screener", exchange="NASDAQ", priceLowerThan="1") == []


def test_profile_names_company_and_leaves_unknown_fields_null(service: Service) -> None:
    (row,) = ask(service, "profile", symbol="JPM")
    assert (row["companyName"], row["cik"], row["exchange"]) == ("JPMORGAN CHASE & CO", "0000019617", "NYSE")
    assert row["sector"] == "Financial Services"
    assert row["ceo"] is None
    assert 0.5 < row["beta"] < 2


def test_calendars_hold_a_window_and_splits_are_unknown(service: Service) -> None:
    assert ask(service, "splits", symbol="AAPL") == []
    rows = ask(service, "dividends-calendar", from_="2020-01-01", to="2020-12-31")
    assert min(row["date"] for row in rows) >= "2020-10-02"
    earnings = ask(service, "earnings-calendar", from_="2020-09-20", to="2020-12-15")
    assert {row["symbol"] for row in earnings} == set(load_facts())


def test_holidays_are_the_exchanges(service: Service) -> None:
    rows = ask(service, "holidays-by-exchange", exchange="NYSE", from_="2012-10-01", to="2012-12-31")
    closed = {row["date"] for row in rows if row["isClosed"]}
    assert closed == {"2012-10-29", "2012-10-30", "2012-11-22", "2012-12-25"}
    assert [row["adjCloseTime"] for row in rows if row["date"] == "2012-11-23"] == ["13:00"]
    assert ask(service, "exchange-market-hours", exchange="NASDAQ")[0]["isMarketOpen"] is False


def test_moving_average_is_the_mean_of_the_last_closes(service: Service) -> None:
    (row,) = ask(
        service, "technical-indicators/sma", symbol="KO", periodLength="3", timeframe="1day", from_=FROZEN_TODAY
    )
    closes = [r["price"] for r in ask(service, "historical-price-eod/light", symbol="KO", from_="2022-12-23")]
    assert row["sma"] == pytest.approx(sum(closes[:3]) / 3, abs=1e-6)
    for name, field in (("ema", "ema"), ("wma", "wma"), ("rsi", "rsi"), ("standarddeviation", "standardDeviation")):
        (other,) = ask(
            service,
            f"technical-indicators/{name}",
            symbol="KO",
            periodLength="14",
            timeframe="1day",
            from_=FROZEN_TODAY,
        )
        assert other[field] > 0


def test_core_cpi_is_served_as_cpi_and_says_so(service: Service) -> None:
    rows = ask(service, "economic-indicators", name="CPI", from_="2018-01-01", to="2018-12-31")
    assert [row["date"] for row in rows] == ["2018-11-01"]
    assert {row["standIn"] for row in rows} == {"CPILFESL"}
    assert refused(service, "economic-indicators", name="GDP")[0] == 402


def test_every_route_answers_without_a_fault(service: Service) -> None:
    given = {"symbol": "KO", "symbols": "KO,AAPL,SPY", "query": "a", "cik": "21344", "exchange": "NYSE", "name": "CPI"}
    given |= {"periodLength": "5", "timeframe": "1day", "from": "2016-01-01", "to": "2016-02-01"}
    for path in ROUTES:
        reply = service.answer(path, given, KEY)
        assert reply.status == 200, path
        assert isinstance(json.loads(reply.body), list), path


def test_answers_are_kept_and_still_belong_to_their_request(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ask(service, "historical-price-eod/light", symbol="KO", to="2020-01-31")
    other = ask(service, "historical-price-eod/light", symbol="PEP", to="2020-01-31")
    assert first == ask(service, "historical-price-eod/light", symbol="KO", to="2020-01-31")
    assert first != other
    monkeypatch.setattr(app, "KEPT_BYTES", 10_000)
    ask(service, "search-name", query="zz")
    assert sum(map(len, service.bodies.values())) <= 10_000
    assert first == ask(service, "historical-price-eod/light", symbol="KO", to="2020-01-31")
