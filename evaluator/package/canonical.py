"""Raw tables to the canonical frames of `delivery.py`; every guess is recorded in words."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from evaluator.package import headers as h
from evaluator.package.dates import looks_like_dates, parse_dates
from evaluator.package.headers import is_percent, normalised, pick
from evaluator.package.metric_names import FRACTIONS, canonical_metric, variant_of
from evaluator.package.numbers import parse_number, parse_numbers
from evaluator.package.reading import RawTable
from evaluator.package.workspace import holds_prices

_BUY = frozenset({"buy", "b", "long", "bot", "bto", "enter", "open", "1", "+1", "1.0", "cover", "entry", "多", "買"})
_SELL = frozenset({"sell", "s", "sld", "short", "stc", "exit", "close", "-1", "-1.0", "sell_short"})
_FILLED = frozenset({"filled", "complete", "completed", "executed", "closed", "done", "fill", "ok", ""})
_TOTALS = frozenset({"total", "totals", "sum", "average", "mean"})


@dataclass
class Draft:
    """A table while it becomes canonical."""

    raw: RawTable
    stem: str
    headers: list[str]
    guesses: list[str] = field(default_factory=list)

    def column(self, aliases: Sequence[str]) -> "pd.Series[Any] | None":
        """Return the first aliased column, or None."""
        at = pick(self.headers, aliases)
        return None if at is None else self.raw.frame.iloc[:, at]

    def dates(self, aliases: Sequence[str]) -> "pd.Series[Any] | None":
        """Return the first aliased column as dates."""
        at = pick(self.headers, aliases)
        if at is None:
            return None
        parsed = parse_dates(self.raw.frame.iloc[:, at], after_close=self.headers[at] in h.ACCEPTED)
        name = self.headers[at]
        self.guesses += [f"{name}: {guess}" for guess in parsed.guesses]
        if parsed.ambiguous:
            self.guesses.append(f"{name}: ambiguous, day and month cannot be told apart")
        return parsed.days

    def numbers(self, aliases: Sequence[str]) -> "pd.Series[Any] | None":
        """Return the first aliased column as floats."""
        found = self.column(aliases)
        return None if found is None else parse_numbers(found, european=self.raw.european)

    def text(self, aliases: Sequence[str]) -> "pd.Series[Any] | None":
        """Return the first aliased column as stripped text; empty cells are missing."""
        found = self.column(aliases)
        if found is None:
            return None
        if isinstance(found.dtype, pd.CategoricalDtype):
            found = found.astype(object)
        codes, labels = pd.factorize(found)
        words = np.array([*(str(label).strip() or None for label in labels), None], dtype=object)
        return pd.Series(words[codes], index=found.index, dtype=object)


def canonical(role: str, raw: RawTable, stem: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the canonical frame of a role and the guesses; roles without canonical form come back as delivered."""
    draft = Draft(raw, stem, [normalised(c) for c in raw.frame.columns], list(raw.guesses))
    make = _MAKERS.get(role)
    if make is None:
        return (_dated(draft) if role == "other" else raw.frame), tuple(draft.guesses)
    frame = make(draft)
    return frame, tuple(draft.guesses)


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


def _finished(
    draft: Draft, columns: dict[str, "pd.Series[Any] | None"], *, by: Sequence[str] = ("date",)
) -> pd.DataFrame:
    """Assemble the columns that exist, drop totals and repeated headers, order by date."""
    frame = pd.DataFrame({name: column for name, column in columns.items() if column is not None})
    lead = by[0]
    if lead in frame.columns and frame[lead].isna().any():
        frame = _without_furniture(draft, frame, lead)
    keys = [name for name in by if name in frame.columns]
    if keys and not frame[keys[0]].is_monotonic_increasing:
        frame = frame.sort_values(keys[0], kind="stable")
    return frame.reset_index(drop=True)


def _without_furniture(draft: Draft, frame: pd.DataFrame, lead: str) -> pd.DataFrame:
    raw = draft.raw.frame.loc[frame.index]
    undated = frame[lead].isna()
    cells = raw[undated].map(lambda cell: str(cell).strip().lower())
    names = {str(c).strip().lower() for c in raw.columns}
    header = cells.isin(names).mean(axis=1) > 0.5
    total = cells.isin(_TOTALS).any(axis=1)
    blank = cells.isin(["", "nan", "none", "nat"]).all(axis=1)
    drop = cells.index[header | total | blank]
    if len(drop):
        draft.guesses.append(f"{len(drop)} header, total or blank rows are left out")
    return frame.drop(index=drop)


def _symbols(draft: Draft) -> "pd.Series[Any]":
    found = draft.text(h.SYMBOL)
    if found is None:
        symbol = draft.stem.upper().removesuffix("_PRICES").removesuffix("_DAILY").removeprefix("PRICES_")
        draft.guesses.append(f"symbol {symbol} comes from the file name")
        return pd.Series(symbol, index=draft.raw.frame.index, dtype=object)
    return found


def _melted(draft: Draft, aliases: Sequence[str], value: str) -> pd.DataFrame:
    """Turn a wide table (dates x names) into date, symbol, value; empty cells are left out."""
    at = pick(draft.headers, aliases)
    days = draft.dates(aliases)
    frame = draft.raw.frame
    parts: dict[str, pd.Series[Any]] = {}
    for place, name in enumerate(frame.columns):
        numbers = parse_numbers(frame.iloc[:, place], european=draft.raw.european) if place != at else None
        if numbers is not None and numbers.notna().any():
            parts[str(name).strip().rsplit(">", maxsplit=1)[-1]] = numbers
    draft.guesses.append(f"wide table, one column for each of {len(parts)} names")
    if days is None or not parts:
        return pd.DataFrame({"date": pd.Series(dtype="datetime64[us]"), "symbol": [], value: []})
    wide = pd.DataFrame(parts)
    out = pd.DataFrame(
        {
            "date": np.repeat(days.to_numpy(), len(parts)),
            "symbol": np.tile(np.array(list(parts), dtype=object), len(wide)),
            value: wide.to_numpy().reshape(-1),
        }
    )
    return out[out[value].notna() & out["date"].notna()].sort_values("date", kind="stable").reset_index(drop=True)


def _prices(draft: Draft) -> pd.DataFrame:
    if pick(draft.headers, h.SYMBOL) is None and sum(pick(draft.headers, a) is not None for a in h.PRICES.values()) < 2:
        return _wide_prices(draft)
    columns: dict[str, pd.Series[Any] | None] = {"date": draft.dates(h.DATE), "symbol": _symbols(draft)}
    columns |= {name: draft.numbers(aliases) for name, aliases in h.PRICES.items()}
    return _finished(draft, columns)


def _wide_prices(draft: Draft) -> pd.DataFrame:
    long = _melted(draft, h.DATE, "close")
    suffix = long["symbol"].astype(str).str.extract(r"(?i)^(.+)_(open|high|low|close|adj_close|volume)$")
    if len(long) and suffix[0].notna().mean() > 0.9:
        draft.guesses.append("columns are named symbol_field")
        long = long.assign(symbol=suffix[0], field=suffix[1].str.lower())
        long = long.pivot_table(index=["date", "symbol"], columns="field", values="close", aggfunc="last").reset_index()
        return long.rename_axis(columns=None)
    if "adj" in draft.stem:
        return long.rename(columns={"close": "adj_close"})
    return long


def _market(draft: Draft) -> pd.DataFrame:
    if pick(draft.headers, h.SYMBOL) is None and sum(pick(draft.headers, a) is not None for a in h.PRICES.values()) < 1:
        return _melted(draft, h.DATE, "value")
    value = draft.numbers((*h.PRICES["adj_close"], "value", *h.PRICES["close"], "level"))
    return _finished(draft, {"date": draft.dates(h.DATE), "symbol": _symbols(draft), "value": value})


def _fundamentals(draft: Draft) -> pd.DataFrame:
    columns: dict[str, pd.Series[Any] | None] = {
        "period_end": draft.dates(h.PERIOD_END),
        "announced": draft.dates(h.ANNOUNCED),
        "symbol": _symbols(draft),
    }
    for name, aliases in h.STATEMENT.items():
        columns[name] = draft.text(aliases) if name in ("period", "sector") else draft.numbers(aliases)
    if pick(draft.headers, h.PERIOD_END) == pick(draft.headers, ("period",)):
        columns.pop("period")
    return _finished(draft, columns, by=("period_end",))


def _signals(draft: Draft) -> pd.DataFrame:
    if pick(draft.headers, h.SYMBOL) is None:
        return _melted(draft, h.DECISION_DATE, "value")
    base = {"date": draft.dates(h.DECISION_DATE), "symbol": _symbols(draft)}
    value = draft.numbers(("value", "score", "signal_value", "factor_value"))
    factor = draft.text(h.FACTOR)
    if value is not None:
        return _finished(draft, {**base, "factor": factor, "value": value})
    used = {pick(draft.headers, h.DECISION_DATE), pick(draft.headers, h.SYMBOL), pick(draft.headers, h.RANK)}
    parts = []
    for place, name in enumerate(draft.headers):
        numbers = None if place in used else parse_numbers(draft.raw.frame.iloc[:, place], european=draft.raw.european)
        if numbers is not None and numbers.notna().any():
            parts.append(pd.DataFrame({**base, "factor": name, "value": numbers}))
    if not parts:
        return _finished(draft, {**base})
    draft.guesses.append(f"one factor for each of {len(parts)} number columns")
    whole = pd.concat(parts, ignore_index=True)
    return whole.sort_values("date", kind="stable").reset_index(drop=True)


def _selections(draft: Draft) -> pd.DataFrame:
    columns = {
        "date": draft.dates(h.DECISION_DATE),
        "symbol": _symbols(draft),
        "rank": draft.numbers(h.RANK),
        "selected": draft.column(h.SELECTED),
        "score": draft.numbers(("score", "composite", "value")),
    }
    frame = _finished(draft, columns)
    if "selected" in frame.columns:
        chosen = frame["selected"].astype(str).str.lower().isin(["1", "true", "yes", "y", "1.0"])
        draft.guesses.append(f"{int((~chosen).sum())} rows are marked as not selected and left out")
        frame = frame[chosen].drop(columns="selected").reset_index(drop=True)
    return frame


def _weights(draft: Draft) -> pd.DataFrame:
    at = pick(draft.headers, h.WEIGHT)
    if pick(draft.headers, h.SYMBOL) is None:
        frame = _melted(draft, h.DECISION_DATE, "weight")
        percent = False
    else:
        columns = {"date": draft.dates(h.DECISION_DATE), "symbol": _symbols(draft), "weight": draft.numbers(h.WEIGHT)}
        frame = _finished(draft, columns)
        percent = at is not None and is_percent(draft.raw.frame.columns[at])
    if "weight" not in frame.columns or not len(frame):
        return frame
    largest = float(frame.groupby("date")["weight"].sum().max())
    if largest > 1.5 or (percent and largest > 1.05):
        scale = 100.0 if largest < 150 else 10000.0
        draft.guesses.append(f"weights sum to {largest:.4g}: divided by {scale:.0f}")
        frame["weight"] = frame["weight"] / scale
    return frame


def _positions(draft: Draft) -> pd.DataFrame:
    if pick(draft.headers, h.SYMBOL) is None:
        return _melted(draft, h.DATE, "quantity")
    columns = {"date": draft.dates(h.DATE), "symbol": _symbols(draft), "quantity": draft.numbers(h.QUANTITY)}
    return _finished(draft, columns)


def _equity(draft: Draft) -> pd.DataFrame:
    columns = {
        "date": draft.dates(h.DATE),
        "equity": draft.numbers(h.EQUITY),
        "cash": draft.numbers(h.CASH),
        "return": draft.numbers(h.RETURN),
    }
    if columns["equity"] is None and columns["return"] is None:
        columns["equity"] = _only_numbers(draft)
    frame = _finished(draft, columns)
    if "equity" not in frame.columns and "return" in frame.columns:
        draft.guesses.append("equity is compounded from the returns, starting at 1")
        frame["equity"] = (1 + frame["return"].fillna(0.0)).cumprod()
    return frame


def _only_numbers(draft: Draft) -> "pd.Series[float] | None":
    """Return the one number column of a curve that carries the name of its strategy; None when there are several."""
    frame = draft.raw.frame
    named = [str(column) for column in frame.columns if pd.api.types.is_numeric_dtype(frame[column])]
    return draft.numbers((normalised(named[0]),)) if len(named) == 1 else None


def _trades(draft: Draft) -> pd.DataFrame:
    quantity = draft.numbers(h.QUANTITY)
    price = draft.numbers(h.PRICE)
    side = _sides(draft, quantity)
    columns: dict[str, pd.Series[Any] | None] = {
        "date": draft.dates(h.FILL_DATE),
        "symbol": _symbols(draft),
        "side": side,
        "quantity": None if quantity is None else quantity.abs(),
        "price": price,
        "fee": _fees(draft, quantity, price),
        "signal_date": draft.dates(h.SIGNAL_DATE),
    }
    for name, aliases in (
        ("reason", ("reason", "exit_reason", "trade_reason", "tag", "comment", "note")),
        ("trigger", ("trigger", "trigger_value", "triggers")),
        ("fill_id", ("fill_id", "trade_id", "id", "order_id", "execution_id")),
    ):
        columns[name] = draft.text(aliases)
    frame = pd.DataFrame({name: column for name, column in columns.items() if column is not None})
    status = draft.text(("status", "order_status", "state"))
    if status is not None:
        filled = status.fillna("").astype(str).str.lower().isin(_FILLED)
        if filled.any() and not filled.all():
            draft.guesses.append(f"{int((~filled).sum())} orders that are not filled are left out")
            frame = frame[filled]
    return _finished(draft, {str(name): frame[name] for name in frame.columns})


def _sides(draft: Draft, quantity: "pd.Series[Any] | None") -> "pd.Series[Any] | None":
    for alias in h.SIDE:
        words = draft.text((alias,))
        if words is None:
            continue
        clean = words.fillna("").astype(str).str.lower().str.replace(" ", "_")
        side = pd.Series(np.where(clean.isin(_BUY), 1.0, np.where(clean.isin(_SELL), -1.0, np.nan)), index=words.index)
        if side.notna().mean() > 0.5:
            return side
    if quantity is None:
        return None
    draft.guesses.append("no side column: the sign of the quantity is the side")
    return pd.Series(np.sign(quantity.to_numpy()), index=quantity.index).replace(0.0, np.nan)


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


def _metrics(draft: Draft) -> pd.DataFrame:
    keys = draft.text(("metric", "key", "statistic", "name", "measure", "stat", "item", "unnamed_0", "parameter"))
    if keys is None or len(draft.raw.frame.columns) < 2:
        first = draft.raw.frame.iloc[:1]
        keys = pd.Series([str(c) for c in first.columns], dtype=object)
        cells = pd.Series([first.iloc[0, i] for i in range(first.shape[1])] if len(first) else [], dtype=object)
        parts: dict[str | None, pd.Series[Any]] = {None: cells}
    else:
        parts = _value_columns(draft)
    basis = draft.text(("basis", "note", "notes", "definition", "convention", "unit"))
    out = []
    for extra, cells in parts.items():
        part = pd.DataFrame({"label": keys, "text": [_plain(cell) for cell in cells]})
        part["basis"] = "" if basis is None else basis.fillna("")
        part["name"] = [_metric_name(str(k), str(b), extra) for k, b in zip(part["label"], part["basis"], strict=True)]
        out.append(part)
    frame = pd.concat(out, ignore_index=True) if out else pd.DataFrame(columns=["label", "text", "basis", "name"])
    frame["value"] = [_metric_value(*row) for row in zip(frame["label"], frame["text"], frame["name"], strict=True)]
    return _whole_percent(draft, frame[["name", "value", "label", "text", "basis"]])


def _plain(cell: object) -> str:
    return "" if cell is None else str(cell).strip()


def _value_columns(draft: Draft) -> dict[str | None, "pd.Series[Any]"]:
    """Return the strategy's values under None and other columns under their header."""
    main = pick(draft.headers, ("value", "strategy", "portfolio", "result", "net", "full_sample"))
    used = {pick(draft.headers, ("basis", "note", "notes", "definition", "convention", "unit"))}
    used.add(pick(draft.headers, ("metric", "key", "statistic", "name", "measure", "stat", "item", "unnamed_0")))
    if main is None:
        main = next((i for i in range(len(draft.headers)) if i not in used), None)
    out: dict[str | None, pd.Series[Any]] = {}
    for place, name in enumerate(draft.headers):
        if place == main:
            out[None] = draft.raw.frame.iloc[:, place]
        elif place not in used and variant_of(name) is not None:
            out[name] = draft.raw.frame.iloc[:, place]
    return out


def _metric_name(label: str, basis: str, extra: str | None) -> str:
    name = canonical_metric(label) or normalised(label)
    variant = variant_of(extra) if extra else None
    if variant is None and basis and not name.startswith(("benchmark_", "gross_", "oos_", "is_")):
        variant = _basis_variant(basis)
    return name if variant is None else f"{variant}_{name}"


def _basis_variant(basis: str) -> str | None:
    """A basis is prose: it counts as gross or a part of the sample only when it does not say net as well."""
    words = normalised(basis)
    variant = variant_of(words)
    if variant == "benchmark":
        return "benchmark" if words in ("benchmark", "index", "spy", "buy_and_hold") else None
    return None if variant == "gross" and re.search(r"(^|_)net(_|$)", words) else variant


def _metric_value(label: str, text: str, name: str) -> float:
    value = parse_number(text)
    if is_percent(label) and not text.endswith("%"):
        value = value / 100
    return -abs(value) if name.endswith("max_drawdown") else value


def _whole_percent(draft: Draft, frame: pd.DataFrame) -> pd.DataFrame:
    """A drawdown beyond -1 or a volatility beyond 2 shows that plain numbers are percent."""
    base = frame["name"].str.replace(r"^(benchmark|gross|oos|is)_", "", regex=True)
    deep = frame["value"].abs()[(base == "max_drawdown")].gt(1).any()
    wild = frame["value"].abs()[(base == "volatility")].gt(2).any()
    if not (deep or wild):
        return frame
    plain = base.isin(FRACTIONS) & ~frame["text"].str.contains("%") & ~frame["label"].map(is_percent)
    draft.guesses.append(f"{int(plain.sum())} metrics are printed in percent without a sign")
    frame.loc[plain, "value"] = frame.loc[plain, "value"] / 100
    return frame


def _spec(draft: Draft) -> pd.DataFrame:
    keys = draft.text(("parameter", "key", "name", "item", "setting", "unnamed_0"))
    values = draft.text(("value", "setting", "choice"))
    if keys is None or values is None:
        return draft.raw.frame
    component = draft.text(("component", "section", "group"))
    source = draft.text(("source", "origin"))
    definition = draft.text(("definition", "description"))
    if component is None:
        split = keys.astype(str).str.rsplit(".", n=1)
        component = split.map(lambda parts: parts[0] if len(parts) > 1 else "")
        keys = split.map(lambda parts: parts[-1])
    columns = {"component": component, "key": keys, "value": values, "source": source, "definition": definition}
    return pd.DataFrame({name: column for name, column in columns.items() if column is not None})


_MAKERS: dict[str, Callable[[Draft], pd.DataFrame]] = {
    "prices": _prices,
    "market": _market,
    "fundamentals": _fundamentals,
    "signals": _signals,
    "selections": _selections,
    "weights": _weights,
    "positions": _positions,
    "equity": _equity,
    "trades": _trades,
    "metrics": _metrics,
    "spec": _spec,
}
