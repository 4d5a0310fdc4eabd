"""Treasury par yields: real to 2017-03-29, then modelled around year-end anchors of the short and the long end.

Anchors are round public magnitudes of the 3-month and 10-year yields; tenors between and around them follow a curve in the square
root of maturity, with a small persistent noise. They exercise the machine and are no source.
"""

import numpy as np
import pandas as pd

from offline.data.facts import autoregressive, generator

TENORS: dict[str, float] = {
    "month1": 1 / 12,
    "month2": 2 / 12,
    "month3": 0.25,
    "month6": 0.5,
    "year1": 1,
    "year2": 2,
    "year3": 3,
    "year5": 5,
    "year7": 7,
    "year10": 10,
    "year20": 20,
    "year30": 30,
}
SOURCE_NAMES = {name: name.replace("month", "") + "month" for name in TENORS if name.startswith("month")}
SOURCE_NAMES |= {name: name.replace("year", "") + "year" for name in TENORS if name.startswith("year")}
ANCHORS = (
    ("2017-12-29", 1.4, 2.4),
    ("2018-12-31", 2.4, 2.7),
    ("2019-12-31", 1.5, 1.9),
    ("2020-03-31", 0.1, 0.7),
    ("2020-12-31", 0.1, 0.9),
    ("2021-12-31", 0.1, 1.5),
    ("2022-06-30", 1.7, 3.0),
    ("2022-12-30", 4.4, 3.9),
)


def real_rates(source: pd.DataFrame) -> pd.DataFrame:
    """Return real yields in percent by date; columns are FMP's names, None where the source has no value."""
    table = pd.DataFrame(index=pd.DatetimeIndex(source.index))
    for name in TENORS:
        column = source.get(SOURCE_NAMES[name])
        table[name] = np.nan if column is None else (column.to_numpy(dtype=float) * 100).round(2)
    return table


def _ends(dates: pd.DatetimeIndex, last: tuple[pd.Timestamp, float, float]) -> tuple[np.ndarray, np.ndarray]:
    known = [last, *[(pd.Timestamp(day), short, long) for day, short, long in ANCHORS]]
    days = [float(day.toordinal()) for day, _, _ in known]
    wanted = [float(day.toordinal()) for day in dates]
    short = np.interp(wanted, days, [value for _, value, _ in known])
    long = np.interp(wanted, days, [value for _, _, value in known])
    noise = autoregressive(generator("treasury", "long"), len(dates), rho=0.98, sd=0.14)
    return short, long + noise - noise[0] * 0.98 ** np.arange(len(dates))


def modelled_rates(dates: pd.DatetimeIndex, last: tuple[pd.Timestamp, float, float]) -> pd.DataFrame:
    """Return modelled yields in percent for sessions after `last` (date, 3-month, 10-year), never below 0.01."""
    short, long = _ends(dates, last)
    table = pd.DataFrame(index=dates)
    for name, years in TENORS.items():
        share = (np.sqrt(years) - 0.5) / (np.sqrt(10) - 0.5)
        noise = autoregressive(generator("treasury", name), len(dates), rho=0.95, sd=0.02)
        weight = np.clip(share, -0.08, 1.0)
        table[name] = np.maximum(short + weight * (long - short) + 0.25 * np.maximum(share - 1, 0) + noise, 0.01).round(
            2
        )
    return table


def treasury(source: pd.DataFrame, sessions: pd.DatetimeIndex) -> pd.DataFrame:
    """Return all rows ascending: date (ISO text), FMP's tenor columns in percent, modelled."""
    real = real_rates(source)
    later = sessions[sessions > real.index[-1]]
    known = real.dropna(subset=["month3", "year10"])
    last = (pd.DatetimeIndex(known.index)[-1], float(known["month3"].iloc[-1]), float(known["year10"].iloc[-1]))
    made = modelled_rates(later, last)
    table = pd.concat([real.assign(modelled=False), made.assign(modelled=True)])
    table.insert(0, "date", pd.DatetimeIndex(table.index).strftime("%Y-%m-%d"))
    return table.reset_index(drop=True)
