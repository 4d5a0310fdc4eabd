"""Reported metrics held against a rebuilt book or against the delivered equity, under one set of conventions."""

from typing import Any

import pandas as pd

from evaluator.measure.case import Case
from evaluator.measure.naming import values_of
from evaluator.quant.accounting import Rebuild
from evaluator.quant.tolerance import MetricReport, compare_metrics

NOT_OF_THE_CURVE = frozenset({"trades", "total_fees"})
"""Reported figures that no equity curve can tell; audit A13 and A10 hold them against the log."""


def check_metrics(case: Case, book: Rebuild, equity: "pd.Series[Any] | None" = None) -> MetricReport:
    """Return each reported metric against the book's equity, or against another equity curve of the same fills."""
    run, spec = case.main, case.spec
    curve = book.equity if equity is None else equity
    return compare_metrics(
        run.reported,
        curve,
        capital=book.capital,
        cash=book.cash.reindex(curve.index),
        trades=run.trades,
        rate_bps=values_of(spec).get("fixed_rate.rate_bps", 0.0),
        labels=run.metric_labels,
        trips=case.trips,
    )
