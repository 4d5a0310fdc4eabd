"""Whether delivered values of a statement factor rest on quarters announced after their date (3.1 b)."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from evaluator.measure.recompute import COMPOSITE, Recomputed
from evaluator.measure.runs import Run
from evaluator.quant.absent import Absent
from evaluator.quant.calendar import is_session, session_number, sessions
from evaluator.quant.factors import FactorInputs, factor_scores
from evaluator.quant.statements import Statements, statements

_FEW_CELLS = 3
"""Equal values by chance: below this many cells nothing is concluded."""


@dataclass(frozen=True)
class Knowledge:
    """Delivered values that equal a value built from a quarter announced later, and not the honest one."""

    after_fill: int
    """The quarter was announced after the fill of that decision as well: the entry could not know it."""
    after_signal: int
    """The quarter was announced after the decision, but not after its fill."""


def knowledge(own: Recomputed, name: str) -> Knowledge:
    """Return how many delivered values of one statement factor know later announcements."""
    delivered, honest = own.delivered_signals.get(name), own.factor(name)
    if delivered is None and len(own.spec.factors) == 1:
        delivered = own.delivered_signals.get(COMPOSITE)
    inputs = own.run.inputs
    if delivered is None or isinstance(honest, Absent) or isinstance(inputs, Absent):
        return Knowledge(0, 0)
    at_fill = _copied(delivered, honest, _scores(name, inputs, own.dates, _known_at_fill(own.run)))
    at_end = _copied(delivered, honest, _scores(name, inputs, own.dates, _known_at_period_end(own.run)))
    after_fill, after_signal = int((at_end & ~at_fill).sum()), int(at_fill.sum())
    return Knowledge(
        after_fill if after_fill >= _FEW_CELLS else 0,
        after_signal if after_signal >= _FEW_CELLS else 0,
    )


def _scores(
    name: str, inputs: FactorInputs, dates: pd.DatetimeIndex, known: Statements | Absent
) -> pd.DataFrame | Absent:
    return known if isinstance(known, Absent) else factor_scores(name, replace(inputs, statements=known), dates)


def _known_at_period_end(run: Run) -> Statements | Absent:
    frame = run.frame("fundamentals")
    if frame is None or "period_end" not in frame.columns:
        return Absent("no period ends")
    return statements(frame.assign(announced=frame["period_end"]))


def _known_at_fill(run: Run) -> Statements | Absent:
    """Move each announcement back by the sessions from a decision to its first fill."""
    frame = run.frame("fundamentals")
    if frame is None or "announced" not in frame.columns:
        return Absent("no announcement dates")
    days = pd.DatetimeIndex(frame["announced"])
    known = frame[days.notna()]
    days = days[days.notna()]
    if not len(days):
        return Absent("no announcement dates")
    every = sessions(days.min() - pd.Timedelta(days=60), days.max() + pd.Timedelta(days=10))
    # An announcement on a closed day is known at the next session.
    at = session_number(days) + ~is_session(days) - session_number(every[:1])[0] - _lag(run)
    return statements(known.assign(announced=every[np.clip(at, 0, len(every) - 1)]))


def _lag(run: Run) -> int:
    fills = run.dated_fills
    fills = fills[fills["signal_date"].notna()] if len(fills) else fills
    if not len(fills):
        return 1
    gaps = pd.Series(session_number(fills["date"]) - session_number(fills["signal_date"]), index=fills.index)
    return int(np.clip(gaps.groupby(fills["signal_date"]).min().median(), 1, 5))


def _copied(
    delivered: pd.DataFrame, honest: pd.DataFrame, ahead: pd.DataFrame | Absent
) -> "np.ndarray[tuple[int, int], np.dtype[np.bool_]]":
    days, names = delivered.index.intersection(honest.index), delivered.columns.intersection(honest.columns)
    theirs, ours = (frame.loc[days, names].to_numpy(dtype=float) for frame in (delivered, honest))
    if isinstance(ahead, Absent):
        return np.zeros(theirs.shape, dtype=bool)
    later = ahead.loc[days, names].to_numpy(dtype=float)
    with np.errstate(invalid="ignore"):
        wrong = ~(np.abs(theirs - ours) <= 1e-3 * np.abs(ours) + 1e-9)
        copied = np.abs(theirs - later) <= 1e-6 * np.abs(later) + 1e-12
    return np.asarray(wrong & copied & np.isfinite(theirs))
