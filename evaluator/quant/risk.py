"""Risk controls: the exposure a volatility target asks for, and every breach of a stop with what followed it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evaluator.quant.absent import Absent
from evaluator.quant.accounting import Rebuild
from evaluator.quant.arrays import BoolArray, FloatArray
from evaluator.quant.calendar import session_number
from evaluator.quant.fills import usable_fills
from evaluator.quant.options import sessions_value, value
from evaluator.quant.panel import PricePanel

OUT_OF_MARKET = 0.02
"""Exposure at or below this is cash."""
GRACE = 3
"""Sessions an exit may take."""
_SLACK = 1e-6
_STOP_REASONS = ("stop", "target")


@dataclass(frozen=True)
class Breach:
    """A close at which a stop had to act."""

    date: pd.Timestamp
    symbol: str | None
    """None for the whole book."""
    level: float
    """Drawdown, or return from the entry price; negative."""
    exit_date: pd.Timestamp | None
    """First later close out of the position or the market; None when that never came."""
    exit_sessions: int | None
    rebought: pd.Timestamp | None
    """First buy after the exit that came before the next allowed decision; None when there was none."""
    open_end: bool
    """Fewer than three sessions follow: nothing can be concluded from a missing exit."""


def vol_target_exposure(
    weights: pd.DataFrame, panel: PricePanel, *, params: Mapping[str, float] | None = None
) -> "pd.Series[Any] | Absent":
    """Return min(1, target / volatility) per decision date, from unscaled target weights; NaN without a full window."""
    given = params or {}
    target = value("risk_control", "vol_target", "target", given)
    if target is None:
        return Absent("the volatility target's level is not stated")
    window = sessions_value("risk_control", "vol_target", "vol_window", given, 63)
    returns = panel.returns.reindex(columns=weights.columns).to_numpy()
    dates = pd.DatetimeIndex(weights.index)
    out = np.full(len(dates), np.nan)
    for i, row in enumerate(panel.rows(dates)):
        book = weights.iloc[i].to_numpy(dtype=float)
        held = np.nan_to_num(book) != 0
        if row + 1 < window or not held.any():
            continue
        daily = returns[row + 1 - window : row + 1][:, held] @ book[held]
        volatility = daily.std(ddof=1) * np.sqrt(252)
        out[i] = 1.0 if volatility <= target / 100 else target / 100 / volatility
    return pd.Series(out, index=dates)


def drawdown_breaches(
    made: Rebuild, *, threshold: float, decisions: pd.DatetimeIndex, cooldown: int = 21, slack: float = _SLACK
) -> tuple[Breach, ...]:
    """Return every breach of a drawdown stop on rebuilt equity, oldest first.

    The peak starts at the capital and is reset at the first decision at least `cooldown` sessions after a breach.
    Args: threshold: fraction, 0.2 is 20 %; slack: how much deeper a drawdown must be to count.
    """
    equity, exposure = made.equity.to_numpy(dtype=float), made.exposure.to_numpy(dtype=float)
    days = pd.DatetimeIndex(made.equity.index)
    bought = (made.traded.to_numpy() > 0).any(axis=1)
    entry_rows = np.searchsorted(days.to_numpy(), decisions.as_unit("us").to_numpy())
    gone = np.asarray(exposure <= OUT_OF_MARKET, dtype=bool)
    found = []
    peak, row = made.capital, 0
    while row < len(days):
        peak = max(peak, equity[row])
        level = equity[row] / peak - 1
        if level > -threshold - slack:
            row += 1
            continue
        allowed = entry_rows[entry_rows >= row + cooldown]
        resume = int(allowed[0]) if len(allowed) else len(days)
        found.append(_breach(days, row, None, float(level), gone, bought, resume))
        if resume >= len(days):
            break
        row, peak = resume, equity[resume]
    return tuple(found)


def _breach(
    days: pd.DatetimeIndex,
    row: int,
    symbol: str | None,
    level: float,
    gone: BoolArray,
    bought: BoolArray,
    resume: int,
) -> Breach:
    """`resume` is the row of the decision after whose close buying is allowed again."""
    later = np.flatnonzero(gone[row + 1 :])
    exit_row = row + 1 + int(later[0]) if len(later) else None
    again = np.flatnonzero(bought[exit_row + 1 : resume + 1]) if exit_row is not None else np.array([], dtype=int)
    return Breach(
        date=days[row],
        symbol=symbol,
        level=level,
        exit_date=None if exit_row is None else days[exit_row],
        exit_sessions=None if exit_row is None else exit_row - row,
        rebought=days[exit_row + 1 + int(again[0])] if exit_row is not None and len(again) else None,
        open_end=len(days) - 1 - row < GRACE,
    )


def position_breaches(
    made: Rebuild, trades: pd.DataFrame | None, *, threshold: float, decisions: pd.DatetimeIndex
) -> tuple[Breach, ...]:
    """Return every close at which a held name stood `threshold` (a fraction) or more below its average entry price."""
    fills = usable_fills(trades)
    if isinstance(fills, Absent):
        return ()
    days = pd.DatetimeIndex(made.equity.index)
    entries = _entry_prices(fills, made, days)
    shares, marks = made.shares.to_numpy(), made.marks.to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        fall = np.where(shares > 0, marks / entries - 1, np.nan)
    decision_rows = np.searchsorted(days.to_numpy(), decisions.as_unit("us").to_numpy())
    traded = made.traded.to_numpy()
    found = []
    for column, symbol in enumerate(made.shares.columns):
        hit = np.flatnonzero(fall[:, column] <= -threshold + _SLACK)
        row = -1
        for at in hit:
            if at <= row:
                continue
            later = decision_rows[decision_rows > at]
            resume = int(later[0]) if len(later) else len(days)
            gone, bought = shares[:, column] <= 0, traded[:, column] > 0
            found.append(_breach(days, int(at), str(symbol), float(fall[at, column]), gone, bought, resume))
            out = np.flatnonzero(gone[at + 1 :])
            row = int(at) + 1 + int(out[0]) if len(out) else len(days)
    return tuple(sorted(found, key=lambda breach: (breach.date, breach.symbol or "")))


def _entry_prices(fills: pd.DataFrame, made: Rebuild, days: pd.DatetimeIndex) -> FloatArray:
    """Return sessions x symbols: average price of the shares held at each close, on that day's split basis."""
    out = np.full(made.shares.shape, np.nan)
    splits = made.splits.to_numpy()
    rows = np.searchsorted(days.to_numpy(), pd.DatetimeIndex(fills["date"]).as_unit("us").to_numpy())
    groups = fills.assign(row=rows)[rows < len(days)].groupby("symbol", sort=False)
    places = {symbol: column for column, symbol in enumerate(made.shares.columns)}
    for symbol, group in groups:
        column = places[str(symbol)]
        count = cost = 0.0
        by_row: dict[int, list[tuple[float, float]]] = {}
        for row, signed, price in zip(group["row"], group["signed"], group["price"], strict=True):
            by_row.setdefault(int(row), []).append((float(signed), float(price)))
        for row in sorted({*by_row, *np.flatnonzero(splits[:, column] != 1).tolist()}):
            count, cost = count * splits[row, column], cost / splits[row, column]
            for signed, price in by_row.get(row, ()):
                if signed > 0:
                    cost = (cost * count + price * signed) / (count + signed)
                count = max(count + signed, 0.0)
            out[row, column] = cost
    return pd.DataFrame(out).ffill().to_numpy()


def changed_because_of(trades: pd.DataFrame | None, decisions: pd.DatetimeIndex, *, window: int = 1) -> pd.DataFrame:
    """Return the fills with reason stop or target, or further than `window` sessions after every decision."""
    fills = usable_fills(trades)
    if isinstance(fills, Absent):
        return pd.DataFrame()
    own = session_number(pd.DatetimeIndex(fills["date"]))
    marks = np.sort(session_number(decisions))
    last = np.searchsorted(marks, own, side="left") - 1
    age = np.where(last >= 0, own - marks[np.maximum(last, 0)], np.iinfo(np.int64).max) if len(marks) else own * 0 + 999
    off = age > window
    if "reason" in fills.columns:
        off |= fills["reason"].astype(str).str.lower().isin(_STOP_REASONS).to_numpy()
    return fills[off]
