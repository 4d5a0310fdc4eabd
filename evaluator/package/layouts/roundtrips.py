"""Round trips in one row (backtesting.py, vectorbt, QuantConnect, agents) to an entry and an exit fill."""

from typing import Any

import numpy as np
import pandas as pd

from evaluator.package.dates import looks_like_dates, parse_dates
from evaluator.package.formats.raw import RawTable
from evaluator.package.headers import SYMBOL, pick
from evaluator.package.numbers import parse_numbers

ENTRY_DATE = (
    *("entry_time", "entry_timestamp", "entry_date", "entry_datetime", "open_dt", "open_date", "opened_at", "datein"),
    *("date_in", "buy_date", "entry_dt", "open_timestamp", "date_opened", "entered_at", "buy_time", "entry"),
)
EXIT_DATE = (
    *("exit_time", "exit_timestamp", "exit_date", "exit_datetime", "close_dt", "close_date", "closed_at", "dateout"),
    *("date_out", "sell_date", "exit_dt", "close_timestamp", "date_closed", "exited_at", "sell_time", "exit"),
)
ENTRY_PRICE = (
    *("entry_price", "avg_entry_price", "entry_vwap", "price_in", "buy_price", "open_price", "pricein", "avg_entry"),
    *("entry_fill_price", "open_rate"),
)
EXIT_PRICE = (
    *("exit_price", "avg_exit_price", "exit_vwap", "price_out", "sell_price", "close_price", "priceout", "avg_exit"),
    *("exit_fill_price", "close_rate"),
)
_SIZE = ("quantity", "size", "qty", "shares", "units", "contracts", "volume", "amount", "position_size", "num_shares")
_DIRECTION = ("direction", "side", "type", "position", "trade_type", "long_short")
_FEES = ("commission", "fees", "fee", "total_fees", "commissions", "costs", "transaction_cost", "total_commission")
_ENTRY_FEES, _EXIT_FEES = ("entry_fees", "entry_fee", "entry_commission"), ("exit_fees", "exit_fee", "exit_commission")
_EXIT_REASON = ("exit_reason", "reason", "exit_signal", "close_reason", "exit_tag")
_ENTRY_REASON = ("entry_reason", "tag", "entry_signal", "entry_tag")
_SIGNAL = ("signal_date", "entry_signal_date", "decision_date", "rebalance_date")
_ID = ("position_id", "exit_trade_id", "trade_id", "id")
_SHORT = ("short", "sell", "s", "-1", "-1.0", "1.short")


def round_trips(raw: RawTable, headers: list[str]) -> list[RawTable] | None:
    """Return the fills of a table of round trips; None when it is none."""
    if pick(headers, ENTRY_DATE) is None or pick(headers, EXIT_DATE) is None:
        return None
    if pick(headers, ENTRY_PRICE) is None or pick(headers, EXIT_PRICE) is None:
        return None
    trips = _Trips(raw, headers)
    entered, left = trips.dates(ENTRY_DATE), trips.dates(EXIT_DATE)
    if entered is None or left is None or not entered.notna().any():
        return None
    guesses = [*raw.guesses, "round trips: each row is an entry and an exit fill"]
    quantity = trips.numbers(_SIZE)
    if quantity is None:
        guesses.append("round trips without a quantity: no book can be rebuilt from them")
    side = trips.side(quantity)
    open_end = trips.still_open() | left.isna()
    if open_end.any():
        guesses.append(f"{int(open_end.sum())} positions are open at the end: their exit is a mark, no fill")
    entry = trips.leg(entered, ENTRY_PRICE, side, quantity, _ENTRY_FEES, _ENTRY_REASON)
    leave = trips.leg(left, EXIT_PRICE, -side, quantity, _EXIT_FEES, _EXIT_REASON)
    _split_fees(trips, entry, leave)
    signal = trips.dates(_SIGNAL)
    if signal is not None:
        entry["signal_date"], leave["signal_date"] = signal, pd.Series(pd.NaT, index=signal.index)
    leave = leave[~open_end]
    frame = pd.concat([leave, entry], ignore_index=True).sort_values("date", kind="stable").reset_index(drop=True)
    return [RawTable(raw.key, frame, tuple(guesses), role="trades", run=raw.run)]


class _Trips:
    """The columns of a table of round trips, read once each."""

    def __init__(self, raw: RawTable, headers: list[str]) -> None:
        self.raw, self.headers = raw, headers

    def column(self, aliases: tuple[str, ...]) -> "pd.Series[Any] | None":
        at = pick(self.headers, aliases)
        return None if at is None else self.raw.frame.iloc[:, at]

    def dates(self, aliases: tuple[str, ...]) -> "pd.Series[Any] | None":
        found = self.column(aliases)
        return None if found is None or not looks_like_dates(found) else parse_dates(found).days

    def numbers(self, aliases: tuple[str, ...]) -> "pd.Series[Any] | None":
        found = self.column(aliases)
        return None if found is None else parse_numbers(found, european=self.raw.european)

    def words(self, aliases: tuple[str, ...]) -> "pd.Series[Any] | None":
        found = self.column(aliases)
        return None if found is None else found.astype(object).map(lambda cell: str(cell).strip().lower())

    def side(self, quantity: "pd.Series[Any] | None") -> "pd.Series[Any]":
        side = pd.Series(1.0, index=self.raw.frame.index)
        if quantity is not None:
            side = side.where(~(quantity < 0), -1.0)
        words = self.words(_DIRECTION)
        if words is not None:
            side = side.where(~words.isin(_SHORT), -1.0)
        return side

    def still_open(self) -> "pd.Series[Any]":
        words = self.words(("status", "state"))
        return pd.Series(data=False, index=self.raw.frame.index) if words is None else words.eq("open")

    def leg(
        self,
        days: "pd.Series[Any]",
        price: tuple[str, ...],
        side: "pd.Series[Any]",
        quantity: "pd.Series[Any] | None",
        fees: tuple[str, ...],
        reason: tuple[str, ...],
    ) -> pd.DataFrame:
        out = pd.DataFrame({"date": days})
        symbol = self.column((*SYMBOL, "symbols"))
        if symbol is not None:
            out["symbol"] = symbol.astype(object)
        out["side"] = np.where(side > 0, "buy", "sell")
        if quantity is not None:
            out["quantity"] = quantity.abs()
        out["price"] = self.numbers(price)
        fee, why, name = self.numbers(fees), self.column(reason), self.column(_ID)
        if fee is not None:
            out["fee"] = fee.abs()
        if why is not None:
            out["reason"] = why.astype(object)
        if name is not None:
            word = "entry" if fees == _ENTRY_FEES else "exit"
            out["fill_id"] = name.astype(object).map(lambda cell: f"{cell}-{word}")
        return out


def _split_fees(trips: _Trips, entry: pd.DataFrame, leave: pd.DataFrame) -> None:
    """Split a fee of both legs by their notional."""
    if "fee" in entry.columns or "fee" in leave.columns or "quantity" not in entry.columns:
        return
    both = trips.numbers(_FEES)
    if both is None:
        return
    bought, sold = entry["price"], leave["price"].fillna(0.0)
    share = (bought / (bought + sold)).fillna(1.0)
    entry["fee"], leave["fee"] = both.abs() * share, both.abs() * (1 - share)
