"""Column names: normalisation and the alias table of evaluator.md 2.12."""

import re
import unicodedata
from collections.abc import Sequence

_UNITS = re.compile(r"[\[(]\s*(%|\$|usd|eur|pct|percent|bps?|shares?)\s*[\])]", re.IGNORECASE)
_TRAILING_UNIT = re.compile(r"_usd$")

Aliases = dict[str, tuple[str, ...]]

SYMBOL = (
    *("symbol", "ticker", "asset", "security", "instrument", "sid", "stock", "stock_code", "secid", "tic"),
    *("underlying", "permno", "symbols", "ticker_symbol", "column", "code", "name"),
)
DATE = (
    *("date", "datetime", "dt", "trade_date", "tradedate", "time", "timestamp", "ts", "day", "date_time", "open_time"),
    *("session", "index", "unnamed_0", "as_of", "asof", "report_date", "date_and_time", "日期", "datum", "fecha"),
)
DECISION_DATE = ("decision_date", "rebalance_date", "signal_date", "formation_date", "as_of_date", *DATE)
FILL_DATE = (
    *("fill_date", "filled_at", "fill_time", "exec_date", "execution_date", "executed_at", "transaction_date"),
    *("trade_date", "tradedate", *DATE),
)
CLOCK = frozenset({"time", "timestamp", "ts", "datetime", "date_time", "dt", "as_of", "asof", "index", "unnamed_0"})
"""In a table without prices these say when something was done: a log of steps is no observation."""
SIGNAL_DATE = (
    *(
        "signal_date",
        "decision_date",
        "order_date",
        "as_of_signal",
        "signal_time",
        "created_at",
        "created",
        "submitted_at",
    ),
    *("rebalance_date", "formation_date"),
)
SIDE = (
    *("side", "action", "buy_sell", "b_s", "transaction_type", "order_side", "direction", "decision", "operation"),
    *("type", "signal"),
)
QUANTITY = (
    *("quantity", "qty", "shares", "filled_qty", "filled_quantity", "num_shares", "trade_size", "delta_shares"),
    *("menge", "anzahl", "cantidad", "size", "units", "contracts", "position_size", "amount", "volume"),
)
PRICE = (
    *("fill_price", "price", "exec_price", "execution_price", "avg_fill_price", "avg_price", "filled_price"),
    *("trade_price", "tradeprice", "t_price", "px", "preis", "precio", "entry_price", "close"),
)
FEE = (
    *("fee", "fees", "commission", "commissions", "comm", "comm_fee", "transaction_cost", "transaction_costs", "tc"),
    *("total_fees", "trading_cost", "ibcommission", "ib_commission", "gebühr", "costs", "cost"),
)
FEE_BPS = ("cost_bps", "fee_bps", "commission_bps", "rate_bps")
NOTIONAL = ("notional", "gross_value", "trade_value", "value", "proceeds", "dollar_amount", "txn_dollars", "total")
WEIGHT = (
    *("target_weight", "weight", "w", "weight_pct", "allocation", "alloc", "target_percent", "portfolio_weight"),
    *("wallet_proportion", "target", "pct", "exposure"),
)
EQUITY = (
    *("equity", "portfolio_value", "nav", "total_value", "account_value", "total_equity", "equity_final", "wealth"),
    *("net_liquidation", "cum_value", "strategy", "value", "balance", "capital", "portfolio"),
)
RETURN = ("return", "returns", "daily_return", "ret", "strategy_return", "portfolio_return", "net_return", "pct_change")
CASH = ("cash", "cash_balance", "cash_value")
VALUE = ("value", "score", "signal", "signal_value", "factor_value", "zscore", "z_score", "composite", "close", "level")
FACTOR = ("factor", "signal_name", "factor_name", "feature", "characteristic", "signal")
RANK = ("rank", "ranking", "order", "position_rank")
SELECTED = ("selected", "is_selected", "chosen", "in_portfolio", "included")
ANNOUNCED = (
    *("announced", "announcement_date", "announced_date", "available_date", "available_from", "knowledge_date"),
    *("ann_date", "rdq", "publish_date", "pub_date", "published", "report_date_public", "datekey"),
    *("accepted_date", "accepteddate", "filing_date", "filingdate", "filed", "filed_date"),
    *("filling_date", "fillingdate"),
)
ACCEPTED = ("accepted_date", "accepteddate")
PERIOD_END = (
    *("period_end", "fiscal_end", "fiscaldateending", "fiscal_date_ending", "datadate", "calendardate"),
    *("report_period", "period_of_report", "end_date", "date", "period"),
)
PRICES: Aliases = {
    "open": ("open", "o"),
    "high": ("high", "h"),
    "low": ("low", "l"),
    "close": ("close", "c", "last", "px_last", "settle", "close_price", "schlusskurs", "kurs", "price"),
    "adj_close": ("adj_close", "adjclose", "adjusted_close", "adj_close_price", "adjcp", "close_adj", "adjusted"),
    "vwap": ("vwap",),
    "volume": ("volume", "vol", "v"),
    "dividends": ("dividends", "dividend", "div_cash", "dividend_amount"),
    "stock_splits": ("stock_splits", "split_ratio", "split_factor", "splits", "split_coefficient"),
}
STATEMENT: Aliases = {
    "revenue": ("revenue", "revenues", "total_revenue", "sales", "net_sales"),
    "cost_of_revenue": ("cost_of_revenue", "costofrevenue", "cogs", "cost_of_goods_sold", "cost_of_sales"),
    "gross_profit": ("gross_profit", "grossprofit"),
    "net_income": ("net_income", "netincome", "net_income_loss", "earnings"),
    "eps": ("eps", "eps_basic", "epsbasic", "eps_diluted", "epsdiluted", "earnings_per_share"),
    "operating_cash_flow": (
        *("operating_cash_flow", "operatingcashflow", "cash_from_operations", "cfo"),
        *("net_cash_provided_by_operating_activities", "netcashprovidedbyoperatingactivities"),
    ),
    "capex": ("capex", "capital_expenditure", "capitalexpenditure", "capital_expenditures"),
    "total_assets": ("total_assets", "totalassets", "assets"),
    "common_equity": (
        *("common_equity", "total_stockholders_equity", "totalstockholdersequity", "stockholders_equity"),
        *("total_equity", "totalequity", "equity", "book_value", "book_equity"),
    ),
    "shares": (
        *("shares", "shares_outstanding", "weighted_average_shs_out", "weightedaverageshsout", "shs_out"),
        *("weighted_average_shares", "basic_shares", "weighted_average_basic_shares"),
    ),
    "period": ("period", "fiscal_period", "quarter"),
    "sector": ("sector", "gics_sector"),
}
TEXT = frozenset(
    {
        *SYMBOL,
        *DATE,
        *DECISION_DATE,
        *FILL_DATE,
        *SIGNAL_DATE,
        *ANNOUNCED,
        *PERIOD_END,
        *SIDE,
        *FACTOR,
        *("value", "metric", "key", "parameter", "component", "source", "basis", "definition", "reason", "trigger"),
        *("note", "notes", "label", "statistic", "measure", "fill_id", "order_id", "trade_id", "status", "unit"),
        *("endpoint", "query_parameters", "url", "series", "symbols", "retrieved_at"),
    }
) - {"open", "close", "composite"}
"""Headers whose cells are read as text: tickers such as NA or TRUE, dates and words must not be guessed into types."""


def normalised(header: str) -> str:
    """Return a header in lower snake case without BOM, quotes and bracketed units."""
    text = unicodedata.normalize("NFKC", str(header)).replace("\ufeff", "").strip().strip("\"'<>")
    text = _UNITS.sub("", text)
    # camelCase of APIs: adjClose -> adj_close, but OHLC words in capitals stay whole.
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    text = re.sub(r"^\d+\.\s+", "", text).lower()
    text = re.sub(r"[^\w%#]+", "_", text).strip("_")
    return _TRAILING_UNIT.sub("", text)


def is_percent(header: str) -> bool:
    """Tell whether a header says its numbers are percent."""
    return bool(re.search(r"%|﹪|percent|(^|[_\s])pct($|[_\s])", str(header), re.IGNORECASE))


def pick(headers: Sequence[str], aliases: Sequence[str]) -> int | None:
    """Return the position of the first alias, in alias order, among normalised headers."""
    for alias in aliases:
        if alias in headers:
            return headers.index(alias)
    return None
