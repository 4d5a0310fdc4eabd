"""How far the delivered equity lies from the book rebuilt from the fills."""

from dataclasses import dataclass

import pandas as pd

from evaluator.measure.case import Case, rebuild_run
from evaluator.quant.absent import Absent

_AGREES = 0.005
_SHOWN = 1e-4
"""A gap below this shows nothing: fees so small hide in the rounding of a curve."""
_NEARER = 10.0


@dataclass(frozen=True)
class EquityGap:
    """The comparison of two equity curves."""

    largest: float
    """Largest relative gap on a common session; infinite when there is none."""
    day: pd.Timestamp | None
    same_sessions: bool
    """Both curves stand on the same sessions, apart from the day the capital is put in."""

    @property
    def text(self) -> str:
        """The comparison in words."""
        where = f" on {self.day.date()}" if self.day is not None else ""
        return f"rebuilt and delivered equity differ by at most {self.largest:.4%}{where}"


def equity_gap(case: Case) -> EquityGap | None:
    """Return the gap of the main run; None when there is no delivered equity or no rebuilt book."""
    delivered, book = case.main.equity, case.rebuilt
    if delivered is None or isinstance(book, Absent):
        return None
    common = delivered.index.intersection(book.equity.index)
    if not len(common):
        return EquityGap(float("inf"), None, same_sessions=False)
    gap = (delivered[common] / book.equity[common] - 1).abs()
    missing = delivered.index.symmetric_difference(book.equity.index)
    if not gap.notna().any():
        return EquityGap(float("inf"), None, same_sessions=False)
    return EquityGap(
        float(gap.max()),
        pd.Timestamp(common[int(gap.fillna(-1.0).to_numpy().argmax())]),
        same_sessions=len(missing) <= 1,
    )


def is_gross(case: Case) -> bool:
    """Whether the delivered equity is the book of the same fills without their fees, and is not the book with them.

    Fees of a quiet strategy stay within the tolerance of A11; then the book without them must be ten times nearer.
    """
    run, net = case.main, equity_gap(case)
    if run.trades is None or run.equity is None or net is None or net.largest <= _SHOWN:
        return False
    book = rebuild_run(run, case.spec, with_fees=False)
    if isinstance(book, Absent):
        return False
    common = run.equity.index.intersection(book.equity.index)
    if not len(common):
        return False
    gross = float((run.equity[common] / book.equity[common] - 1).abs().max())
    return gross <= _AGREES and (net.largest > _AGREES or gross * _NEARER <= net.largest)
