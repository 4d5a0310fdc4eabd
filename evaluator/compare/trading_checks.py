"""Execution and cost: do fill prices, sizes and fees follow the option."""

from dataclasses import replace

import pandas as pd

from evaluator.compare.context import Context, Result
from evaluator.measure.equity_gap import is_gross
from evaluator.measure.naming import values_of
from evaluator.measure.runs import Run
from evaluator.measure.specification import delivered_spec
from evaluator.quant.absent import Absent
from evaluator.quant.execution import OPTIONS, ExecutionFit, execution_fit, fee_fit
from records.strategy import Item

_FITS = 0.95
_CAP_FITS = 0.99
_MISSES = 0.5
_SIZE_FIT = 0.02
_SHARES = 5.0
"""Shares that whole parts and the rest in the last one may differ by."""
_SPENT = 0.01
"""Cash below this share of equity is spent."""


def execution(context: Context, item: Item) -> Result:
    """Compare the fills with what the option makes of an order."""
    fit = _best_fit(context, context.case.main, item.option)
    if isinstance(fit, Absent):
        return "unconfirmed", fit.reason
    detail = f"{fit.share:.1%} of {fit.fills} fit, {fit.split_orders} orders split; {fit.detail}"
    if item.option == "adv_cap":
        return _capped(context, fit, detail)
    if fit.share >= _FITS:
        return "confirmed", detail
    if fit.share < _MISSES and fit.elsewhere >= _MISSES:
        return "contradicted", f"{detail}; {fit.elsewhere:.1%} are shown to lie elsewhere"
    others = [_best_fit(context, context.case.main, option) for option in OPTIONS if option != item.option]
    best = max(
        (other.share for other in others if not isinstance(other, Absent) and other.option != "adv_cap"), default=0.0
    )
    return ("contradicted" if fit.share < _MISSES and best >= _FITS else "unconfirmed"), detail


def _best_fit(context: Context, run: Run, option: str) -> ExecutionFit | Absent:
    """Return the best fit over the parameter sets to try."""
    if isinstance(run.panel, Absent):
        return run.panel
    best: ExecutionFit | Absent = Absent("no trade log")
    for params in context.choices("execution", option):
        trades = _uncut(context, run) if option == "staged" else run.trades
        fit = execution_fit(option, trades, run.panel, params=params)
        if option == "staged" and isinstance(fit, ExecutionFit) and trades is not None:
            fit = replace(fit, share=min(fit.share, _equal_share(trades)))
        if isinstance(fit, Absent):
            best = best if isinstance(best, ExecutionFit) else fit
        elif isinstance(best, Absent) or fit.share > best.share:
            best = fit
    return best


def _uncut(context: Context, run: Run) -> pd.DataFrame | None:
    """Return the fills with parts of a staged buy made whole where the cash of that session was spent.

    Buys are scaled down together to what can be paid; a part that is smaller by the session's common share is still an
    equal part. A part that is smaller by a share of its own stays as it is.
    """
    book, trades = context.case.rebuilt, run.trades
    if isinstance(book, Absent) or trades is None or "signal_date" not in trades.columns or run.group != "main":
        return trades
    spent = book.cash <= _SPENT * book.equity
    cut = (trades["side"] > 0) & trades["date"].map(spent).fillna(value=False).astype(bool)
    whole = trades.groupby(["signal_date", "symbol", "side"])["quantity"].transform("max")
    share = trades["quantity"] / whole
    common = share.where(trades["side"] > 0).groupby([trades["signal_date"], trades["date"]]).transform("median")
    together = (trades["quantity"] - common * whole).abs() <= (_SIZE_FIT * whole).clip(lower=_SHARES)
    return trades.assign(quantity=trades["quantity"].where(~(cut & together), whole))


def _equal_share(trades: pd.DataFrame) -> float:
    """Return the share of orders in several parts, buys included, whose parts are equal."""
    if "signal_date" not in trades.columns:
        return 0.0
    orders = trades.groupby(["signal_date", "symbol", "side"])["quantity"]
    size, least, most = orders.count(), orders.min(), orders.max()
    several = size > 1
    # The last part carries the rest of a division by the number of parts.
    equal = (most - least) <= (_SIZE_FIT * most).clip(lower=_SHARES)
    return float(equal[several].mean()) if several.any() else 0.0


def _capped(context: Context, fit: ExecutionFit, detail: str) -> Result:
    """A volume cap is confirmed only where it bound: some order of the main or a stress run was split by it."""
    if fit.share < _CAP_FITS:
        return ("contradicted" if fit.elsewhere >= _MISSES else "unconfirmed"), detail
    if fit.split_orders:
        return "confirmed", detail
    for run in context.case.others:
        stated = values_of(delivered_spec(context.case.delivery, run.group)).get("adv_cap.cap")
        params = {"cap": stated} if stated is not None else {}
        if isinstance(run.panel, Absent):
            continue
        stress = execution_fit(
            "adv_cap", run.trades, run.panel, params=params or context.choices("execution", "adv_cap")[-1]
        )
        if not isinstance(stress, Absent) and stress.share >= _CAP_FITS and stress.split_orders:
            return "confirmed", f"{detail}; {run.group}: {stress.share:.1%} fit, {stress.split_orders} orders split"
    return "unconfirmed", f"{detail}; the cap never bound"


def cost(context: Context, item: Item) -> Result:
    """Compare the fees with the rate."""
    if item.value is None:
        return "unconfirmed", "the item has no rate"
    fit = fee_fit(context.case.main.trades, rate_bps=item.value)
    if isinstance(fit, Absent):
        return "unconfirmed", fit.reason
    detail = f"{fit.share:.1%} of fills at {item.value:g} bps, median {fit.implied_bps:.4f} bps"
    if fit.share >= _FITS or (fit.total_fits and fit.share >= _MISSES):
        if item.value > 0 and is_gross(context.case):
            return "contradicted", f"{detail}; the equity curve leaves these fees out"
        return "confirmed", detail
    return ("contradicted" if fit.share < _MISSES else "unconfirmed"), detail
