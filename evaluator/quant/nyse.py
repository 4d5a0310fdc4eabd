"""The rules of the New York Stock Exchange's full closures, 1990-2035: its Rule 7.2 and the closures it announced.

A calendar library builds the same days in half a second of processor time; a grading of two would spend it twice.
tests/evaluator/quant/test_calendar.py holds these days against exchange_calendars.
"""

from collections.abc import Iterator

import numpy as np

from evaluator.quant.arrays import DayArray

_ANNOUNCED = (
    "1994-04-27",  # mourning for Nixon
    "2001-09-11",  # the attacks of that week
    "2001-09-12",
    "2001-09-13",
    "2001-09-14",
    "2004-06-11",  # mourning for Reagan
    "2007-01-02",  # mourning for Ford
    "2012-10-29",  # hurricane Sandy
    "2012-10-30",
    "2018-12-05",  # mourning for G. H. W. Bush
    "2025-01-09",  # mourning for Carter
)
_SATURDAY, _SUNDAY = 5, 6
_KING_FROM, _JUNETEENTH_FROM = 1998, 2022


def closures(first_year: int, last_year: int) -> DayArray:
    """Return the weekdays on which the exchange stays closed, oldest first, within 1990-2035."""
    days = [day for year in range(first_year, last_year + 1) for day in _regular(year)]
    return np.unique(np.array([*days, *_ANNOUNCED], dtype="datetime64[D]"))


def _regular(year: int) -> Iterator[np.datetime64]:
    new_year = np.datetime64(f"{year}-01-01")
    # On a Saturday it would fall on the last day of the old year's accounts, so it is not moved there.
    if _weekday(new_year) != _SATURDAY:
        yield _observed(new_year)
    if year >= _KING_FROM:
        yield _nth(year, 1, "Mon", 2)
    yield _nth(year, 2, "Mon", 2)
    yield _easter(year) - 2
    yield _nth(year, 6, "Mon", -1)
    if year >= _JUNETEENTH_FROM:
        yield _observed(np.datetime64(f"{year}-06-19"))
    yield _observed(np.datetime64(f"{year}-07-04"))
    yield _nth(year, 9, "Mon", 0)
    yield _nth(year, 11, "Thu", 3)
    yield _observed(np.datetime64(f"{year}-12-25"))


def _weekday(day: np.datetime64) -> int:
    # 1970-01-01 was a Thursday.
    return (int(day.astype(np.int64)) + 3) % 7


def _observed(day: np.datetime64) -> np.datetime64:
    """Return the Friday before a Saturday and the Monday after a Sunday."""
    return day + {_SATURDAY: -1, _SUNDAY: 1}.get(_weekday(day), 0)


def _nth(year: int, month: int, weekday: str, n: int) -> np.datetime64:
    """Return the weekday n after the month's first such day; -1 is the last of the month before."""
    return np.busday_offset(f"{year}-{month:02d}-01", n, roll="forward", weekmask=weekday)


def _easter(year: int) -> np.datetime64:
    """Return Easter Sunday by the Gregorian computus in its anonymous form (Nature, 1876)."""
    golden = year % 19
    century, rest = divmod(year, 100)
    leap, part = divmod(century, 4)
    shift = (century - (century + 8) // 25 + 1) // 3
    moon = (19 * golden + century - leap - shift + 15) % 30
    fourth, left = divmod(rest, 4)
    sunday = (32 + 2 * part + 2 * fourth - moon - left) % 7
    late = (golden + 11 * moon + 22 * sunday) // 451
    month, day = divmod(moon + sunday - 7 * late + 114, 31)
    return np.datetime64(f"{year}-{month:02d}-{day + 1:02d}")
