"""What each execution option makes of an order, and how well delivered fills and fees fit an option or a rate."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evaluator.quant.absent import Absent
from evaluator.quant.arrays import BoolArray, FloatArray
from evaluator.quant.elsewhere import PRICE_FIT, lags, off_price, off_session
from evaluator.quant.fills import looked_up, places, usable_fills
from evaluator.quant.options import sessions_value, value
from evaluator.quant.panel import PricePanel

OPTIONS = ("next_open", "next_close", "staged", "adv_cap")
CAP_SLACK = 1.001
CARRY = 5
_MOST = 0.5
_RATE_FIT = 0.5e-4
_FEE_FIT = 0.01
_SIZE_FIT = 0.02


@dataclass(frozen=True)
class ExecutionFit:
    """How the fills fit one option."""

    option: str
    share: float
    """Share of fills (staged: of orders) that fit."""
    fills: int
    split_orders: int
    """Orders filled on more than one session."""
    priced: float
    """Share of fills at the option's price."""
    detail: str
    elsewhere: float = 0.0
    """Share of fills (staged: of orders) that demonstrably do not lie at the option's session and price."""


def execution_fit(
    option: str, trades: pd.DataFrame | None, panel: PricePanel, *, params: Mapping[str, float] | None = None
) -> ExecutionFit | Absent:
    """Measure fills against an option. A fill without signal date is judged by its price alone."""
    fills = usable_fills(trades)
    if isinstance(fills, Absent):
        return fills
    given = params or {}
    lag = lags(fills)
    split = _split_orders(fills)
    if option in ("next_open", "next_close"):
        field = "open" if option == "next_open" else "close"
        priced = _at_price(fills, panel, field)
        good = priced & ((lag == 1) | (lag < 0))
        detail = f"fills at the {field} of t+1"
        away = ~good & (off_session(fills) | off_price(fills, panel, field, priced))
        return ExecutionFit(
            option, float(good.mean()), len(fills), split, float(priced.mean()), detail, float(away.mean())
        )
    if option == "staged":
        days = sessions_value("execution", option, "days", given, 3)
        priced = _at_price(fills, panel, "open")
        share = _staged_share(fills, lag, priced, days)
        detail = f"orders in {days} equal parts at the opens"
        away = off_session(fills, last=days) | off_price(fills, panel, "open", priced)
        whole = _unstaged_share(fills, away, days)
        return ExecutionFit(option, share, len(fills), split, float(priced.mean()), detail, whole)
    if option == "adv_cap":
        return _cap_fit(fills, panel, lag, split, given)
    return Absent(f"execution {option!r} is not one of the grammar")


def _at_price(fills: pd.DataFrame, panel: PricePanel, field: str) -> BoolArray:
    """Tell which fills lie within 10 bps of a field, as delivered or dividend-adjusted."""
    frame = panel.field(field)
    good = np.zeros(len(fills), dtype=bool)
    if frame is None:
        return good
    at = places(fills, panel.sessions, panel.symbols)
    paid = fills["price"].to_numpy(dtype=float)
    readings = [frame]
    if "adj_close" in panel.fields:
        readings.append(frame * (panel.fields["adj_close"] / panel.fields["close"]))
    for reading in readings:
        with np.errstate(divide="ignore", invalid="ignore"):
            fit = np.abs(paid / looked_up(reading, at) - 1) <= PRICE_FIT
        good = fit if fit.sum() > good.sum() else good
    return good


def _order_keys(fills: pd.DataFrame) -> "pd.Series[Any] | None":
    if "signal_date" not in fills.columns or fills["signal_date"].isna().all():
        return None
    return pd.Series(pd.MultiIndex.from_frame(fills[["signal_date", "symbol", "side"]]).factorize()[0])


def _split_orders(fills: pd.DataFrame) -> int:
    keys = _order_keys(fills)
    if keys is None:
        return 0
    days = pd.DataFrame({"order": keys.to_numpy(), "day": fills["date"].to_numpy()}).drop_duplicates()
    return int((np.bincount(days["order"]) > 1).sum())


def _staged_share(fills: pd.DataFrame, lag: np.ndarray[Any, np.dtype[np.int64]], priced: BoolArray, days: int) -> float:
    """An order fits when its parts lie on t+1.. at the open, equal but for the last (2 % or one share).

    Fewer parts than `days` fit too: a new decision or a stop cancels what is open, and a few shares cannot be split.
    Parts of a buy may be smaller than the first: buys are scaled down when cash would go below zero.
    """
    keys = _order_keys(fills)
    if keys is None:
        return 0.0
    frame = pd.DataFrame({"key": keys, "lag": lag, "quantity": fills["quantity"].to_numpy(dtype=float)})
    parts = frame.groupby(["key", "lag"], sort=True)["quantity"].sum()
    orders = int(keys.max()) + 1
    bounds = np.searchsorted(parts.index.get_level_values("key"), np.arange(orders + 1))
    days_after, sizes = parts.index.get_level_values("lag").to_numpy(), parts.to_numpy(dtype=float)
    all_priced = np.bincount(keys, weights=~priced, minlength=orders) == 0
    buys = np.bincount(keys, weights=fills["side"].to_numpy(dtype=float), minlength=orders) > 0
    good = full = 0
    for order in range(orders):
        own = slice(bounds[order], bounds[order + 1])
        fits = bool(all_priced[order]) and _staged(days_after[own].tolist(), sizes[own], days, buys=bool(buys[order]))
        good += fits
        full += fits and own.stop - own.start == days
    # Single-day fills also fit "cancelled early": without any fully staged order nothing is staged.
    return good / orders if full else 0.0


def _unstaged_share(fills: pd.DataFrame, away: BoolArray, days: int) -> float:
    """Return the share of orders that are shown not to be staged: filled on one session, or elsewhere than at t+1.. opens.

    Orders of so few shares that they cannot be parted are left out; without signal dates no order is known.
    """
    keys = _order_keys(fills)
    if keys is None:
        return 0.0
    known = fills["signal_date"].notna().to_numpy()
    frame = pd.DataFrame({"key": keys, "day": fills["date"], "quantity": fills["quantity"], "away": away})[known]
    orders = frame.groupby("key").agg(days=("day", "nunique"), quantity=("quantity", "sum"), away=("away", "mean"))
    large = orders[orders["quantity"] >= 2 * days]
    return float(((large["days"] == 1) | (large["away"] >= _MOST)).mean()) if len(large) else 0.0


def _staged(order: list[int], sizes: FloatArray, days: int, *, buys: bool) -> bool:
    if order[0] < 1 or order[-1] > days:
        return False
    if sizes.sum() < 2 * days:
        # So few shares that equal whole parts are 0 or 1.
        return True
    early = sizes[:-1] if order[-1] == days and len(sizes) > 1 else sizes
    slack = max(1.0, _SIZE_FIT * float(sizes[0]))
    if buys:
        return bool(early.max() <= sizes[0] + slack and sizes[-1] <= sizes[0] + slack + days)
    in_row = order == list(range(1, len(order) + 1))
    return in_row and bool(np.ptp(early) <= slack and sizes[0] - slack <= sizes[-1] <= sizes[0] + slack + days)


def _cap_fit(
    fills: pd.DataFrame,
    panel: PricePanel,
    lag: np.ndarray[Any, np.dtype[np.int64]],
    split: int,
    params: Mapping[str, float],
) -> ExecutionFit | Absent:
    volume = panel.field("volume")
    if volume is None:
        return Absent("a volume cap cannot be checked: the price table has no volume")
    cap = (value("execution", "adv_cap", "cap", params) or 5.0) / 100
    at = places(fills, panel.sessions, panel.symbols)
    day_total = fills.groupby(["date", "symbol"])["quantity"].transform("sum").to_numpy(dtype=float)
    limit = cap * looked_up(volume, at) * CAP_SLACK
    good = (day_total <= limit) & ((lag < 0) | ((lag >= 1) & (lag <= CARRY)))
    away = (day_total > limit) | off_session(fills, last=CARRY)
    closes = _at_price(fills, panel, "close")
    detail = f"{float(closes.mean()):.3f} of fills at the close; cap {cap:.0%} of the day's volume"
    return ExecutionFit(
        "adv_cap", float(good.mean()), len(fills), split, float(closes.mean()), detail, float(away.mean())
    )


@dataclass(frozen=True)
class FeeFit:
    """How delivered fees fit a one-way rate."""

    share: float
    """Share of fills within 0.5 bp, or 0.01 in currency, of the rate."""
    implied_bps: float
    """Median implied rate."""
    total: float
    expected: float

    @property
    def total_fits(self) -> bool:
        """Total fees within 2 % of rate x turnover."""
        return abs(self.total - self.expected) <= 0.02 * self.expected + 1e-9


def fee_fit(trades: pd.DataFrame | None, *, rate_bps: float) -> FeeFit | Absent:
    """Compare the fee column with rate x notional."""
    fills = usable_fills(trades)
    if isinstance(fills, Absent):
        return fills
    if "fee" not in fills.columns or fills["fee"].isna().all():
        return Absent("the trade log has no fee column")
    fee = fills["fee"].abs().fillna(0.0).to_numpy(dtype=float)
    notional = fills["notional"].to_numpy(dtype=float)
    expected = notional * rate_bps / 1e4
    good = (np.abs(fee / notional - rate_bps / 1e4) <= _RATE_FIT) | (np.abs(fee - expected) <= _FEE_FIT)
    implied = float(np.median(fee / notional)) * 1e4
    return FeeFit(float(good.mean()), implied, float(fee.sum()), float(expected.sum()))
