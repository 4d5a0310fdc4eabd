from typing import Any

import numpy as np
import pandas as pd
import pytest

from evaluator.quant.calendar import (
    decision_dates,
    infer_rebalance,
    is_session,
    session_number,
    sessions,
    shift_session,
)


def test_days_of_mourning_and_storms_are_closed() -> None:
    closed = pd.DatetimeIndex(["2018-12-05", "2012-10-29", "2025-01-09", "2001-09-12", "2024-03-31"])

    assert not is_session(closed).any()


def test_year_2024_has_252_sessions_and_1990_is_reached() -> None:
    assert len(sessions("2024-01-01", "2024-12-31")) == 252
    assert sessions("1990-01-01", "1990-01-05")[0] == pd.Timestamp("1990-01-02")


def test_closed_day_counts_as_the_session_before() -> None:
    days = pd.DatetimeIndex(["2024-03-28", "2024-03-31", "2024-04-01"])

    assert np.diff(session_number(days)).tolist() == [0, 1]
    assert shift_session("2024-03-31", 1) == pd.Timestamp("2024-04-01")
    assert session_number(pd.DatetimeIndex([pd.NaT]))[0] < 0


@pytest.mark.parametrize(
    ("rebalance", "expected"),
    [
        ("weekly", ["2024-03-08", "2024-03-15", "2024-03-22", "2024-03-28"]),
        ("monthly", ["2024-03-28"]),
        ("quarterly", ["2024-03-28"]),
    ],
)
def test_decisions_are_the_last_session_of_each_period(rebalance: Any, expected: Any) -> None:
    days = sessions("2024-03-04", "2024-04-02")

    assert decision_dates(days, rebalance).tolist() == [pd.Timestamp(day) for day in expected]


def test_period_cut_short_by_the_data_makes_no_decision() -> None:
    assert len(decision_dates(sessions("2024-05-02", "2024-05-30"), "monthly")) == 0
    assert len(decision_dates(sessions("2024-05-02", "2024-05-31"), "monthly")) == 1


@pytest.mark.parametrize("rebalance", ["weekly", "monthly", "quarterly"])
def test_rebalance_is_inferred_from_its_own_dates(rebalance: Any) -> None:
    assert infer_rebalance(decision_dates(sessions("2019-01-02", "2021-12-31"), rebalance)) == rebalance


def test_daily_dates_fit_no_rebalance() -> None:
    assert infer_rebalance(sessions("2019-01-02", "2019-06-28")) is None


@pytest.mark.filterwarnings("ignore")
def test_sessions_are_those_of_the_finished_calendar() -> None:
    from exchange_calendars.exchange_calendar_xnys import XNYSExchangeCalendar  # noqa: PLC0415 -- slow, for this test only

    whole = XNYSExchangeCalendar(start="1990-01-01", end="2035-12-31").sessions.tz_localize(None)

    assert (sessions("1990-01-01", "2035-12-31") == whole).all()
