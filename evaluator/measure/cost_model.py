"""Dimension 3.5: the stated cost stands in the fee column and reaches the equity curve."""

import re

import pandas as pd

from evaluator.measure.case import Case
from evaluator.measure.equity_gap import equity_gap, is_gross
from evaluator.measure.naming import values_of
from evaluator.measure.verdict import scored
from evaluator.quant.absent import Absent
from evaluator.quant.execution import fee_fit
from records.grade import Judgement

_REACHES = 0.005


def judge(case: Case) -> Judgement:
    """Return the verdict of 3.5."""
    run, spec = case.main, case.spec
    if run.trades is None:
        return scored("3.5", 0, "no usable trade log")
    stated = spec.origins.get("transaction_cost") == "stated"
    rate = values_of(spec).get("fixed_rate.rate_bps") if spec.transaction_cost == "fixed_rate" else 0.0
    fees = run.trades["fee"].abs() if "fee" in run.trades.columns else None
    if fees is None:
        return _without_column(case, stated=stated, rate=rate)
    if not stated or rate is None:
        return scored(
            "3.5", 1, "a fee column, but no stated rate to hold it against", [f"sum of fees {fees.sum():.2f}"]
        )
    if rate == 0:
        return _cost_free(case, fees)
    return _with_column(case, fees, rate)


def _without_column(case: Case, *, stated: bool, rate: float | None) -> Judgement:
    if not stated:
        return scored("3.5", 0, "neither a cost statement nor a fee column")
    if rate == 0:
        return scored("3.5", 2, "stated free of cost, no fee column shows it")
    gap = equity_gap(case)
    if gap is not None and gap.largest <= _REACHES:
        return scored("3.5", 2, f"{rate:g} bps stated and in the equity, no fee column", [gap.text])
    return scored("3.5", 0, f"{rate} bps stated, not seen in fills or equity")


def _cost_free(case: Case, fees: "pd.Series[float]") -> Judgement:
    blank = int(fees.isna().sum())
    if blank:
        return scored("3.5", 1, f"stated free of cost, {blank} of {len(fees)} fills leave the fee open")
    paid = int((fees > 0).sum())
    if paid:
        return scored("3.5", 1, f"stated free of cost, {paid} of {len(fees)} fills carry a fee")
    return scored(
        "3.5", 4, "stated free of cost and every fee is 0", [f"{len(fees)} fills, {case.main.paths('trades')}"]
    )


def _with_column(case: Case, fees: "pd.Series[float]", rate: float) -> Judgement:
    trades = case.main.trades
    fit = Absent("no trade log") if trades is None else fee_fit(trades, rate_bps=rate)
    if isinstance(fit, Absent):
        return scored("3.5", 1, fit.reason)
    gap = equity_gap(case)
    reaches = gap is not None and gap.largest <= _REACHES
    evidence = [
        f"{rate:g} bps stated, median {fit.implied_bps:.4f} bps implied, {fit.share:.2%} of fills within 0.5 bp"
    ]
    if gap is not None:
        evidence.append(gap.text)
    if not float(fees.max()) > 0:
        return scored("3.5", 0, f"{rate:g} bps stated, every fee is 0", evidence)
    if is_gross(case):
        return scored("3.5", 0, f"{rate:g} bps stated and in the log, the equity curve leaves them out", evidence)
    if fit.share >= 0.99 and reaches and _both_reported(case):
        return scored("3.5", 4, "fees follow the stated rate, reach the equity, gross and net are reported", evidence)
    if fit.share >= 0.95 or fit.total_fits:
        return scored(
            "3.5", 3, "fees follow the stated rate" + ("" if reaches else ", equity does not show them"), evidence
        )
    return scored("3.5", 1, "the implied rate is another one for most fills", evidence)


def _both_reported(case: Case) -> bool:
    """Whether metrics or report give a gross and a net figure."""
    texts = [case.report.text.lower()] if case.report else []
    for table in case.delivery.of("metrics"):
        texts += [" ".join(str(cell) for cell in row).lower() for row in table.frame.itertuples(index=False)]
    return all(any(re.search(rf"\b{word}\b", text.replace("_", " ")) for text in texts) for word in ("gross", "net"))
