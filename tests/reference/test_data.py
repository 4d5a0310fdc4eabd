"""Fetching: announcement dates, cuts at the last permitted date, dividends between sessions, refusals."""

import json
from typing import Any

import data
import numpy as np
import pandas as pd
import pytest
from fmp import DataError, Service

SESSIONS = pd.DatetimeIndex(["2020-01-02", "2020-01-03", "2020-01-06"])


@pytest.mark.parametrize(
    ("accepted", "filed", "known"),
    [
        ("2020-01-02 15:59:59", "2020-01-02", "2020-01-02"),
        ("2020-01-02 16:00:00", "2020-01-02", "2020-01-02"),
        ("2020-01-02 16:00:01", "2020-01-02", "2020-01-03"),
        ("2020-01-03 18:00:00", "2020-01-03", "2020-01-06"),
        (None, "2020-01-03", "2020-01-03"),
    ],
)
def test_statement_accepted_after_the_close_is_known_one_session_later(
    accepted: str | None, filed: str, known: str
) -> None:
    assert data.announced_session(accepted, filed, SESSIONS) == pd.Timestamp(known)


def test_statement_known_only_after_the_last_session_is_left_out() -> None:
    assert data.announced_session("2020-01-06 17:00:00", None, SESSIONS) is None
    assert data.announced_session(None, None, SESSIONS) is None


def test_dividend_between_sessions_is_paid_on_the_next_one() -> None:
    rows = [{"date": "2020-01-04", "adjDividend": 0.5}, {"date": "2021-01-04", "adjDividend": 9.0}]
    paid = data._dividends(rows, SESSIONS, "2020-01-01", "2020-12-31")
    assert paid == {pd.Timestamp("2020-01-06"): 0.5}


def test_rows_after_the_last_permitted_date_are_dropped_before_anything_is_written() -> None:
    rows = [{"date": day, "close": 1.0} for day in ("2020-01-07", "2020-01-06", "2019-12-31")]
    assert list(data._inside(rows, "2020-01-01", "2020-01-06")["date"]) == [pd.Timestamp("2020-01-06")]


def test_three_statements_of_a_quarter_are_known_when_the_last_one_is() -> None:
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    stamps = {
        "income-statement": "2020-01-02",
        "cashflow-statement": "2020-01-03",
        "balance-sheet-statement": "2020-01-02",
    }
    for tool, day in stamps.items():
        row = {"date": "2019-09-30", "filingDate": day, "acceptedDate": f"{day} 08:00:00"}
        found[tool, "AAA"] = [row | {"capitalExpenditure": -5, "totalStockholdersEquity": 7, "preferredStock": 2}]
    table = data._fundamentals(found, ["AAA"], SESSIONS, "2020-01-01", "2020-01-06")
    assert table["announced"].tolist() == [pd.Timestamp("2020-01-03")]
    assert table["capex"].tolist() == [5.0]
    assert table["common_equity"].tolist() == [5.0]
    assert np.isnan(table["revenue"].iloc[0])


@pytest.mark.parametrize(
    ("text", "failed"),
    [("HTTP 402: Restricted Endpoint", True), ("not json", False), (json.dumps({"Error Message": "Limit"}), False)],
)
def test_answer_without_rows_is_an_error_the_client_can_read(
    text: str, failed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service("http://127.0.0.1:9/mcp", pause_s=0.0)
    result = {"isError": failed, "content": [{"type": "text", "text": text}]}
    monkeypatch.setattr(service, "_post", lambda *_: result)
    with pytest.raises(DataError, match="market data service"):
        service.rows("dividends-company", symbol="AAA")
    assert service.calls == []


def test_service_out_of_reach_is_said_without_inner_detail() -> None:
    with pytest.raises(DataError, match=r"^the market data service is out of reach$"):
        Service("http://127.0.0.1:9/mcp").connect()


def test_busy_service_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service("http://127.0.0.1:9/mcp", pause_s=0.0)
    answers = iter(
        [
            {"isError": True, "content": [{"type": "text", "text": "HTTP 429: Limit Reach"}]},
            {"isError": False, "content": [{"type": "text", "text": '[{"date": "2020-01-02"}]'}]},
        ]
    )
    monkeypatch.setattr(service, "_post", lambda *_: next(answers))
    assert service.rows("dividends-company", symbol="AAA") == [{"date": "2020-01-02"}]
