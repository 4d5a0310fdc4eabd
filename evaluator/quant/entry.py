"""Point-in-time facts of fills and tables: what was known when, and what was traded at which price."""

import datetime as dt

import numpy as np
import pandas as pd

from evaluator.quant.absent import Absent
from evaluator.quant.calendar import session_number
from evaluator.quant.fills import looked_up, places, usable_fills
from evaluator.quant.panel import PricePanel

DATE_COLUMNS = ("date", "announced", "period_end", "signal_date")
_BP = 1e-4
_SURVIVOR_NAMES = 50
_SURVIVOR_YEARS = 5
_SAME_DAY = 0.5


def signal_dates(trades: pd.DataFrame | None, decisions: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the usable fills with a signal date for each, and `signal_origin` stated, inferred or missing (None).

    `decisions` are decision-dated rows (weights, selections or signals): the latest date before the fill counts. Where
    most fills lie on decision dates themselves, decisions are filled on their own date and that date counts.
    """
    fills = usable_fills(trades)
    if isinstance(fills, Absent):
        return pd.DataFrame(columns=["date", "symbol", "signal_date", "signal_origin"])
    if "signal_date" not in fills.columns:
        fills["signal_date"] = pd.Series(pd.NaT, index=fills.index, dtype="datetime64[us]")
    stated = fills["signal_date"].notna().to_numpy()
    origin = np.where(stated, "stated", "").astype(object)
    if decisions is not None and "date" in decisions.columns and not stated.all():
        every = np.sort(pd.DatetimeIndex(decisions["date"].dropna().unique()).as_unit("us").to_numpy())
        days = pd.DatetimeIndex(fills["date"]).as_unit("us").to_numpy()
        same = bool(np.isin(days[~stated], every).mean() > _SAME_DAY)
        at = np.searchsorted(every, days, side="right" if same else "left") - 1
        found = ~stated & (at >= 0)
        if found.any():
            fills.loc[found, "signal_date"] = every[at[found]]
            origin[found] = "inferred"
    fills["signal_origin"] = pd.Series([text or None for text in origin], index=fills.index, dtype=object)
    return fills


def late_fills(fills: pd.DataFrame) -> pd.DataFrame:
    """Return the fills (with signal_date) that are not strictly later, in sessions, than their signal."""
    known = fills[fills["signal_date"].notna()]
    if len(known) == 0:
        return known
    return known[session_number(known["date"]) <= session_number(known["signal_date"])]


def relabelled_share(fills: pd.DataFrame, panel: PricePanel) -> float | Absent:
    """Return the share of fills dated the session after the signal whose price is the close of the signal session.

    Fills whose two closes are equal within 1 bp tell nothing and are left out.
    """
    known = fills[fills["signal_date"].notna()] if "signal_date" in fills.columns else fills[:0]
    lag = session_number(known["date"]) - session_number(known["signal_date"]) if len(known) else np.array([])
    known = known[lag == 1]
    if len(known) == 0:
        return Absent("no fill is dated the session after its signal")
    paid = known["price"].to_numpy(dtype=float)
    best = Absent("no close is known at the signals")
    shares = []
    for name in ("close", "adj_close"):
        frame = panel.field(name)
        if frame is None:
            continue
        then = looked_up(frame, places(known.assign(date=known["signal_date"]), panel.sessions, panel.symbols))
        now = looked_up(frame, places(known, panel.sessions, panel.symbols))
        with np.errstate(divide="ignore", invalid="ignore"):
            telling = np.isfinite(then) & ~(np.abs(now / then - 1) <= _BP)
            match = np.abs(paid / then - 1) <= _BP
        if telling.any():
            shares.append(float(match[telling].mean()))
    return max(shares) if shares else best


def outside_range(
    trades: pd.DataFrame | None, panel: PricePanel, *, tolerance: float = 0.005, close_only: float = 0.10
) -> pd.DataFrame | Absent:
    """Return the fills outside [low, high] +- 0.5 % of their session; close-only tables: +- 10 % of the close.

    The adjusted range counts too when adjusted closes are delivered. Fills without a quoted session are left out.
    """
    fills = usable_fills(trades)
    if isinstance(fills, Absent):
        return fills
    at = places(fills, panel.sessions, panel.symbols)
    paid = fills["price"].to_numpy(dtype=float)
    high, low = panel.field("high"), panel.field("low")
    if high is None or low is None:
        high, low, tolerance = panel.fields["close"], panel.fields["close"], close_only
    top, bottom = looked_up(high, at), looked_up(low, at)
    good = (paid <= top * (1 + tolerance)) & (paid >= bottom * (1 - tolerance))
    if "adj_close" in panel.fields:
        scale = looked_up(panel.fields["adj_close"] / panel.fields["close"], at)
        good |= (paid <= top * scale * (1 + tolerance)) & (paid >= bottom * scale * (1 - tolerance))
    return fills[~good & np.isfinite(top) & np.isfinite(bottom)]


def survivorship(panel: PricePanel) -> bool:
    """Tell whether over 50 names over more than 5 years all live to the last session: a hint at survivors only."""
    years = (panel.sessions[-1] - panel.sessions[0]).days / 365.25
    if len(panel.symbols) <= _SURVIVOR_NAMES or years <= _SURVIVOR_YEARS:
        return False
    tail = panel.fields["close"].iloc[-5:].notna().any(axis=0)
    return bool(tail.all())


def too_early(fills: pd.DataFrame, panel: PricePanel, *, lookback: int) -> pd.DataFrame:
    """Return fills before the symbol's first price, or whose signal has fewer than `lookback` closes of it."""
    counted = panel.adjusted.notna().cumsum()
    at = places(fills, panel.sessions, panel.symbols)
    seen = looked_up(counted, at)
    unpriced = np.isfinite(seen) & (seen == 0)
    if lookback > 0 and "signal_date" in fills.columns:
        rows = panel.rows(pd.DatetimeIndex(fills["signal_date"]))
        values = counted.to_numpy()
        inside = (rows >= 0) & (at.columns >= 0)
        history = np.where(inside, values[np.maximum(rows, 0), np.maximum(at.columns, 0)], lookback)
        buys = fills["side"].to_numpy() > 0
        unpriced |= buys & inside & (history < lookback)
    found: pd.DataFrame = fills[unpriced]
    return found


def late_rows(frame: pd.DataFrame, t_cut: dt.date, *, columns: tuple[str, ...] = DATE_COLUMNS) -> pd.DataFrame:
    """Return column, row and date of every observation date after t_cut; empty when none."""
    limit = pd.Timestamp(t_cut)
    found = []
    for name in columns:
        if name in frame.columns and pd.api.types.is_datetime64_any_dtype(frame[name]):
            days = frame[name].dt.normalize()
            late = days[days > limit]
            found += [(name, row, day) for row, day in late.items()]
    return pd.DataFrame(found, columns=["column", "row", "date"])
