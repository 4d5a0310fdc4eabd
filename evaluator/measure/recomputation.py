"""Dimension 3.2: the reported figures follow from the delivered fills and prices."""

from evaluator.measure.case import Case
from evaluator.measure.metric_check import check_metrics
from evaluator.measure.verdict import scored
from evaluator.quant.absent import Absent
from evaluator.quant.tolerance import MetricReport
from records.grade import Judgement

CORE = ("max_drawdown", "sharpe")


def judge(case: Case) -> Judgement:
    """Return the verdict of 3.2."""
    book = case.rebuilt
    if isinstance(book, Absent):
        return scored("3.2", 0, book.reason, case.delivery.refused)
    rebuilt = (
        f"rebuilt from {book.route}, {book.equity.index[0].date()} to {book.equity.index[-1].date()}, capital "
        f"{book.capital:.2f} ({book.capital_origin}), marked at {book.basis.mark}, coverage {book.coverage:.2%}"
    )
    evidence = [rebuilt]
    if not book.partly:
        return scored("3.2", 0, f"only {book.coverage:.0%} of the traded notional can be priced", evidence)
    report = check_metrics(case, book)
    evidence += [metric_line(check) for check in report.checks]
    return scored(
        "3.2", *_level(case, report, fully=book.fully, route=book.route, origin=book.capital_origin), evidence
    )


def metric_line(check: object) -> str:
    """Return one metric's comparison in words."""
    name, reported, own = getattr(check, "name", ""), getattr(check, "reported", None), getattr(check, "own", None)
    within = getattr(check, "within", None)
    state = "not comparable" if within is None else "within tolerance" if within else "outside tolerance"
    return f"{name}: reported {_number(reported)}, rebuilt {_number(own)}, {state}"


def _number(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, (int, float)) else "none"


def _level(case: Case, report: MetricReport, *, fully: bool, route: str, origin: str) -> tuple[int, str]:
    total = report.get("total_return")
    if total is None or not total.within:
        reported = "no total return is reported" if total is None else "total return outside 0.02 of the report"
        return 1, reported
    if not fully and case.rebuilt and getattr(case.rebuilt, "stale_share", 0.0) > 0.05:
        return 1, "more than 5% of the equity stands on stale prices"
    core = [report.get(name) for name in CORE]
    if any(check is None or not check.within for check in core):
        return 2, "total return agrees, drawdown or Sharpe does not or is not reported"
    gaps = [check.name for check in report.checks if not check.within]
    assumed = origin == "assumed" or route != "trades"
    open_names = getattr(case.rebuilt, "open_after_delisting", ())
    if gaps or assumed or not fully or open_names:
        why = [f"not within tolerance: {', '.join(gaps)}"] if gaps else []
        why += ["capital or fills are assumed"] if assumed else []
        why += [] if fully else ["coverage below 99%"]
        why += [f"still held after its last price: {', '.join(open_names)}"] if open_names else []
        return 3, "; ".join(why)
    return 4, "every reported metric follows from the delivered fills and prices"
