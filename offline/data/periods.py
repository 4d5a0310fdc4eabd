"""Fiscal quarters of a name with modelled filing and acceptance times."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

import numpy as np
import pandas as pd

from offline.data.facts import Facts, generator
from offline.data.standins import FROZEN_TODAY

FIRST_FISCAL_YEAR, LAST_FISCAL_YEAR = 2009, 2023
EARLIEST_LAG_DAYS, LATEST_LAG_DAYS = 20, 45
SATURDAY = 5


@dataclass(frozen=True)
class Quarter:
    """One fiscal quarter; a fiscal year is named after the calendar year in which it ends."""

    fiscal_year: int
    quarter: int
    end: date
    accepted: datetime


def month_end(year: int, month: int) -> date:
    """Return the last day of a month; months outside 1-12 count on into neighbouring years."""
    index = year * 12 + month
    return date(index // 12, index % 12 + 1, 1) - timedelta(days=1)


def acceptance(end: date, *, is_annual: bool, random: np.random.Generator) -> datetime:
    """Return the New York time of acceptance, a weekday 20 to 45 days after the period end.

    Half are accepted before the open, a seventh during the session, the rest after 16:00 and before 17:30, when the
    filing date would become the next day.
    """
    low = 30 if is_annual else EARLIEST_LAG_DAYS
    day = end + timedelta(days=int(random.integers(low, LATEST_LAG_DAYS - 1)))
    if day.weekday() >= SATURDAY:
        day += timedelta(days=7 - day.weekday())
    slot = random.random()
    start, minutes = (time(6, 5), 200) if slot < 0.5 else (time(9, 45), 360) if slot < 0.64 else (time(16, 1), 84)
    return datetime.combine(day, start) + timedelta(seconds=int(random.integers(0, minutes * 60)))


def fiscal_quarters(facts: Facts) -> list[Quarter]:
    """Return the quarters from fiscal 2009 that were accepted by the frozen today, oldest first."""
    random = generator(facts.symbol, "acceptance")
    today = pd.Timestamp(FROZEN_TODAY).to_pydatetime() + timedelta(days=1)
    quarters = []
    for year in range(FIRST_FISCAL_YEAR, LAST_FISCAL_YEAR + 1):
        for quarter in range(1, 5):
            end = month_end(year, facts.fiscal_year_end - 3 * (4 - quarter))
            accepted = acceptance(end, is_annual=quarter == 4, random=random)
            if accepted < today:
                quarters.append(Quarter(year, quarter, end, accepted))
    return quarters
