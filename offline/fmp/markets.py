"""Index membership, treasury rates, economic indicators, trading hours and holidays."""

from datetime import date

from offline.data.standins import FROZEN_TODAY
from offline.fmp.query import Query, Row, marked, within
from offline.fmp.replies import premium_parameter
from offline.fmp.store import Store

EXCHANGES = {"NYSE": "New York Stock Exchange", "NASDAQ": "NASDAQ"}


def _spells(store: Store, index: str) -> list[Row]:
    return [row for row in store.rows("membership") if row["index"] == index]


def constituents(store: Store, index: str) -> list[Row]:
    """Answer a *-constituent endpoint: members today; sector only where our table has the name."""
    rows = []
    for row in _spells(store, index):
        if row["opt_out"] is None:
            company = store.companies.get(row["symbol"])
            rows.append(
                {"symbol": row["symbol"], "name": row["name"], "sector": company.sector if company else None}
                | {"subSector": company.industry if company else None, "headQuarter": None}
                | {"dateFirstAdded": row["opt_in"], "cik": company.cik if company else None, "founded": None}
            )
    return sorted(rows, key=lambda row: row["symbol"])


def _change(day: str, *, added: Row | None = None, removed: Row | None = None) -> Row:
    written = date.fromisoformat(day).strftime("%B %d, %Y")
    return {
        "dateAdded": written,
        "addedSecurity": added["name"] if added else "",
        "removedTicker": removed["symbol"] if removed else "",
        "removedSecurity": removed["name"] if removed else "",
        "date": day,
        "symbol": (added or removed or {})["symbol"],
        "reason": "",
    }


def history(store: Store, index: str) -> list[Row]:
    """Answer a historical-*-constituent endpoint: one row a change; the packages do not pair additions with removals."""
    rows = []
    for row in _spells(store, index):
        rows.append(_change(row["opt_in"], added=row))
        if row["opt_out"] is not None:
            rows.append(_change(row["opt_out"], removed=row))
    return sorted(rows, key=lambda row: (row["date"], row["symbol"]), reverse=True)


def treasury(store: Store, query: Query) -> list[Row]:
    """Answer treasury-rates: at most 90 days, newest first."""
    rows = []
    for row in reversed(within(store.rows("treasury"), query.window())):
        modelled = row.pop("modelled")
        rows.append(marked(row, modelled=modelled))
    return rows


def economic_indicator(store: Store, query: Query) -> list[Row]:
    """Answer economic-indicators for CPI, served from core CPI and saying so; every other series is outside the plan."""
    name = query.text("name")
    if name.upper() != "CPI":
        raise premium_parameter("name")
    rows = [
        {"name": "CPI", "date": row["date"], "value": row["value"], "standIn": "CPILFESL"} for row in store.rows("cpi")
    ]
    return within(rows, query.window())[::-1]


def market_hours(_store: Store, query: Query) -> list[Row]:
    """Answer exchange-market-hours: after the close of the frozen today."""
    exchange = query.text("exchange").upper()
    return [_hours(exchange)] if exchange in EXCHANGES else []


def all_market_hours(_store: Store, _query: Query) -> list[Row]:
    """Answer all-exchange-market-hours."""
    return [_hours(exchange) for exchange in EXCHANGES]


def _hours(exchange: str) -> Row:
    hours = {"openingHour": "09:30 AM -05:00", "closingHour": "04:00 PM -05:00", "timezone": "America/New_York"}
    return {"exchange": exchange, "name": EXCHANGES[exchange]} | hours | {"isMarketOpen": False}


def holidays(store: Store, query: Query) -> list[Row]:
    """Answer holidays-by-exchange: full and early closes of New York, by default of the last year, newest first."""
    exchange = query.text("exchange").upper()
    if exchange not in EXCHANGES:
        return []
    first, last = query.span()
    if "from" not in query:
        first = f"{int(FROZEN_TODAY[:4]) - 1}{FROZEN_TODAY[4:]}"
    rows = within(store.rows("holidays"), (first, last))
    return [{"exchange": exchange} | row for row in reversed(rows)]
