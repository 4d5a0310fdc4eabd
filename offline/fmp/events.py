"""Dividends, splits, earnings and their calendars; delistings and ticker changes."""

from datetime import date, timedelta

from offline.data.standins import FROZEN_TODAY
from offline.fmp.query import Query, Row, page, within
from offline.fmp.store import Store

COMPANY_ROWS, CALENDAR_ROWS, DELISTED_ROWS = 1000, 4000, 100
SATURDAY = 5


def _weekday(day: date) -> str:
    while day.weekday() >= SATURDAY:
        day += timedelta(days=1)
    return day.isoformat()


def dividend_rows(store: Store, symbol: str) -> list[Row]:
    """Return one name's dividends, newest first; yield is the trailing year's dividends over the close before, percent."""
    stored = store.dividends.get(symbol, [])
    rows = []
    for row in stored:
        ex = date.fromisoformat(row["date"])
        year_before = (ex - timedelta(days=360)).isoformat()
        trailing = sum(other["dividend"] for other in stored if year_before < other["date"] <= row["date"])
        modelled = row["modelled"]
        rows.append(
            {"symbol": symbol, "date": row["date"]}
            | {"recordDate": _weekday(ex + timedelta(days=1)) if modelled else ""}
            | {"paymentDate": _weekday(ex + timedelta(days=24)) if modelled else ""}
            | {"declarationDate": _weekday(ex - timedelta(days=21)) if modelled else ""}
            | {"adjDividend": row["dividend"], "dividend": row["dividend"]}
            | {"yield": round(trailing / row["close_before"] * 100, 4), "frequency": "Quarterly"}
            | ({"modelled": True} if modelled else {})
        )
    return rows


def dividends(store: Store, query: Query) -> list[Row]:
    """Answer dividends."""
    return page(dividend_rows(store, query.symbol()), query, COMPANY_ROWS)


def dividends_calendar(store: Store, query: Query) -> list[Row]:
    """Answer dividends-calendar: at most 90 days and 4,000 rows."""
    rows = [row for symbol in store.dividends for row in dividend_rows(store, symbol)]
    return _calendar(rows, query)


def _calendar(rows: list[Row], query: Query) -> list[Row]:
    chosen = sorted(within(rows, query.window()), key=lambda row: row["symbol"])
    return page(sorted(chosen, key=lambda row: row["date"], reverse=True), query, CALENDAR_ROWS)


def splits(_store: Store, query: Query) -> list[Row]:
    """Answer splits: none are known, all prices are split-adjusted at the source."""
    query.symbol()
    return []


def splits_calendar(_store: Store, query: Query) -> list[Row]:
    """Answer splits-calendar: none are known."""
    query.window()
    return []


def earnings_rows(store: Store, symbol: str) -> list[Row]:
    """Return modelled announcements, newest first: the day the quarter's statement was accepted; no estimates exist."""
    return [
        {"symbol": symbol, "date": row["accepted"][:10], "epsActual": row["eps"], "epsEstimated": None}
        | {"revenueActual": row["revenue"], "revenueEstimated": None, "lastUpdated": FROZEN_TODAY, "modelled": True}
        for row in store.statements["income"].get(symbol, [])
        if row["period"] != "FY"
    ]


def earnings(store: Store, query: Query) -> list[Row]:
    """Answer earnings."""
    return page(earnings_rows(store, query.symbol()), query, COMPANY_ROWS)


def earnings_calendar(store: Store, query: Query) -> list[Row]:
    """Answer earnings-calendar: at most 90 days and 4,000 rows."""
    rows = [row for symbol in store.statements["income"] for row in earnings_rows(store, symbol)]
    return _calendar(rows, query)


def delisted(store: Store, query: Query) -> list[Row]:
    """Answer delisted-companies, 100 a page; exchange and listing date are not packaged."""
    rows = [
        {
            "symbol": row["old_symbol"],
            "companyName": row["name"],
            "exchange": None,
            "ipoDate": None,
            "delistedDate": row["date"],
        }
        for row in reversed(store.rows("events"))
        if row["kind"] == "delisting"
    ]
    return page(rows, query, DELISTED_ROWS)


def symbol_changes(store: Store, query: Query) -> list[Row]:
    """Answer symbol-change."""
    rows = [
        {
            "date": row["date"],
            "companyName": row["name"],
            "oldSymbol": row["old_symbol"],
            "newSymbol": row["new_symbol"],
        }
        for row in reversed(store.rows("events"))
        if row["new_symbol"]
    ]
    return page(rows, query, DELISTED_ROWS)
