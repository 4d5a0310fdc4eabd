"""What a table is: from its columns first, the file name breaking ties."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evaluator.package import headers as h
from evaluator.package.dates import looks_like_dates
from evaluator.package.headers import normalised, pick
from evaluator.package.metric_names import canonical_metric

_HINTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("quality", re.compile(r"quality|data_?check|dq(_|$)")),
    ("sensitivity", re.compile(r"sensitiv|param(eter)?_sweep|grid|robustness")),
    ("out_of_sample", re.compile(r"out_?of_?sample|(^|_)oos(_|$)|walk_?forward")),
    ("sources", re.compile(r"source|manifest|provenance|data_log")),
    ("spec", re.compile(r"config|param|spec|settings|strategy")),
    ("metrics", re.compile(r"metric|stat|summary|kpi|result")),
    ("trades", re.compile(r"trade|fill|order|transaction|execution|blotter|ledger")),
    ("positions", re.compile(r"position|holding")),
    ("weights", re.compile(r"weight|allocation|target|portfolio")),
    ("equity", re.compile(r"equity|nav|value|curve|pnl|performance|returns")),
    ("selections", re.compile(r"selection|selected|picks|chosen|constituents_at")),
    ("signals", re.compile(r"signal|score|factor|rank")),
    ("market", re.compile(r"^market$|index|benchmark|vix|spy|macro|market_series")),
    ("prices", re.compile(r"price|ohlc|bars|close|market_data")),
    ("fundamentals", re.compile(r"fundamental|income|balance|cash_flow|financial|statement")),
    ("universe", re.compile(r"universe|member")),
)
_PROXY = re.compile(r"^(\^|SPY$|VIX|SPX$|GSPC$)", re.IGNORECASE)
_MOSTLY = 0.8
_PROSE_WORDS = 4
"""Words of a usual cell from which a column is prose; company and sector names are shorter."""


@dataclass(frozen=True)
class Shape:
    """What role detection looks at."""

    headers: list[str]
    """Normalised headers, in column order."""
    frame: pd.DataFrame
    stem: str
    """Normalised file name without ending."""
    key: str = ""

    def has(self, aliases: tuple[str, ...]) -> bool:
        """Tell whether one of the aliases is a column."""
        return pick(self.headers, aliases) is not None

    def count(self, aliases: h.Aliases, *, without: tuple[str, ...] = ()) -> int:
        """Return how many of the canonical columns are present."""
        return sum(self.has(names) for canonical, names in aliases.items() if canonical not in without)


def hint(*names: str) -> str | None:
    """Return the role that a file or key name hints at, the first name that says something."""
    for name in names:
        for role, pattern in _HINTS:
            if name and pattern.search(name):
                return role
    return None


def shape_of(frame: pd.DataFrame, stem: str, key: str = "") -> Shape:
    """Return the shape of a raw table."""
    return Shape([normalised(c) for c in frame.columns], frame, normalised(stem), normalised(key))


def recognise(shape: Shape) -> tuple[str, tuple[str, ...]]:
    """Return the role and what was guessed to reach it; 'other' when nothing fits."""
    hinted = hint(shape.key, shape.stem)
    named = _by_name(shape, hinted)
    if named is not None:
        return named, ()
    if shape.has(h.SYMBOL) and (_dated(shape) or shape.has(h.PERIOD_END)):
        return _per_symbol(shape, hinted)
    if _dated(shape):
        return _per_date(shape, hinted)
    if hinted == "metrics" or _single_row_metrics(shape):
        return "metrics", ()
    return ("universe" if hinted == "universe" else "other"), ()


def _dated(shape: Shape) -> bool:
    at = pick(shape.headers, (*h.FILL_DATE, *h.DECISION_DATE))
    return at is not None and looks_like_dates(shape.frame.iloc[:, at])


def _by_name(shape: Shape, hinted: str | None) -> str | None:
    """Roles whose columns are free: their name decides, unless the columns are those of a log."""
    if hinted in ("quality", "sensitivity", "out_of_sample"):
        return hinted
    if hinted == "sources" or {"endpoint", "query_parameters"} & set(shape.headers):
        return "sources"
    keys = pick(
        shape.headers, ("metric", "parameter", "key", "statistic", "name", "measure", "stat", "item", "unnamed_0")
    )
    values = pick(shape.headers, ("value", "strategy", "result", "setting", "portfolio"))
    if keys is None or shape.has(h.SYMBOL[:-3]):
        return None
    if values is None and not (hinted == "metrics" and len(shape.headers) >= 2) and not _reads_as_metrics(shape, keys):
        return None
    return _named_values(shape, hinted, keys)


def _reads_as_metrics(shape: Shape, keys: int) -> bool:
    """Tell whether a table without a value header (a printed series) lists known figures."""
    if len(shape.headers) not in (2, 3):
        return False
    known = sum(canonical_metric(str(cell)) is not None for cell in shape.frame.iloc[:200, keys])
    return known >= 3 and known >= min(len(shape.frame) / 5, 10)


def _named_values(shape: Shape, hinted: str | None, keys: int) -> str | None:
    known = sum(canonical_metric(str(cell)) is not None for cell in shape.frame.iloc[:200, keys])
    if "metric" in shape.headers or (known >= 3 and known >= len(shape.frame) / 3):
        return "metrics"
    if {"component", "parameter"} & set(shape.headers) or hinted == "spec":
        return "spec"
    if hinted == "metrics" or known:
        return "metrics"
    return "spec" if "key" in shape.headers else None


def _per_symbol(shape: Shape, hinted: str | None) -> tuple[str, tuple[str, ...]]:
    statement = shape.count(h.STATEMENT, without=("period", "sector", "shares"))
    if statement >= 1 and (shape.has(h.ANNOUNCED) or statement >= 2) and not shape.has(h.SIDE[:-2]):
        return "fundamentals", ()
    if _is_trades(shape, hinted):
        return "trades", ()
    if _quotes(shape, hinted):
        return ("market" if hinted == "market" or _only_proxies(shape) else "prices"), ()
    if shape.has(h.WEIGHT[:-3]) or (hinted == "weights" and shape.has(h.WEIGHT)):
        return "weights", ()
    if hinted == "positions" and shape.has(h.QUANTITY):
        return "positions", ()
    return _ranked(shape, hinted)


def _quotes(shape: Shape, hinted: str | None) -> bool:
    if shape.count(h.PRICES, without=("close", "dividends", "stock_splits")) >= 2 or shape.has(h.PRICES["adj_close"]):
        return True
    if shape.has(h.WEIGHT[:-3]):
        return False
    return shape.has(h.PRICES["close"][:-1]) or (hinted in ("prices", "market") and shape.has(h.PRICES["close"]))


def _ranked(shape: Shape, hinted: str | None) -> tuple[str, tuple[str, ...]]:
    if hinted == "market" and shape.has(h.VALUE):
        return "market", ()
    if hinted == "selections" or (shape.has(h.RANK) and not shape.has(h.VALUE) and hinted != "signals"):
        return "selections", ()
    if shape.has(h.SELECTED) and not shape.has(h.VALUE):
        return "selections", ()
    numeric = [c for c in shape.frame.columns if pd.api.types.is_numeric_dtype(shape.frame[c])]
    if shape.has(h.VALUE) or hinted == "signals" or numeric:
        guess = () if shape.has(h.VALUE) else (f"taken as signals: {len(numeric)} number columns per date and symbol",)
        return "signals", guess
    if hinted is None and any(_is_prose(shape.frame[column]) for column in shape.frame.columns):
        return "other", ()
    return ("selections", ("dates and symbols without numbers are taken as selections",))


def _is_prose(cells: "pd.Series[Any]") -> bool:
    """Whether a column holds sentences: news beside dates and symbols are no list of chosen names."""
    texts = cells.dropna().astype(str).head(200)
    return bool(len(texts)) and float(np.median([len(text.split()) for text in texts])) >= _PROSE_WORDS


def _is_trades(shape: Shape, hinted: str | None) -> bool:
    bars = shape.count(h.PRICES, without=("close", "volume", "dividends", "stock_splits"))
    if bars >= 3 or not (shape.has(h.QUANTITY) and shape.has(h.PRICE)):
        return False
    if shape.has(h.SIDE[:-2]) or shape.has(h.FEE[:-2]):
        return True
    if hinted == "trades" or (shape.has(("type", "signal")) and hinted != "positions"):
        return True
    at = pick(shape.headers, h.QUANTITY[:-1])
    signed = at is not None and pd.to_numeric(shape.frame.iloc[:, at], errors="coerce").lt(0).any()
    return bool(signed and hinted != "positions")


def _only_proxies(shape: Shape) -> bool:
    at = pick(shape.headers, h.SYMBOL)
    if at is None:
        return False
    names = [str(name) for name in shape.frame.iloc[:, at].dropna().unique()]
    return len(names) > 0 and all(_PROXY.match(name) for name in names)


def _per_date(shape: Shape, hinted: str | None) -> tuple[str, tuple[str, ...]]:
    if shape.count(h.PRICES, without=("dividends", "stock_splits")) >= 3:
        return ("market" if hinted == "market" or _PROXY.match(shape.stem) else "prices"), (
            "no symbol column: the file name is the symbol",
        )
    if _is_curve(shape, hinted):
        return "equity", ()
    wide = [c for c in shape.frame.columns if pd.api.types.is_numeric_dtype(shape.frame[c])]
    guess = (f"wide table with {len(wide)} number columns, taken as {hinted} by its name",)
    if hinted in ("prices", "weights", "signals", "market", "positions") and wide:
        return hinted, guess
    if len(wide) >= 3:
        sums = shape.frame[wide].sum(axis=1)
        if (sums.between(0, 1.001) | sums.between(99, 100.5)).mean() > _MOSTLY:
            return "weights", ("wide table whose rows sum to one, taken as weights",)
    if shape.has(h.RETURN) or shape.has(h.EQUITY):
        return "equity", ("dates with values, taken as the equity curve",)
    return "other", ()


def _is_curve(shape: Shape, hinted: str | None) -> bool:
    if shape.has(h.EQUITY[:-4]) or (shape.has(h.EQUITY) and shape.has(h.CASH)):
        return True
    return hinted == "equity" and (shape.has(h.EQUITY) or shape.has(h.RETURN) or len(shape.headers) == 2)


def _single_row_metrics(shape: Shape) -> bool:
    return len(shape.frame) == 1 and sum(canonical_metric(c) is not None for c in shape.frame.columns) >= 2
