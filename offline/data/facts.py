"""The hand-kept table behind the modelled values: sector, fiscal year, and round magnitudes of fiscal 2022 per name.

The numbers set levels only (a retailer has thin margins, a bank a long balance sheet); they are no source for anything.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

SEED = "fincosmos-offline-1"


@dataclass(frozen=True)
class Facts:
    """One name. Money in millions of US dollars, shares in millions, ratios as fractions, growth as log per year."""

    symbol: str
    sector: str
    industry: str
    fiscal_year_end: int
    revenue_m: float
    gross_margin: float
    net_margin: float
    growth: float
    assets_to_revenue: float
    equity_to_assets: float
    capex_to_revenue: float
    depreciation_to_revenue: float
    rd_to_revenue: float
    sga_to_revenue: float
    shares_m: float
    share_growth: float
    margin_noise: float
    seasonality: tuple[float, float, float, float]
    dividend_yield: float
    dividend_from: int
    dividend_month: int
    volume_m: float

    @property
    def is_financial(self) -> bool:
        """Whether it reports no cost of revenue."""
        return self.sector == "Financial Services"


@cache
def load_facts() -> dict[str, Facts]:
    """Return the table by symbol."""
    rows = json.loads((Path(__file__).parent / "facts.json").read_text(encoding="utf-8"))
    return {row["symbol"]: Facts(**row | {"seasonality": tuple(row["seasonality"])}) for row in rows}


def generator(symbol: str, purpose: str) -> np.random.Generator:
    """Return the random numbers of one purpose for one symbol: the same on every machine and in every order."""
    seed = hashlib.sha256(f"{SEED}/{symbol}/{purpose}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(seed[:16], "big")))


def autoregressive(random: np.random.Generator, length: int, *, rho: float, sd: float) -> np.ndarray:
    """Return an AR(1) path of shape (length,) with stationary standard deviation `sd`, starting in its distribution."""
    shocks = random.standard_normal(length) * sd
    path = np.empty(length)
    level = shocks[0] if length else 0.0
    scale = float(np.sqrt(1 - rho * rho))
    for i in range(length):
        level = shocks[i] if i == 0 else rho * level + scale * shocks[i]
        path[i] = level
    return path
