"""Who is listed and what a name looks like today (the frozen today): search, lists, screener, profile, quote, market cap."""

from collections.abc import Callable
from datetime import datetime
from itertools import pairwise
from statistics import linear_regression
from typing import Any
from zoneinfo import ZoneInfo

from offline.data.standins import FROZEN_TODAY
from offline.fmp.eod import said
from offline.fmp.query import Query, Row, marked, page
from offline.fmp.store import INDEX, INDEX_NAMES, STAND_INS, Bars, Company, Store

EXCHANGE_NAMES = {
    "NASDAQ": "NASDAQ Global Select",
    "NYSE": "New York Stock Exchange",
    "CBOE": "Cboe US",
    "OTC": "OTC Markets",
    "INDEX": "Index",
}
SEARCH_ROWS = 50
CAP_ROWS = 5000
BETA_SESSIONS = 1260
CLOSE_TIME = datetime.fromisoformat(f"{FROZEN_TODAY}T16:00:00").replace(tzinfo=ZoneInfo("America/New_York"))


def _found(company: Company) -> Row:
    return {
        "symbol": company.symbol,
        "name": company.name,
        "currency": "USD",
        "exchangeFullName": EXCHANGE_NAMES[company.exchange],
        "exchange": company.exchange,
    }


def _search(store: Store, query: Query, matches: Callable[[Company], bool]) -> list[Row]:
    exchange = query.get("exchange", "").upper()
    hits = [
        c for c in store.companies.values() if matches(c) and exchange in ("", c.exchange) and c.symbol not in STAND_INS
    ]
    # Names with prices come first: the vendor ranks by relevance, and here they are what can be used.
    hits.sort(key=lambda company: company.symbol not in store.bars)
    return [_found(company) for company in hits[: min(query.whole("limit", SEARCH_ROWS), SEARCH_ROWS)]]


def search_symbol(store: Store, query: Query) -> list[Row]:
    """Answer search-symbol: symbols that begin with the text; indices too."""
    text = query.text("query").upper()
    indices = [
        Company(symbol, name, "", "INDEX")
        for symbol, name in INDEX_NAMES.items()
        if symbol.lstrip("^").startswith(text.lstrip("^"))
    ]
    return said_each([_found(c) for c in indices]) + _search(store, query, lambda c: c.symbol.startswith(text))


def said_each(rows: list[Row]) -> list[Row]:
    """Return the rows, those of stand-in symbols naming what they are served from."""
    return [row | {"standIn": STAND_INS[row["symbol"]]} if row["symbol"] in STAND_INS else row for row in rows]


def search_name(store: Store, query: Query) -> list[Row]:
    """Answer search-name: names that contain the text."""
    text = query.text("query").upper()
    return _search(store, query, lambda c: text in c.name.upper())


def search_cik(store: Store, query: Query) -> list[Row]:
    """Answer search-cik."""
    wanted = query.text("cik").zfill(10)
    hits = [company for company in store.companies.values() if company.cik == wanted]
    return [
        {"symbol": c.symbol, "companyName": c.name, "cik": c.cik, "exchangeFullName": EXCHANGE_NAMES[c.exchange]}
        | {"exchange": c.exchange, "currency": "USD"}
        for c in hits
    ]


def stock_list(store: Store, _query: Query) -> list[Row]:
    """Answer stock-list: the names that have prices here."""
    return [{"symbol": company.symbol, "companyName": company.name} for company in store.stocks]


def cik_list(store: Store, query: Query) -> list[Row]:
    """Answer cik-list, 10,000 a page at most."""
    rows = [{"cik": company.cik, "companyName": company.name} for company in store.companies.values()]
    return page(rows, query, 10_000)


def statement_symbols(store: Store, _query: Query) -> list[Row]:
    """Answer financial-statement-symbol-list."""
    extra = {"tradingCurrency": "USD", "reportingCurrency": "USD"}
    return [{"symbol": c.symbol, "companyName": c.name} | extra for c in store.stocks]


def sectors(store: Store, _query: Query) -> list[Row]:
    """Answer available-sectors."""
    return [{"sector": name} for name in sorted({c.sector for c in store.stocks if c.sector})]


def industries(store: Store, _query: Query) -> list[Row]:
    """Answer available-industries."""
    return [{"industry": name} for name in sorted({c.industry for c in store.stocks if c.industry})]


def index_list(_store: Store, _query: Query) -> list[Row]:
    """Answer index-list."""
    indices = [symbol for symbol in INDEX_NAMES if symbol.startswith("^")]
    return [{"symbol": s, "name": INDEX_NAMES[s], "exchange": "INDEX", "currency": "USD"} for s in indices]


def _average(values: list[float], length: int) -> float:
    return round(sum(values[-length:]) / min(length, len(values)), 4)


def market_cap(store: Store, symbol: str) -> int | None:
    """Return close x shares of the latest announced quarter today; None for an index."""
    shares = store.shares(symbol)
    return None if shares is None else round(store.bars[symbol].close[-1] * shares)


def quote_row(store: Store, symbol: str) -> Row:
    """Return a row of quote as of the close of the frozen today."""
    bars = store.bars[symbol]
    close, before = bars.close[-1], bars.close[-2]
    company = store.companies.get(symbol) if not symbol.startswith("^") and symbol not in STAND_INS else None
    row: Row = {
        "symbol": symbol,
        "name": store.name(symbol),
        "price": close,
        "changePercentage": round((close / before - 1) * 100, 5),
        "change": round(close - before, 5),
        "volume": bars.volume[-1],
        "dayLow": bars.low[-1],
        "dayHigh": bars.high[-1],
        "yearHigh": max(bars.high[-252:]),
        "yearLow": min(bars.low[-252:]),
        "marketCap": market_cap(store, symbol),
        "priceAvg50": _average(bars.close, 50),
        "priceAvg200": _average(bars.close, 200),
        "exchange": company.exchange if company else "INDEX",
        "open": bars.open[-1],
        "previousClose": before,
        "timestamp": int(CLOSE_TIME.timestamp()),
    }
    return marked(row, modelled=True)


def quote(store: Store, query: Query) -> list[Row]:
    """Answer quote."""
    symbol = query.symbol()
    return said(symbol, [quote_row(store, symbol)]) if symbol in store.bars else []


def short_quote(store: Store, query: Query) -> list[Row]:
    """Answer quote-short."""
    keep = ("symbol", "price", "change", "volume", "modelled", "standIn")
    return [{name: row[name] for name in keep if name in row} for row in quote(store, query)]


def _symbols(query: Query) -> list[str]:
    return [symbol.strip().upper() for symbol in query.text("symbols").split(",") if symbol.strip()]


def batch_quote(store: Store, query: Query) -> list[Row]:
    """Answer batch-quote."""
    return said_each([quote_row(store, symbol) for symbol in _symbols(query) if symbol in store.bars])


def cap_today(store: Store, query: Query) -> list[Row]:
    """Answer market-capitalization."""
    return _caps(store, [query.symbol()])


def batch_cap(store: Store, query: Query) -> list[Row]:
    """Answer market-capitalization-batch."""
    return _caps(store, _symbols(query))


def _caps(store: Store, symbols: list[str]) -> list[Row]:
    caps = [(symbol, market_cap(store, symbol)) for symbol in symbols if symbol in store.bars]
    return [
        {"symbol": s, "date": FROZEN_TODAY, "marketCap": cap, "modelled": True} for s, cap in caps if cap is not None
    ]


def cap_history(store: Store, query: Query) -> list[Row]:
    """Answer historical-market-capitalization: close x shares of the latest quarter announced by each date."""
    symbol, (first, last) = query.symbol(), query.span()
    bars = store.bars.get(symbol)
    if bars is None:
        return []
    limit = min(query.whole("limit", CAP_ROWS), CAP_ROWS)
    rows: list[Row] = []
    for day, close in zip(reversed(bars.date), reversed(bars.close), strict=True):
        shares = store.shares(symbol, day)
        if first <= day <= last and shares is not None:
            rows.append({"symbol": symbol, "date": day, "marketCap": round(close * shares), "modelled": True})
            if len(rows) == limit:
                break
    return rows


def _returns(bars: Bars) -> list[float]:
    closes = bars.close[-BETA_SESSIONS - 1 :]
    return [after / before - 1 for before, after in pairwise(closes)]


def beta(store: Store, symbol: str) -> float:
    """Return beta to the index over five years of daily returns."""
    return round(linear_regression(_returns(store.bars[INDEX]), _returns(store.bars[symbol])).slope, 3)


def last_dividend(store: Store, symbol: str) -> float:
    """Return the dividends of the last 365 days, dollars a share."""
    first = f"{int(FROZEN_TODAY[:4]) - 1}{FROZEN_TODAY[4:]}"
    paid: list[float] = [row["dividend"] for row in store.dividends.get(symbol, []) if row["date"] > first]
    return round(sum(paid), 4)


def profile_row(store: Store, company: Company) -> Row:
    """Return a row of profile; what the packages do not have is null."""
    now = quote_row(store, company.symbol)
    bars = store.bars[company.symbol]
    row: Row = {
        "symbol": company.symbol,
        "price": now["price"],
        "marketCap": now["marketCap"],
        "beta": beta(store, company.symbol),
        "lastDividend": last_dividend(store, company.symbol),
        "range": f"{now['yearLow']:.2f}-{now['yearHigh']:.2f}",
        "change": now["change"],
        "changePercentage": now["changePercentage"],
        "volume": now["volume"],
        "averageVolume": round(sum(bars.volume[-50:]) / 50),
        "companyName": company.name,
        "currency": "USD",
        "cik": company.cik,
        "exchangeFullName": EXCHANGE_NAMES[company.exchange],
        "exchange": company.exchange,
        "industry": company.industry,
        "sector": company.sector,
        "country": "US",
        "isEtf": False,
        "isActivelyTrading": True,
        "isAdr": False,
        "isFund": False,
    }
    absent = (
        "isin",
        "cusip",
        "website",
        "ceo",
        "fullTimeEmployees",
        "phone",
        "address",
        "city",
        "state",
        "zip",
        "image",
    )
    return marked(row | dict.fromkeys(absent) | {"ipoDate": None, "defaultImage": True}, modelled=True)


def profile(store: Store, query: Query) -> list[Row]:
    """Answer profile."""
    symbol = query.symbol()
    return [profile_row(store, company) for company in store.stocks if company.symbol == symbol]


def profile_cik(store: Store, query: Query) -> list[Row]:
    """Answer profile-cik."""
    wanted = query.text("cik").zfill(10)
    return [profile_row(store, company) for company in store.stocks if company.cik == wanted]


RANGES = {
    "marketCap": "marketCap",
    "beta": "beta",
    "price": "price",
    "dividend": "lastAnnualDividend",
    "volume": "volume",
}


def _admits(row: Row, query: Query) -> bool:
    for name, field in RANGES.items():
        low, high = query.number(f"{name}MoreThan"), query.number(f"{name}LowerThan")
        if (low is not None and row[field] <= low) or (high is not None and row[field] >= high):
            return False
    wanted: dict[str, Any] = {name: query.get(name, "") for name in ("sector", "industry", "country")}
    exchanges = [name.strip().upper() for name in query.get("exchange", "").split(",") if name.strip()]
    if exchanges and row["exchangeShortName"] not in exchanges:
        return False
    if any(query.get(name, "").lower() == "true" for name in ("isEtf", "isFund")):
        return False
    return all(not value or row[name].lower() == value.lower() for name, value in wanted.items())


def screener(store: Store, query: Query) -> list[Row]:
    """Answer company-screener: today's snapshot of the names with prices."""
    rows = []
    for company in store.stocks:
        full = profile_row(store, company)
        row: Row = {
            name: full[name] for name in ("symbol", "companyName", "marketCap", "sector", "industry", "beta", "price")
        }
        row |= {
            "lastAnnualDividend": full["lastDividend"],
            "volume": full["volume"],
            "exchange": full["exchangeFullName"],
        }
        row |= {"exchangeShortName": full["exchange"], "country": "US", "isEtf": False, "isFund": False}
        row |= {"isActivelyTrading": True, "modelled": True}
        if _admits(row, query):
            rows.append(row)
    rows.sort(key=lambda row: row["marketCap"], reverse=True)
    return page(rows, query, 1000)
