"""The seventeen factors of the grammar; higher is better, NaN where a name has no value."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evaluator.quant.absent import Absent
from evaluator.quant.arrays import FloatArray, IntArray
from evaluator.quant.panel import PricePanel
from evaluator.quant.statements import Statements

_LOOKBACK = {
    "mom_12_1": 253,
    "mom_6_1": 127,
    "high_52w": 252,
    "rev_21": 22,
    "rev_5": 6,
    "low_vol_252": 253,
    "low_beta_252": 253,
    "low_max_21": 22,
}
_NEEDS: dict[str, tuple[str, ...]] = {
    "earnings_yield": ("net_income", "shares"),
    "book_to_price": ("common_equity", "shares"),
    "fcf_yield": ("operating_cash_flow", "capex", "shares"),
    "roe": ("net_income", "common_equity"),
    "gross_profitability": ("gross_profit", "total_assets"),
    "low_accruals": ("net_income", "operating_cash_flow", "total_assets"),
    "revenue_growth": ("revenue",),
    "sue": ("eps",),
    "small_cap": ("shares",),
}
_MIN_BETA_OBSERVATIONS = 200
FACTORS = (*_LOOKBACK, *_NEEDS)


@dataclass(frozen=True)
class FactorInputs:
    """Everything a factor or a gate may look at."""

    panel: PricePanel
    statements: Statements | None = None
    spy: "pd.Series[Any] | None" = None
    """SPY closes adjusted for dividends, or the index standing in for it."""
    financials: frozenset[str] = frozenset()
    """Names of the financial sector, left out of gross_profitability."""


def lookback(factor: str) -> int:
    """Return how many sessions of closes, t included, the factor needs; 0 for statement factors."""
    return _LOOKBACK.get(factor, 0)


def skip(factor: str) -> int:
    """Return how many sessions before t the factor stops looking."""
    return 21 if factor.startswith("mom_") else 0


def needs_statements(factor: str) -> bool:
    """Tell whether the factor reads statements."""
    return factor in _NEEDS


def factor_scores(factor: str, inputs: FactorInputs, dates: pd.DatetimeIndex) -> pd.DataFrame | Absent:
    """Return dates x symbols of one factor, using data up to each date only."""
    if factor not in FACTORS:
        return Absent(f"factor {factor!r} is not one of the grammar")
    if factor in _NEEDS:
        found = _statement_scores(factor, inputs, dates)
    elif factor == "low_beta_252":
        found = _low_beta(inputs, dates)
    else:
        found = _price_scores(factor, inputs.panel, inputs.panel.rows(dates))
    if isinstance(found, Absent):
        return found
    found[~np.isfinite(found)] = np.nan
    return pd.DataFrame(found, index=dates, columns=inputs.panel.symbols)


def market_cap(inputs: FactorInputs, dates: pd.DatetimeIndex) -> pd.DataFrame | Absent:
    """Return dates x symbols: close x shares of the latest usable quarter."""
    if inputs.statements is None or not inputs.statements.has("shares"):
        return Absent("no share counts were delivered")
    shares = _at(inputs.statements.back("shares", 0), inputs, dates)
    close = _take(inputs.panel.fields["close"].to_numpy(), inputs.panel.rows(dates))
    cap = close * np.where(shares > 0, shares, np.nan)
    return pd.DataFrame(cap, index=dates, columns=inputs.panel.symbols)


def _take(values: FloatArray, rows: IntArray) -> FloatArray:
    out = np.full((len(rows), values.shape[1]), np.nan)
    out[rows >= 0] = values[rows[rows >= 0]]
    return out


def _price_scores(factor: str, panel: PricePanel, rows: IntArray) -> FloatArray:
    closes = panel.adjusted.to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        if factor in ("mom_12_1", "mom_6_1"):
            back = 252 if factor == "mom_12_1" else 126
            return np.asarray(_take(closes, rows - 21) / _take(closes, rows - back) - 1)
        if factor in ("rev_21", "rev_5"):
            back = 21 if factor == "rev_21" else 5
            return np.asarray(1 - _take(closes, rows) / _take(closes, rows - back))
        if factor == "high_52w":
            return np.asarray(_take(closes, rows) / _windowed(closes, rows, 252, np.max))
        returns = panel.returns.to_numpy()
        if factor == "low_vol_252":
            return -_windowed(returns, rows, 252, lambda w, axis: np.std(w, axis=axis, ddof=1))
        return -_windowed(returns, rows, 21, np.max)


def _windowed(values: FloatArray, rows: IntArray, window: int, reduce: Any) -> FloatArray:
    out = np.full((len(rows), values.shape[1]), np.nan)
    for i, row in enumerate(rows):
        if row >= window - 1:
            out[i] = reduce(values[row - window + 1 : row + 1], axis=0)
    return out


def _low_beta(inputs: FactorInputs, dates: pd.DatetimeIndex) -> FloatArray | Absent:
    if inputs.spy is None or len(inputs.spy) == 0:
        return Absent("low_beta_252 needs a SPY series, none was delivered")
    panel = inputs.panel
    closes = inputs.spy.reindex(panel.sessions).to_numpy(dtype=float)
    market = np.append([np.nan], closes[1:] / closes[:-1] - 1)
    returns = panel.returns.to_numpy()
    rows = panel.rows(dates)
    out = np.full((len(rows), returns.shape[1]), np.nan)
    for i, row in enumerate(rows):
        if row >= _MIN_BETA_OBSERVATIONS:
            first = max(row - 251, 0)
            out[i] = -_beta(returns[first : row + 1], market[first : row + 1])
    return out


def _beta(returns: FloatArray, market: FloatArray) -> FloatArray:
    common = np.isfinite(returns) & np.isfinite(market)[:, None]
    count = common.sum(axis=0)
    own = np.where(common, returns, 0.0)
    index = np.where(common, market[:, None], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(common, own - own.sum(axis=0) / count, 0.0)
        index = np.where(common, index - index.sum(axis=0) / count, 0.0)
        beta = (own * index).sum(axis=0) / (index * index).sum(axis=0)
    return np.where(count >= _MIN_BETA_OBSERVATIONS, beta, np.nan)


def _at(per_row: FloatArray, inputs: FactorInputs, dates: pd.DatetimeIndex) -> FloatArray:
    assert inputs.statements is not None  # noqa: S101 -- narrowed by the callers
    rows = inputs.statements.known(dates, inputs.panel.symbols)
    return np.where(rows >= 0, per_row[np.maximum(rows, 0)], np.nan)


def _statement_scores(factor: str, inputs: FactorInputs, dates: pd.DatetimeIndex) -> FloatArray | Absent:
    known = inputs.statements
    if known is None:
        return Absent(f"{factor} needs statements with announcement dates, none were delivered")
    lacking = [name for name in _NEEDS[factor] if not known.has(name)]
    if lacking:
        return Absent(f"{factor} needs {', '.join(lacking)}, which the fundamentals table lacks")
    with np.errstate(divide="ignore", invalid="ignore"):
        if factor in ("earnings_yield", "book_to_price", "fcf_yield", "small_cap"):
            return _per_price(factor, known, inputs, dates)
        scores = _at(_per_quarter(factor, known), inputs, dates)
    if factor == "gross_profitability" and inputs.financials:
        scores[:, inputs.panel.symbols.isin(list(inputs.financials))] = np.nan
    return scores


def _per_price(factor: str, known: Statements, inputs: FactorInputs, dates: pd.DatetimeIndex) -> FloatArray | Absent:
    cap = market_cap(inputs, dates)
    if isinstance(cap, Absent):
        return cap
    if factor == "small_cap":
        return np.asarray(-np.log(cap.to_numpy()))
    if factor == "earnings_yield":
        top = known.trailing("net_income")
    elif factor == "fcf_yield":
        top = known.trailing("operating_cash_flow") - known.trailing("capex")
    else:
        equity = known.back("common_equity", 0)
        top = np.where(equity > 0, equity, np.nan)
    return np.asarray(_at(top, inputs, dates) / cap.to_numpy())


def _per_quarter(factor: str, known: Statements) -> FloatArray:
    if factor == "roe":
        now, ago = known.back("common_equity", 0), known.back("common_equity", 4)
        usable = (now > 0) & (ago > 0)
        return np.where(usable, known.trailing("net_income") / ((now + ago) / 2), np.nan)
    if factor == "gross_profitability":
        return np.asarray(known.trailing("gross_profit") / known.back("total_assets", 0))
    if factor == "low_accruals":
        assets = (known.back("total_assets", 0) + known.back("total_assets", 4)) / 2
        return np.asarray(-(known.trailing("net_income") - known.trailing("operating_cash_flow")) / assets)
    if factor == "revenue_growth":
        before = known.trailing("revenue", start=4)
        return np.where(before > 0, known.trailing("revenue") / before - 1, np.nan)
    surprises = np.stack([known.back("eps", q) - known.back("eps", q + 4) for q in range(8)], axis=1)
    spread = surprises.std(axis=1, ddof=1)
    return np.where(spread > 0, surprises[:, 0] / spread, np.nan)
