"""Dimension 3.7: the sixteen audit checks A01-A16, each pass, fail or unverified with its evidence."""

from collections.abc import Callable
from typing import Literal

from evaluator.measure.audit_checks import BOOK_CHECKS, LOG_CHECKS, Finding
from evaluator.measure.case import Case
from evaluator.measure.runs import DATA_FAULTS
from evaluator.measure.verdict import scored
from evaluator.quant.absent import Absent
from records.grade import Judgement

State = Literal["pass", "fail", "unverified"]


def judge(case: Case) -> Judgement:
    """Return the verdict of 3.7."""
    if case.main.trades is None:
        return scored("3.7", 0, "no trade log with a usable fill was delivered", case.main.paths("trades"))
    findings = {name: _run(check, case) for name, check in {**LOG_CHECKS, **BOOK_CHECKS}.items()}
    failed = [name for name, (state, _) in findings.items() if state == "fail"]
    unverified = [name for name, (state, _) in findings.items() if state == "unverified"]
    evidence = [f"{name} {state}: {detail}" for name, (state, detail) in findings.items()]
    if len(failed) >= 4:
        score = 0
    elif len(failed) >= 2:
        score = 1
    elif failed:
        score = 2
    else:
        score = 3 if unverified else 4
    parts = [f"failing: {', '.join(failed)}"] if failed else []
    parts += [f"unverified: {', '.join(unverified)}"] if unverified else []
    return scored("3.7", score, "; ".join(parts) or "all sixteen checks pass", evidence, complete=not unverified)


def _run(check: Callable[[Case], Finding], case: Case) -> Finding:
    if check in BOOK_CHECKS.values() and isinstance(case.rebuilt, Absent):
        return "unverified", case.rebuilt.reason
    try:
        return check(case)
    except DATA_FAULTS as fault:
        return "unverified", f"the check stopped on the delivered data ({type(fault).__name__})"
