"""The prepared tables in memory, by symbol. Reads Parquet once; hands out plain rows and columns."""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from offline.data.standins import FROZEN_TODAY
from offline.fmp.query import Row

INDEX, VIX = "^GSPC", "^VIX"
STAND_INS = {"SPY": INDEX}
INDEX_NAMES = {INDEX: "S&P 500", VIX: "CBOE Volatility Index", "SPY": "SPDR S&P 500 ETF Trust"}
SHARES = "weightedAverageShsOut"


@dataclass(frozen=True)
class Bars:
    """One symbol's daily bars as columns, oldest first."""

    date: list[str]
    open: list[float]
    high: list[float]
    low: list[float]
    close: list[float]
    adj_close: list[float]
    volume: list[int]
    modelled: list[bool]
    modelled_light: list[bool]


@dataclass(frozen=True)
class Company:
    """A listed company as packaged, with our sector table where it has a row."""

    symbol: str
    name: str
    cik: str
    exchange: str
    sector: str | None = None
    industry: str | None = None


class Store:
    """All tables of one prepared folder."""

    def __init__(self, folder: Path) -> None:
        """Remember the folder; tables are read on first use."""
        self.folder = folder

    def rows(self, name: str) -> list[Row]:
        """Return a whole table as rows."""
        rows: list[Row] = pq.read_table(self.folder / f"{name}.parquet").to_pylist()
        return rows

    @cached_property
    def bars(self) -> dict[str, Bars]:
        """Daily bars by symbol; stand-ins share the bars of what they are served from."""
        columns: dict[str, list[Any]] = pq.read_table(self.folder / "prices.parquet").to_pydict()
        symbols = columns.pop("symbol")
        made: dict[str, Bars] = {}
        start = 0
        for end in range(1, len(symbols) + 1):
            if end == len(symbols) or symbols[end] != symbols[start]:
                made[symbols[start]] = Bars(**{name: values[start:end] for name, values in columns.items()})
                start = end
        return made | {alias: made[source] for alias, source in STAND_INS.items()}

    @cached_property
    def companies(self) -> dict[str, Company]:
        """Every packaged company by symbol, about ten thousand."""
        sectors = {row["symbol"]: row for row in self.rows("sectors")}
        made = {}
        for row in self.rows("companies"):
            facts = sectors.get(row["symbol"], {})
            made[row["symbol"]] = Company(
                row["symbol"],
                row["name"],
                row["cik"],
                row["exchange"] or "OTC",
                facts.get("sector"),
                facts.get("industry"),
            )
        return made

    @cached_property
    def stocks(self) -> list[Company]:
        """The companies that have prices, by symbol."""
        return [self.companies[symbol] for symbol in sorted(self.bars) if symbol in self.companies and symbol != "SPY"]

    def name(self, symbol: str) -> str:
        """Return the display name of a stock or an index."""
        return INDEX_NAMES.get(symbol) or self.companies[symbol].name

    def by_symbol(self, table: str) -> dict[str, list[Row]]:
        """Return a table's rows by symbol, in stored order."""
        grouped: dict[str, list[Row]] = {}
        for row in self.rows(table):
            grouped.setdefault(row["symbol"], []).append(row)
        return grouped

    @cached_property
    def statements(self) -> dict[str, dict[str, list[Row]]]:
        """Statement rows by table (income, balance, cash) and symbol, newest first."""
        return {
            table: {
                symbol: sorted(rows, key=lambda row: (row["date"], row["period"] == "FY"), reverse=True)
                for symbol, rows in self.by_symbol(table).items()
            }
            for table in ("income", "balance", "cash")
        }

    @cached_property
    def dividends(self) -> dict[str, list[Row]]:
        """Dividends by symbol, newest first."""
        return {symbol: rows[::-1] for symbol, rows in self.by_symbol("dividends").items()}

    @cached_property
    def _announced_shares(self) -> dict[str, tuple[list[str], list[int]]]:
        made = {}
        for symbol, rows in self.statements["income"].items():
            known = sorted((row["accepted"][:10], row[SHARES]) for row in rows if row["period"] != "FY")
            made[symbol] = ([day for day, _ in known], [shares for _, shares in known])
        return made

    def shares(self, symbol: str, day: str = FROZEN_TODAY) -> int | None:
        """Return the shares of the latest quarter announced on or before `day`; None before the first or for an index."""
        days, shares = self._announced_shares.get(symbol, ([], []))
        position = bisect_right(days, day)
        return shares[position - 1] if position else None
