"""Usable fills of a trade table on sessions of a price panel."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evaluator.quant.absent import Absent
from evaluator.quant.arrays import FloatArray, IntArray

REQUIRED = ("date", "symbol", "side", "quantity", "price")


def usable_fills(trades: pd.DataFrame | None) -> pd.DataFrame | Absent:
    """Return the rows with date, symbol, side, quantity > 0 and price > 0, in date order; adds `signed` and `notional`."""
    if trades is None or len(trades) == 0:
        return Absent("no trade log was delivered")
    missing = [name for name in REQUIRED if name not in trades.columns]
    if missing:
        return Absent(f"the trade log has no {', '.join(missing)}")
    numbers = {
        n: pd.to_numeric(trades[n], errors="coerce").to_numpy(dtype=float) for n in ("side", "quantity", "price")
    }
    good = trades["date"].notna().to_numpy() & trades["symbol"].notna().to_numpy()
    good &= np.isin(numbers["side"], (-1.0, 1.0)) & (numbers["quantity"] > 0) & (numbers["price"] > 0)
    good &= np.isfinite(numbers["quantity"]) & np.isfinite(numbers["price"])
    if not good.any():
        return Absent("no row of the trade log has date, symbol, side, quantity > 0 and price > 0")
    out = trades.loc[good].copy()
    for name, values in numbers.items():
        out[name] = values[good]
    out["signed"] = out["side"] * out["quantity"]
    out["notional"] = out["quantity"] * out["price"]
    return out.sort_values("date", kind="stable").reset_index(drop=True)


@dataclass(frozen=True)
class Places:
    """Where each fill falls in a sessions x symbols matrix."""

    rows: IntArray
    """Row of the first session >= the fill date; may be past the end."""
    columns: IntArray
    """Column of the symbol; -1 when it has no prices."""


def places(fills: pd.DataFrame, sessions: pd.DatetimeIndex, symbols: pd.Index) -> Places:
    """Locate fills; a fill on a closed day falls on the next session."""
    dates = pd.DatetimeIndex(fills["date"]).as_unit("us").to_numpy()
    rows = np.searchsorted(sessions.as_unit("us").to_numpy(), dates, side="left")
    return Places(rows.astype(np.int64), np.asarray(symbols.get_indexer(pd.Index(fills["symbol"])), dtype=np.int64))


def looked_up(frame: pd.DataFrame, at: Places) -> FloatArray:
    """Return one value per fill; NaN where the fill has no place."""
    values = frame.to_numpy(dtype=float)
    inside = (at.rows < len(values)) & (at.columns >= 0)
    out: FloatArray = np.full(len(at.rows), np.nan)
    out[inside] = values[at.rows[inside], at.columns[inside]]
    return out


def on_matrix(amounts: FloatArray, at: Places, shape: tuple[int, int]) -> FloatArray:
    """Return the sum of `amounts` per (session, symbol); fills without a place are left out."""
    out = np.zeros(shape)
    inside = (at.rows < shape[0]) & (at.columns >= 0)
    np.add.at(out, (at.rows[inside], at.columns[inside]), amounts[inside])
    return out


def fee_amounts(fills: pd.DataFrame, rate_bps: float | None) -> tuple[FloatArray, str]:
    """Return the fee of each fill and its origin: the column (absolute values), the stated rate, or none."""
    notional = fills["notional"].to_numpy(dtype=float)
    stated = notional * ((rate_bps or 0.0) / 1e4)
    if "fee" in fills.columns:
        column: Any = pd.to_numeric(fills["fee"], errors="coerce").abs().to_numpy(dtype=float)
        if np.isfinite(column).any():
            return np.where(np.isfinite(column), column, stated), "column"
    return stated, "rate" if rate_bps else "none"
