"""One delivery under judgement: its tables as panels, its rebuilt book and its specification, each computed once."""

from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, Literal

import pandas as pd

from evaluator.measure.naming import values_of
from evaluator.package.delivery import Delivery, Document, Table
from evaluator.quant.absent import Absent
from evaluator.quant.accounting import Rebuild, rebuild
from evaluator.quant.calendar import decision_dates, infer_rebalance
from evaluator.quant.entry import signal_dates
from evaluator.quant.factors import FactorInputs
from evaluator.quant.fills import usable_fills
from evaluator.quant.panel import PricePanel, price_panel, spy_series, vix_series
from evaluator.quant.statements import Statements, statements
from evaluator.quant.weighting import wide_weights
from evaluator.quant.weights_route import rebuild_from_weights
from records.spec import DeliveredSpec

_LENT = ("prices", "market", "fundamentals")
"""A stress run that delivers no prices of its own was made on those of the main run."""


@dataclass(frozen=True)
class Run:
    """The tables of one run (the main one, or a stress run) in the same delivery."""

    delivery: Delivery
    group: str = "main"

    def tables(self, role: str) -> tuple[Table, ...]:
        """Return the run's tables of one role; market data of the main run where it has none of its own."""
        found = self.delivery.of(role, group=self.group)
        if not found and role in _LENT and self.group != "main":
            return self.delivery.of(role)
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
        """Reported metrics by canonical name; a name reported with two values is left out as ambiguous."""
        frame = _with(self.frame("metrics"), "name", "value")
        if frame is None:
            return {}
        values: dict[str, set[float]] = {}
        for name, value in zip(frame["name"], frame["value"], strict=True):
            if isinstance(name, str) and pd.notna(value):
                values.setdefault(name, set()).add(float(value))
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


@dataclass(frozen=True)
class Case:
    """A delivery with everything recomputed from it; nothing here knows a strategy."""

    delivery: Delivery

    @cached_property
    def main(self) -> Run:
        """The main run."""
        return Run(self.delivery)

    @cached_property
    def others(self) -> tuple[Run, ...]:
        """Stress and alternative runs that carry fills of their own, by name."""
        names = sorted({table.group for table in self.delivery.tables if table.group != "main"})
        return tuple(run for run in (Run(self.delivery, name) for name in names) if run.trades is not None)

    @cached_property
    def t_cut(self) -> date:
        """Last date whose data may be used."""
        return self.delivery.conditions.t_cut

    @cached_property
    def spec(self) -> DeliveredSpec:
        """The delivered specification, stated or inferred."""
        from evaluator.measure.specification import delivered_spec  # noqa: PLC0415 it reads this case

        return delivered_spec(self)

    @cached_property
    def report(self) -> Document | None:
        """The last report; the longest one where a turn delivered several."""
        reports = [document for document in self.delivery.documents if document.kind == "report"]
        return max(reports, key=lambda document: (document.turn, len(document.text)), default=None)

    @cached_property
    def decisions(self) -> pd.DatetimeIndex:
        """Decision sessions: those the delivery names, else those of the stated calendar."""
        days = self.main.signal_days
        panel = self.main.panel
        if len(days) or isinstance(panel, Absent) or self.spec.rebalance is None:
            return days
        return decision_dates(panel.sessions, self.spec.rebalance)

    @cached_property
    def rebuilt(self) -> Rebuild | Absent:
        """The book rebuilt from the main run's fills, else from its weights; the delivered equity is no input."""
        return rebuild_run(self.main, self.spec)

    def facts(self) -> dict[str, float | int | str | None]:
        """Return the counts and rebuilt figures that stand in measured.json."""
        run = self.main
        found: dict[str, float | int | str | None] = {
            "documents": len(self.delivery.documents),
            "tables": len(self.delivery.tables),
            "refused": len(self.delivery.refused),
            "fills": 0 if run.trades is None else len(run.trades),
            "decision_dates": len(run.signal_days),
            "stress_runs": len(self.others),
            "rebalance_seen": infer_rebalance(run.signal_days),
        }
        book = self.rebuilt
        if isinstance(book, Absent):
            found["rebuilt"] = book.reason
        else:
            found |= {
                "rebuilt": book.route,
                "coverage": round(float(book.coverage), 6),
                "rebuilt_total_return": round(float(book.equity.iloc[-1] / book.capital - 1), 6),
            }
        return found


def rebuild_run(run: Run, spec: DeliveredSpec) -> Rebuild | Absent:
    """Return the book of one run under the stated capital, rate and period."""
    panel = run.panel
    if isinstance(panel, Absent):
        return panel
    capital = run.reported.get("capital", spec.capital if run.group == "main" else None)
    first = None if run.equity is None else float(run.equity.iloc[0])
    rate = values_of(spec).get("fixed_rate.rate_bps", 0.0 if spec.transaction_cost == "none" else None)
    end = min(panel.sessions[-1], pd.Timestamp(run.delivery.conditions.t_cut))
    if run.equity is not None:
        end = min(end, run.equity.index[-1])
    if run.trades is not None:
        return rebuild(
            run.trades, panel, capital=capital, first_equity=first, rate_bps=rate, start=_first_day(run), end=end
        )
    if run.weights is None:
        return Absent("neither a usable trade log nor a weight log")
    fill: Literal["open", "close"] = "close" if spec.execution in ("next_close", "adv_cap") else "open"
    return rebuild_from_weights(
        run.weights, panel, capital=capital or first or 1.0, rate_bps=rate or 0.0, fill=fill, end=end
    )


def _first_day(run: Run) -> pd.Timestamp | None:
    """Return where the book starts: the first decision, else the first fill's signal, else left to the rebuild."""
    trades = run.trades
    if run.equity is not None:
        return pd.Timestamp(run.equity.index[0])
    if trades is not None and "signal_date" in trades.columns and trades["signal_date"].notna().any():
        return pd.Timestamp(trades["signal_date"].min())
    return None


def _with(frame: pd.DataFrame | None, *columns: str) -> pd.DataFrame | None:
    """Return the frame when it has the columns and a row, else None."""
    if frame is None or not set(columns) <= set(frame.columns) or not len(frame):
        return None
    return frame
