"""MetaTrader 4 tester reports and MetaTrader 5 deals and orders."""

import pandas as pd

from evaluator.package.formats.raw import RawTable
from evaluator.package.headers import pick
from evaluator.package.numbers import parse_numbers

_OPENING = ("buy", "sell")
_CLOSING = ("close", "s/l", "t/p", "close at stop", "close by")


def deals(raw: RawTable, headers: list[str]) -> list[RawTable] | None:
    """Return the fills and the start balance of an MT5 list of deals; None when it is none."""
    if not {"deal", "volume", "price"} <= set(headers) or "direction" not in headers:
        return None
    frame = raw.frame.set_axis(headers, axis=1)
    kind = frame["type"].astype(object).map(lambda cell: str(cell).strip().lower())
    kept = frame[kind.isin(_OPENING)]
    fee = sum(
        (parse_numbers(kept[name]).fillna(0.0).abs() for name in ("commission", "fee") if name in headers),
        start=pd.Series(0.0, index=kept.index),
    )
    out = pd.DataFrame(
        {
            "date": kept["time"],
            "symbol": kept["symbol"],
            "side": kind[kept.index],
            "quantity": kept["volume"],
            "price": kept["price"],
            "fee": fee,
            "fill_id": kept["deal"],
        }
    )
    if "comment" in headers:
        out["reason"] = kept["comment"]
    tables = [RawTable(raw.key, out.reset_index(drop=True), (*raw.guesses, "MetaTrader 5 deals"), role="trades")]
    if "balance" in headers and kind.eq("balance").any():
        start = parse_numbers(frame.loc[kind.eq("balance"), "balance"]).iloc[0]
        money = pd.DataFrame({"metric": ["initial_capital"], "value": [str(start)]})
        tables.append(
            RawTable(f"{raw.key}.balance" if raw.key else "balance", money, ("first balance row",), role="metrics")
        )
    return tables


def order_history(raw: RawTable, headers: list[str]) -> list[RawTable] | None:
    """An MT5 list of orders repeats the deals without their prices: it is kept as no role."""
    if {"open_time", "order", "symbol", "state", "s_l"} <= set(headers):
        return [RawTable(raw.key, raw.frame, (*raw.guesses, "orders beside deals are no fills"), role="other")]
    return None


def tester_report(raw: RawTable, headers: list[str]) -> list[RawTable] | None:
    """Return the fills of an MT4 tester report; None when it is none."""
    if not {"time", "type", "order", "size", "price", "s_l", "t_p"} <= set(headers):
        return None
    frame = raw.frame.set_axis(headers, axis=1)
    kind = frame["type"].astype(object).map(lambda cell: str(cell).strip().lower())
    order = frame["order"].astype(object).map(str)
    opened = dict(zip(order[kind.isin(_OPENING)], kind[kind.isin(_OPENING)], strict=True))
    kept = frame[kind.isin((*_OPENING, *_CLOSING))]
    sides = [
        kind[at] if kind[at] in _OPENING else {"buy": "sell", "sell": "buy"}.get(opened.get(order[at], ""), "sell")
        for at in kept.index
    ]
    out = pd.DataFrame(
        {
            "date": kept["time"],
            "side": sides,
            "quantity": kept["size"],
            "price": kept["price"],
            "reason": kind[kept.index],
        }
    )
    at = pick(headers, ("symbol",))
    if at is not None:
        out["symbol"] = kept["symbol"]
    guess = f"{len(frame) - len(kept)} rows of a MetaTrader 4 report change orders and are left out"
    return [RawTable(raw.key, out.reset_index(drop=True), (*raw.guesses, guess), role="trades")]
