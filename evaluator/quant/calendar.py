"""XNYS sessions: which days trade, how many sessions lie between two days, and the last session of each period."""

import datetime as dt
import warnings
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from evaluator.quant.arrays import BoolArray, IntArray

FIRST_YEAR = 1990
LAST_YEAR = 2035

Day = str | dt.date | pd.Timestamp


@cache
def _all() -> pd.DatetimeIndex:
    from exchange_calendars.exchange_calendar_xnys import XNYSExchangeCalendar  # noqa: PLC0415 -- 0.2 s, often not needed

    # Only its rules are needed: a finished calendar also builds opening times of every day, four times the work.
    rules = object.__new__(XNYSExchangeCalendar)
    first, last = f"{FIRST_YEAR}-01-01", f"{LAST_YEAR}-12-31"
    with warnings.catch_warnings():
        # exchange_calendars 4.13 touches a Series.values spelling that pandas 3.1 deprecates.
        warnings.simplefilter("ignore")
        regular = rules.regular_holidays.holidays(pd.Timestamp(first), pd.Timestamp(last))
        closed = pd.DatetimeIndex([*regular, *(pd.Timestamp(day).tz_localize(None) for day in rules.adhoc_holidays)])
    days = np.arange(first, f"{LAST_YEAR + 1}-01-01", dtype="datetime64[D]")
    opened = np.is_busday(days, weekmask=rules.weekmask, holidays=closed.to_numpy().astype("datetime64[D]"))
    return pd.DatetimeIndex(days[opened]).as_unit("us")


@cache
def _days() -> IntArray:
    return _all().to_numpy().astype("datetime64[D]").astype(np.int64)


def _as_days(dates: Any) -> IntArray:
    return np.asarray(pd.DatetimeIndex(dates).to_numpy().astype("datetime64[D]").astype(np.int64))


def sessions(start: Day, end: Day) -> pd.DatetimeIndex:
    """Return the sessions from start to end, both included, within 1990-2035."""
    whole = _all()
    return whole[(whole >= pd.Timestamp(start)) & (whole <= pd.Timestamp(end))]


def is_session(dates: pd.DatetimeIndex) -> BoolArray:
    """Return which dates are sessions; NaT is none."""
    return np.isin(_as_days(dates), _days())


def session_number(dates: "pd.Series[Any] | pd.DatetimeIndex") -> IntArray:
    """Return a running session number; a closed day has that of the last session before it, NaT has a negative one."""
    found: IntArray = np.searchsorted(_days(), _as_days(dates), side="right").astype(np.int64) - 1
    return found


def shift_session(day: Day, n: int) -> pd.Timestamp:
    """Return the session n after `day` (a closed day counts as the session before it); clipped to the calendar."""
    whole = _all()
    at = int(session_number(pd.DatetimeIndex([pd.Timestamp(day)]))[0]) + n
    return whole[min(max(at, 0), len(whole) - 1)]


def _period(days: pd.DatetimeIndex, rebalance: str) -> IntArray:
    if rebalance == "weekly":
        # 1970-01-01 was a Thursday; +3 makes Monday the first day of an ISO week.
        return np.asarray((_as_days(days) + 3) // 7)
    months = np.asarray(days.year * 12 + days.month - 1, dtype=np.int64)
    return months if rebalance == "monthly" else months // 3


def decision_dates(days: pd.DatetimeIndex, rebalance: str) -> pd.DatetimeIndex:
    """Return the last session of each ISO week, month or quarter among `days` (sessions, oldest first).

    The last period is kept only when `days` reaches its real last session.
    """
    if len(days) == 0 or rebalance not in ("weekly", "monthly", "quarterly"):
        return days[:0]
    periods = _period(days, rebalance)
    ends = np.append(periods[1:] != periods[:-1], [False])
    following = shift_session(days[-1], 1)
    ends[-1] = _period(pd.DatetimeIndex([following]), rebalance)[0] != periods[-1]
    return days[ends]


def infer_rebalance(dates: pd.DatetimeIndex) -> str | None:
    """Return weekly, monthly or quarterly by the median spacing of decision dates; None when none fits."""
    if len(dates) < 3:
        return None
    gap = float(np.median(np.diff(session_number(dates.sort_values()))))
    for name, low, high in (("weekly", 4, 6), ("monthly", 18, 24), ("quarterly", 58, 68)):
        if low <= gap <= high:
            return name
    return None


def last_sessions(dates: pd.DatetimeIndex) -> pd.DatetimeIndex:
    """Return each date's own session or, on a closed day, the one before; NaT and dates outside 1990-2035 stay."""
    numbers = session_number(dates)
    whole = _all()
    known = (numbers >= 0) & (_as_days(dates) <= _days()[-1])
    found = dates.to_numpy().astype("datetime64[us]").copy()
    found[known] = whole.to_numpy()[numbers[known]]
    return pd.DatetimeIndex(found)
