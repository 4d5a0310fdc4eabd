"""A seeded market for the real tools, and what the evaluator makes of what they print."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evaluator.measure.case import Case
from evaluator.measure.metric_check import check_metrics
from evaluator.measure.recomputation import judge
from evaluator.package.attempt import load_delivery
from evaluator.quant.absent import Absent
from evaluator.quant.accounting import Rebuild
from evaluator.quant.calendar import sessions
from evaluator.quant.tolerance import MetricReport
from records.grade import Judgement
from tests.evaluator.worlds import write_public

CASH = 1_000_000.0
NAMES = ("AAA", "BBB", "CCC", "DDD")


def quotes(start: str = "2018-01-02", end: str = "2019-12-31", seed: int = 11) -> dict[str, pd.DataFrame]:
    """Return open, high, low, close, volume of each name by session."""
    rng = np.random.default_rng(seed)
    days = sessions(start, end)
    out = {}
    for name in NAMES:
        close = 50 * np.exp(np.cumsum(rng.normal(0.0004, 0.012, len(days))))
        opened = np.append(close[:1], close[:-1]) * np.exp(rng.normal(0, 0.004, len(days)))
        frame = pd.DataFrame({"Open": opened, "Close": close}, index=pd.DatetimeIndex(days, name="Date"))
        frame["High"] = frame[["Open", "Close"]].max(axis=1) * 1.003
        frame["Low"] = frame[["Open", "Close"]].min(axis=1) * 0.997
        frame["Volume"] = 1_000_000.0
        out[name] = frame
    return out


def long_prices(frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the quotes as one long table, as a user would save them."""
    return pd.concat([frame.reset_index().assign(Symbol=name) for name, frame in frames.items()], ignore_index=True)


def closes(frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return closes, dates x names."""
    return pd.DataFrame({name: frame["Close"] for name, frame in frames.items()})


@dataclass(frozen=True)
class Seen:
    """One delivery as the evaluator sees it."""

    case: Case
    book: Rebuild
    report: MetricReport
    verdict: Judgement

    def frame(self, role: str) -> pd.DataFrame:
        """Return the one table of a role."""
        (table,) = self.case.delivery.of(role)
        return table.frame

    def check(self, name: str) -> Any:
        """Return the comparison of one reported figure."""
        found = self.report.get(name)
        assert found is not None, f"{name} is not among {[check.name for check in self.report.checks]}"
        return found


def seen(root: Path, files: dict[str, Any]) -> Seen:
    """Write the files as a delivery, load it and rebuild the book."""
    delivery = load_delivery(write_public(root, {1: files}, t_cut="2020-12-31"))
    assert delivery.refused == (), delivery.refused
    case = Case(delivery)
    assert not isinstance(case.rebuilt, Absent), case.rebuilt
    return Seen(case, case.rebuilt, check_metrics(case, case.rebuilt), judge(case))
