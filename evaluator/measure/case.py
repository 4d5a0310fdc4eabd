"""One delivery under judgement: its runs, its rebuilt book and its specification, each computed once."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Literal

import pandas as pd

from evaluator.measure.naming import values_of
from evaluator.measure.runs import DATA_FAULTS, Run
from evaluator.measure.specification import delivered_spec
from evaluator.package.delivery import Delivery, Document
from evaluator.quant.absent import Absent
from evaluator.quant.accounting import Rebuild, rebuild
from evaluator.quant.calendar import decision_dates, infer_rebalance
from evaluator.quant.metrics import round_trips
from evaluator.quant.weights_route import rebuild_from_positions, rebuild_from_weights
from records.spec import DeliveredSpec


@dataclass(frozen=True, eq=False)
class Case:
    """A delivery with everything recomputed from it; nothing here knows a strategy."""

    delivery: Delivery
    phrases: Callable[[str], Iterable[re.Pattern[str]]] | None = None
    """Patterns that state an option in a user's words, lent by the caller; None: the grammar's own names alone."""
    measured: DeliveredSpec | None = None
    """The specification as `measure` wrote it; None: it is read from the delivery."""

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
        if self.measured is not None:
            return self.measured
        try:
            return delivered_spec(self.delivery)
        except DATA_FAULTS as fault:
            return DeliveredSpec(
                evidence=(f"not read: the delivered tables stopped the reading ({type(fault).__name__})",)
            )

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
        try:
            return rebuild_run(self.main, self.spec)
        except DATA_FAULTS as fault:
            return Absent(f"the delivered tables cannot be rebuilt ({type(fault).__name__})")

    @cached_property
    def trips(self) -> pd.DataFrame:
        """Round trips of the main run's fills."""
        return round_trips(self.main.trades)

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


def rebuild_run(run: Run, spec: DeliveredSpec, *, with_fees: bool = True) -> Rebuild | Absent:
    """Return the book of one run under the stated capital, rate and period; without fees, as if every fill were free."""
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
        trades = run.trades if with_fees else run.trades.assign(fee=0.0)
        return rebuild(
            trades, panel, capital=capital, first_equity=first, rate_bps=rate, start=_first_day(run), end=end
        )
    if run.weights is None:
        positions = run.frame("positions")
        if positions is None:
            return Absent("neither a usable trade log nor a weight log nor a table of positions")
        return rebuild_from_positions(positions, panel, capital=capital, first_equity=first, rate_bps=rate, end=end)
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
