"""Makes the Parquet tables: `python -m offline.data.build CACHE_DIR`, run as a child process by `offline.data.ensure`."""

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from offline.data.cache import data_dir
from offline.data.calendar import holidays
from offline.data.facts import load_facts
from offline.data.membership import companies, events, spells
from offline.data.packages import check, fetch
from offline.data.pickles import read_frame
from offline.data.prices import VIX, index_rows, stocks
from offline.data.rates import treasury
from offline.data.sources import SOURCES
from offline.data.standins import FROZEN_TODAY
from offline.data.statements import statements
from offline.data.volatility_index import volatility_index_rows
from records.errors import EvalError


def _dated(path: Path, date_column: str, date_format: str | None = None) -> pd.DataFrame:
    table = pd.read_csv(path)
    table.index = pd.DatetimeIndex(pd.to_datetime(table.pop(date_column), format=date_format))
    return table


def tables(files: dict[str, Path]) -> dict[str, pd.DataFrame]:
    """Return every table by name from the pinned source files."""
    adjusted = _dated(files["stocks_adjusted"], "Date")
    index_close = _dated(files["index_close"], "Date")["SP500"]
    vix = pd.to_numeric(_dated(files["vix"], "Date", "%m/%d/%Y")["vix"], errors="coerce").dropna()
    bars, paid = stocks(adjusted, pd.read_csv(files["stocks_ohlcv"]))
    index = index_rows(index_close, _dated(files["index_ohlcv"], "Date", "%m/%d/%Y"))
    curves = _dated(files["treasury"], "Time Period")
    curves.index = pd.DatetimeIndex(curves.index).tz_localize(None)
    cpi = _dated(files["core_cpi"], "Date", "%m/%d/%Y")["CPILFESL"]
    facts = pd.DataFrame(
        [{"symbol": f.symbol, "sector": f.sector, "industry": f.industry} for f in load_facts().values()]
    )
    members = [spells(name, read_frame(files[name])) for name in ("sp500", "nasdaq100", "dow30")]
    return {
        "prices": pd.concat([bars, index, volatility_index_rows(index_close, vix)], ignore_index=True),
        "dividends": paid,
        "treasury": treasury(curves, pd.DatetimeIndex(index_close.index)),
        "membership": pd.concat(members, ignore_index=True),
        "events": events(read_frame(files["us_events"])),
        "companies": companies(pd.read_parquet(files["companies"])),
        "sectors": facts,
        "cpi": pd.DataFrame(
            {"date": pd.DatetimeIndex(cpi.index).strftime("%Y-%m-%d"), "value": cpi.to_numpy(dtype=float)}
        ),
        "holidays": holidays(),
        **statements(),
    }


def check_tables(made: dict[str, pd.DataFrame]) -> None:
    """Refuse tables that break what the documents promise. Raises EvalError."""
    prices = made["prices"]
    low, high = prices[["open", "close"]].min(axis=1), prices[["open", "close"]].max(axis=1)
    if (
        not ((prices["low"] <= low) & (high <= prices["high"])).all()
        or prices.drop(columns="volume").isna().any().any()
    ):
        raise EvalError("offline prices: expected low <= open, close <= high and no gaps, found rows that break it")
    if prices["date"].max() != FROZEN_TODAY or not np.isfinite(prices["adj_close"]).all():
        raise EvalError(f"offline prices: expected rows up to {FROZEN_TODAY}, found {prices['date'].max()}")
    if VIX not in set(prices["symbol"]):
        raise EvalError("offline prices: expected the volatility index, found none")


def clear_leftovers(cache_dir: Path) -> None:
    """Remove what a killed maker left; the caller holds the cache's lock, so no other maker is at work."""
    for pattern in (".install-*", ".build-*"):
        for path in cache_dir.glob(pattern):
            shutil.rmtree(path, ignore_errors=True)


def build(cache_dir: Path) -> Path:
    """Write all tables and return their folder, which appears by one rename."""
    started = time.monotonic()
    clear_leftovers(cache_dir)
    root = fetch(cache_dir)
    made = tables({source.name: check(source, root) for source in SOURCES})
    check_tables(made)
    target = data_dir(cache_dir)
    with tempfile.TemporaryDirectory(dir=cache_dir, prefix=".build-") as scratch:
        folder = Path(scratch) / "tables"
        folder.mkdir()
        for name, table in made.items():
            table.to_parquet(folder / f"{name}.parquet", index=False)
        manifest = {"rows": {name: len(table) for name, table in made.items()}, "sources": [s.path for s in SOURCES]}
        (folder / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        folder.rename(target)
    sys.stdout.write(f"offline data ready in {time.monotonic() - started:.0f} s\n")
    return target


def main() -> int:
    """Build into the folder named on the command line; one sentence and exit code 1 when it cannot be done."""
    sys.stdout.write("offline data: installing six packages and converting their data files\n")
    sys.stdout.flush()
    try:
        build(Path(sys.argv[1]))
    except (EvalError, OSError) as exc:
        sys.stdout.write(f"{exc}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
