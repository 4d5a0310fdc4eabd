"""Deliveries made from a few words: a report, a conversation, metrics, a specification."""

from collections.abc import Iterable, Sequence
from datetime import date

import pandas as pd

from evaluator.judge.rules.run import find
from evaluator.judge.rules.view import View
from evaluator.judge.settle import settle
from evaluator.measure.case import Case
from evaluator.package.delivery import Delivery, Document, Message, Table
from records.calls import CallRecord
from records.judging import Finding
from records.task import Conditions

ASKED = "Please backtest 12-1 momentum on large US stocks for me."


def delivery(
    report: str = "",
    *,
    path: str = "report.md",
    talk: Sequence[str] = (),
    metrics: dict[str, float] | None = None,
    spec: Iterable[tuple[str, str, str]] = (),
    code: str = "",
    tables: Iterable[tuple[str, str, pd.DataFrame]] = (),
    calls: Iterable[CallRecord] = (),
) -> Delivery:
    """Return a delivery.

    Args: talk: texts of user and agent in turns, the user first; metrics: canonical name -> value; spec: component,
    key, value; tables: role, path, frame.
    """
    found = [Table(path=f"{p}", role=role, frame=frame, turn=1) for role, p, frame in tables]
    if metrics is not None:
        frame = pd.DataFrame({"name": list(metrics), "value": list(metrics.values()), "label": list(metrics)})
        found.append(Table("metrics.csv", "metrics", frame, 1))
    rows = list(spec)
    if rows:
        found.append(Table("specification.csv", "spec", pd.DataFrame(rows, columns=["component", "key", "value"]), 1))
    documents = [Document(path, "report", report, 1)] if report else []
    if code:
        documents.append(Document("backtest.py", "code", code, 1))
    messages = [Message("agent" if at % 2 else "user", (at + 1) // 2, text) for at, text in enumerate(talk)]
    conditions = Conditions(t_cut=date(2021, 12, 31), start_hint=date(2010, 1, 4), channels=("fmp-mcp",))
    return Delivery(conditions, tuple(messages), tuple(found), tuple(documents), calls=tuple(calls))


def finding(dimension: str, made: Delivery) -> Finding:
    """Return the rules judge's finding of one dimension."""
    return find(dimension, View(Case(made)))


def level(dimension: str, made: Delivery) -> int:
    """Return the score of one dimension, with its reason in the failure message of a test."""
    settled = settle(finding(dimension, made))
    assert settled.score is not None, settled.reason
    return settled.score


def why(dimension: str, made: Delivery) -> str:
    """Return what decided."""
    return settle(finding(dimension, made)).reason
