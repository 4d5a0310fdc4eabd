"""Which path is answered by which function. A path of the catalogue that is absent here is outside the stand-in's plan."""

from collections.abc import Callable, Mapping
from functools import partial

from offline.fmp import companies, eod, events, markets, statements
from offline.fmp.query import Query, Row
from offline.fmp.store import Store

Handler = Callable[[Store, Query], list[Row]]


def _of_index(answer: Callable[[Store, str], list[Row]], index: str) -> Handler:
    def handler(store: Store, _query: Query) -> list[Row]:
        return answer(store, index)

    return handler


ROUTES: Mapping[str, Handler] = {
    **{f"historical-price-eod/{variant}": partial(eod.eod, variant=variant) for variant in eod.ROW_MAKERS},
    **{f"technical-indicators/{name}": partial(eod.indicator, name=name) for name in eod.INDICATORS},
    "search-symbol": companies.search_symbol,
    "search-name": companies.search_name,
    "search-cik": companies.search_cik,
    "stock-list": companies.stock_list,
    "actively-trading-list": companies.stock_list,
    "financial-statement-symbol-list": companies.statement_symbols,
    "cik-list": companies.cik_list,
    "available-sectors": companies.sectors,
    "available-industries": companies.industries,
    "company-screener": companies.screener,
    "index-list": companies.index_list,
    "profile": companies.profile,
    "profile-cik": companies.profile_cik,
    "quote": companies.quote,
    "quote-short": companies.short_quote,
    "batch-quote": companies.batch_quote,
    "market-capitalization": companies.cap_today,
    "market-capitalization-batch": companies.batch_cap,
    "historical-market-capitalization": companies.cap_history,
    "income-statement": partial(statements.statement, table="income"),
    "balance-sheet-statement": partial(statements.statement, table="balance"),
    "cash-flow-statement": partial(statements.statement, table="cash"),
    "key-metrics": statements.key_metrics,
    "ratios": statements.ratios,
    "dividends": events.dividends,
    "dividends-calendar": events.dividends_calendar,
    "splits": events.splits,
    "splits-calendar": events.splits_calendar,
    "earnings": events.earnings,
    "earnings-calendar": events.earnings_calendar,
    "delisted-companies": events.delisted,
    "symbol-change": events.symbol_changes,
    "sp500-constituent": _of_index(markets.constituents, "sp500"),
    "nasdaq-constituent": _of_index(markets.constituents, "nasdaq100"),
    "dowjones-constituent": _of_index(markets.constituents, "dow30"),
    "historical-sp500-constituent": _of_index(markets.history, "sp500"),
    "historical-nasdaq-constituent": _of_index(markets.history, "nasdaq100"),
    "historical-dowjones-constituent": _of_index(markets.history, "dow30"),
    "treasury-rates": markets.treasury,
    "economic-indicators": markets.economic_indicator,
    "exchange-market-hours": markets.market_hours,
    "all-exchange-market-hours": markets.all_market_hours,
    "holidays-by-exchange": markets.holidays,
}
