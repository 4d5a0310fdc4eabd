from pathlib import Path

import pandas as pd
import pytest

from offline.data import default_cache_dir, ensure
from offline.data.cache import files_dir
from offline.data.sources import SOURCES
from offline.fmp.app import Service, key_digest
from offline.fmp.store import Store

KEY = "offline-test-key"


@pytest.fixture(scope="session")
def tables() -> Path:
    return ensure(on_line=print)


@pytest.fixture(scope="session")
def sources(tables: Path) -> dict[str, Path]:
    root = files_dir(default_cache_dir())
    return {source.name: root / source.path for source in SOURCES}


@pytest.fixture(scope="session")
def prices(tables: Path) -> pd.DataFrame:
    table = pd.read_parquet(tables / "prices.parquet")
    table["date"] = pd.to_datetime(table["date"])
    return table


@pytest.fixture(scope="session")
def service(tables: Path) -> Service:
    return Service(Store(tables), key_digest(KEY))
