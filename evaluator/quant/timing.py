"""The market gates: hold the book or stay in cash."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from evaluator.quant.absent import Absent
from evaluator.quant.arrays import FloatArray
from evaluator.quant.factors import FactorInputs
from evaluator.quant.options import sessions_value, value
from evaluator.quant.panel import PricePanel

GATES = ("always_invested", "spy_sma", "spy_abs_mom", "vix_gate", "breadth", "vol_gate")
_BREADTH_WINDOW = 200
_VOL_WINDOW = 21
_VOL_HISTORY = 756
_STALE_DAYS = 7
"""A market value older than a week says nothing about t."""
_EDGE = 1e-12


def gate_lookback(rule: str, params: Mapping[str, float]) -> int:
    """Return how many sessions of closes, t included, the gate needs."""
    if rule == "spy_sma":
        return sessions_value("market_timing", rule, "window", params, 200)
    if rule == "spy_abs_mom":
        return sessions_value("market_timing", rule, "lookback", params, 252) + 1
    return {"breadth": _BREADTH_WINDOW, "vol_gate": _VOL_HISTORY + _VOL_WINDOW + 1, "vix_gate": 1}.get(rule, 0)


def gate(
    rule: str,
    inputs: FactorInputs,
    dates: pd.DatetimeIndex,
    *,
    params: Mapping[str, float] | None = None,
    vix: "pd.Series[Any] | None" = None,
) -> "pd.Series[Any] | Absent":
    """Return 1.0 (hold), 0.0 (cash) or NaN (not enough history) per date, from values up to the date only."""
    given = params or {}
    if rule not in GATES:
        return Absent(f"timing rule {rule!r} is not one of the grammar")
    if rule == "always_invested":
        return pd.Series(1.0, index=dates)
    if rule == "breadth":
        return pd.Series(_breadth(inputs.panel, dates, given), index=dates)
    if rule == "vix_gate":
        return _vix(vix, dates, given)
    if inputs.spy is None or len(inputs.spy) == 0:
        return Absent(f"{rule} needs a SPY series, none was delivered")
    return pd.Series(_index_gate(rule, inputs.spy, dates, given), index=dates)


def _index_gate(rule: str, spy: "pd.Series[Any]", dates: pd.DatetimeIndex, params: Mapping[str, float]) -> list[float]:
    closes = spy.to_numpy(dtype=float)
    rows = _rows(spy, dates)
    if rule == "spy_sma":
        return _sma(closes, rows, gate_lookback(rule, params))
    if rule == "spy_abs_mom":
        return _absolute(closes, rows, gate_lookback(rule, params) - 1)
    level = value("market_timing", rule, "percentile", params)
    return _calm(closes, rows, 80.0 if level is None else level)


def _rows(series: "pd.Series[Any]", dates: pd.DatetimeIndex) -> list[int]:
    index = pd.DatetimeIndex(series.index).as_unit("us").to_numpy()
    wanted = dates.as_unit("us").to_numpy()
    rows = np.searchsorted(index, wanted, side="right") - 1
    fresh = wanted - index[np.maximum(rows, 0)] <= np.timedelta64(_STALE_DAYS, "D")
    return [int(row) if ok and row >= 0 else -1 for row, ok in zip(rows, fresh, strict=True)]


def _sma(closes: FloatArray, rows: list[int], window: int) -> list[float]:
    return [
        float(closes[row] >= closes[row - window + 1 : row + 1].mean() - _EDGE) if row >= window - 1 else np.nan
        for row in rows
    ]


def _absolute(closes: FloatArray, rows: list[int], back: int) -> list[float]:
    return [float(closes[row] / closes[row - back] - 1 > 0) if row >= back else np.nan for row in rows]


def _calm(closes: FloatArray, rows: list[int], percentile: float) -> list[float]:
    returns = pd.Series(closes).pct_change()
    volatility = returns.rolling(_VOL_WINDOW).std(ddof=1).to_numpy()
    first = _VOL_HISTORY + _VOL_WINDOW
    out = []
    for row in rows:
        if row < first:
            out.append(np.nan)
            continue
        limit = np.percentile(volatility[row - _VOL_HISTORY : row], percentile)
        out.append(float(volatility[row] <= limit + _EDGE))
    return out


def _vix(
    vix: "pd.Series[Any] | None", dates: pd.DatetimeIndex, params: Mapping[str, float]
) -> "pd.Series[Any] | Absent":
    if vix is None or len(vix) == 0:
        return Absent("vix_gate needs the VIX closes, none were delivered")
    threshold = value("market_timing", "vix_gate", "threshold", params)
    values = vix.to_numpy(dtype=float)
    limit = 30.0 if threshold is None else threshold
    return pd.Series([float(values[row] < limit) if row >= 0 else np.nan for row in _rows(vix, dates)], index=dates)


def _breadth(panel: PricePanel, dates: pd.DatetimeIndex, params: Mapping[str, float]) -> list[float]:
    threshold = value("market_timing", "breadth", "threshold", params)
    limit = (50.0 if threshold is None else threshold) / 100
    closes = panel.adjusted.to_numpy()
    out = []
    for row in panel.rows(dates):
        if row < _BREADTH_WINDOW - 1:
            out.append(np.nan)
            continue
        window = closes[row - _BREADTH_WINDOW + 1 : row + 1]
        full = np.isfinite(window).all(axis=0)
        if not full.any():
            out.append(np.nan)
            continue
        above = window[-1, full] >= window[:, full].mean(axis=0) - _EDGE
        out.append(float(above.mean() >= limit - _EDGE))
    return out
