"""What only the tables together tell: which run is the main one, which tables repeat each other, one unit, one ticker."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from evaluator.package.constants import MAX_DELIVERY_CELLS
from evaluator.package.delivery import Document, Table
from evaluator.package.layouts.positions import HELD
from evaluator.package.opening import Read
from evaluator.package.symbols import RENAMED
from evaluator.quant.calendar import session_number

_MAIN = frozenset({"main", "base", "baseline", "default", "final", "strategy", "portfolio", "primary", "net"})
_OTHERS = frozenset(
    {"benchmark", "spy", "buy_and_hold", "buy and hold", "index", "market", "^gspc", "sp500", "s&p 500"}
)
_NAMED = ("trades", "weights", "signals", "selections", "positions", HELD)
_BLOCKS = {"trades": ("trades", "weights", "positions", HELD), "weights": ("weights", "trades", HELD)}
"""A table inside a report stands for a role only where no data file fills one of these."""
_CENTS = 100.0
_NEAR = 0.05
_INDEX_LEVELS = 1_000.0


def assembled(reads: Sequence[Read], documents: Sequence[Document]) -> tuple[list[Table], list[str]]:
    """Return the tables of the delivery and what was left out, in words."""
    refused: list[str] = []
    kept = _within(reads, refused)
    kept = _main_run(kept, documents)
    kept = _texts_last(kept)
    kept = _fills_first(kept, refused)
    tables = _once(kept, refused)
    tables = _daily_weights(tables)
    tables = _one_ticker(tables)
    return _one_unit(tables), refused


def _within(reads: Sequence[Read], refused: list[str]) -> list[Read]:
    kept = []
    cells = 0
    for read in reads:
        cells += read.table.frame.size
        if cells > MAX_DELIVERY_CELLS:
            refused.append(f"{read.table.path}: beyond {MAX_DELIVERY_CELLS} cells in all")
            cells -= read.table.frame.size
            continue
        kept.append(read)
    return kept


def _main_run(reads: list[Read], documents: Sequence[Document]) -> list[Read]:
    """Name the run that the report names the main one; where it names none or several, none is."""
    names = list(dict.fromkeys(read.run for read in reads if read.run))
    if not names:
        return reads
    own = [name for name in names if name.lower() not in _OTHERS]
    texts = [document for document in documents if document.kind == "report"]
    last = max(texts, key=lambda document: (document.turn, len(document.text))).text.lower() if texts else ""
    called = [name for name in own if re.search(rf"(?<![\w.]){re.escape(name.lower())}(?![\w.])", last)]
    plain = [name for name in own if name.lower() in _MAIN]
    main = next((found[0] for found in (own, plain, called) if len(found) == 1), None)
    out = []
    for read in reads:
        if not read.run or read.table.group != "main":
            out.append(read)
            continue
        why = f"run {read.run} of {len(names)} in the file" + ("" if main else "; the report does not say which counts")
        group = "main" if read.run == main else f"run/{read.run}"
        out.append(replace(read, table=replace(read.table, group=group, guesses=(*read.table.guesses, why))))
    return out


def _texts_last(reads: list[Read]) -> list[Read]:
    """Keep tables of reports where no data file has their role, and of one text for each role: the last and longest."""
    filled = {(read.table.role, read.table.group) for read in reads if not read.from_text}
    best: dict[tuple[str, str], tuple[int, int, str]] = {}
    for read in reads:
        if read.from_text:
            at = (read.table.role, read.table.group)
            path = read.table.path.split("#", 1)[0]
            key = (read.table.turn, "readme" not in path.lower(), path)
            best[at] = max(best.get(at, (-1, 0, "")), key)
    out = []
    for read in reads:
        role, group = read.table.role, read.table.group
        if read.from_text and (
            any((one, group) in filled for one in _BLOCKS.get(role, (role,)))
            or best[role, group][2] != read.table.path.split("#", 1)[0]
        ):
            continue
        out.append(read)
    return out


def _fills_first(reads: list[Read], refused: list[str]) -> list[Read]:
    """Round trips beside fills of the same book would count every trade twice."""
    groups = {r.table.group for r in reads if r.table.role == "trades" and not r.trips and len(r.table.frame)}
    out = []
    for read in reads:
        if read.trips and read.table.group in groups:
            refused.append(f"{read.table.path}: left out, its round trips repeat the fills of another table")
            continue
        out.append(read)
    trips = [read for read in out if read.trips]
    for group in {read.table.group for read in trips}:
        same = [read for read in trips if read.table.group == group]
        whole = max(same, key=lambda read: len(read.table.frame), default=None)
        for read in same:
            if read is not whole and whole is not None and _symbols(read) <= _symbols(whole) and _positions(read):
                refused.append(f"{read.table.path}: left out, its positions repeat the trades of {whole.table.path}")
                out.remove(read)
    return out


def _positions(read: Read) -> bool:
    return "position" in read.table.path.lower()


def _symbols(read: Read) -> set[str]:
    frame = read.table.frame
    return set(frame["symbol"].dropna().astype(str)) if "symbol" in frame.columns else set()


def _once(reads: list[Read], refused: list[str]) -> list[Table]:
    """Leave out a table that says the same as another of its role: the same log as CSV and as a sheet."""
    kept: list[Table] = []
    for read in reads:
        table = read.table
        twin = next((one for one in kept if _same(one, table)), None)
        if twin is None:
            kept.append(table)
        else:
            refused.append(f"{table.path}: left out, it repeats {twin.path}")
    return kept


def _same(one: Table, other: Table) -> bool:
    if (one.role, one.group, one.frame.shape) != (other.role, other.group, other.frame.shape):
        return False
    if one.role in ("other", "sources", "quality", "stress") or one.path.split("#")[0] == other.path.split("#")[0]:
        return False
    if list(one.frame.columns) != list(other.frame.columns) or not len(one.frame):
        return False
    for name in one.frame.columns:
        left, right = one.frame[name], other.frame[name]
        if pd.api.types.is_numeric_dtype(left) and pd.api.types.is_numeric_dtype(right):
            if not np.allclose(left.to_numpy(float), right.to_numpy(float), rtol=1e-9, equal_nan=True):
                return False
        elif not (left.fillna("").astype(str).to_numpy() == right.fillna("").astype(str).to_numpy()).all():
            return False
    return True


def _daily_weights(tables: list[Table]) -> list[Table]:
    """Weights of nearly every session are held weights: they are no decisions where fills or targets are delivered."""
    out = []
    for table in tables:
        if table.role not in ("weights", HELD):
            out.append(table)
            continue
        others = [one for one in tables if one.group == table.group and one is not table]
        told = any(one.role == "trades" and len(one.frame) for one in others)
        daily = table.role == HELD or _is_daily(table.frame)
        if daily and told:
            guesses = (*table.guesses, "weights of every session are held weights, no decisions")
            out.append(replace(table, role=HELD, guesses=guesses))
        elif table.role == HELD:
            out.append(replace(table, role="weights", guesses=(*table.guesses, "the only table of positions")))
        else:
            out.append(table)
    return out


def _is_daily(frame: pd.DataFrame) -> bool:
    """Tell whether nearly every session has a row and the weights drift from one to the next."""
    if not {"date", "symbol", "weight"} <= set(frame.columns):
        return False
    days = pd.DatetimeIndex(frame["date"].dropna().unique()).sort_values()
    if len(days) < 20:
        return False
    span = session_number(days)
    if len(days) < 0.9 * (span[-1] - span[0] + 1):
        return False
    wide = frame.pivot_table(index="date", columns="symbol", values="weight", aggfunc="last").fillna(0.0)
    return bool((wide.diff().abs().max(axis=1) > 1e-6).mean() > 0.5)


def _one_ticker(tables: list[Table]) -> list[Table]:
    """Bring old tickers, and logs without any, to the names of the price table."""
    priced = {
        s for t in tables if t.role == "prices" and "symbol" in t.frame for s in t.frame["symbol"].dropna().unique()
    }
    if not priced:
        return tables
    out = []
    for table in tables:
        if table.role not in _NAMED or "symbol" not in table.frame.columns:
            out.append(table)
            continue
        found = [str(name) for name in table.frame["symbol"].dropna().unique()]
        moved = {name: RENAMED[name] for name in found if name not in priced and RENAMED.get(name) in priced}
        unnamed = any("comes from the file name" in guess for guess in table.guesses)
        if unnamed and len(found) == 1 and found[0] not in priced:
            inside = [name for name in priced if re.search(rf"(^|_){re.escape(name)}(_|$)", found[0])]
            if len(priced) == 1 or len(inside) == 1:
                moved[found[0]] = inside[0] if inside else next(iter(priced))
        if moved:
            words = ", ".join(f"{old} is {new}" for old, new in list(moved.items())[:3])
            frame = table.frame.assign(symbol=table.frame["symbol"].replace(moved))
            table = replace(table, frame=frame, guesses=(*table.guesses, f"{words}, as the price table calls it"))  # noqa: PLW2901
        out.append(table)
    return out


def _one_unit(tables: list[Table]) -> list[Table]:
    """Bring fills in cents to the unit of the prices, and index levels to money where the capital is stated."""
    out = list(tables)
    for place, table in enumerate(tables):
        group = [one for one in tables if one.group == table.group]
        if table.role == "trades" and {"date", "symbol", "price"} <= set(table.frame.columns):
            factor = _fill_unit(table.frame, [one.frame for one in tables if one.role == "prices"])
            if factor != 1.0:
                guess = f"fill prices are divided by {factor:g} to the unit of the price table"
                frame = table.frame.assign(price=table.frame["price"] / factor)
                out[place] = replace(table, frame=frame, guesses=(*table.guesses, guess))
        elif table.role == "equity" and "equity" in table.frame.columns:
            out[place] = _in_money(table, group)
    return out


def _fill_unit(fills: pd.DataFrame, prices: list[pd.DataFrame]) -> float:
    """Return 100 for fills in cents against prices in dollars, 0.01 the other way round, else 1."""
    for frame in prices:
        field = "close" if "close" in frame.columns else "adj_close"
        if not {"date", "symbol", field} <= set(frame.columns):
            continue
        head = fills.dropna(subset=["date", "symbol", "price"]).head(500)
        days = frame["date"].isin(head["date"])
        near = frame.loc[days, ["date", "symbol", field]].merge(
            head[["date", "symbol", "price"]], on=["date", "symbol"]
        )
        if len(near) >= 1:
            ratio = float((near["price"] / near[field]).median())
            for factor in (_CENTS, 1 / _CENTS):
                if abs(ratio / factor - 1) < _NEAR:
                    return factor
    return 1.0


def _in_money(table: Table, group: list[Table]) -> Table:
    """An equity index (1 or 100 at the start) beside a log of money trades is scaled to the stated capital."""
    level = table.frame["equity"].dropna()
    capital = _stated_capital(group)
    traded = [one.frame for one in group if one.role == "trades" and {"quantity", "price"} <= set(one.frame.columns)]
    if not len(level) or capital is None or not traded:
        return table
    first = float(level.iloc[0])
    largest = max((float((f["quantity"] * f["price"]).max()) for f in traded if len(f)), default=0.0)
    if not 0 < first <= _INDEX_LEVELS or not largest > 5 * first or not np.isfinite(largest):
        return table
    base = next((unit for unit in (1.0, 100.0, 1000.0) if 0.5 * unit < first < 1.5 * unit), first)
    guess = f"equity is an index of {base:g}: scaled to the stated capital {capital:g}"
    return replace(
        table, frame=table.frame.assign(equity=table.frame["equity"] * capital / base), guesses=(*table.guesses, guess)
    )


def _stated_capital(group: list[Table]) -> float | None:
    for table in group:
        frame = table.frame
        if table.role == "metrics" and {"name", "value"} <= set(frame.columns):
            found = frame.loc[frame["name"] == "capital", "value"].dropna()
            if len(found):
                return float(found.iloc[0])
        if table.role == "spec" and {"key", "value"} <= set(frame.columns):
            keys = frame["key"].astype(str).str.lower()
            values = pd.to_numeric(
                frame.loc[keys.isin(["capital", "initial_capital", "starting_capital", "initial_cash"]), "value"],
                errors="coerce",
            ).dropna()
            if len(values):
                return float(values.iloc[0])
    return None
