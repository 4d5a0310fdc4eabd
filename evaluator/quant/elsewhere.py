"""Which fills demonstrably do not lie at a session and price: a misfit alone may be another price basis or slippage."""

import numpy as np
import pandas as pd

from evaluator.quant.arrays import BoolArray, FloatArray, IntArray
from evaluator.quant.calendar import session_number
from evaluator.quant.fills import Places, looked_up, places
from evaluator.quant.panel import PricePanel

PRICE_FIT = 0.001
"""10 bps."""
EXACT_FIT = 0.0001
"""1 bp, for a price of another session or field: chance hits few fills there."""
_RANGE_SLACK = 0.005
_SLIP = 0.01
"""Adverse gaps up to 1 % on nearly every fill are slippage, which the option does not rule out."""
_SLIP_SHARE = 0.95


def lags(fills: pd.DataFrame) -> IntArray:
    """Return sessions from signal to fill; -1 where no signal date is known."""
    if "signal_date" not in fills.columns:
        return np.full(len(fills), -1, dtype=np.int64)
    known = fills["signal_date"].notna().to_numpy()
    gap = session_number(fills["date"]) - session_number(fills["signal_date"])
    return np.where(known, gap, -1)


def off_session(fills: pd.DataFrame, *, last: int = 1) -> BoolArray:
    """Tell which fills with a known signal date lie outside t+1..t+last."""
    lag = lags(fills)
    return np.asarray((lag >= 0) & ((lag < 1) | (lag > last)), dtype=bool)


def off_price(fills: pd.DataFrame, panel: PricePanel, field: str, priced: BoolArray) -> BoolArray:
    """Tell which fills are shown to be at another price than `field` of their session; `priced` fit it.

    Shown means: the fill is on the panel's price basis, since it equals the open or close of its session or of the
    signal's, or lies within the session's range. Fills that are all worse than `field` by a little are slippage.
    """
    at = places(fills, panel.sessions, panel.symbols)
    paid = fills["price"].to_numpy(dtype=float)
    known_elsewhere = _at_another(fills, panel, field, at)
    frame = panel.field(field)
    if frame is None:
        return known_elsewhere
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = paid / looked_up(frame, at) - 1
    misfit = ~priced & np.isfinite(gap)
    if not misfit.any():
        return misfit
    worse = fills["side"].to_numpy(dtype=float) * gap
    slipped = (worse[misfit] > 0) & (worse[misfit] <= _SLIP)
    if slipped.mean() >= _SLIP_SHARE:
        return np.zeros(len(fills), dtype=bool)
    return misfit & (known_elsewhere | _in_range(panel, at, paid))


def _in_range(panel: PricePanel, at: Places, paid: FloatArray) -> BoolArray:
    low, high = panel.field("low"), panel.field("high")
    if low is None or high is None:
        return np.zeros(len(paid), dtype=bool)
    above = paid >= looked_up(low, at) * (1 - _RANGE_SLACK)
    return np.asarray(above & (paid <= looked_up(high, at) * (1 + _RANGE_SLACK)), dtype=bool)


def _at_another(fills: pd.DataFrame, panel: PricePanel, field: str, at: Places) -> BoolArray:
    """Tell which fills equal the session's other price, or a price of the session before it or of the signal's."""
    paid = fills["price"].to_numpy(dtype=float)
    back = np.where(lags(fills) > 0, lags(fills), 1)
    found = np.zeros(len(fills), dtype=bool)
    for name in ("open", "close"):
        frame = panel.field(name)
        if frame is None:
            continue
        for steps in (np.zeros_like(back), np.ones_like(back), back):
            if name == field and not steps.any():
                continue
            rows = at.rows - steps
            values = looked_up(frame, Places(np.where(rows < 0, len(frame), rows), at.columns))
            with np.errstate(divide="ignore", invalid="ignore"):
                found |= np.abs(paid / values - 1) <= EXACT_FIT
    return found
