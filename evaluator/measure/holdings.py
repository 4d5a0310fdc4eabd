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
from evaluator.quant.arrays import FloatArray

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
    table = _Holdings(case, book, targets)
    days = [day for day in targets.index if book.equity.index[0] <= day < book.equity.index[-1]]
    pairs = []
    for number, day in enumerate(days):
        following = days[number + 1] if number + 1 < len(days) else book.equity.index[-1]
        last = fills.last_of(day, following)
        if last is not None and not fills.is_interrupted(day, last):
            pairs.append((day, last))
    ways = [tuple(_fit(day, last, table.valued(way, day, last), fills) for day, last in pairs) for way in _WAYS]
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
        return (
            pd.Timestamp(after[min(int(after.searchsorted(np.datetime64(last))), len(after) - 1)])
            if last >= day
            else None
        )

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
    """One decision's shares by name, held and wanted, with the price and the equity at which they are counted."""

    names: list[str]
    held: FloatArray
    target: FloatArray
    price: FloatArray
    equity: float
    cash: float


class _Holdings:
    """Marks, shares and targets of every name as arrays on one set of columns."""

    def __init__(self, case: Case, book: Rebuild, targets: pd.DataFrame) -> None:
        names = book.shares.columns.union(targets.columns)
        self._names = [str(name) for name in names]
        self._equity, self._cash = book.equity, book.cash
        self._sessions, self._decisions = book.equity.index, targets.index
        self._marks = book.marks.reindex(columns=names).to_numpy(dtype=float)
        self._shares = book.shares.reindex(columns=names).fillna(0.0).to_numpy(dtype=float)
        self._targets = targets.reindex(columns=names).fillna(0.0).to_numpy(dtype=float)
        self._opens = self._open_shares(case, names)

    def _open_shares(self, case: Case, names: "pd.Index[str]") -> FloatArray | None:
        """Return open / close by session and name; None where the prices have no opens."""
        panel = case.main.panel
        opens = None if isinstance(panel, Absent) else panel.field("open")
        closes = None if isinstance(panel, Absent) else panel.field("close")
        if opens is None or closes is None:
            return None
        return (opens / closes).reindex(index=self._sessions, columns=names).to_numpy(dtype=float)

    def valued(self, way: str, day: pd.Timestamp, last: pd.Timestamp) -> _Valued:
        """Return a decision counted in one of the ways."""
        at, end = self._sessions.get_loc(day), self._sessions.get_loc(last)
        held = self._shares[end]
        price = self._marks[at if way == "decision" else end]
        if way == "open":
            price = price * self._opens[end] if self._opens is not None else np.full(len(held), np.nan)
            equity = float(self._cash.to_numpy()[end] + np.nansum(held * price))
        else:
            equity = float(self._equity.to_numpy()[at if way == "decision" else end])
        target = self._targets[self._decisions.get_loc(day)]
        return _Valued(self._names, held, target, price, equity, float(self._cash.to_numpy()[end]))


def _fit(day: pd.Timestamp, last: pd.Timestamp, valued: _Valued, fills: _Fills) -> DecisionFit:
    names, price, held, equity = valued.names, valued.price, valued.held, valued.equity
    with np.errstate(divide="ignore", invalid="ignore"):
        wanted = np.nan_to_num(valued.target * equity / price, nan=0.0, posinf=0.0, neginf=0.0)
        gap = np.nan_to_num((held - wanted) * np.nan_to_num(price, nan=0.0) / equity, nan=0.0)
    ignored = fills.stopped(day, last)
    short = fills.capped(day)
    spent = valued.cash <= _CASH_SPENT * equity
    lean = _scaled_buys(names, held, wanted, fills.bought(day), spent=spent)
    keep = np.array(
        [
            name not in ignored and not (name in short and off < 0) and name not in lean
            for name, off in zip(names, gap, strict=True)
        ],
        dtype=bool,
    )
    if not keep.any():
        return DecisionFit(day, 0.0, weights_fit=True, shares_fit=True, worst="")
    size = np.where(keep, np.abs(gap), -1.0)
    at = int(np.argmax(size))
    shares_off = np.abs(held - wanted)[keep] > np.maximum(SHARE_TOLERANCE * wanted[keep], 1.0 + 1e-6)
    return DecisionFit(
        day,
        float(size[at]),
        weights_fit=bool(size[at] <= WEIGHT_TOLERANCE),
        shares_fit=not bool(shares_off.any()),
        worst=f"{names[at]} held {held[at]:g}, target {wanted[at]:.2f} shares",
    )


def _scaled_buys(names: list[str], held: FloatArray, wanted: FloatArray, bought: set[str], *, spent: bool) -> set[str]:
    """Return bought names that fall short by one common ratio because the cash was spent."""
    if not spent:
        return set()
    ratios = {
        name: have / want
        for name, have, want in zip(names, held, wanted, strict=True)
        if name in bought and want > 0 and have < want
    }
    if not ratios:
        return set()
    low = min(ratios.values())
    return set(ratios) if low >= 0.8 else {name for name, ratio in ratios.items() if ratio >= 0.8}
