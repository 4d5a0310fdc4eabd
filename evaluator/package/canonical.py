"""Raw tables to the canonical frames of `delivery.py`; every guess is recorded in words."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from evaluator.package import headers as h
from evaluator.package.dates import looks_like_dates
from evaluator.package.draft import Draft, finished, melted, on_sessions, symbols_of
from evaluator.package.figures import metrics_table, spec_table
from evaluator.package.formats.raw import RawTable
from evaluator.package.headers import is_percent, normalised, pick
from evaluator.package.ledgers import fills_table
from evaluator.package.numbers import parse_numbers
from evaluator.package.workspace import holds_prices


def canonical(role: str, raw: RawTable, stem: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the canonical frame of a role and the guesses; roles without canonical form come back as delivered."""
    draft = Draft(raw, stem, [normalised(c) for c in raw.frame.columns], list(raw.guesses))
    make = _MAKERS.get(role)
    if make is None:
        return _plain(_dated(draft) if role == "other" else raw.frame), tuple(draft.guesses)
    frame = make(draft)
    return frame, tuple(draft.guesses)


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Give categorical text columns back as text."""
    odd = [name for name in frame.columns if isinstance(frame[name].dtype, pd.CategoricalDtype)]
    return frame.astype(dict.fromkeys(odd, object)) if odd else frame


def _dated(draft: Draft) -> pd.DataFrame:
    """Give a table of unknown role a typed `date` where its first observation date is, everything else as delivered."""
    frame = draft.raw.frame
    clock: frozenset[str] = frozenset() if holds_prices(frame) else h.CLOCK
    at = pick(draft.headers, [name for name in (*h.FILL_DATE, *h.ANNOUNCED) if name not in clock])
    if at is None or not looks_like_dates(frame.iloc[:, at]):
        return frame
    days = draft.dates((draft.headers[at],))
    rest = [name for place, name in enumerate(frame.columns) if place != at and name != "date"]
    return pd.concat([pd.DataFrame({"date": days}), frame[rest]], axis=1)


def _prices(draft: Draft) -> pd.DataFrame:
    if pick(draft.headers, h.SYMBOL) is None and sum(pick(draft.headers, a) is not None for a in h.PRICES.values()) < 2:
        return _wide_prices(draft)
    columns: dict[str, pd.Series[Any] | None] = {"date": draft.dates(h.DATE), "symbol": symbols_of(draft)}
    columns |= {name: draft.numbers(aliases) for name, aliases in h.PRICES.items()}
    return finished(draft, columns)


def _wide_prices(draft: Draft) -> pd.DataFrame:
    long = melted(draft, h.DATE, "close")
    return long.rename(columns={"close": "adj_close"}) if "adj" in draft.stem else long


def _market(draft: Draft) -> pd.DataFrame:
    if pick(draft.headers, h.SYMBOL) is None and sum(pick(draft.headers, a) is not None for a in h.PRICES.values()) < 1:
        return melted(draft, h.DATE, "value")
    value = draft.numbers((*h.PRICES["adj_close"], "value", *h.PRICES["close"], "level"))
    return finished(draft, {"date": draft.dates(h.DATE), "symbol": symbols_of(draft), "value": value})


def _fundamentals(draft: Draft) -> pd.DataFrame:
    columns: dict[str, pd.Series[Any] | None] = {
        "period_end": draft.dates(h.PERIOD_END),
        "announced": draft.dates(h.ANNOUNCED),
        "symbol": symbols_of(draft),
    }
    for name, aliases in h.STATEMENT.items():
        columns[name] = draft.text(aliases) if name in ("period", "sector") else draft.numbers(aliases)
    if pick(draft.headers, h.PERIOD_END) == pick(draft.headers, ("period",)):
        columns.pop("period")
    return finished(draft, columns, by=("period_end",))


def _signals(draft: Draft) -> pd.DataFrame:
    if pick(draft.headers, h.SYMBOL) is None:
        return melted(draft, h.DECISION_DATE, "value")
    base = {"date": draft.dates(h.DECISION_DATE), "symbol": symbols_of(draft)}
    value = draft.numbers(("value", "score", "signal_value", "factor_value"))
    factor = draft.text(h.FACTOR)
    if value is not None:
        return finished(draft, {**base, "factor": factor, "value": value})
    used = {pick(draft.headers, h.DECISION_DATE), pick(draft.headers, h.SYMBOL), pick(draft.headers, h.RANK)}
    parts = []
    for place, name in enumerate(draft.headers):
        numbers = None if place in used else parse_numbers(draft.raw.frame.iloc[:, place], european=draft.raw.european)
        if numbers is not None and numbers.notna().any():
            parts.append(pd.DataFrame({**base, "factor": name, "value": numbers}))
    if not parts:
        return finished(draft, {**base})
    draft.guesses.append(f"one factor for each of {len(parts)} number columns")
    whole = pd.concat(parts, ignore_index=True)
    return whole.sort_values("date", kind="stable").reset_index(drop=True)


def _selections(draft: Draft) -> pd.DataFrame:
    columns = {
        "date": draft.dates(h.DECISION_DATE),
        "symbol": symbols_of(draft),
        "rank": draft.numbers(h.RANK),
        "selected": draft.column(h.SELECTED),
        "score": draft.numbers(("score", "composite", "value")),
    }
    frame = finished(draft, columns)
    if "selected" in frame.columns:
        chosen = frame["selected"].astype(str).str.lower().isin(["1", "true", "yes", "y", "1.0"])
        draft.guesses.append(f"{int((~chosen).sum())} rows are marked as not selected and left out")
        frame = frame[chosen].drop(columns="selected").reset_index(drop=True)
    return frame


def _weights(draft: Draft) -> pd.DataFrame:
    at = pick(draft.headers, h.WEIGHT)
    if pick(draft.headers, h.SYMBOL) is None:
        frame = _without_zeros(melted(draft, h.DECISION_DATE, "weight"))
        percent = False
    else:
        columns = {"date": draft.dates(h.DECISION_DATE), "symbol": symbols_of(draft), "weight": draft.numbers(h.WEIGHT)}
        frame = finished(draft, columns)
        percent = at is not None and is_percent(draft.raw.frame.columns[at])
    if "weight" not in frame.columns or not len(frame):
        return frame
    largest = float(frame.groupby("date")["weight"].sum().max())
    if largest > 1.5 or (percent and largest > 1.05):
        scale = 100.0 if largest < 150 else 10000.0
        draft.guesses.append(f"weights sum to {largest:.4g}: divided by {scale:.0f}")
        frame["weight"] = frame["weight"] / scale
    return frame


def _without_zeros(frame: pd.DataFrame) -> pd.DataFrame:
    """A wide table prints 0 for every name that is not held; a day without any holding keeps its zeros."""
    held = frame["weight"] != 0
    return frame[held | ~held.groupby(frame["date"]).transform("any")].reset_index(drop=True)


def _positions(draft: Draft) -> pd.DataFrame:
    if pick(draft.headers, h.SYMBOL) is None:
        return melted(draft, h.DATE, "quantity")
    columns = {"date": draft.dates(h.DATE), "symbol": symbols_of(draft), "quantity": draft.numbers(h.QUANTITY)}
    return finished(draft, columns)


def _equity(draft: Draft) -> pd.DataFrame:
    equity = draft.numbers(h.EQUITY)
    returns = draft.numbers(h.RETURN)
    if equity is None and returns is None:
        equity = _only_numbers(draft)
    columns = {"date": draft.dates(h.DATE), "equity": equity, "cash": draft.numbers(h.CASH), "return": returns}
    frame = finished(draft, columns)
    if "return" in frame.columns and is_percent(draft.spelling(h.RETURN)):
        frame["return"] = frame["return"] / 100
        draft.guesses.append("returns are in percent")
    if "equity" not in frame.columns and "return" in frame.columns:
        draft.guesses.append("equity is compounded from the returns, starting at 1")
        frame["equity"] = (1 + frame["return"].fillna(0.0)).cumprod()
    elif "equity" in frame.columns and len(frame) and _is_cumulative(draft, frame["equity"]):
        scale = 100.0 if is_percent(draft.spelling(h.EQUITY)) or frame["equity"].abs().max() > 3 else 1.0
        draft.guesses.append("equity is a cumulative return: 1 is added" + (", percent" if scale > 1 else ""))
        frame["equity"] = 1 + frame["equity"] / scale
    return _daily(draft, frame)


def _only_numbers(draft: Draft) -> "pd.Series[Any] | None":
    """Return the one number column of a curve whose header is the strategy's own name."""
    at = pick(draft.headers, h.DATE)
    found = [
        p for p in range(len(draft.headers)) if p != at and pd.api.types.is_numeric_dtype(draft.raw.frame.iloc[:, p])
    ]
    if len(found) != 1:
        return None
    draft.guesses.append(f"column {draft.raw.frame.columns[found[0]]} is taken as the equity")
    return parse_numbers(draft.raw.frame.iloc[:, found[0]])


def _is_cumulative(draft: Draft, equity: "pd.Series[Any]") -> bool:
    """A curve that starts at nothing, or whose header says so, is no level."""
    return bool(abs(float(equity.iloc[0])) < 1e-9 or "return" in normalised(draft.spelling(h.EQUITY)))


def _daily(draft: Draft, frame: pd.DataFrame) -> pd.DataFrame:
    """One row for each session: calendar days repeat the session before, a first day before the data is its start."""
    before = len(frame)
    frame = on_sessions(draft, frame)
    if "date" in frame.columns:
        frame = frame[~frame["date"].duplicated(keep="first") | frame["date"].isna()]
    if len(frame) < before:
        draft.guesses.append(f"{before - len(frame)} rows of the same session are left out, the first counts")
    return frame.reset_index(drop=True)


def _at_sessions(make: Callable[[Draft], pd.DataFrame]) -> Callable[[Draft], pd.DataFrame]:
    def made(draft: Draft) -> pd.DataFrame:
        return on_sessions(draft, make(draft))

    return made


_MAKERS: dict[str, Callable[[Draft], pd.DataFrame]] = {
    "prices": _prices,
    "market": _market,
    "fundamentals": _fundamentals,
    "signals": _at_sessions(_signals),
    "selections": _at_sessions(_selections),
    "weights": _at_sessions(_weights),
    "positions": _positions,
    "held": _weights,
    "equity": _equity,
    "trades": fills_table,
    "metrics": metrics_table,
    "spec": spec_table,
}
