"""Small synthetic markets and a plain backtest loop, written apart from the evaluator's arithmetic."""

import datetime as dt
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evaluator.quant.calendar import sessions

CAPITAL = 1_000_000.0
NAMES = ("AA", "BB", "CC", "DD", "EE", "FF", "GG", "HH", "NA", "TRUE")


def market(names: tuple[str, ...] = NAMES, *, start: str = "2018-01-02", end: str = "2020-12-31", seed: int = 7) -> Any:
    """Return long prices with dividends; close is split-adjusted, adj_close also dividend-adjusted."""
    rng = np.random.default_rng(seed)
    days = sessions(start, end)
    count, width = len(days), len(names)
    common = rng.normal(0.0003, 0.008, (count, 1))
    close = 50 * np.exp(np.cumsum(common + rng.normal(0, 0.012, (count, width)), axis=0))
    gap = np.exp(rng.normal(0, 0.004, (count, width)))
    opens = np.vstack([close[:1], close[:-1]]) * gap
    high = np.maximum(opens, close) * 1.004
    low = np.minimum(opens, close) * 0.996
    dividends = np.zeros_like(close)
    dividends[60::63] = np.round(close[60::63] * 0.006, 4)
    factor = np.ones_like(close)
    for row in range(count - 1, 0, -1):
        factor[row - 1] = factor[row] * (1 - dividends[row] / close[row - 1])
    volume = rng.integers(200_000, 900_000, (count, width)).astype(float)
    wide = {
        "open": opens,
        "high": high,
        "low": low,
        "close": close,
        "adj_close": close * factor,
        "volume": volume,
        "dividends": dividends,
        "stock_splits": np.zeros_like(close),
    }
    frame = pd.DataFrame({"date": np.repeat(days, width), "symbol": np.tile(np.array(names, dtype=object), count)})
    for name, values in wide.items():
        frame[name] = values.reshape(-1)
    return frame


@dataclass
class Run:
    """What the plain loop did."""

    trades: pd.DataFrame
    equity: pd.DataFrame
    selections: pd.DataFrame
    weights: pd.DataFrame
    signals: pd.DataFrame
    capital: float


def backtest(
    prices: pd.DataFrame,
    *,
    n: int = 4,
    capital: float = CAPITAL,
    rate_bps: float = 10.0,
    field: str = "open",
    stop: float | None = None,
) -> Run:
    """Monthly 6-1 momentum, equal weight, whole shares, filled at the next session's `field`."""
    wide = {c: prices.pivot_table(index="date", columns="symbol", values=c) for c in prices.columns[2:]}
    days, names = list(wide["close"].index), list(wide["close"].columns)
    close, fill, adj = wide["close"].to_numpy(), wide[field].to_numpy(), wide["adj_close"].to_numpy()
    paid = wide["dividends"].to_numpy()
    month = [(d.year, d.month) for d in days]
    decisions = [i for i in range(126, len(days) - 1) if month[i] != month[i + 1]]
    shares = dict.fromkeys(names, 0)
    cash = capital
    pending: list[tuple[str, float, str]] = []
    entry: dict[str, tuple[float, float]] = {}
    trades, equity, picks, books, scores = [], [], [], [], []
    for i in range(decisions[0], len(days)):
        for j, name in enumerate(names):
            cash += shares[name] * paid[i, j]
        for name, quantity, reason in sorted(pending, key=lambda o: o[1]):
            price = fill[i, names.index(name)]
            fee = rate_bps / 1e4 * abs(quantity * price)
            cash -= quantity * price + fee
            shares[name] += quantity
            entry[name] = _entered(entry.get(name, (0.0, 0.0)), quantity, price)
            side = "BUY" if quantity > 0 else "SELL"
            trades.append((days[i - 1], days[i], name, side, abs(quantity), price, fee, reason))
        pending = []
        value = cash + sum(shares[name] * close[i, j] for j, name in enumerate(names))
        equity.append((days[i], value, cash))
        held = [(name, close[i, j]) for j, name in enumerate(names) if shares[name] > 0]
        stopped = {name for name, price in held if stop is not None and price <= entry[name][1] * (1 - stop)}
        pending += [(name, -shares[name], "stop") for name in sorted(stopped)]
        if i in decisions:
            score = {name: adj[i - 21, j] / adj[i - 126, j] - 1 for j, name in enumerate(names)}
            chosen = [s for s in sorted(score, key=lambda s: (-score[s], s)) if s not in stopped][:n]
            scores += [(days[i], name, "mom_6_1", score[name]) for name in names]
            picks += [(days[i], name, k + 1) for k, name in enumerate(chosen)]
            books += [(days[i], name, 1 / n) for name in chosen]
            for j, name in enumerate(names):
                want = int(value / n * 0.995 // close[i, j]) if name in chosen else 0
                if name not in stopped and want != shares[name]:
                    pending.append((name, want - shares[name], "rebalance"))
    columns = ["signal_date", "fill_date", "symbol", "side", "quantity", "price", "fee", "reason"]
    return Run(
        trades=pd.DataFrame(trades, columns=columns),
        equity=pd.DataFrame(equity, columns=["date", "equity", "cash"]),
        selections=pd.DataFrame(picks, columns=["date", "symbol", "rank"]),
        weights=pd.DataFrame(books, columns=["date", "symbol", "weight"]),
        signals=pd.DataFrame(scores, columns=["date", "symbol", "factor", "value"]),
        capital=capital,
    )


def _entered(before: tuple[float, float], quantity: float, price: float) -> tuple[float, float]:
    count, average = before
    if quantity > 0:
        average = (count * average + quantity * price) / (count + quantity)
    return count + quantity, average


def canonical_trades(run: Run) -> pd.DataFrame:
    """Return the log in the evaluator's canonical columns."""
    frame = run.trades.rename(columns={"fill_date": "date"})
    frame["side"] = np.where(frame["side"] == "BUY", 1.0, -1.0)
    return frame


def write_public(
    root: Path,
    turns: dict[int, dict[str, bytes | str | pd.DataFrame]],
    *,
    t_cut: str = "2021-12-31",
    messages: dict[int, str] | None = None,
) -> Path:
    """Write an attempt's public tree: turn -> relative path -> content."""
    public = root / "public"
    public.mkdir(parents=True, exist_ok=True)
    conditions = {"t_cut": t_cut, "start_hint": "2018-01-02", "channels": ["fmp-mcp"]}
    task = {
        "id": "amber-fox",
        "persona": "retail_investor",
        "scope": {"kind": "basket", "symbols": list(NAMES)},
        "opening": "Hi",
        "conditions": conditions,
    }
    (public / "task.json").write_text(json.dumps(task), encoding="utf-8")
    at = dt.datetime(2026, 1, 1, tzinfo=dt.UTC).isoformat()
    lines = [{"kind": "user", "turn": 0, "at": at, "text": "Hi"}]
    for turn, files in turns.items():
        deliver = public / "turns" / str(turn) / "deliver"
        deliver.mkdir(parents=True)
        for name, content in files.items():
            path = deliver / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, pd.DataFrame):
                content.to_csv(path, index=False)
            elif isinstance(content, str):
                path.write_text(content, encoding="utf-8")
            else:
                path.write_bytes(content)
        text = (messages or {}).get(turn, f"turn {turn} done")
        lines.append({"kind": "agent", "turn": turn, "started_at": at, "ended_at": at, "text": text})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (public / "session.jsonl").write_text(text, encoding="utf-8")
    return public
