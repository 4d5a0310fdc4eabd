"""Loads a handful of files as one delivery."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evaluator.package.attempt import load_delivery
from evaluator.package.delivery import Delivery
from tests.evaluator.worlds import write_public

Load = Callable[..., Delivery]


@pytest.fixture
def deliver(tmp_path: Path) -> Load:
    """Return a function that writes path -> content and loads the delivery."""

    def load(files: dict[str, Any], **extra: Any) -> Delivery:
        return load_delivery(write_public(tmp_path, {1: files}, **extra))

    return load


@pytest.fixture
def one(deliver: Load) -> Callable[..., Any]:
    """Return a function that delivers one file and returns its one table of a role."""

    def load(role: str, name: str, content: str | bytes | pd.DataFrame) -> Any:
        delivery = deliver({name: content})
        found = [table for table in delivery.tables if table.role == role]
        assert len(found) == 1, ([(t.path, t.role) for t in delivery.tables], delivery.refused)
        return found[0]

    return load
