"""Entry and exit on two rows (TradingView's list of trades) to fills."""

import re

import numpy as np
import pandas as pd

from evaluator.package.formats.raw import RawTable
from evaluator.package.headers import SYMBOL, pick

_NUMBER = re.compile(r"^(trade_#|trade_number|交易_?#|取引_?#|trade_no|#_trade)$")
_DATE = ("date_time", "date_and_time", "date", "time", "日期_時間", "日期_时间", "日付_時間")
_TYPE = ("type", "類型", "类型", "種類")
_SIGNAL = ("signal", "訊號", "信号", "シグナル")
_PRICE = re.compile(r"^(price|價格|价格|価格)(_|$)")
_SIZE = re.compile(r"^(contracts|qty|quantity|size_qty|position_size_qty|position_size|size|合約|合约|數量|数量)(_|$)")
_ENTRY = re.compile(r"entry|enter|進場|进场|入場|エントリー")
_EXIT = re.compile(r"exit|close|出場|出场|決済|離場")
_SHORT = re.compile(r"short|空|売")


def paired_rows(raw: RawTable, headers: list[str]) -> list[RawTable] | None:
    """Return the fills of a list of trades with one row for each leg; None when it is none."""
    number = next((at for at, name in enumerate(headers) if _NUMBER.match(name)), None)
    at_type, at_date = pick(headers, _TYPE), pick(headers, _DATE)
    price = next((at for at, name in enumerate(headers) if _PRICE.match(name)), None)
    size = next((at for at, name in enumerate(headers) if _SIZE.match(name)), None)
    if number is None or at_type is None or at_date is None or price is None:
        return None
    frame = raw.frame
    words = frame.iloc[:, at_type].astype(object).map(lambda cell: str(cell).strip().lower())
    entry, leave = words.map(lambda w: bool(_ENTRY.search(w))), words.map(lambda w: bool(_EXIT.search(w)))
    if not entry.any() or (entry | leave).mean() < 0.9:
        return None
    short = words.map(lambda w: bool(_SHORT.search(w)))
    at_signal, at_symbol = pick(headers, _SIGNAL), pick(headers, SYMBOL[:-3])
    columns = {
        "date": frame.iloc[:, at_date],
        "side": pd.Series(np.where(entry != short, "buy", "sell"), index=frame.index),
        "price": frame.iloc[:, price],
        "fill_id": frame.iloc[:, number].astype(str) + np.where(entry, "-entry", "-exit"),
    }
    if size is not None:
        columns["quantity"] = frame.iloc[:, size]
    if at_symbol is not None:
        columns["symbol"] = frame.iloc[:, at_symbol]
    if at_signal is not None:
        columns["reason"] = frame.iloc[:, at_signal]
    out = pd.DataFrame(columns)
    still_open = pd.Series(data=False, index=frame.index)
    if at_signal is not None:
        signals = frame.iloc[:, at_signal].astype(object).map(lambda cell: str(cell).strip().lower())
        still_open = leave & signals.isin(["open", ""])
    guesses = [*raw.guesses, "two rows a trade: an entry and an exit fill"]
    if still_open.any():
        guesses.append(f"{int(still_open.sum())} positions are open at the end: their exit is a mark, no fill")
    kept = out[(entry | leave) & ~still_open]
    return [RawTable(raw.key, kept.reset_index(drop=True), tuple(guesses), raw.european, role="trades", run=raw.run)]
