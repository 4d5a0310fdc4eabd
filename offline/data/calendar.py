"""Holidays and early closes of the New York Stock Exchange as a table, from exchange_calendars."""

import exchange_calendars
import pandas as pd

from offline.data.standins import FROZEN_TODAY

FIRST_DAY = "1990-01-01"
SATURDAY = 5


def holidays() -> pd.DataFrame:
    """Return weekdays without a session and early closes: date, name, isClosed, adjOpenTime, adjCloseTime."""
    last = f"{FROZEN_TODAY[:4]}-12-31"
    calendar = exchange_calendars.get_calendar("XNYS", start=FIRST_DAY, end=last)
    weekdays = pd.date_range(FIRST_DAY, last, freq="B")
    names = calendar.regular_holidays.holidays(pd.Timestamp(FIRST_DAY), pd.Timestamp(last), return_name=True)
    closed = [day for day in weekdays if day not in calendar.sessions]
    rows = [(day, str(names.get(day, "Special closing")), True, None) for day in closed]
    rows += [
        (day, "Early close", False, calendar.session_close(day).tz_convert("America/New_York").strftime("%H:%M"))
        for day in calendar.early_closes
        if day in calendar.sessions
    ]
    table = pd.DataFrame(rows, columns=["date", "name", "isClosed", "adjCloseTime"]).sort_values("date")
    table["date"] = table["date"].dt.strftime("%Y-%m-%d")
    table["adjOpenTime"] = None
    return table[["date", "name", "isClosed", "adjOpenTime", "adjCloseTime"]].reset_index(drop=True)
