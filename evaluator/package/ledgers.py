"""Trade logs to fills: sides, quantities, fees, and the orders that never filled."""

from typing import Any

import numpy as np
import pandas as pd

from evaluator.package import headers as h
from evaluator.package.draft import Draft, finished, symbols_of

_BUY = frozenset(
    {
        *(
            "buy",
            "b",
            "long",
            "bot",
            "bto",
            "enter",
            "open",
            "1",
            "+1",
            "1.0",
            "cover",
            "entry",
            "bought",
            "buy_to_open",
        ),
        *("buy_to_cover", "btc", "enter_long", "exit_short", "entry_long", "close_short", "buylong", "add", "increase"),
        *("多", "買", "买", "買入", "买入", "kauf", "compra", "achat"),
    }
)
_SELL = frozenset(
    {
        *("sell", "s", "sld", "short", "stc", "exit", "close", "-1", "-1.0", "sell_short", "sold", "sell_to_close"),
        *("sell_to_open", "sto", "short_sell", "ss", "exit_long", "enter_short", "entry_short", "close_long", "trim"),
        *("reduce", "liquidate", "stop", "stop_loss", "空", "賣", "卖", "賣出", "卖出", "verkauf", "venta", "vente"),
    }
)
_FILLED = frozenset(
    {"filled", "complete", "completed", "executed", "closed", "done", "fill", "ok", "", "partiallyfilled"}
)
_PARTLY = ("partially_filled", "partial", "partial_fill")
_LOOSE_SIZES = ("amount", "volume", "size", "position_size")
"""Headers that may mean shares or money."""
AMBIGUOUS_AMOUNT = "amount: ambiguous, nothing tells shares from money; read as shares"
_NEAR = 0.02


def fills_table(draft: Draft) -> pd.DataFrame:
    """Return one row per fill."""
    price = draft.numbers(h.PRICE)
    quantity = _shares(draft, draft.numbers(h.QUANTITY), price)
    side = _sides(draft, quantity)
    columns: dict[str, pd.Series[Any] | None] = {
        "date": draft.dates(h.FILL_DATE),
        "symbol": symbols_of(draft),
        "side": side,
        "quantity": None if quantity is None else quantity.abs(),
        "price": price,
        "fee": _fees(draft, quantity, price),
        "signal_date": draft.dates(h.SIGNAL_DATE),
    }
    for name, aliases in (
        ("reason", ("reason", "exit_reason", "trade_reason", "decision_reason", "tag", "comment", "note", "reasoning")),
        ("trigger", ("trigger", "trigger_value", "triggers")),
        ("fill_id", ("fill_id", "trade_id", "id", "order_id", "execution_id")),
    ):
        columns[name] = draft.text(aliases)
    frame = pd.DataFrame({name: column for name, column in columns.items() if column is not None})
    frame = _filled(draft, frame, quantity)
    return finished(draft, {str(name): frame[name] for name in frame.columns})


def _filled(draft: Draft, frame: pd.DataFrame, quantity: "pd.Series[Any] | None") -> pd.DataFrame:
    """Leave out orders that were cancelled, rejected or are empty."""
    status = draft.text(("status", "order_status", "state"))
    if status is not None:
        words = status.fillna("").astype(str).str.lower().str.replace(" ", "_")
        filled = words.isin(_FILLED) | words.isin(_PARTLY)
        if filled.any() and not filled.all():
            draft.guesses.append(f"{int((~filled).sum())} orders that are not filled are left out")
            frame = frame[filled]
    if quantity is not None:
        idle = quantity.eq(0).reindex(frame.index, fill_value=False)
        if idle.any():
            draft.guesses.append(f"{int(idle.sum())} rows without shares are left out")
            frame = frame[~idle]
    return frame


def _shares(draft: Draft, quantity: "pd.Series[Any] | None", price: "pd.Series[Any] | None") -> "pd.Series[Any] | None":
    """Tell shares from money where the header may mean both, by whole numbers and by a notional column."""
    name = next((alias for alias in h.QUANTITY if alias in draft.headers), "")
    if quantity is None or price is None or name not in _LOOSE_SIZES or not len(quantity):
        return quantity
    notional = draft.numbers(h.NOTIONAL)
    product = (quantity * price).abs()
    if notional is not None and ((product - notional.abs()).abs() <= _NEAR * product).mean() > 0.8:
        return quantity
    whole = (quantity.round(6) % 1 == 0).mean()
    if whole > 0.5:
        return quantity
    in_shares = quantity / price
    if (in_shares.round(4) % 1 == 0).mean() > 0.8:
        draft.guesses.append(f"{name} is money: divided by the price it gives whole shares")
        return in_shares
    draft.guesses.append(AMBIGUOUS_AMOUNT if name == "amount" else f"{name}: taken as shares, not as money")
    return quantity


def _sides(draft: Draft, quantity: "pd.Series[Any] | None") -> "pd.Series[Any] | None":
    signed = quantity is not None and bool((quantity < 0).any())
    for alias in h.SIDE:
        words = draft.text((alias,))
        if words is None:
            continue
        codes, labels = pd.factorize(words)
        clean = [str(label).lower().strip().replace(" ", "_").replace("-", "_") for label in labels]
        values = [1.0 if w in _BUY else -1.0 if _sells(w) else np.nan for w in clean]
        side = pd.Series(np.array([*values, np.nan])[codes], index=words.index)
        if side.notna().mean() <= 0.5:
            continue
        if signed and len(side.dropna().unique()) == 1 and alias in ("direction", "type", "signal"):
            # 'Long' beside signed sizes names the position, not the order.
            continue
        return side
    if quantity is None:
        return None
    draft.guesses.append("no side column: the sign of the quantity is the side")
    return pd.Series(np.sign(quantity.to_numpy()), index=quantity.index).replace(0.0, np.nan)


def _sells(word: str) -> bool:
    return word in _SELL or (word.startswith("_1") and word in ("_1", "_1.0"))


def _fees(draft: Draft, quantity: "pd.Series[Any] | None", price: "pd.Series[Any] | None") -> "pd.Series[Any] | None":
    notional = quantity.abs() * price if quantity is not None and price is not None else None
    for alias in h.FEE:
        fee = draft.numbers((alias,))
        if fee is None:
            continue
        if notional is not None and alias in ("cost", "costs", "tc") and float((fee.abs() / notional).median()) > 0.5:
            draft.guesses.append(f"{alias} is the notional of the trade, not a fee")
            continue
        return fee.abs()
    rate = draft.numbers(h.FEE_BPS)
    if rate is not None and notional is not None:
        draft.guesses.append("fees come from a rate column in basis points")
        return rate.abs() * notional / 1e4
    return None
