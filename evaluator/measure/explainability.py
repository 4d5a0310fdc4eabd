"""Dimension 2.12: every trade says why it was made, with the value that made it, and the value is true."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evaluator.measure.case import Case
from evaluator.measure.recompute import Recomputed
from evaluator.measure.verdict import scored
from evaluator.quant.absent import Absent
from records.grade import Judgement

_REASONS = {
    "rebalance": ("rebalance", "rebalancing", "scheduled", "periodic"),
    "entry": ("entry", "enter", "buy_signal", "new_position", "open"),
    "exit": ("exit", "sell_signal", "dropped", "close", "removed"),
    "stop": ("stop", "stop_loss", "drawdown", "drawdown_stop", "risk", "position_stop"),
    "timing": ("timing", "gate", "regime", "market_filter", "filter"),
    "target": ("target", "vol_target", "volatility_target", "exposure"),
    "delisting": ("delisting", "delisted"),
}
_CLOSED = {alias for aliases in _REASONS.values() for alias in aliases}
_SAMPLE = 50
_TRIGGER_CHARS = 300
_NEARLY_ALL = 0.95
_HALF = 0.5
_PAIR = re.compile(
    r"([A-Za-z_][A-Za-z_ ]*?)\s*[=:]\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|on|off|true|false)", re.IGNORECASE
)
_LEVEL_TOLERANCE = 0.005
_WEIGHT_TOLERANCE = 0.001
_EXPOSURE_TOLERANCE = 0.01


def judge(case: Case) -> Judgement:
    """Return the verdict of 2.12."""
    trades = case.main.trades
    if trades is None or "reason" not in trades.columns:
        return scored("2.12", 0, "no trade log" if trades is None else "the trade log has no reason column")
    words = trades["reason"].fillna("").astype(str).str.strip().str.lower().str.replace(r"[\s-]+", "_", regex=True)
    share = float((words.ne("") & ~words.isin(("nan", "none"))).mean())
    closed = float(words.isin(_CLOSED).mean())
    evidence = [f"{share:.1%} of {len(trades)} fills carry a reason, {closed:.1%} one of the closed set"]
    if closed < _NEARLY_ALL:
        score = 0 if share == 0 else 1 if share < _HALF else 2
        return scored("2.12", score, "reasons are missing or free text", evidence)
    triggers = (
        trades["trigger"].fillna("").astype(str).str.slice(0, _TRIGGER_CHARS)
        if "trigger" in trades.columns
        else pd.Series("", trades.index)
    )
    carried = float(triggers.map(lambda text: _PAIR.search(text) is not None).mean())
    evidence.append(f"{carried:.1%} carry a trigger value")
    if carried < _NEARLY_ALL:
        return scored("2.12", 3, "reasons stand, trigger values do not", evidence)
    true, checked, first_wrong = _sampled(case, trades, triggers)
    evidence += [f"{true} of {checked} sampled triggers re-evaluate true", *([first_wrong] if first_wrong else [])]
    if true == checked:
        return scored("2.12", 4, "sampled triggers re-evaluate true", evidence)
    return scored("2.12", 3, "some trigger values could not be re-evaluated or are untrue", evidence)


def _sampled(case: Case, trades: pd.DataFrame, triggers: "pd.Series[str]") -> tuple[int, int, str]:
    rows = np.unique(np.linspace(0, len(trades) - 1, min(_SAMPLE, len(trades))).round().astype(int))
    truths = _Truths(case)
    true, wrong = 0, ""
    for row in rows:
        fill = trades.iloc[row]
        verdict = truths.check(fill, triggers.iloc[row])
        if verdict:
            true += 1
        elif not wrong:
            wrong = f"fill of {fill['symbol']} on {pd.Timestamp(fill['date']).date()}: {triggers.iloc[row]}"
    return true, len(rows), wrong


@dataclass
class _Truths:
    """Re-evaluates trigger values on the delivered tables."""

    case: Case

    def check(self, fill: "pd.Series[Any]", text: str) -> bool:
        """Whether at least one value of the trigger is known and none is untrue."""
        day = fill.get("signal_date")
        if day is None or pd.isna(day):
            return False
        verdicts = []
        for name, value in _PAIR.findall(text):
            judge_value = self._known().get(re.sub(r"\s+", "_", name.strip().lower()))
            if judge_value is not None:
                verdicts.append(_holds(judge_value, pd.Timestamp(day), str(fill["symbol"]), value.lower()))
        return bool(verdicts) and all(verdicts)

    def _known(self) -> dict[str, Callable[[pd.Timestamp, str, str], bool]]:
        return {
            "selected": self._selected,
            "rank": self._rank,
            "target_weight": self._weight,
            "weight": self._weight,
            "gate": self._gate,
            "drawdown": self._drawdown,
            "return_from_entry": self._from_entry,
            "exposure": self._exposure,
            "score": self._score,
            "composite": self._score,
        }

    def _rows(self, role: str, day: pd.Timestamp, symbol: str) -> pd.DataFrame:
        frame: pd.DataFrame | None = getattr(self.case.main, role)
        if frame is None:
            return pd.DataFrame()
        return frame[(frame["date"] == day) & (frame["symbol"].astype(str) == symbol)]

    def _selected(self, day: pd.Timestamp, symbol: str, value: str) -> bool:
        return (len(self._rows("selections", day, symbol)) > 0) == (value in ("1", "true", "on", "1.0"))

    def _rank(self, day: pd.Timestamp, symbol: str, value: str) -> bool:
        rows = self._rows("selections", day, symbol)
        return len(rows) > 0 and "rank" in rows.columns and float(rows["rank"].iloc[0]) == float(value)

    def _weight(self, day: pd.Timestamp, symbol: str, value: str) -> bool:
        rows = self._rows("weights", day, symbol)
        return abs((float(rows["weight"].iloc[0]) if len(rows) else 0.0) - float(value)) <= _WEIGHT_TOLERANCE

    def _score(self, day: pd.Timestamp, symbol: str, value: str) -> bool:
        rows = self._rows("signals", day, symbol)
        return bool(
            len(rows) and (rows["value"].astype(float) - float(value)).abs().min() <= 1e-3 * max(1.0, abs(float(value)))
        )

    def _gate(self, day: pd.Timestamp, symbol: str, value: str) -> bool:  # noqa: ARG002 one shape for all triggers
        state = Recomputed(self.case.main, self.case.spec, pd.DatetimeIndex([day])).gate
        return not isinstance(state, Absent) and float(state.iloc[0]) == (1.0 if value == "on" else 0.0)

    def _drawdown(self, day: pd.Timestamp, symbol: str, value: str) -> bool:  # noqa: ARG002 one shape for all triggers
        """Some earlier equity is the peak from which the stated drawdown is measured (a re-entry resets it)."""
        book = self.case.rebuilt
        if isinstance(book, Absent) or day not in book.equity.index:
            return False
        past = book.equity[:day].to_numpy()
        return bool(
            (np.abs(past[-1] / np.maximum(past, book.capital * 1e-9) - 1 - float(value)) <= _LEVEL_TOLERANCE).any()
        )

    def _from_entry(self, day: pd.Timestamp, symbol: str, value: str) -> bool:
        book, trades = self.case.rebuilt, self.case.main.trades
        if (
            isinstance(book, Absent)
            or trades is None
            or day not in book.marks.index
            or symbol not in book.marks.columns
        ):
            return False
        entry = _average_entry(trades, day, symbol)
        return entry > 0 and abs(float(book.marks[symbol][day]) / entry - 1 - float(value)) <= _LEVEL_TOLERANCE

    def _exposure(self, day: pd.Timestamp, symbol: str, value: str) -> bool:  # noqa: ARG002 one shape for all triggers
        targets = self.case.main.targets
        return (
            targets is not None
            and day in targets.index
            and abs(float(targets.sum(axis=1)[day]) - float(value)) <= _EXPOSURE_TOLERANCE
        )


def _holds(judge: Callable[[pd.Timestamp, str, str], bool], day: pd.Timestamp, symbol: str, value: str) -> bool:
    """Whether a trigger is true; a value that is none of its kind ("rank=on") is untrue and stops nothing."""
    try:
        return judge(day, symbol, value)
    except ValueError:
        return False


def _average_entry(trades: pd.DataFrame, day: pd.Timestamp, symbol: str) -> float:
    """Return the average price of the shares held at a close: buys average in, sells leave it, a full exit ends it."""
    shares, cost = 0.0, 0.0
    mine = trades[(trades["symbol"].astype(str) == symbol) & (trades["date"] <= day)]
    for side, quantity, price in mine[["side", "quantity", "price"]].to_numpy(dtype=float):
        if side > 0:
            cost = (cost * shares + price * quantity) / (shares + quantity)
            shares += quantity
        else:
            shares -= quantity
            if shares <= 1e-9:
                shares, cost = 0.0, 0.0
    return cost
