"""Equity rebuilt from the trade log and prices alone; the agent's own equity is never an input."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd

from evaluator.quant.absent import Absent
from evaluator.quant.arrays import BoolArray, FloatArray
from evaluator.quant.calendar import Day, sessions, shift_session
from evaluator.quant.fills import Places, fee_amounts, on_matrix, places, usable_fills
from evaluator.quant.panel import PricePanel
from evaluator.quant.price_basis import PriceBasis, corporate_actions, mark_prices, price_basis

Route = Literal["trades", "weights", "positions"]
CapitalOrigin = Literal["stated", "equity", "assumed"]
MAX_FILL = 5
"""Sessions a missing mark may be carried forward."""
DELISTED_AFTER = 10
STALE_LIMIT = 0.05
PARTLY = 0.80
FULLY = 0.99
_DUST = 1e-9


@dataclass(frozen=True)
class Rebuild:
    """Equity, cash and positions at every session close."""

    route: Route
    equity: "pd.Series[Any]"
    cash: "pd.Series[Any]"
    shares: pd.DataFrame
    marks: pd.DataFrame
    traded: pd.DataFrame
    """Signed shares bought (+) and sold (-) per session."""
    splits: pd.DataFrame
    """Split ratios applied to the shares; 1 is none."""
    fees: "pd.Series[Any]"
    capital: float
    capital_origin: CapitalOrigin
    fee_origin: str
    basis: PriceBasis
    coverage: float
    """Traded notional whose fills and marks are priced, over all."""
    stale_share: float
    """Largest share of equity valued at a price more than five sessions old, on any session."""
    open_after_delisting: tuple[str, ...] = ()
    """Names still held ten sessions after their last price."""
    notes: tuple[str, ...] = ()

    @cached_property
    def exposure(self) -> "pd.Series[Any]":
        """1 - cash / equity."""
        return 1 - self.cash / self.equity

    @cached_property
    def weights(self) -> pd.DataFrame:
        """Held weights at each close."""
        return (self.shares * self.marks.fillna(0.0)).div(self.equity, axis=0)

    @property
    def partly(self) -> bool:
        """At least 80 % of the traded notional is priced."""
        return self.coverage >= PARTLY

    @property
    def fully(self) -> bool:
        """At least 99 % is priced and nothing large is stale."""
        return self.coverage >= FULLY and self.stale_share <= STALE_LIMIT


def rebuild(
    trades: pd.DataFrame | None,
    panel: PricePanel,
    *,
    capital: float | None = None,
    first_equity: float | None = None,
    rate_bps: float | None = None,
    start: Day | None = None,
    end: Day | None = None,
    cash_rate: float = 0.0,
) -> Rebuild | Absent:
    """Rebuild equity from fills.

    Args: capital: stated start capital, else first_equity, else the least that keeps cash >= 0. rate_bps: stated cost,
    used where no fee column is. start: first session (default the first signal date, else the session before the first
    fill); end: last session (default the last price). cash_rate: yearly interest on cash as a fraction.
    """
    fills = usable_fills(trades)
    if isinstance(fills, Absent):
        return fills
    basis = price_basis(fills, panel)
    if isinstance(basis, Absent):
        return basis
    days = _span(fills, panel, start, end)
    if len(days) < 2:
        return Absent("the trade log and the prices have fewer than two sessions in common")
    notes = list(basis.notes)
    late = int((pd.DatetimeIndex(fills["date"]) > days[-1]).sum())
    if late:
        notes.append(f"{late} fills lie after the last session {days[-1].date()} and are left out")
        fills = fills[fills["date"] <= days[-1]].reset_index(drop=True)
    book = _book(fills, panel, basis, days)
    fees, fee_origin = fee_amounts(fills, rate_bps)
    flow = _cash_flow(fills, fees, book)
    v0, origin = _capital(capital, first_equity, flow, cash_rate)
    cash = _accrued(v0, flow, cash_rate)
    worth = np.nansum(book.shares * book.marks, axis=1)
    equity = cash + worth
    return Rebuild(
        route="trades",
        equity=pd.Series(equity, index=days),
        cash=pd.Series(cash, index=days),
        shares=_frame(book.shares, book),
        marks=_frame(book.marks, book),
        traded=_frame(book.traded, book),
        splits=_frame(book.splits, book),
        fees=pd.Series(_per_session(fees, book.at, len(days)), index=days),
        capital=v0,
        capital_origin=origin,
        fee_origin=fee_origin,
        basis=basis,
        coverage=_coverage(fills, book),
        stale_share=_stale_share(book, equity),
        open_after_delisting=_still_open(book),
        notes=tuple(notes),
    )


@dataclass(frozen=True)
class _Book:
    days: pd.DatetimeIndex
    symbols: pd.Index
    at: Places
    traded: FloatArray
    shares: FloatArray
    marks: FloatArray
    splits: FloatArray
    dividends: FloatArray
    stale: BoolArray
    """A mark older than five sessions, or none of the price table at all."""


def _frame(values: FloatArray, book: _Book) -> pd.DataFrame:
    return pd.DataFrame(values, index=book.days, columns=book.symbols)


def _span(fills: pd.DataFrame, panel: PricePanel, start: Day | None, end: Day | None) -> pd.DatetimeIndex:
    first_fill = fills["date"].iloc[0]
    first = shift_session(first_fill, -1)
    if "signal_date" in fills.columns and fills["signal_date"].notna().any():
        first = min(first, fills["signal_date"].min())
    if start is not None:
        # A stated start after the first fill cannot hold: the book would miss its first positions.
        first = min(pd.Timestamp(start), pd.Timestamp(first_fill))
    last = panel.sessions[-1] if end is None else min(panel.sessions[-1], pd.Timestamp(end))
    return sessions(first, last)


def _book(fills: pd.DataFrame, panel: PricePanel, basis: PriceBasis, days: pd.DatetimeIndex) -> _Book:
    symbols = pd.Index(sorted(set(fills["symbol"])))
    at = places(fills, days, symbols)
    traded = on_matrix(fills["signed"].to_numpy(dtype=float), at, (len(days), len(symbols)))
    splits_all, dividends_all = corporate_actions(panel, basis)
    splits = splits_all.reindex(index=days, columns=symbols).fillna(1.0).to_numpy()
    dividends = dividends_all.reindex(index=days, columns=symbols).fillna(0.0).to_numpy()
    grown = np.cumprod(splits, axis=0)
    shares = grown * np.cumsum(traded / grown, axis=0)
    shares[np.abs(shares) < _DUST * np.maximum(1.0, np.abs(traded).max(axis=0))] = 0.0
    marks, stale = _marks(fills, panel, basis, days, symbols, at)
    return _Book(days, symbols, at, traded, shares, marks, splits, dividends, stale)


def _marks(
    fills: pd.DataFrame,
    panel: PricePanel,
    basis: PriceBasis,
    days: pd.DatetimeIndex,
    symbols: pd.Index,
    at: Places,
) -> tuple[FloatArray, BoolArray]:
    quoted = mark_prices(panel, basis.mark)
    # Prices before the first session carry into it.
    whole = quoted.reindex(index=panel.sessions.union(days), columns=symbols)
    whole = whole.where(whole > 0)
    fresh = whole.ffill(limit=MAX_FILL).reindex(days)
    marks = whole.ffill().reindex(days).to_numpy(copy=True)
    stale = ~np.isfinite(fresh.to_numpy())
    # A name without any earlier price is carried at its own fill price.
    paid = np.full(marks.shape, np.nan)
    inside = at.rows < len(days)
    paid[at.rows[inside], at.columns[inside]] = fills["price"].to_numpy(dtype=float)[inside]
    carried = pd.DataFrame(paid).ffill().to_numpy()
    return np.where(np.isfinite(marks), marks, carried), stale


def _per_session(amounts: FloatArray, at: Places, count: int) -> FloatArray:
    inside = at.rows < count
    return np.asarray(np.bincount(at.rows[inside], weights=amounts[inside], minlength=count), dtype=float)


def _cash_flow(fills: pd.DataFrame, fees: FloatArray, book: _Book) -> FloatArray:
    spent = fills["signed"].to_numpy(dtype=float) * fills["price"].to_numpy(dtype=float) + fees
    before = np.vstack([np.zeros((1, book.shares.shape[1])), book.shares[:-1]])
    received = (before * book.splits * book.dividends).sum(axis=1)
    return np.asarray(received - _per_session(spent, book.at, len(book.days)))


def _capital(
    stated: float | None, first_equity: float | None, flow: FloatArray, cash_rate: float
) -> tuple[float, CapitalOrigin]:
    if stated is not None and np.isfinite(stated) and stated > 0:
        return float(stated), "stated"
    if first_equity is not None and np.isfinite(first_equity) and first_equity > 0:
        return float(first_equity), "equity"
    growth = (1 + cash_rate / 252) ** np.arange(len(flow))
    return max(float(-(np.cumsum(flow / growth)).min()), 0.0) or 1.0, "assumed"


def _accrued(capital: float, flow: FloatArray, cash_rate: float) -> FloatArray:
    growth = (1 + cash_rate / 252) ** np.arange(len(flow))
    return np.asarray(growth * (capital + np.cumsum(flow / growth)))


def _coverage(fills: pd.DataFrame, book: _Book) -> float:
    notional = fills["notional"].to_numpy(dtype=float)
    rows = np.minimum(book.at.rows, len(book.days) - 1)
    priced = ~book.stale[rows, book.at.columns] & (book.at.rows < len(book.days))
    return float(notional[priced].sum() / notional.sum()) if len(notional) else 0.0


def _stale_share(book: _Book, equity: FloatArray) -> float:
    worth = np.nansum(np.abs(np.where(book.stale, book.shares * book.marks, 0.0)), axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = worth / np.abs(equity)
    return float(np.nanmax(np.where(np.isfinite(share), share, 0.0), initial=0.0))


def _still_open(book: _Book) -> tuple[str, ...]:
    held = book.shares != 0
    age = np.zeros(book.shares.shape[1])
    found = np.zeros(book.shares.shape[1], dtype=bool)
    for row in range(len(book.days)):
        age = np.where(book.stale[row], age + 1, 0)
        found |= held[row] & (age + MAX_FILL > DELISTED_AFTER)
    return tuple(str(symbol) for symbol in book.symbols[found])
