"""Equity rebuilt from weights or share counts when there is no usable trade log."""

from typing import Any, Literal

import numpy as np
import pandas as pd

from evaluator.quant.absent import Absent
from evaluator.quant.accounting import MAX_FILL, Rebuild, rebuild
from evaluator.quant.arrays import FloatArray
from evaluator.quant.calendar import Day, is_session, sessions, shift_session
from evaluator.quant.panel import PricePanel
from evaluator.quant.price_basis import basis_for
from evaluator.quant.weighting import wide_weights

HELD_SHARE = 0.90
"""Weights on this share of sessions are held weights, not decisions."""
Fill = Literal["open", "close"]


def rebuild_from_weights(
    weights: pd.DataFrame | None,
    panel: PricePanel,
    *,
    capital: float = 1.0,
    rate_bps: float = 0.0,
    fill: Fill = "close",
    start: Day | None = None,
    end: Day | None = None,
    execution_lag: int = 1,
) -> Rebuild | Absent:
    """Rebuild equity from decision-dated targets (drifting between decisions) or from weights held day by day."""
    if weights is None or len(weights) == 0:
        return Absent("no weights were delivered")
    wide = wide_weights(weights).sort_index()
    wide = wide.loc[is_session(pd.DatetimeIndex(wide.index))]
    if len(wide) == 0:
        return Absent("no weights row lies on a session")
    first = pd.Timestamp(wide.index[0] if start is None else min(pd.Timestamp(start), wide.index[0]))
    last = panel.sessions[-1] if end is None else min(panel.sessions[-1], pd.Timestamp(end))
    days = sessions(first, last)
    if len(days) < 2:
        return Absent("weights and prices have fewer than two sessions in common")
    unknown = [str(c) for c in wide.columns if c not in panel.symbols]
    gross = float(wide.abs().to_numpy().sum())
    known = wide.drop(columns=unknown)
    coverage = float(known.abs().to_numpy().sum()) / gross if gross else 0.0
    if len(known.columns) == 0:
        return Absent("none of the weighted names has prices")
    held = len(wide.index.intersection(days)) >= HELD_SHARE * len(days)
    notes: tuple[str, ...] = ("weights are held weights",) if held else ("weights are decision targets",)
    if unknown:
        notes = (*notes, f"no prices for {', '.join(unknown[:5])}")
    lag = 0 if held else execution_lag
    walked = _Walk(known, panel, days, capital, rate_bps / 1e4, "close" if held else fill, lag)
    return walked.run(coverage, notes)


class _Walk:
    """Carries units of each name through the sessions, trading to target when a weights row takes effect."""

    def __init__(
        self,
        weights: pd.DataFrame,
        panel: PricePanel,
        days: pd.DatetimeIndex,
        capital: float,
        rate: float,
        fill: Fill,
        lag: int,
    ) -> None:
        self.days, self.symbols, self.capital, self.rate = days, weights.columns, capital, rate
        whole = panel.adjusted.reindex(index=panel.sessions.union(days), columns=self.symbols)
        self.stale = whole.ffill(limit=MAX_FILL).reindex(days).isna().to_numpy()
        self.close = whole.ffill().reindex(days).to_numpy()
        self.price = self._fill_prices(panel, fill)
        self.targets: dict[pd.Timestamp, FloatArray] = {
            shift_session(day, lag): row
            for day, row in zip(pd.DatetimeIndex(weights.index), weights.to_numpy(dtype=float), strict=True)
        }

    def _fill_prices(self, panel: PricePanel, fill: Fill) -> FloatArray:
        if fill == "close" or "open" not in panel.fields:
            return self.close
        scale = (panel.adjusted / panel.fields["close"]).reindex(index=self.days, columns=self.symbols)
        opens = (panel.fields["open"].reindex(index=self.days, columns=self.symbols) * scale).to_numpy()
        return np.where(np.isfinite(opens), opens, self.close)

    def run(self, coverage: float, notes: tuple[str, ...]) -> Rebuild:
        """Return the walk as a rebuild; units are of the adjusted price."""
        count, width = self.close.shape
        units, cash = np.zeros(width), self.capital
        shares, traded = np.zeros((count, width)), np.zeros((count, width))
        cashes, fees = np.zeros(count), np.zeros(count)
        close, price = np.nan_to_num(self.close), np.nan_to_num(self.price)
        for row, day in enumerate(self.days):
            target = self.targets.get(day)
            if target is not None:
                worth = cash + units @ price[row]
                with np.errstate(divide="ignore", invalid="ignore"):
                    wanted = np.where(price[row] > 0, target * worth / price[row], 0.0)
                traded[row] = wanted - units
                fees[row] = self.rate * np.abs(traded[row] * price[row]).sum()
                cash -= traded[row] @ price[row] + fees[row]
                units = wanted
            shares[row], cashes[row] = units, cash
        equity = cashes + (shares * close).sum(axis=1)
        stale = np.abs(np.where(self.stale, shares * close, 0.0)).sum(axis=1) / np.maximum(np.abs(equity), 1e-12)
        wrap: dict[str, Any] = {"index": self.days, "columns": self.symbols}
        return Rebuild(
            route="weights",
            equity=pd.Series(equity, index=self.days),
            cash=pd.Series(cashes, index=self.days),
            shares=pd.DataFrame(shares, **wrap),
            marks=pd.DataFrame(close, **wrap),
            traded=pd.DataFrame(traded, **wrap),
            splits=pd.DataFrame(np.ones_like(shares), **wrap),
            fees=pd.Series(fees, index=self.days),
            capital=self.capital,
            capital_origin="stated",
            fee_origin="rate" if self.rate else "none",
            basis=basis_for("adj_close", _AS_ADJUSTED),
            coverage=coverage,
            stale_share=float(stale.max(initial=0.0)),
            notes=notes,
        )


_AS_ADJUSTED = PricePanel(pd.DatetimeIndex([]), pd.Index([]), {})


def rebuild_from_positions(
    positions: pd.DataFrame | None,
    panel: PricePanel,
    *,
    capital: float | None = None,
    first_equity: float | None = None,
    rate_bps: float | None = None,
    start: Day | None = None,
    end: Day | None = None,
) -> Rebuild | Absent:
    """Difference share counts (date, symbol, quantity) to fills at the close and rebuild from those."""
    if positions is None or not {"date", "symbol", "quantity"} <= set(positions.columns):
        return Absent("no table of share counts was delivered")
    counts = positions.pivot_table(index="date", columns="symbol", values="quantity", aggfunc="last").fillna(0.0)
    counts = counts.rename_axis(index="date", columns=None)
    fills = _long(counts.diff().fillna(counts), "signed")
    fills = fills[fills["signed"] != 0]
    if len(fills) == 0:
        return Absent("the share counts never change from zero")
    closes = _long(panel.fields["close"].rename_axis(index="date", columns=None), "price")
    fills = fills.merge(closes, on=["date", "symbol"], how="left")
    fills["side"] = np.sign(fills["signed"])
    fills["quantity"] = fills["signed"].abs()
    made = rebuild(fills, panel, capital=capital, first_equity=first_equity, rate_bps=rate_bps, start=start, end=end)
    return made if isinstance(made, Absent) else _as_positions(made)


def _long(wide: pd.DataFrame, name: str) -> pd.DataFrame:
    return wide.reset_index().melt(id_vars="date", var_name="symbol", value_name=name)


def _as_positions(made: Rebuild) -> Rebuild:
    values = {name: getattr(made, name) for name in made.__dataclass_fields__}
    return Rebuild(**{**values, "route": "positions"})
