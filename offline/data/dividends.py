"""Dividends: derived from real adjusted and unadjusted closes where both exist, modelled elsewhere.

Identity kept to 1e-9 everywhere: with F = adjusted close / close, F[s-1]/F[s] = 1 - D[s]/close[s-1] on ex-date s, and F is
constant between ex-dates.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from offline.data.facts import Facts, generator

QUARTER_MONTHS = 3
POLICY_SESSIONS = 504
NOISE = 2e-7  # of a price; two single-precision numbers divided


@dataclass(frozen=True)
class Adjusted:
    """Closes of one name and the dividends between them. Shapes: close, adjusted (n,); dividends by row index."""

    close: np.ndarray
    adjusted: np.ndarray
    dividends: dict[int, float]


def ex_rows(dates: pd.DatetimeIndex, facts: Facts) -> list[int]:
    """Return the rows of the quarterly ex-dates, ascending: the sixth to twelfth session of the name's months."""
    if not facts.dividend_yield:
        return []
    position = int(generator(facts.symbol, "ex-date").integers(5, 12))
    months: dict[tuple[int, int], list[int]] = {}
    for row, day in enumerate(dates):
        months.setdefault((day.year, day.month), []).append(row)
    return [
        rows[position]
        for (year, month), rows in months.items()
        if (month - facts.dividend_month) % QUARTER_MONTHS == 0
        and year >= facts.dividend_from
        and len(rows) > position
        and rows[0] > 0
    ]


def back_out(dates: pd.DatetimeIndex, adjusted: np.ndarray, facts: Facts) -> Adjusted:
    """Return closes that, with modelled dividends, give exactly these adjusted closes; the last close equals the last adjusted.

    Going back in time, close[s-1] = adjusted[s-1] / F[s] + D[s] solves the identity for a dividend in dollars. The policy is a
    quarter of the name's yield on its two-year average price, so payments move slowly as boards move them.
    """
    trailing = pd.Series(adjusted).rolling(POLICY_SESSIONS, min_periods=1).mean().to_numpy()
    close = np.empty_like(adjusted)
    dividends: dict[int, float] = {}
    factor, after = 1.0, len(adjusted)
    for row in reversed(ex_rows(dates, facts)):
        close[row:after] = adjusted[row:after] / factor
        dividend = round(facts.dividend_yield / 4 * trailing[row - 1] / factor, 4)
        if dividend <= 0:
            break
        before = adjusted[row - 1] / factor + dividend
        factor = adjusted[row - 1] / before
        dividends[row], after = dividend, row
    close[:after] = adjusted[:after] / factor
    return Adjusted(close=close, adjusted=adjusted, dividends=dict(sorted(dividends.items())))


def shortest(value: float, tolerance: float) -> float:
    """Return the number with the fewest decimals within the tolerance: 0.229993 read from 130 dollars is 0.23."""
    for digits in range(2, 9):
        if abs(round(value, digits) - value) <= tolerance:
            break
    return round(value, digits)


def derive(close: np.ndarray, adjusted: np.ndarray) -> Adjusted:
    """Return the dividends in real closes, and the adjusted closes rebased to equal the close on the last row.

    A jump of F below 1e-5 is storage noise of the source (single precision); the smallest real one is 4e-5. Dividends are
    read as the shortest decimal within that noise, and F is rebuilt from them; daily returns move by less than 1e-6.
    """
    factor = adjusted / close
    dividends: dict[int, float] = {}
    rebuilt = np.ones_like(close)
    for row in range(len(close) - 1, 0, -1):
        jump = 1 - factor[row - 1] / factor[row]
        rebuilt[row - 1] = rebuilt[row]
        if jump > 1e-5:
            dividends[row] = shortest(jump * close[row - 1], close[row - 1] * NOISE)
            rebuilt[row - 1] = rebuilt[row] * (1 - dividends[row] / close[row - 1])
    return Adjusted(close=close, adjusted=close * rebuilt, dividends=dict(sorted(dividends.items())))
