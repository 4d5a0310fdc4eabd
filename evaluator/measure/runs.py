"""The tables of one run inside a delivery, as frames, panels and series, each made once."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from evaluator.measure.diagnostics import is_on_signals
from evaluator.package.delivery import Delivery, Table
from evaluator.quant.absent import Absent
from evaluator.quant.entry import signal_dates
from evaluator.quant.factors import FactorInputs
from evaluator.quant.fills import usable_fills
from evaluator.quant.panel import PricePanel, price_panel, spy_series, vix_series
from evaluator.quant.statements import Statements, statements
from evaluator.quant.weighting import wide_weights

DATA_FAULTS = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    MemoryError,
    NotImplementedError,
)
"""What arithmetic on a hostile table may raise. A dimension that meets one scores 0 and stays incomplete."""

_LENT = ("prices", "market", "fundamentals")
"""A stress run that delivers no prices of its own was made on those of the main run."""


_BESIDE = re.compile(r"benchmark|comparison|versus|_vs_", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Run:
    """The tables of one run (the main one, or a stress run) in the same delivery."""

    delivery: Delivery
    group: str = "main"

    def tables(self, role: str) -> tuple[Table, ...]:
        """Return the run's tables of one role; market data of the main run where it has none of its own."""
        found = self.delivery.of(role, group=self.group)
        if not found and role in _LENT and self.group != "main":
            return self.delivery.of(role)
        if role == "metrics":
            # A hit rate of signals is no win rate of trades.
            return tuple(table for table in found if not is_on_signals(table))
        return found

    def frame(self, role: str) -> pd.DataFrame | None:
        """Return all rows of one role in one frame; None when nothing was delivered."""
        frames = [table.frame for table in self.tables(role) if len(table.frame)]
        if not frames:
            return None
        return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)

    def paths(self, role: str) -> list[str]:
        """Return the files of one role."""
        return [table.path for table in self.tables(role)]

    @cached_property
    def panel(self) -> PricePanel | Absent:
        """Prices as wide frames."""
        traded = () if self.trades is None else tuple(self.trades["symbol"].dropna().astype(str).unique())
        return price_panel(self.frame("prices"), traded=traded)

    @cached_property
    def statements(self) -> Statements | Absent:
        """Fundamentals by announcement."""
        return statements(self.frame("fundamentals"))

    @cached_property
    def inputs(self) -> FactorInputs | Absent:
        """What factors and gates may look at."""
        panel = self.panel
        if isinstance(panel, Absent):
            return panel
        spy = spy_series(self.frame("market"), panel)
        return FactorInputs(
            panel,
            statements=None if isinstance(self.statements, Absent) else self.statements,
            spy=None if isinstance(spy, Absent) else spy,
        )

    @cached_property
    def vix(self) -> "pd.Series[Any] | None":
        """VIX closes; None when not delivered."""
        panel = None if isinstance(self.panel, Absent) else self.panel
        found = vix_series(self.frame("market"), panel)
        return None if isinstance(found, Absent) else found

    @cached_property
    def trades(self) -> pd.DataFrame | None:
        """Fills, oldest first; None when there is no usable log."""
        frame = self.frame("trades")
        usable = usable_fills(frame)
        return None if isinstance(usable, Absent) else usable

    @cached_property
    def dated_fills(self) -> pd.DataFrame:
        """Fills with a signal date each: the stated one, else that of the latest decision that changes the name."""
        decisions = self.weights if self.weights is not None else self.selections
        return signal_dates(self.trades, decisions if decisions is not None else self.signals)

    @cached_property
    def signals(self) -> pd.DataFrame | None:
        """Signal values; None when not delivered."""
        return _with(self.frame("signals"), "date", "symbol", "value")

    @cached_property
    def selections(self) -> pd.DataFrame | None:
        """Chosen names per decision date; None when not delivered."""
        return _with(self.frame("selections"), "date", "symbol")

    @cached_property
    def weights(self) -> pd.DataFrame | None:
        """Decision-dated target weights, cash rows included; None when not delivered."""
        return _with(self.frame("weights"), "date", "symbol", "weight")

    @cached_property
    def targets(self) -> pd.DataFrame | None:
        """Target weights as dates x symbols without cash, 0 where a name is not held; None when not delivered."""
        return None if self.weights is None else wide_weights(self.weights)

    @cached_property
    def equity(self) -> "pd.Series[Any] | None":
        """Delivered equity by session; None when not delivered."""
        frame = _with(self.frame("equity"), "date", "equity")
        if frame is None:
            return None
        rows = frame.dropna(subset=["date", "equity"]).drop_duplicates("date", keep="last")
        if not len(rows):
            return None
        return pd.Series(rows["equity"].to_numpy(dtype=float), index=pd.DatetimeIndex(rows["date"])).sort_index()

    @cached_property
    def reported(self) -> dict[str, float]:
        """Reported metrics by canonical name; a name reported with two values is left out as ambiguous.

        A table that sets the strategy beside a benchmark only fills in what no metrics table says: a wrong figure there
        cannot be made ambiguous by a right one here.
        """
        own = [table for table in self.tables("metrics") if not _BESIDE.search(table.path)]
        values = {**_values(self.tables("metrics")), **_values(own)}
        return {name: next(iter(found)) for name, found in values.items() if len(found) == 1}

    @cached_property
    def metric_labels(self) -> tuple[str, ...]:
        """Labels of the metrics as delivered; they tell which tool computed them."""
        frame = self.frame("metrics")
        if frame is None or "label" not in frame.columns:
            return ()
        return tuple(str(label) for label in frame["label"])

    @cached_property
    def signal_days(self) -> pd.DatetimeIndex:
        """Decision dates the delivery itself names: of signals, else selections, else weights, else signal dates."""
        for frame in (self.weights, self.selections, self.signals):
            if frame is not None:
                days = pd.DatetimeIndex(frame["date"].dropna().unique()).sort_values()
                if len(days):
                    return days
        if self.trades is not None and "signal_date" in self.trades.columns:
            return pd.DatetimeIndex(self.trades["signal_date"].dropna().unique()).sort_values()
        return pd.DatetimeIndex([])


def _values(tables: Iterable[Table]) -> dict[str, set[float]]:
    """Return every value of each name in some metrics tables."""
    values: dict[str, set[float]] = {}
    for table in tables:
        frame = _with(table.frame, "name", "value")
        if frame is None:
            continue
        for name, value in zip(frame["name"], frame["value"], strict=True):
            if isinstance(name, str) and pd.notna(value):
                values.setdefault(name, set()).add(float(value))
    return values


def _with(frame: pd.DataFrame | None, *columns: str) -> pd.DataFrame | None:
    """Return the frame when it has the columns and a row, else None."""
    if frame is None or not set(columns) <= set(frame.columns) or not len(frame):
        return None
    return frame
