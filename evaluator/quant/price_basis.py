"""Which price the fills were made at, and what that means for marks, splits and dividends."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from evaluator.quant.absent import Absent
from evaluator.quant.arrays import FloatArray
from evaluator.quant.fills import looked_up, places, usable_fills
from evaluator.quant.panel import PricePanel

NEAR = 0.005
_SPLIT_RATIOS = (2, 3, 4, 5, 7, 8, 10, 15, 20, 25, 30, 50)
_SPLIT_FIT = 0.02
_DIVIDEND_NOISE = 5e-4
"""Adjusted closes printed with two decimals move the ratio by up to 2.5e-4 at a price of 20."""
_SLOPE_SE = 0.25


@dataclass(frozen=True)
class PriceBasis:
    """How fills are priced and so how positions must be marked."""

    column: str
    """Best matching price: open, close, adj_close, adj_open, vwap, typical, or unsplit_open / unsplit_close."""
    share: float
    """Share of fills within 0.5 % of it."""
    adjusted: bool
    """Fills are on dividend-adjusted prices: no dividends, no splits are added."""
    mark: str
    """Field that values positions: close, adj_close or unsplit_close."""
    apply_splits: bool
    apply_dividends: bool
    notes: tuple[str, ...] = ()


def price_basis(trades: pd.DataFrame | None, panel: PricePanel) -> PriceBasis | Absent:
    """Compare every fill with every candidate price of its session."""
    fills = usable_fills(trades)
    if isinstance(fills, Absent):
        return fills
    at = places(fills, panel.sessions, panel.symbols)
    paid = fills["price"].to_numpy(dtype=float)
    best, best_key = "close", (-1.0, 0.0)
    for name, frame in candidates(panel).items():
        quoted = looked_up(frame, at)
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.abs(paid / quoted - 1)
        known = np.isfinite(error)
        if not known.any():
            continue
        # Rounded so that an equally good earlier (raw) candidate wins over a later one.
        key = (round(float((error[known] <= NEAR).sum() / len(paid)), 4), -round(float(np.median(error[known])), 6))
        if key > best_key:
            best, best_key = name, key
    return basis_for(best, panel, share=max(best_key[0], 0.0))


def basis_for(column: str, panel: PricePanel, *, share: float = 1.0) -> PriceBasis:
    """Return marks and corporate actions that go with a fill price column."""
    if column.startswith("adj_"):
        return PriceBasis(column, share, adjusted=True, mark="adj_close", apply_splits=False, apply_dividends=False)
    if column.startswith("unsplit_"):
        return PriceBasis(
            column,
            share,
            adjusted=False,
            mark="unsplit_close",
            apply_splits=True,
            apply_dividends=True,
            notes=("fills are on unsplit prices while the price table is split-adjusted",),
        )
    raw, note = closes_are_raw(panel)
    return PriceBasis(
        column,
        share,
        adjusted=not raw,
        mark="close",
        apply_splits=not splits_in_close(panel),
        apply_dividends=raw,
        notes=(note,) if note else (),
    )


def candidates(panel: PricePanel) -> dict[str, pd.DataFrame]:
    """Return the prices a fill may have been made at, raw ones first."""
    f = panel.fields
    out: dict[str, pd.DataFrame] = {name: f[name] for name in ("open", "close", "vwap") if name in f}
    if {"high", "low", "close"} <= set(f):
        out["typical"] = (f["high"] + f["low"] + f["close"]) / 3
    if "adj_close" in f and not f["adj_close"].equals(f["close"]):
        out["adj_close"] = f["adj_close"]
        if "open" in f:
            out["adj_open"] = f["open"] * (f["adj_close"] / f["close"])
    if "stock_splits" in f and splits_in_close(panel) and bool((_ratios(panel) != 1).any()):
        out |= {f"unsplit_{name}": unsplit(panel, name) for name in ("open", "close") if name in f}
    return out


def mark_prices(panel: PricePanel, mark: str) -> pd.DataFrame:
    """Return the field that values positions."""
    if mark == "unsplit_close":
        return unsplit(panel, "close")
    return panel.adjusted if mark == "adj_close" else panel.fields["close"]


def unsplit(panel: PricePanel, name: str) -> pd.DataFrame:
    """Return a split-adjusted field as it was quoted on the day: times all later split ratios."""
    ratios = _ratios(panel)
    later = np.ones_like(ratios)
    later[:-1] = np.cumprod(ratios[::-1], axis=0)[::-1][1:]
    return panel.fields[name] * later


def _ratios(panel: PricePanel) -> FloatArray:
    column = panel.fields.get("stock_splits")
    if column is None:
        return np.ones((len(panel.sessions), len(panel.symbols)))
    values = column.to_numpy()
    return np.where(np.isfinite(values) & (values > 0), values, 1.0)


def splits_in_close(panel: PricePanel) -> bool:
    """Tell whether closes are already split-adjusted: at the splits, the close moves like any other day."""
    ratios = _ratios(panel)
    at_row, at_column = np.nonzero(ratios != 1)
    if len(at_row) == 0:
        ratios = _implied_splits(panel)
        return not (ratios != 1).any()
    close = panel.fields["close"].ffill().to_numpy()
    inside = at_row > 0
    at_row, at_column = at_row[inside], at_column[inside]
    with np.errstate(divide="ignore", invalid="ignore"):
        drop = np.log(close[at_row - 1, at_column] / close[at_row, at_column])
    size = np.log(ratios[at_row, at_column])
    known = np.isfinite(drop)
    unadjusted = np.abs(drop - size)[known] < np.abs(drop)[known]
    return not (known.any() and unadjusted.mean() > 0.5)


def closes_are_raw(panel: PricePanel) -> tuple[bool, str | None]:
    """Tell whether closes still drop on ex-dates, and on what ground that was decided when it was a guess."""
    fields = panel.fields
    if "adj_close" in fields:
        same = np.isclose(fields["adj_close"].to_numpy(), fields["close"].to_numpy(), rtol=1e-6, equal_nan=True).all()
        if not same:
            return True, None
    if "dividends" not in fields:
        return False, "no dividends and no second price are delivered: returns are price returns as delivered"
    slope, error = _ex_date_slope(panel)
    if error <= _SLOPE_SE:
        return slope < -0.5, f"closes move by {slope:.2f} x the dividend on ex-dates (standard error {error:.2f})"
    return True, "closes are taken as not adjusted for dividends; too few ex-dates to tell"


def _ex_date_slope(panel: PricePanel) -> tuple[float, float]:
    close = panel.fields["close"].to_numpy()
    now = panel.fields.get("open", panel.fields["close"]).to_numpy()
    paid = panel.fields["dividends"].to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        move = now[1:] / close[:-1] - 1
        size = paid[1:] / close[:-1]
        move = move - np.nanmedian(np.where(np.isfinite(move), move, 0.0), axis=1, keepdims=True)
    known = (size > 0) & np.isfinite(move)
    x, y = size[known], move[known]
    if len(x) < 5:
        return 0.0, np.inf
    slope = float((x * y).sum() / (x * x).sum())
    return slope, float(np.sqrt(((y - slope * x) ** 2).sum() / (len(x) - 1) / (x * x).sum()))


def _adjustment_jumps(panel: PricePanel) -> FloatArray:
    """Return adj_close growth over close growth per session; 1 where nothing happened."""
    if "adj_close" not in panel.fields:
        return np.ones((len(panel.sessions), len(panel.symbols)))
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = (panel.fields["adj_close"] / panel.fields["close"]).ffill().to_numpy()
        jumps = np.ones_like(factor)
        jumps[1:] = factor[1:] / factor[:-1]
    return np.where(np.isfinite(jumps), jumps, 1.0)


def _implied_splits(panel: PricePanel) -> FloatArray:
    jumps = _adjustment_jumps(panel)
    out = np.ones_like(jumps)
    for n in _SPLIT_RATIOS:
        for ratio in (float(n), 1.0 / n):
            out[np.abs(jumps / ratio - 1) <= _SPLIT_FIT] = ratio
    return out


def corporate_actions(panel: PricePanel, basis: PriceBasis) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return split ratios (1 = none) and cash dividends per share (0 = none) that the rebuild must add.

    Without columns they are derived from jumps of adj_close / close.
    """
    shape = (len(panel.sessions), len(panel.symbols))
    splits, cash = np.ones(shape), np.zeros(shape)
    if basis.apply_splits:
        given = _ratios(panel)
        splits = given if (given != 1).any() else _implied_splits(panel)
    if basis.apply_dividends:
        column = panel.fields.get("dividends")
        cash = _implied_dividends(panel, basis) if column is None else np.nan_to_num(column.to_numpy())
        if column is not None and basis.mark == "unsplit_close":
            cash = np.nan_to_num(unsplit(panel, "dividends").to_numpy())
    return (
        pd.DataFrame(splits, index=panel.sessions, columns=panel.symbols),
        pd.DataFrame(cash, index=panel.sessions, columns=panel.symbols),
    )


def _implied_dividends(panel: PricePanel, basis: PriceBasis) -> FloatArray:
    jumps = _adjustment_jumps(panel)
    splits = _implied_splits(panel)
    jumps = np.where(splits != 1, 1.0, jumps)
    before = mark_prices(panel, basis.mark).ffill().shift(1).to_numpy()
    paid = np.where(jumps - 1 > _DIVIDEND_NOISE, before * (1 - 1 / jumps), 0.0)
    return np.nan_to_num(paid)
