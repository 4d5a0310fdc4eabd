"""Metrics and specifications to name and value."""

import re
from typing import Any

import pandas as pd

from evaluator.package.draft import Draft
from evaluator.package.headers import is_percent, normalised, pick
from evaluator.package.metric_names import FRACTIONS, canonical_metric, variant_of
from evaluator.package.numbers import parse_number


def metrics_table(draft: Draft) -> pd.DataFrame:
    """Return name, value, label, text and basis of each reported figure."""
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
    """A drawdown beyond -1 or a volatility beyond 2 shows that plain numbers are percent, these alone or all of them."""
    base = frame["name"].str.replace(r"^(benchmark|gross|oos|is)_", "", regex=True)
    size = frame["value"].abs()
    plain = base.isin(FRACTIONS) & ~frame["text"].str.contains("%") & ~frame["label"].map(is_percent)
    beyond = plain & (((base == "max_drawdown") & size.gt(1)) | ((base == "volatility") & size.gt(2)))
    if not beyond.any():
        return frame
    rest = plain & ~beyond & size.notna()
    mixed = rest.any() and bool(size[rest].le(1).all())
    if mixed:
        # backtrader prints drawdowns in percent beside returns that are fractions.
        draft.guesses.append(f"{', '.join(sorted(set(base[beyond])))} in percent, other figures are fractions")
    chosen = beyond if mixed else plain
    draft.guesses.append(f"{int(chosen.sum())} metrics are printed in percent without a sign")
    frame.loc[chosen, "value"] = frame.loc[chosen, "value"] / 100
    return frame


def spec_table(draft: Draft) -> pd.DataFrame:
    """Return component, key and value; the table as delivered when it has no keys."""
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
