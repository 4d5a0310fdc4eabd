"""Prices as wide matrices on one session index, and the market series nobody trades."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from evaluator.quant.absent import Absent
from evaluator.quant.arrays import IntArray
from evaluator.quant.calendar import is_session

FIELDS = ("open", "high", "low", "close", "adj_close", "vwap", "volume", "dividends", "stock_splits")
SPY_NAMES = ("SPY", "^GSPC", "GSPC", "SPX", "^SPX", "SP500", "S&P500", "S&P 500", "SPY.US", "IVV", "VOO")
VIX_NAMES = ("^VIX", "VIX", "VIXCLS", "CBOE VIX", "^VIX.INDX")
PROXIES = frozenset({*SPY_NAMES, *VIX_NAMES})


@dataclass(frozen=True)
class PricePanel:
    """Wide price fields, sessions x symbols, NaN where no row was delivered."""

    sessions: pd.DatetimeIndex
    symbols: pd.Index
    fields: dict[str, pd.DataFrame]
    proxies: dict[str, "pd.Series[Any]"] = field(default_factory=dict)
    """Index series found among the prices, adjusted closes by symbol; they are no part of the universe."""
    notes: tuple[str, ...] = ()

    def field(self, name: str) -> pd.DataFrame | None:
        """Return one field, or None when the delivery has no such column."""
        return self.fields.get(name)

    @cached_property
    def adjusted(self) -> pd.DataFrame:
        """P: adj_close, or close when there is no adjusted column."""
        found = self.fields.get("adj_close")
        return self.fields["close"] if found is None else found

    @cached_property
    def returns(self) -> pd.DataFrame:
        """r: daily simple returns of P; a gap makes two missing values."""
        values = self.adjusted.to_numpy()
        out = np.full(values.shape, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            out[1:] = values[1:] / values[:-1] - 1
        return pd.DataFrame(out, index=self.sessions, columns=self.symbols)

    def rows(self, dates: pd.DatetimeIndex) -> IntArray:
        """Return the row of the last session <= each date; -1 before the first."""
        found = np.searchsorted(self.sessions.to_numpy(), dates.as_unit("us").to_numpy(), side="right")
        return np.asarray(found - 1, dtype=np.int64)


def price_panel(prices: pd.DataFrame | None, *, traded: Collection[str] = ()) -> PricePanel | Absent:
    """Pivot the canonical long prices; the last of several rows of one (date, symbol) counts.

    Rows on closed days are left out. Index and VIX symbols become `proxies` unless they are `traded`.
    """
    if prices is None or len(prices) == 0 or not {"date", "symbol"} <= set(prices.columns):
        return Absent("no price table with date and symbol")
    if not {"close", "adj_close"} & set(prices.columns):
        return Absent("the price table has neither close nor adj_close")
    days = pd.DatetimeIndex(prices["date"]).as_unit("us")
    open_days = is_session(days)
    notes: tuple[str, ...] = ()
    if not open_days.all():
        notes = (f"{int((~open_days).sum())} price rows lie on closed days and are left out",)
        prices, days = prices.loc[open_days], days[open_days]
    if len(prices) == 0:
        return Absent("no price row lies on an XNYS session")
    fields, sessions_, symbols = _pivot(prices, days)
    if "close" not in fields:
        fields["close"] = fields["adj_close"]
        notes = (*notes, "only adjusted closes are delivered")
    proxies = {s: fields["adj_close" if "adj_close" in fields else "close"][s] for s in _proxy_symbols(symbols, traded)}
    if proxies:
        keep = symbols[~symbols.isin(list(proxies))]
        fields = {name: frame[keep] for name, frame in fields.items()}
        symbols = keep
    return PricePanel(sessions_, symbols, fields, proxies, notes)


def _proxy_symbols(symbols: pd.Index, traded: Collection[str]) -> list[str]:
    return [s for s in symbols if (s in PROXIES or str(s).startswith("^")) and s not in traded]


def _pivot(prices: pd.DataFrame, days: pd.DatetimeIndex) -> tuple[dict[str, pd.DataFrame], pd.DatetimeIndex, pd.Index]:
    day_codes, day_labels = pd.factorize(days, sort=True)
    symbol_codes, symbol_labels = pd.factorize(prices["symbol"], sort=True)
    index, columns = pd.DatetimeIndex(day_labels).as_unit("us"), pd.Index(symbol_labels)
    fields = {}
    for name in FIELDS:
        if name in prices.columns:
            values = np.full((len(index), len(columns)), np.nan)
            known = symbol_codes >= 0
            values[day_codes[known], symbol_codes[known]] = prices[name].to_numpy(dtype=float, na_value=np.nan)[known]
            fields[name] = pd.DataFrame(values, index=index, columns=columns)
    return fields, index, columns


def series_of(market: pd.DataFrame | None, names: Sequence[str]) -> "pd.Series[Any] | Absent":
    """Return the first of the named series of a canonical market table (date, symbol, value), oldest first."""
    if market is None or not {"date", "symbol", "value"} <= set(market.columns):
        return Absent("no market table with date, symbol and value")
    upper = market["symbol"].astype(str).str.upper().str.strip()
    for name in names:
        rows = market[upper == name]
        if len(rows):
            found = pd.Series(rows["value"].to_numpy(dtype=float), index=pd.DatetimeIndex(rows["date"]).as_unit("us"))
            found = found[~found.index.duplicated(keep="last")].sort_index().dropna()
            return found[is_session(pd.DatetimeIndex(found.index))]
    return Absent(f"no series named {names[0]} or an alias of it")


def spy_series(market: pd.DataFrame | None, panel: PricePanel | None = None) -> "pd.Series[Any] | Absent":
    """Return SPY, or an index standing in for it, from the market table, else from the price table."""
    found = series_of(market, SPY_NAMES)
    if isinstance(found, Absent) and panel is not None:
        for name in SPY_NAMES:
            if name in panel.proxies:
                return panel.proxies[name].dropna()
            if name in panel.symbols:
                return panel.adjusted[name].dropna()
    return found


def vix_series(market: pd.DataFrame | None, panel: PricePanel | None = None) -> "pd.Series[Any] | Absent":
    """Return the VIX closes from the market table, else from the price table."""
    found = series_of(market, VIX_NAMES)
    if isinstance(found, Absent) and panel is not None:
        for name in VIX_NAMES:
            if name in panel.proxies:
                return panel.proxies[name].dropna()
    return found
