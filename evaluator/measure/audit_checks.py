"""The audit checks themselves: those on the log and the lists beside it, and those on the rebuilt book."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import pandas as pd

from evaluator.measure.case import Case
from evaluator.measure.equity_gap import equity_gap
from evaluator.measure.holdings import decision_fits
from evaluator.measure.metric_check import NOT_OF_THE_CURVE, check_metrics
from evaluator.measure.naming import values_of
from evaluator.measure.recompute import Recomputed
from evaluator.package.ledgers import AMBIGUOUS_AMOUNT
from evaluator.quant.absent import Absent
from evaluator.quant.accounting import Rebuild
from evaluator.quant.calendar import is_session
from evaluator.quant.entry import late_fills, outside_range, too_early
from evaluator.quant.selection import selected_sets

Finding = tuple[Literal["pass", "fail", "unverified"], str]
_FITTING = 0.95
_CAPITAL = 0.001


def _log(case: Case) -> pd.DataFrame:
    trades = case.main.trades
    if trades is None:
        raise ValueError("no usable fill")
    return trades


def _book(case: Case) -> Rebuild:
    book = case.rebuilt
    if isinstance(book, Absent):
        raise TypeError(book.reason)
    return book


def a01_rows_parse(case: Case) -> Finding:
    """Every log row has date, symbol, side, quantity > 0 and price > 0."""
    frame = case.main.frame("trades")
    needed = ("date", "symbol", "side", "quantity", "price")
    if frame is None:
        return "unverified", "no log"
    lacking = [name for name in needed if name not in frame.columns]
    if lacking:
        return "fail", f"no column for {', '.join(lacking)}"
    unclear = [t.path for t in case.delivery.of("trades") if AMBIGUOUS_AMOUNT in t.guesses]
    if unclear:
        return "fail", f"{unclear[0]}: {AMBIGUOUS_AMOUNT}"
    bad = frame[list(needed)].isna().any(axis=1) | ~(frame["quantity"] > 0) | ~(frame["price"] > 0)
    return (
        ("fail", f"{int(bad.sum())} of {len(frame)} rows do not parse") if bad.any() else ("pass", f"{len(frame)} rows")
    )


def a02_no_duplicates(case: Case) -> Finding:
    """No fill stands twice without a fill id of its own."""
    trades = _log(case)
    key = ["date", "symbol", "side", "quantity", "price"]
    if "fill_id" in trades.columns and trades["fill_id"].notna().all():
        key.append("fill_id")
        repeated = trades["fill_id"].duplicated()
        if repeated.any():
            return "fail", f"{int(repeated.sum())} fill ids stand twice"
    twice = trades.duplicated(key)
    return ("fail", f"{int(twice.sum())} fills stand twice") if twice.any() else ("pass", "no fill stands twice")


def a03_sessions(case: Case) -> Finding:
    """Every fill date is a session, not after the cut and inside the stated window."""
    trades, spec = _log(case), case.spec
    days = pd.DatetimeIndex(trades["date"])
    closed = ~is_session(days)
    outside = np.asarray(days > pd.Timestamp(case.t_cut))
    if spec.start is not None:
        outside |= np.asarray(days < pd.Timestamp(spec.start))
    if spec.end is not None:
        outside |= np.asarray(days > pd.Timestamp(spec.end))
    bad = closed | outside
    if bad.any():
        return "fail", f"{int(closed.sum())} fills on closed days, {int(outside.sum())} outside the window"
    return "pass", f"{days.min().date()} to {days.max().date()}"


def a04_prices(case: Case) -> Finding:
    """Every fill price lies within the session's range."""
    panel = case.main.panel
    if isinstance(panel, Absent):
        return "unverified", panel.reason
    outside = outside_range(_log(case), panel)
    if isinstance(outside, Absent):
        return "unverified", outside.reason
    if len(outside):
        row = outside.iloc[0]
        return (
            "fail",
            f"{len(outside)} fills outside [low, high], first {row['symbol']} {pd.Timestamp(row['date']).date()} at {row['price']:g}",
        )
    return "pass", "every fill price lies within the session's range"


def a05_after_signal(case: Case) -> Finding:
    """Every fill is later than its signal."""
    fills = case.main.dated_fills
    if fills["signal_date"].isna().any():
        return "unverified", f"{int(fills['signal_date'].isna().sum())} fills have no signal date"
    late = late_fills(fills)
    return (
        ("fail", f"{len(late)} fills are not later than their signal") if len(late) else ("pass", f"{len(fills)} fills")
    )


def a06_long_only(case: Case) -> Finding:
    """No sell goes beyond the holding."""
    book = _book(case)
    lowest = float(book.shares.min().min())
    scale = max(float(book.shares.max().max()), 1.0)
    if lowest < -1e-6 * scale:
        return "fail", f"{book.shares.min().idxmin()} falls to {lowest:g} shares"
    return "pass", "no holding falls below zero"


def a07_cash(case: Case) -> Finding:
    """Cash stays above -1 % of equity."""
    book = _book(case)
    share = float((book.cash / book.equity).min())
    return ("fail" if share < -0.01 else "pass"), f"lowest cash is {share:.2%} of equity"


def a08_exposure(case: Case) -> Finding:
    """Gross exposure stays at or below 101 %."""
    book = _book(case)
    gross = float((book.shares.abs() * book.marks).sum(axis=1).div(book.equity).max())
    return ("fail" if gross > 1.01 else "pass"), f"highest gross exposure is {gross:.2%}"


def a09_priced(case: Case) -> Finding:
    """Every held name has a price on every held session, at most five carried forward."""
    book, panel = _book(case), case.main.panel
    if isinstance(panel, Absent):
        return "unverified", panel.reason
    column = panel.field(book.basis.mark)
    closes = (panel.fields["close"] if column is None else column).ffill(limit=5).reindex(book.shares.index)
    unpriced = (book.shares.abs() > 1e-9) & closes.reindex(columns=book.shares.columns).isna()
    if unpriced.any().any():
        names = list(unpriced.columns[unpriced.any()])
        return "fail", f"{int(unpriced.sum().sum())} held sessions without a price, {', '.join(map(str, names[:3]))}"
    return "pass", "every held name is priced on every session"


def a10_fees(case: Case) -> Finding:
    """Fees are finite and not negative and sum to the reported total."""
    trades = _log(case)
    if "fee" not in trades.columns:
        if case.spec.transaction_cost == "none" and case.spec.origins.get("transaction_cost") == "stated":
            return "pass", "stated free of cost, no fee column"
        return "unverified", "no fee column"
    fees = trades["fee"]
    if fees.isna().any() or not np.isfinite(fees).all() or (fees < 0).any():
        return "fail", "a fee is missing, negative or not finite"
    return _fee_total(case, trades, float(fees.sum()))


def _fee_total(case: Case, trades: pd.DataFrame, total: float) -> Finding:
    """Hold the sum of the fees against the reported total and the stated rate."""
    reported = case.main.reported.get("total_fees")
    # A rate inferred from these very fees proves nothing about them.
    stated = case.spec.origins.get("transaction_cost") == "stated"
    rate = values_of(case.spec).get("fixed_rate.rate_bps") if stated else None
    if reported is None and rate is None and total > 0:
        return "unverified", f"fees sum to {total:.2f}, neither a total nor a rate is stated"
    if reported is not None and abs(total - reported) > 0.01 * max(abs(reported), 0.01):
        return "fail", f"fees sum to {total:.2f}, reported {reported:.2f}"
    expected = total if rate is None else float((trades["quantity"] * trades["price"]).sum()) * rate / 1e4
    if total > 0 and abs(total - expected) > 0.01 * expected:
        return "fail", f"fees sum to {total:.2f}, {rate:g} bps of the traded value are {expected:.2f}"
    return "pass", f"fees sum to {total:.2f}" + ("" if reported is None else f", reported {reported:.2f}")


def a11_equity(case: Case) -> Finding:
    """The delivered equity is the rebuilt one."""
    gap = equity_gap(case)
    if gap is None:
        return "unverified", "no equity curve was delivered"
    if gap.largest > 0.005:
        return "fail", gap.text
    return (
        ("pass", gap.text) if gap.same_sessions else ("fail", "the delivered equity leaves sessions out or adds some")
    )


def a12_metrics(case: Case) -> Finding:
    """Each reported metric follows from the delivered equity."""
    equity = case.main.equity
    if equity is None or not case.main.reported:
        return "unverified", "no equity curve or no metrics table"
    report = check_metrics(case, _book(case), equity)
    wrong = [check for check in report.checks if check.within is False and check.name not in NOT_OF_THE_CURVE]
    if wrong:
        return "fail", ", ".join(f"{check.name} reported {check.reported:.6g}, own {check.own:.6g}" for check in wrong)
    following = sum(check.within is True for check in report.checks if check.name not in NOT_OF_THE_CURVE)
    if not following:
        return "unverified", "no reported metric can be held against the delivered equity"
    return "pass", f"{following} metrics follow from the delivered equity"


def a13_count(case: Case) -> Finding:
    """The reported trade count equals a named counting basis."""
    report = check_metrics(case, _book(case))
    check = report.get("trades")
    if check is None:
        return "unverified", "no trade count is reported"
    if report.count_basis is None:
        return "fail", f"{check.reported:g} trades reported, no counting basis gives that"
    return "pass", f"{check.reported:g} trades reported, counted as {report.count_basis}"


def a14_weights(case: Case) -> Finding:
    """Weights are no shorts and no leverage, and the fills lead to them."""
    targets = case.main.targets
    if targets is None:
        return "unverified", "no target weights were delivered"
    total = float(targets.sum(axis=1).max())
    if float(targets.min().min()) < -1e-9 or total > 1.001:
        return "fail", f"weights from {targets.min().min():.4f}, largest sum {total:.4f}"
    fits = decision_fits(case)
    if not fits:
        return "unverified", "no decision with room for its fills"
    wrong = [fit for fit in fits if not fit.weights_fit]
    if len(wrong) > (1 - _FITTING) * len(fits):
        return (
            "fail",
            f"{len(wrong)} of {len(fits)} decisions miss their targets, first {wrong[0].date.date()}: {wrong[0].worst}",
        )
    return "pass", f"{len(fits) - len(wrong)} of {len(fits)} decisions reach their targets within 1%"


def a15_selected(case: Case) -> Finding:
    """Each bought name stands in the selected list of its decision."""
    run = case.main
    source = run.selections if run.selections is not None else run.targets
    if source is None:
        return "unverified", "no selections or weights were delivered"
    lists = selected_sets(source)
    fills = run.dated_fills
    buys = fills[(fills["side"] > 0) & fills["signal_date"].notna()]
    strangers = [
        (symbol, day)
        for symbol, day in zip(buys["symbol"], buys["signal_date"], strict=True)
        if symbol not in lists.get(day, ())
    ]
    if strangers:
        symbol, day = strangers[0]
        return "fail", f"{len(strangers)} of {len(buys)} buys are not on that date's list, first {symbol} {day.date()}"
    return (
        ("pass", f"{len(buys)} buys are on their date's list")
        if len(buys)
        else ("unverified", "no buy with a signal date")
    )


def a16_history(case: Case) -> Finding:
    """The first trade leaves the longest lookback, and equity starts at the stated capital."""
    panel, book = case.main.panel, _book(case)
    if isinstance(panel, Absent):
        return "unverified", panel.reason
    need = Recomputed(case.main, case.spec, case.main.signal_days).lookback
    early = too_early(case.main.dated_fills, panel, lookback=need)
    if len(early):
        return "fail", f"{len(early)} trades precede the {need} sessions they need"
    short = _short_index(case)
    if short is not None:
        return "fail", short
    if case.spec.capital is None or case.main.equity is None:
        return (
            "unverified",
            "no start capital is stated" if case.spec.capital is None else "no equity curve was delivered",
        )
    first = float(case.main.equity.iloc[0])
    if abs(first / case.spec.capital - 1) > _CAPITAL:
        return "fail", f"equity starts at {first:.2f}, stated capital {case.spec.capital:.2f}"
    return "pass", f"{need} sessions of history, equity starts at {book.capital:.2f}"


def _short_index(case: Case) -> str | None:
    """Return why the index is too short for the gate at the first trade; None when it is long enough."""
    need = Recomputed(case.main, case.spec, case.main.signal_days).gate_lookback
    spy = None if isinstance(case.main.inputs, Absent) else case.main.inputs.spy
    fills = case.main.dated_fills
    if need <= 1 or spy is None or not len(fills):
        return None
    seen = int((spy.index <= fills["signal_date"].min()).sum())
    return f"the first trade has {seen} sessions of the index, its gate needs {need}" if 0 < seen < need else None


LOG_CHECKS: dict[str, Callable[[Case], Finding]] = {
    "A01": a01_rows_parse,
    "A02": a02_no_duplicates,
    "A03": a03_sessions,
    "A04": a04_prices,
    "A05": a05_after_signal,
    "A10": a10_fees,
    "A15": a15_selected,
}
BOOK_CHECKS: dict[str, Callable[[Case], Finding]] = {
    "A06": a06_long_only,
    "A07": a07_cash,
    "A08": a08_exposure,
    "A09": a09_priced,
    "A11": a11_equity,
    "A12": a12_metrics,
    "A13": a13_count,
    "A14": a14_weights,
    "A16": a16_history,
}
