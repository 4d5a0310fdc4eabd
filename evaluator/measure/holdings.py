"""Whether the fills of a decision lead to the shares its target weights ask for.

Shares are counted in one of three ways, the same for every decision: at the decision's close, or, as tools do that are
given target percents, at the open or the close of the session that fills. Both sides of the comparison use the prices and
the equity of that way, so that what the market did in between is no error. A buy may fall short where cash ran out or the
volume cap bound; a stop may take a name away.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from evaluator.measure.case import Case
from evaluator.measure.recompute import params_of
from evaluator.quant.absent import Absent
from evaluator.quant.accounting import Rebuild

WEIGHT_TOLERANCE = 0.01
SHARE_TOLERANCE = 0.01
_CASH_SPENT = 0.01
"""Cash below this share of equity means that buys were scaled down to what could be paid."""
_WAYS = ("decision", "open", "close")
_STOPS = ("stop", "stop_loss", "drawdown_stop", "risk", "position_stop")


@dataclass(frozen=True)
class DecisionFit:
    """One decision: how far the held names lie from their targets after its fills."""

    date: pd.Timestamp
    largest_weight_gap: float
    weights_fit: bool
    shares_fit: bool
    worst: str


def decision_fits(case: Case) -> tuple[DecisionFit, ...]:
    """Return one comparison per decision within the rebuilt period that has room for its fills, oldest first."""
    return _fits(case)


@lru_cache(maxsize=1)
def _fits(case: Case) -> tuple[DecisionFit, ...]:
    """Compare once for the audit and the process links; a case is compared by identity."""
    targets, book = case.main.targets, case.rebuilt
    if case.main.trades is None or targets is None or isinstance(book, Absent):
        return ()
    fills = _Fills(case, case.main.dated_fills, book)
    days = [day for day in targets.index if book.equity.index[0] <= day < book.equity.index[-1]]
    pairs = []
    for number, day in enumerate(days):
        following = days[number + 1] if number + 1 < len(days) else book.equity.index[-1]
        last = fills.last_of(day, following)
        if last is not None and not fills.is_interrupted(day, last):
            pairs.append((day, last))
    ways = [
        tuple(_fit(day, last, targets.loc[day], _Valued(book, fills, way, day, last)) for day, last in pairs)
        for way in _WAYS
    ]
    # The first way wins a tie: the decision's close, which the conventions name.
    return max(ways, key=lambda fits: sum(fit.shares_fit for fit in fits))


class _Fills:
    """The fills by decision, as arrays."""

    def __init__(self, case: Case, trades: pd.DataFrame, book: Rebuild) -> None:
        self._case, self._book = case, book
        self._date = trades["date"].to_numpy()
        self._symbol = trades["symbol"].astype(str).to_numpy()
        self._side = trades["side"].to_numpy(dtype=float)
        self._quantity = trades["quantity"].to_numpy(dtype=float)
        stated = "signal_date" in trades.columns
        self._signal = trades["signal_date"].to_numpy() if stated else np.full(len(trades), np.datetime64("NaT"))
        reason = trades["reason"].astype(str).str.lower() if "reason" in trades.columns else pd.Series("", trades.index)
        self._stop = reason.isin(_STOPS).to_numpy()
        panel = case.main.panel
        self._volume = None if isinstance(panel, Absent) else panel.field("volume")
        self._open = None if isinstance(panel, Absent) else panel.field("open")
        self._close = None if isinstance(panel, Absent) else panel.field("close")

    def last_of(self, day: pd.Timestamp, following: pd.Timestamp) -> pd.Timestamp | None:
        """Return the last session of the decision's fills; the next session where it has none."""
        mine = (self._signal == day.to_datetime64()) & ~self._stop
        after = pd.DatetimeIndex(self._book.equity.index)
        after = after[after > day]
        if not len(after):
            return None
        if not mine.any():
            return after[0]
        last = min(pd.Timestamp(self._date[mine].max()), pd.Timestamp(following))
        # A fill on a closed day is in the book from the next session on.
        return pd.Timestamp(after[min(after.searchsorted(last), len(after) - 1)]) if last >= day else None

    def is_interrupted(self, day: pd.Timestamp, last: pd.Timestamp) -> bool:
        """Whether a portfolio stop stands over the decision: it fell into its fills, or the book is in its cooldown."""
        if self._case.spec.risk_control != "drawdown_stop":
            return False
        between = (self._signal >= day.to_datetime64()) & (self._signal <= last.to_datetime64()) & self._stop
        if between.any():
            return True
        before = self._date <= last.to_datetime64()
        if not before.any() or self._book.shares.loc[last].abs().sum() > 0:
            return False
        latest = self._date[before].max()
        return bool(self._stop[before & (self._date == latest)].any())

    def open_share(self, day: pd.Timestamp, names: "pd.Index[str]") -> "pd.Series[float]":
        """Return open / close of a session by name; missing where the prices have no opens."""
        if self._open is None or self._close is None or day not in self._open.index:
            return pd.Series(np.nan, index=names)
        return pd.Series(self._open.loc[day] / self._close.loc[day], dtype=float).reindex(names)

    def stopped(self, day: pd.Timestamp, last: pd.Timestamp) -> set[str]:
        """Return names that a later signal traded within the decision's window."""
        later = (self._signal > day.to_datetime64()) & (self._date <= last.to_datetime64())
        same_day_stop = (self._signal == day.to_datetime64()) & self._stop
        return set(self._symbol[later | same_day_stop])

    def bought(self, day: pd.Timestamp) -> set[str]:
        return set(self._symbol[(self._signal == day.to_datetime64()) & (self._side > 0)])

    def capped(self, day: pd.Timestamp) -> set[str]:
        """Return names with a fill of the decision at the volume cap."""
        if self._case.spec.execution != "adv_cap" or self._volume is None:
            return set()
        cap = params_of(self._case.spec, "adv_cap").get("cap", 5.0) / 100
        names = set()
        for at in np.flatnonzero(self._signal == day.to_datetime64()):
            symbol, when = self._symbol[at], pd.Timestamp(self._date[at])
            if symbol in self._volume.columns and when in self._volume.index:
                room = np.floor(cap * float(self._volume[symbol][when]))
                if self._quantity[at] >= room - 1:
                    names.add(symbol)
        return names


@dataclass(frozen=True)
class _Valued:
    """The prices and the equity at which the shares of one decision are counted."""

    book: Rebuild
    fills: _Fills
    way: str
    day: pd.Timestamp
    last: pd.Timestamp

    @property
    def price(self) -> "pd.Series[float]":
        """Price by name, on the basis of the marks."""
        marks = pd.Series(self.book.marks.loc[self.day if self.way == "decision" else self.last], dtype=float)
        return marks * self.fills.open_share(self.last, marks.index) if self.way == "open" else marks

    @property
    def equity(self) -> float:
        """Equity at these prices."""
        if self.way != "open":
            return float(self.book.equity[self.day if self.way == "decision" else self.last])
        held = self.book.shares.loc[self.last]
        return float(self.book.cash[self.last] + (held * self.price.reindex(held.index)).fillna(0.0).sum())


def _fit(day: pd.Timestamp, last: pd.Timestamp, target: "pd.Series[float]", valued: _Valued) -> DecisionFit:
    book, fills = valued.book, valued.fills
    names = book.shares.columns.union(target.index)
    price = valued.price.reindex(names)
    held = pd.Series(book.shares.loc[last], dtype=float).reindex(names, fill_value=0.0)
    equity = valued.equity
    weight = target.reindex(names, fill_value=0.0).fillna(0.0)
    wanted = (weight * equity / price).fillna(0.0)
    ignored = fills.stopped(day, last)
    short = fills.capped(day)
    gap = (held - wanted) * price.fillna(0.0) / equity
    lean = _scaled_buys(held, wanted, fills.bought(day), spent=float(book.cash[last]) <= _CASH_SPENT * equity)
    keep = np.array(
        [name not in ignored and not (name in short and gap[name] < 0) and name not in lean for name in names]
    )
    if not keep.any():
        return DecisionFit(day, 0.0, weights_fit=True, shares_fit=True, worst="")
    off = gap[keep].abs()
    shares_off = (held - wanted).abs()[keep] > np.maximum(SHARE_TOLERANCE * wanted[keep], 1.0 + 1e-6)
    worst = str(off.idxmax())
    return DecisionFit(
        day,
        float(off.max()),
        weights_fit=bool(off.max() <= WEIGHT_TOLERANCE),
        shares_fit=not bool(shares_off.any()),
        worst=f"{worst} held {held[worst]:g}, target {wanted[worst]:.2f} shares",
    )


def _scaled_buys(held: "pd.Series[float]", wanted: "pd.Series[float]", bought: set[str], *, spent: bool) -> set[str]:
    """Return bought names that fall short by one common ratio because the cash was spent."""
    if not spent:
        return set()
    ratios = {
        name: held[name] / wanted[name] for name in bought if wanted.get(name, 0.0) > 0 and held[name] < wanted[name]
    }
    if not ratios:
        return set()
    low = min(ratios.values())
    return set(ratios) if low >= 0.8 else {name for name, ratio in ratios.items() if ratio >= 0.8}
