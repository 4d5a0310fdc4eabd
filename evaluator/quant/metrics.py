"""Performance figures of an equity series and of a fill log, under stated conventions."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from evaluator.quant.absent import Absent
from evaluator.quant.arrays import FloatArray
from evaluator.quant.fills import fee_amounts, usable_fills

DAYS_PER_YEAR = 365.25


@dataclass(frozen=True)
class Conventions:
    """How ratios are formed; evaluator.md 2.6 items 6 and 7."""

    name: str = "default"
    periods: float = 252.0
    """Return periods per year."""
    ddof: int = 1
    rf: float = 0.0
    """Risk-free rate a year, as a fraction."""
    cagr: Literal["calendar", "periods"] = "calendar"
    """Exponent 365.25 / days, or periods / n."""
    sharpe: Literal["arithmetic", "geometric"] = "arithmetic"
    """geometric: yearly compound return over geometric volatility, as backtesting.py does."""
    wins: Literal["trades", "days"] = "trades"


DEFAULT = Conventions()


def returns_of(equity: "pd.Series[Any]", capital: float | None = None) -> "pd.Series[Any]":
    """Return V_t / V_{t-1} - 1; with a capital the first one is V_1 / V_0 - 1.

    A first equity that equals the capital is V_0 itself and makes no return.
    """
    values = equity.to_numpy(dtype=float)
    index = equity.index
    if capital is not None and len(values) and abs(values[0] / capital - 1) > 1e-12:
        values = np.append([capital], values)
    else:
        index = index[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        return pd.Series(values[1:] / values[:-1] - 1, index=index)


def max_drawdown(equity: "pd.Series[Any]", capital: float | None = None) -> float:
    """Return the deepest fall from the running peak, start capital included; negative or 0."""
    values = equity.to_numpy(dtype=float)
    if capital is not None:
        values = np.append([capital], values)
    peaks = np.maximum.accumulate(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.nanmin(values / peaks - 1)) if len(values) else float("nan")


def performance(
    equity: "pd.Series[Any]", *, capital: float | None = None, conventions: Conventions = DEFAULT
) -> dict[str, float]:
    """Return total_return, cagr, volatility, sharpe, sortino, calmar, max_drawdown, best and worst day, final_equity.

    A figure that is not defined (zero deviation, one value) is left out.
    """
    equity = equity.dropna()
    if len(equity) < 2:
        return {}
    start = float(equity.iloc[0]) if capital is None else capital
    daily = returns_of(equity, capital).to_numpy(dtype=float)
    growth = float(equity.iloc[-1]) / start
    drawdown = max_drawdown(equity, capital)
    days = (pd.Timestamp(equity.index[-1]) - pd.Timestamp(equity.index[0])).days
    out = {
        "final_equity": float(equity.iloc[-1]),
        "total_return": growth - 1,
        "max_drawdown": drawdown,
        "cagr": _compound(growth, days, len(daily), conventions),
        "win_rate_days": float((daily > 0).mean()),
        "best_day": float(daily.max()),
        "worst_day": float(daily.min()),
        **_ratios(daily, growth, conventions),
    }
    if drawdown < 0:
        out["calmar"] = out["cagr"] / -drawdown
    return {name: float(value) for name, value in out.items() if np.isfinite(value)}


def _compound(growth: float, days: int, count: int, conventions: Conventions) -> float:
    if growth <= 0:
        return -1.0
    if conventions.cagr == "periods":
        return float(growth ** (conventions.periods / count) - 1)
    return float(growth ** (DAYS_PER_YEAR / days) - 1) if days > 0 else float("nan")


def _ratios(daily: FloatArray, growth: float, conventions: Conventions) -> dict[str, float]:
    if len(daily) <= conventions.ddof:
        return {}
    root = np.sqrt(conventions.periods)
    spread = float(daily.std(ddof=conventions.ddof))
    excess = daily - conventions.rf / conventions.periods
    downside = float(np.sqrt((np.minimum(excess, 0.0) ** 2).mean()))
    out = {"volatility": spread * root, "annual_return_mean": float(daily.mean()) * conventions.periods}
    if spread > 1e-15:
        out["sharpe"] = float(excess.mean()) / spread * root
    if downside > 1e-15:
        out["sortino"] = float(excess.mean()) / downside * root
    if conventions.sharpe == "geometric" and growth > 0:
        mean = growth ** (1 / len(daily))
        yearly = mean**conventions.periods - 1
        variance = (spread**2 + mean**2) ** conventions.periods - mean ** (2 * conventions.periods)
        out["volatility"] = float(np.sqrt(max(variance, 0.0)))
        if out["volatility"] > 1e-15:
            out["sharpe"] = (yearly - conventions.rf) / out["volatility"]
    return out


def trade_metrics(
    trades: pd.DataFrame | None,
    equity: "pd.Series[Any]",
    cash: "pd.Series[Any] | None" = None,
    *,
    rate_bps: float = 0.0,
    trips: pd.DataFrame | None = None,
) -> dict[str, float]:
    """Return trades (fills), turnover a year (one-way), total_fees, win_rate over round trips, and exposure with cash."""
    out: dict[str, float] = {}
    if cash is not None and len(equity):
        out["exposure"] = float((1 - cash / equity).mean())
    fills = usable_fills(trades)
    if isinstance(fills, Absent):
        return out
    days = (pd.Timestamp(equity.index[-1]) - pd.Timestamp(equity.index[0])).days if len(equity) else 0
    if days > 0 and float(equity.mean()) > 0:
        out["turnover"] = float(fills["notional"].sum() / (2 * equity.mean()) / (days / DAYS_PER_YEAR))
    out["trades"] = float(len(fills))
    out["total_fees"] = float(fee_amounts(fills, rate_bps)[0].sum())
    trips = round_trips(fills) if trips is None else trips
    if len(trips):
        out["win_rate"] = float((trips["profit"] > 0).mean())
    return out


def round_trips(trades: pd.DataFrame | None) -> pd.DataFrame:
    """Return one row per sell that closes shares: symbol, date, quantity, entry (average cost), exit, profit, flat."""
    columns = ["symbol", "date", "quantity", "entry", "exit", "profit", "flat"]
    fills = usable_fills(trades)
    if isinstance(fills, Absent):
        return pd.DataFrame(columns=columns)
    rows: list[tuple[Any, ...]] = []
    held: dict[str, tuple[float, float]] = {}
    fields = (fills[name].tolist() for name in ("symbol", "date", "side", "quantity", "price"))
    for symbol, day, side, quantity, price in zip(*fields, strict=True):
        count, cost = held.get(symbol, (0.0, 0.0))
        if side > 0:
            held[symbol] = (count + quantity, (cost * count + price * quantity) / (count + quantity))
            continue
        closed = min(quantity, count)
        if closed > 0:
            left = count - closed
            flat = left <= 1e-9 * max(count, 1.0)
            rows.append((symbol, day, closed, cost, price, closed * (price - cost), flat))
            held[symbol] = (0.0, 0.0) if flat else (left, cost)
    return pd.DataFrame(rows, columns=columns)


def trade_counts(trades: pd.DataFrame | None, trips: pd.DataFrame | None = None) -> dict[str, int]:
    """Return the counting bases a report may use for 'number of trades'."""
    fills = usable_fills(trades)
    if isinstance(fills, Absent):
        return {}
    decided = fills["signal_date"] if "signal_date" in fills.columns else fills["date"]
    decided = decided.fillna(fills["date"])
    trips = round_trips(fills) if trips is None else trips
    orders = pd.DataFrame({"day": decided, "symbol": fills["symbol"], "side": fills["side"]})
    return {
        "fills": len(fills),
        "orders": len(orders.drop_duplicates()),
        "round_trips": len(trips),
        "closed_positions": int(trips["flat"].sum()) if len(trips) else 0,
        "rebalances": int(decided.nunique()),
    }
