"""3.1 (b): values of a statement factor that know a quarter before it was announced."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from evaluator.measure.recompute import Recomputed
from evaluator.measure.runs import Run
from evaluator.measure.statement_dates import Knowledge, knowledge
from evaluator.package.delivery import Delivery, Table
from evaluator.quant.absent import Absent
from evaluator.quant.calendar import decision_dates, sessions
from evaluator.quant.factors import FactorInputs, factor_scores
from evaluator.quant.panel import price_panel
from evaluator.quant.statements import statements
from records.spec import DeliveredSpec
from records.task import Conditions
from tests.evaluator.worlds import NAMES, market

CONDITIONS = Conditions.model_validate({"t_cut": "2020-12-31", "start_hint": "2018-01-02", "channels": ["fmp-mcp"]})
PRICES = market()
DAYS = decision_dates(sessions("2019-03-01", "2020-11-30"), "monthly")


def fundamentals() -> pd.DataFrame:
    """Return quarters whose announcements fall on the session after a month's last one, so that a day matters."""
    ends = pd.date_range("2016-12-31", "2020-09-30", freq="QE")
    every = sessions("2016-01-01", "2021-12-31")
    rows = []
    for number, end in enumerate(ends):
        month_after = decision_dates(every[(every > end) & (every <= end + pd.Timedelta(days=31))], "monthly")[-1]
        announced = every[every.get_loc(month_after) + 1]
        for place, name in enumerate(NAMES):
            rows.append((name, end, announced, 10.0 + number * (1 + place % 3) + place, 50.0))
    return pd.DataFrame(rows, columns=["symbol", "period_end", "announced", "net_income", "shares"])


def delivered(announced: "pd.Series[Any]") -> Recomputed:
    """Return a run whose signals were computed as if the quarters had been announced at other dates."""
    panel = price_panel(PRICES)
    table = fundamentals()
    known = statements(table.assign(announced=announced.to_numpy()))
    assert not isinstance(panel, Absent)
    assert not isinstance(known, Absent)
    values = factor_scores("earnings_yield", FactorInputs(panel, statements=known), DAYS)
    assert not isinstance(values, Absent)
    wide = values.rename_axis(index="date", columns="symbol").reset_index()
    long = wide.melt(id_vars="date", var_name="symbol").dropna()
    tables = (
        Table("prices.csv", "prices", PRICES, 1),
        Table("fundamentals.csv", "fundamentals", table, 1),
        Table("signals.csv", "signals", long.assign(factor="earnings_yield"), 1),
    )
    run = Run(Delivery(CONDITIONS, (), tables, ()))
    return Recomputed(run, DeliveredSpec(factors=("earnings_yield",)), DAYS)


def test_honest_values_know_nothing_early() -> None:
    assert knowledge(delivered(fundamentals()["announced"]), "earnings_yield") == Knowledge(0, 0)


def test_values_known_at_the_period_end_know_more_than_their_fill() -> None:
    found = knowledge(delivered(fundamentals()["period_end"]), "earnings_yield")

    assert found.after_fill > 0


def test_values_known_at_the_fill_but_not_at_the_signal_are_told_apart() -> None:
    early = fundamentals()["announced"] - pd.tseries.offsets.BDay(1)
    found = knowledge(delivered(early), "earnings_yield")

    assert found.after_fill == 0
    assert found.after_signal > 0


@pytest.mark.parametrize("noise", [1e-3, 1.0])
def test_values_that_match_nothing_are_no_look_ahead(noise: float) -> None:
    own = delivered(fundamentals()["announced"])
    frame = own.run.signals
    assert frame is not None
    frame["value"] *= 1 + noise * np.random.default_rng(1).normal(size=len(frame))

    assert knowledge(own, "earnings_yield") == Knowledge(0, 0)
