"""What a scope contains, from a random stream of its own so that the strategy's draws stay as released."""

from generator.draw import Draw
from generator.stream import Stream
from records.task import Scope

OFFLINE_SYMBOLS = (
    *("AAPL", "AMD", "AMZN", "BAC", "BBY", "CVX", "GE", "GOOG", "HD", "JNJ", "JPM", "KO", "LLY"),
    *("META", "MRK", "MSFT", "NFLX", "NVDA", "PEP", "PFE", "PG", "RRC", "UNH", "WMT", "XOM"),
)
"""The stocks of the offline data service; a basket names only these, live too, so that one task fits both."""

OFFLINE_MAX_HOLDINGS = 10
"""Of 25 names; holding more would make ranking them meaningless."""

BASKET_SIZES = tuple(range(10, 26))

SECTORS = (
    "Communication Services",
    "Consumer Discretionary",
    "Consumer Staples",
    "Energy",
    "Financials",
    "Health Care",
    "Industrials",
    "Information Technology",
    "Materials",
    "Real Estate",
    "Utilities",
)
"""GICS sectors, alphabetical."""


def fill_scope(draw: Draw, *, salt: str, seed: int, offline: bool) -> Scope:
    """Return the scope with its names or its sector, and the holdings limit of the offline data."""
    stream = Stream(f"{salt}:{seed}:scope")
    limit = OFFLINE_MAX_HOLDINGS if offline else None
    if draw.scope == "basket":
        size = stream.pick(BASKET_SIZES)
        return Scope(kind="basket", symbols=tuple(stream.sample(OFFLINE_SYMBOLS, size)), max_holdings=limit)
    if draw.scope == "sector":
        return Scope(kind="sector", sector=_sector(draw, stream), max_holdings=limit)
    return Scope(kind="market", max_holdings=limit)


def _sector(draw: Draw, stream: Stream) -> str:
    """Health Care for the biotech persona; no financials where the factor leaves them out anyway."""
    if draw.persona == "biotech_specialist":
        return "Health Care"
    empty = {"Financials"} if "gross_profitability" in draw.options.factors else set()
    return stream.pick([sector for sector in SECTORS if sector not in empty])
