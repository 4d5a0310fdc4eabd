"""Fetches the tables of a run and cuts them at the last permitted date before anything is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from fmp import REST, DataError, Service

BASE_URL = "https://financialmodelingprep.com/stable/"
PRICE_COLUMNS = [
    *("date", "symbol", "open", "high", "low", "close", "adj_close", "volume"),
    *("dividends", "stock_splits"),
]
STATEMENT_FIELDS = {
    "income-statement": {
        "revenue": "revenue",
        "costOfRevenue": "cost_of_revenue",
        "grossProfit": "gross_profit",
        "netIncome": "net_income",
        "eps": "eps",
        "weightedAverageShsOut": "shares",
    },
    "cashflow-statement": {"operatingCashFlow": "operating_cash_flow", "capitalExpenditure": "capex"},
    "balance-sheet-statement": {"totalAssets": "total_assets", "totalStockholdersEquity": "common_equity"},
}
FUNDAMENTAL_COLUMNS = [
    *("symbol", "period_end", "announced", "revenue", "cost_of_revenue", "gross_profit", "net_income", "eps"),
    *("operating_cash_flow", "capex", "total_assets", "common_equity", "shares"),
]
INDEX_SYMBOLS = ("SPY", "^GSPC", "^VIX")
MARKET_CLOSE_HOUR = 16
POOL_SIZE = 60
"""Names taken from the screener when the client gives a sector or the market; the largest by market value."""


@dataclass
class Fetched:
    """The input tables of a run, the calls behind them and what has to be said about them."""

    tables: dict[str, pd.DataFrame]
    calls: list[dict[str, Any]]
    notes: list[str]
    modelled_rows: int = 0
    stand_in: str = ""


def pool(service: Service, *, sector: str, whole_service: bool) -> list[dict[str, Any]]:
    """Return symbol, company and sector of the names in scope when the client named none."""
    arguments: dict[str, Any] = {"country": "US", "isEtf": False, "isFund": False, "limit": 1000}
    if sector and not whole_service:
        arguments["sector"] = sector
    rows = [row for row in service.rows("search-company-screener", **arguments) if row.get("symbol")]
    rows = [row for row in rows if row["symbol"] not in INDEX_SYMBOLS and float(row.get("price") or 9) > 5]
    if not whole_service:
        rows = sorted(rows, key=lambda row: -float(row.get("marketCap") or 0))[:POOL_SIZE]
    if not rows:
        raise DataError("the market data service lists no stocks for this scope")
    return sorted(rows, key=lambda row: str(row["symbol"]))


def fetch(service: Service, symbols: list[str], *, start: str, end: str, fundamentals: bool, vix: bool) -> Fetched:
    """Return prices, index series, company facts and, when asked, statements; nothing after `end`.

    Raises:
        DataError: the service refused, or has no prices for the names or the index.

    """
    service.connect()
    window = {"from": start, "to": end}
    jobs: list[tuple[str, dict[str, Any]]] = [("historical-price-eod-dividend-adjusted", {"symbol": "SPY", **window})]
    if vix:
        jobs.append(("historical-price-eod-full", {"symbol": "^VIX", **window}))
    index_count = len(jobs)
    per_name = ["historical-price-eod-full", "historical-price-eod-dividend-adjusted"]
    for symbol in symbols:
        jobs += [(tool, {"symbol": symbol, **window}) for tool in per_name]
        jobs += [("dividends-company", {"symbol": symbol, "limit": 1000}), ("splits-company", {"symbol": symbol})]
        jobs.append(("profile-symbol", {"symbol": symbol}))
        if fundamentals:
            jobs += [(tool, {"symbol": symbol, "period": "quarter", "limit": 120}) for tool in STATEMENT_FIELDS]
    answers = service.many(jobs)
    found = {(tool, arguments["symbol"]): rows for (tool, arguments), rows in zip(jobs, answers, strict=True)}
    market = _market(jobs[:index_count], answers[:index_count], start, end)
    sessions = pd.DatetimeIndex(sorted(set(pd.to_datetime(market[market["symbol"] == "SPY"]["date"]))))
    frames = [_prices(found, symbol, sessions, start, end) for symbol in symbols]
    missing = [symbol for symbol, frame in zip(symbols, frames, strict=True) if frame.empty]
    if len(missing) == len(symbols):
        raise DataError("the market data service has no prices for the names in scope")
    tables = {
        "prices": pd.concat(frames, ignore_index=True).sort_values(["symbol", "date"]).reset_index(drop=True),
        "market": market,
        "universe": _universe(found, [name for name in symbols if name not in missing], start, end),
    }
    if fundamentals:
        tables["fundamentals"] = _fundamentals(found, symbols, sessions, start, end)
    notes = [f"no prices were found for {', '.join(missing)}; left out"] if missing else []
    out = Fetched(tables, service.calls, notes)
    out.modelled_rows = sum(
        1 for rows in answers for row in rows if row.get("modelled") and str(row.get("date", "")) <= end
    )
    out.stand_in = next((str(row["standIn"]) for row in answers[0] if row.get("standIn")), "")
    return out


def _inside(rows: list[dict[str, Any]], start: str, end: str) -> pd.DataFrame:
    """Return rows with a date in the window, oldest first, one per date."""
    frame = pd.DataFrame([row for row in rows if start <= str(row.get("date", ""))[:10] <= end])
    if frame.empty:
        return frame
    frame["date"] = pd.to_datetime(frame["date"].astype(str).str[:10])
    return frame.drop_duplicates("date").sort_values("date").reset_index(drop=True)


def _market(
    jobs: list[tuple[str, dict[str, Any]]], answers: list[list[dict[str, Any]]], start: str, end: str
) -> pd.DataFrame:
    """Return the index series: SPY as adjusted close, the VIX as close."""
    parts = []
    for (_, arguments), rows in zip(jobs, answers, strict=True):
        frame = _inside(rows, start, end)
        if frame.empty:
            raise DataError(f"the market data service has no history of {arguments['symbol']}")
        column = "adjClose" if "adjClose" in frame.columns else "close"
        values = frame[column].astype(float)
        parts.append(pd.DataFrame({"date": frame["date"], "symbol": arguments["symbol"], "close": values}))
    return pd.concat(parts, ignore_index=True)


def _prices(
    found: dict[tuple[str, str], list[dict[str, Any]]], symbol: str, sessions: pd.DatetimeIndex, start: str, end: str
) -> pd.DataFrame:
    """Return the price table of one name: split-adjusted bars, adjusted close, cash dividends on the ex-date."""
    bars = _inside(found["historical-price-eod-full", symbol], start, end)
    adjusted = _inside(found["historical-price-eod-dividend-adjusted", symbol], start, end)
    if bars.empty or adjusted.empty:
        return pd.DataFrame(columns=PRICE_COLUMNS)
    table = bars[["date", "open", "high", "low", "close", "volume"]].copy()
    table = table.merge(
        adjusted[["date", "adjClose"]].rename(columns={"adjClose": "adj_close"}), on="date", how="inner"
    )
    table = table[table["date"].isin(sessions)].dropna(subset=["close", "adj_close"])
    table = table[(table[["open", "high", "low", "close", "adj_close"]] > 0).all(axis=1)]
    paid = _dividends(found["dividends-company", symbol], sessions, start, end)
    table["dividends"] = table["date"].map(paid).fillna(0.0).astype(float)
    table["stock_splits"] = 0.0
    table["symbol"] = symbol
    return table[PRICE_COLUMNS]


def _dividends(
    rows: list[dict[str, Any]], sessions: pd.DatetimeIndex, start: str, end: str
) -> dict[pd.Timestamp, float]:
    """Return split-adjusted cash per share by ex-date; a date between sessions moves to the next one."""
    out: dict[pd.Timestamp, float] = {}
    for row in rows:
        day = str(row.get("date", ""))[:10]
        amount = row.get("adjDividend") if row.get("adjDividend") is not None else row.get("dividend")
        if not start <= day <= end or not amount:
            continue
        at = int(sessions.searchsorted(pd.Timestamp(day)))
        if at < len(sessions):
            out[sessions[at]] = out.get(sessions[at], 0.0) + float(amount)
    return out


def _universe(
    found: dict[tuple[str, str], list[dict[str, Any]]], symbols: list[str], start: str, end: str
) -> pd.DataFrame:
    """Return company, sector and the splits inside the window of each name."""
    rows = []
    for symbol in symbols:
        facts = (found["profile-symbol", symbol] or [{}])[0]
        splits = [row for row in found["splits-company", symbol] if start <= str(row.get("date", ""))[:10] <= end]
        shown = [f"{row['date'][:10]} {row.get('numerator')}:{row.get('denominator')}" for row in splits]
        company, sector = str(facts.get("companyName") or symbol), str(facts.get("sector") or "")
        rows.append((symbol, company, sector, "; ".join(sorted(shown))))
    return pd.DataFrame(rows, columns=["symbol", "company", "sector", "splits_already_in_prices"])


def announced_session(accepted: str | None, filed: str | None, sessions: pd.DatetimeIndex) -> pd.Timestamp | None:
    """Return the date a statement counts as known: the acceptance date, one session later when after the close."""
    stamp = pd.to_datetime(accepted or filed, errors="coerce")
    if pd.isna(stamp):
        return None
    late = bool(accepted) and (stamp.hour, stamp.minute, stamp.second) > (MARKET_CLOSE_HOUR, 0, 0)
    day = stamp.normalize()
    if not late:
        return day
    at = int(sessions.searchsorted(day, side="right"))
    return sessions[at] if at < len(sessions) else None


def _fundamentals(
    found: dict[tuple[str, str], list[dict[str, Any]]],
    symbols: list[str],
    sessions: pd.DatetimeIndex,
    start: str,
    end: str,
) -> pd.DataFrame:
    """Return one row per name and quarter with the date it was known; only quarters announced inside the window."""
    frames = []
    for symbol in symbols:
        merged: pd.DataFrame | None = None
        for tool, names in STATEMENT_FIELDS.items():
            part = _statement(found[tool, symbol], names, sessions)
            merged = part if merged is None else _joined(merged, part)
        if merged is not None and len(merged):
            merged.insert(0, "symbol", symbol)
            frames.append(merged)
    if not frames:
        raise DataError("the market data service has no quarterly statements for the names in scope")
    table = pd.concat(frames, ignore_index=True)
    inside = (table["announced"] >= pd.Timestamp(start)) & (table["announced"] <= pd.Timestamp(end))
    table = table[inside & (table["period_end"] <= table["announced"])]
    return table.reindex(columns=FUNDAMENTAL_COLUMNS).sort_values(["symbol", "period_end"]).reset_index(drop=True)


def _statement(rows: list[dict[str, Any]], names: dict[str, str], sessions: pd.DatetimeIndex) -> pd.DataFrame:
    """Return one kind of statement with its announcement date, oldest first."""
    out = []
    for row in rows:
        known = announced_session(row.get("acceptedDate"), row.get("filingDate") or row.get("fillingDate"), sessions)
        if known is None or not row.get("date"):
            continue
        values = {column: _number(row.get(name)) for name, column in names.items()}
        if "common_equity" in values:
            values["common_equity"] -= np.nan_to_num(_number(row.get("preferredStock")))
        if "capex" in values:
            values["capex"] = abs(values["capex"])
        out.append({"period_end": pd.Timestamp(str(row["date"])[:10]), "announced": known, **values})
    columns = ["period_end", "announced", *names.values()]
    frame = pd.DataFrame(out, columns=columns)
    return frame.sort_values(["period_end", "announced"]).drop_duplicates("period_end", keep="last")


def _joined(left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
    """Join two kinds of statement by period; the row is known when the later one is."""
    both = left.merge(right, on="period_end", how="outer", suffixes=("", "_other"))
    both["announced"] = both[["announced", "announced_other"]].max(axis=1)
    return both.drop(columns="announced_other").sort_values("period_end")


def _number(value: Any) -> float:
    """Return a number, NaN for anything else."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


def source_table(calls: list[dict[str, Any]]) -> pd.DataFrame:
    """Return one row per series: names, endpoint, query parameters, time of retrieval, rows."""
    series = {
        "historical-price-eod-full": "split-adjusted daily bars (prices.csv: open, high, low, close, volume)",
        "historical-price-eod-dividend-adjusted": "adjusted close (prices.csv: adj_close; market.csv: SPY)",
        "dividends-company": "cash dividends by ex-date (prices.csv: dividends)",
        "splits-company": "splits, already inside the bars (universe.csv)",
        "profile-symbol": "company and sector (universe.csv)",
        "search-company-screener": "list of stocks in scope (universe.csv)",
        "income-statement": "quarterly income statements (fundamentals.csv)",
        "balance-sheet-statement": "quarterly balance sheets (fundamentals.csv)",
        "cashflow-statement": "quarterly cash-flow statements (fundamentals.csv)",
    }
    out = []
    for tool, label in series.items():
        made = [call for call in calls if call["tool"] == tool]
        if not made:
            continue
        names = sorted({str(call["arguments"].get("symbol", "")) for call in made} - {""})
        rest = {name: value for name, value in made[0]["arguments"].items() if name != "symbol"}
        query = ([f"symbol={'|'.join(names)}"] if names else []) + [f"{name}={value}" for name, value in rest.items()]
        latest = max(call["retrieved_at"] for call in made)
        total = sum(call["rows"] for call in made)
        out.append((label, " ".join(names) or "all", BASE_URL + REST[tool], "&".join(query), latest, total))
    columns = ["series", "symbols", "endpoint", "query_parameters", "retrieved_at", "rows"]
    return pd.DataFrame(out, columns=columns)
