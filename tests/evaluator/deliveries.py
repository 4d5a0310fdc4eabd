"""Small complete deliveries made without the evaluator's arithmetic: 12-1 momentum, equal weights, next open, 10 bps.

`Delivered` holds the tables of a clean one; a test changes a table and writes the attempt. Prices are a seeded random
walk on real sessions, so no figure here comes from a market.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evaluator.quant.calendar import sessions
from records.strategy import Belief, Item, Options, Strategy

NAMES = tuple(f"{letter}{letter}{letter}" for letter in "ABCDEFGHIJKL")
CAPITAL = 1_000_000.0
RATE_BPS = 10.0
HOLDINGS = 4
T_CUT = "2018-12-31"
STAMP = "2026-01-01T00:00:00Z"


@dataclass
class Delivered:
    """The tables and texts of one delivery; tests edit them in place."""

    tables: dict[str, pd.DataFrame]
    report: str
    messages: list[tuple[str, str]] = field(default_factory=list)
    """(user, agent) pairs; the first user text is the opening."""

    def write(self, root: Path) -> Path:
        """Write the attempt's public tree and return it."""
        public = root / "public"
        deliver = public / "turns" / "1" / "deliver"
        deliver.mkdir(parents=True, exist_ok=True)
        for name, table in self.tables.items():
            path = deliver / f"{name}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            table.to_csv(path, index=False, date_format="%Y-%m-%d")
        if self.report:
            (deliver / "report.md").write_text(self.report, encoding="utf-8")
        return write_session(public, self.messages)


def write_session(public: Path, messages: list[tuple[str, str]]) -> Path:
    """Write task.json and session.jsonl of a session of one-message turns."""
    public.mkdir(parents=True, exist_ok=True)
    (public / "task.json").write_text(json.dumps(task(messages[0][0])), encoding="utf-8")
    events: list[dict[str, Any]] = []
    for turn, (user, agent) in enumerate(messages, start=1):
        events.append({"kind": "user", "turn": turn - 1, "at": STAMP, "text": user})
        events.append({"kind": "agent", "turn": turn, "started_at": STAMP, "ended_at": STAMP, "text": agent})
    events.append({"kind": "end", "at": STAMP, "reason": "satisfied"})
    text = "".join(json.dumps(event) + "\n" for event in events)
    (public / "session.jsonl").write_text(text, encoding="utf-8")
    return public


def task(opening: str) -> dict[str, Any]:
    """Return a public task record."""
    return {
        "id": "amber-lake",
        "persona": "generalist_analyst",
        "scope": {"kind": "basket", "symbols": list(NAMES)},
        "opening": opening,
        "conditions": {"t_cut": T_CUT, "start_hint": "2014-01-02", "channels": ["fmp-mcp"]},
    }


MESSAGES = [
    (
        "I would like a backtest of 12-month momentum that leaves out the latest month, with equal weight in each name.",
        "Which cost do you assume, and at which price should trades fill?",
    ),
    ("A cost of 10 bps on every trade.", "Done: the backtest, its trades and a report are delivered."),
]


def strategy(**changes: Any) -> Strategy:
    """Return the sealed strategy that the clean delivery follows; `changes` replace options or the cost value."""
    rate = changes.pop("rate_bps", RATE_BPS)
    options = {
        "factors": ("mom_12_1",),
        "combination": None,
        "market_timing": "always_invested",
        "weighting": "equal",
        "covariance": "none",
        "risk_control": "none",
        "execution": "next_open",
        "transaction_cost": "fixed_rate",
    } | changes
    items = [
        Item(id=f"stock_selection/{name}", component="stock_selection", option=name, text=name)
        for name in options["factors"]
    ]
    items.append(_item("portfolio_construction", options["weighting"]))
    if options["execution"] != "next_open":
        items.append(_item("execution", options["execution"]))
    items.append(
        Item(
            id="transaction_cost/fixed_rate/rate_bps",
            component="transaction_cost",
            option="fixed_rate",
            param="rate_bps",
            text=f"charge a fixed rate of {rate:g} bps on every trade",
            value=rate,
            unit="bps",
        )
    )
    belief = Belief(options=Options(**options), values={"fixed_rate.rate_bps": rate}, items=tuple(items))
    return Strategy(
        task_id="amber-lake",
        seed=1,
        salt="s",
        grammar_sha256="0",
        belief=belief,
        opening_items=(items[0].id, items[1].id),
        difficulty=2,
        nonce="n",
    )


def _item(component: Any, option: str) -> Item:
    return Item(id=f"{component}/{option}", component=component, option=option, text=option)


def clean() -> Delivered:
    """Return a fresh clean delivery."""
    tables, report = _made()
    return Delivered({name: table.copy() for name, table in tables.items()}, report, list(MESSAGES))


@cache
def _made() -> tuple[dict[str, pd.DataFrame], str]:
    prices = _prices()
    wide = {name: prices.pivot_table(index="date", columns="symbol", values=name) for name in ("open", "close")}
    decisions = _month_ends(wide["close"].index)
    scores = wide["close"].shift(21) / wide["close"].shift(252) - 1
    decisions = [day for day in decisions if scores.loc[day].notna().all()]
    tables: dict[str, list[dict[str, Any]]] = {"signals": [], "selections": [], "target_weights": []}
    chosen: dict[pd.Timestamp, list[str]] = {}
    for day in decisions:
        ordered = scores.loc[day].sort_values(ascending=False, kind="stable")
        chosen[day] = list(ordered.index[:HOLDINGS])
        for name, value in ordered.items():
            tables["signals"].append({"date": day, "symbol": name, "factor": "mom_12_1", "value": value})
            tables["signals"].append({"date": day, "symbol": name, "factor": "composite", "value": value})
        for rank, name in enumerate(chosen[day], start=1):
            tables["selections"].append({"date": day, "symbol": name, "rank": rank})
            tables["target_weights"].append({"date": day, "symbol": name, "weight": 1 / HOLDINGS})
        tables["target_weights"].append({"date": day, "symbol": "CASH", "weight": 0.0})
    trades, equity = _walk(wide, chosen)
    metrics = figures(equity, trades)
    frames = {name: pd.DataFrame(rows) for name, rows in tables.items()}
    frames |= {
        "prices": prices,
        "trades": trades,
        "equity": equity,
        "metrics": metrics,
        "specification": _specification(),
    }
    return frames, _report(metrics)


def _prices() -> pd.DataFrame:
    days = sessions("2015-01-02", T_CUT)
    random = np.random.default_rng(7)
    rows = []
    for name in NAMES:
        close = 60.0 * np.cumprod(1 + random.normal(random.normal(0.0004, 0.0004), 0.012, len(days)))
        opened = np.append([close[0]], close[:-1]) * (1 + random.normal(0, 0.004, len(days)))
        rows.append(
            pd.DataFrame(
                {
                    "date": days,
                    "symbol": name,
                    "open": opened,
                    "high": np.maximum(opened, close) * 1.003,
                    "low": np.minimum(opened, close) * 0.997,
                    "close": close,
                    "adj_close": close,
                    "volume": random.integers(2_000_000, 9_000_000, len(days)),
                    "dividends": 0.0,
                    "stock_splits": 0.0,
                }
            )
        )
    return pd.concat(rows, ignore_index=True)


def _month_ends(days: pd.Index) -> list[pd.Timestamp]:
    months = pd.DatetimeIndex(days).to_period("M")
    return [day for day, month, following in zip(days, months, [*months[1:], None], strict=True) if month != following]


def _walk(wide: dict[str, pd.DataFrame], chosen: dict[pd.Timestamp, list[str]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Trade each decision at the next open, sells first; buys are cut together when the cash does not suffice."""
    cash, held = CAPITAL, dict.fromkeys(NAMES, 0)
    fills: list[dict[str, Any]] = []
    equity: list[dict[str, Any]] = []
    pending: tuple[pd.Timestamp, dict[str, int]] | None = None
    for day in wide["close"].index:
        if pending is not None:
            cash = _fill(day, pending, wide["open"].loc[day], held, cash, fills, chosen)
            pending = None
        close = wide["close"].loc[day]
        value = cash + sum(held[name] * close[name] for name in NAMES)
        if day in chosen:
            wanted = {name: int(value / HOLDINGS / close[name]) if name in chosen[day] else 0 for name in NAMES}
            pending = (day, wanted)
        if day >= min(chosen):
            equity.append({"date": day, "equity": value, "cash": cash})
    return pd.DataFrame(fills), pd.DataFrame(equity)


def _fill(
    day: pd.Timestamp,
    pending: tuple[pd.Timestamp, dict[str, int]],
    opened: "pd.Series[float]",
    held: dict[str, int],
    cash: float,
    fills: list[dict[str, Any]],
    chosen: dict[pd.Timestamp, list[str]],
) -> float:
    signal, wanted = pending
    orders = {name: wanted[name] - held[name] for name in NAMES if wanted[name] != held[name]}
    rate = RATE_BPS / 10_000
    sells = sum(-size * opened[name] * (1 - rate) for name, size in orders.items() if size < 0)
    need = sum(size * opened[name] * (1 + rate) for name, size in orders.items() if size > 0)
    scale = min(1.0, (cash + sells) / need) if need > 0 else 1.0
    for name in sorted(orders, key=lambda name: (orders[name] > 0, name)):
        size = int(orders[name] * scale) if orders[name] > 0 else orders[name]
        if size == 0:
            continue
        price = float(opened[name])
        fee = abs(size) * price * rate
        cash -= size * price + fee
        held[name] += size
        picked = chosen[signal]
        rank = f"rank={picked.index(name) + 1};target_weight=0.25" if name in picked else "target_weight=0"
        fills.append(
            {
                "fill_id": len(fills) + 1,
                "signal_date": signal,
                "fill_date": day,
                "symbol": name,
                "side": "BUY" if size > 0 else "SELL",
                "quantity": abs(size),
                "price": price,
                "fee": fee,
                "reason": "rebalance",
                "trigger": f"selected={int(name in picked)};{rank}",
            }
        )
    return cash


def figures(equity: pd.DataFrame, trades: pd.DataFrame) -> pd.DataFrame:
    """Return the metrics table of an equity curve and its fills."""
    value = equity["equity"].to_numpy()
    daily = value[1:] / value[:-1] - 1
    days = (equity["date"].iloc[-1] - equity["date"].iloc[0]).days
    years = days / 365.25
    notional = float((trades["quantity"] * trades["price"]).sum())
    span = f"{equity['date'].iloc[0]:%Y-%m-%d} to {equity['date'].iloc[-1]:%Y-%m-%d}; net; 252 periods a year"
    rows = {
        "total_return": value[-1] / value[0] - 1,
        "cagr": (value[-1] / value[0]) ** (1 / years) - 1,
        "volatility": daily.std(ddof=1) * np.sqrt(252),
        "sharpe": daily.mean() / daily.std(ddof=1) * np.sqrt(252),
        "max_drawdown": (value / np.maximum.accumulate(value) - 1).min(),
        "trades": len(trades),
        "turnover": notional / (2 * value.mean()) / years,
        "exposure": float((1 - equity["cash"] / equity["equity"]).mean()),
        "total_fees": float(trades["fee"].sum()),
        "gross_total_return": value[-1] / value[0] - 1 + 0.01,
    }
    basis = {name: span.replace("net", "gross") if name.startswith("gross") else span for name in rows}
    return pd.DataFrame([{"metric": name, "value": number, "basis": basis[name]} for name, number in rows.items()])


def _specification() -> pd.DataFrame:
    rows = [
        ("stock_selection", "factors", "mom_12_1"),
        ("market_timing", "rule", "always_invested"),
        ("portfolio_construction", "weighting", "equal"),
        ("portfolio_construction", "n_holdings", str(HOLDINGS)),
        ("portfolio_construction", "rebalance", "monthly"),
        ("risk_control", "rule", "none"),
        ("execution", "rule", "next_open"),
        ("transaction_cost", "rate_bps", "10"),
        ("general", "capital", "1000000"),
        ("general", "start", "2015-01-02"),
        ("general", "end", T_CUT),
    ]
    return pd.DataFrame(rows, columns=["component", "parameter", "value"])


def _report(metrics: pd.DataFrame) -> str:
    value = dict(zip(metrics["metric"], metrics["value"], strict=True))
    return f"""# Backtest report

## Summary

The strategy returned {value["total_return"]:.1%} in total, net of costs, with a Sharpe ratio of {value["sharpe"]:.2f} and a
maximum drawdown of {value["max_drawdown"]:.1%} in {value["trades"]:.0f} trades.

## Method

12-1 momentum, equal weight in the best four names, filled at the next open, 10 bps a trade.

## Results

Annualised return {value["cagr"]:.2%}, volatility {value["volatility"]:.2%}, turnover {value["turnover"]:.2f} a year.

## Limitations

The prices are a random walk; survivorship is not an issue.
"""


def refigure(delivered: Delivered) -> None:
    """Recompute the metrics table of an edited delivery from its equity and trades."""
    trades = delivered.tables["trades"]
    delivered.tables["metrics"] = figures(delivered.tables["equity"], trades)


Mutation = Callable[[Delivered], None]
