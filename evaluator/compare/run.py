"""Compares a delivery with the sealed strategy: scores for the grade, quotes and verdicts for the sealed side only."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import Field, ValidationError

from evaluator.compare.checks import Checker
from evaluator.compare.claims import Finding, find_claim
from evaluator.compare.code_values import with_code
from evaluator.compare.fidelity import COMPONENTS, DIMENSION, ItemVerdict, component_score
from evaluator.compare.model_verdicts import ModelVerdicts, read_verdicts
from evaluator.compare.question import ItemFindings
from evaluator.compare.quotes import passages
from evaluator.compare.statements import Statements, read_statements
from evaluator.measure.case import Case
from evaluator.measure.specification import spec_rows
from evaluator.package.delivery import Delivery
from records.base import Record
from records.errors import GradingError
from records.grade import Compared, Judgement
from records.spec import DeliveredSpec
from records.strategy import Component, Item, Strategy


class Quote(Record):
    """A passage of the delivery on which a claim rests."""

    item: str
    doc: str
    text: str


class StatementEvidence(Record):
    """A user's sentence that touches an item, and what it does with it."""

    item: str
    turn: int
    sentence: str
    stance: str


class SealedVerdicts(Record):
    """compare-judgements.json: per-item verdicts, never shown to an agent."""

    schema_version: int = 1
    verdicts: tuple[ItemVerdict, ...]
    risk_control_acted: bool = Field(description="a delivered run shows positions that change because of the control")


class SealedEvidence(Record):
    """compare-evidence.json: the quotes and sentences behind the verdicts."""

    schema_version: int = 1
    quotes: tuple[Quote, ...]
    statements: tuple[StatementEvidence, ...]
    undecided: tuple[StatementEvidence, ...] = Field(description="items hit by a phrase but never affirmed by the user")


@dataclass(frozen=True)
class Comparison:
    """All that `compare` writes."""

    compared: Compared
    verdicts: SealedVerdicts
    evidence: SealedEvidence


def read_strategy(path: Path) -> Strategy:
    """Return the sealed strategy. Raises: GradingError: it is not one, which is ours to mend."""
    try:
        return Strategy.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise GradingError(f"{path.name}: expected a sealed strategy record, found something else") from error


def compare(
    delivery: Delivery, spec: DeliveredSpec, strategy: Strategy, *, answers: ItemFindings | None = None
) -> Comparison:
    """Return scores of 2.1-2.6, S, coverage and assumption rate, and the sealed verdicts behind them.

    Args: answers: what a model judge found on claims and open statements; None: the rules read both.
    """
    items = strategy.belief.items
    case = Case(delivery, measured=spec)
    judged = None if answers is None else read_verdicts(answers, items)
    statements = read_statements(delivery.messages, items)
    if judged is not None:
        statements = judged.add_to(statements)
    findings = _findings(case, spec, items, judged)
    unverified: frozenset[str] = frozenset() if judged is None else judged.unverified
    checker = Checker(case, spec, strategy)
    with np.errstate(all="ignore"):
        verdicts = tuple(_verdict(item, findings[item.id], statements, checker, unverified) for item in items)
        acted = checker.risk_control_acted()
    return Comparison(
        _compared(strategy, statements, verdicts, case, acted=acted),
        SealedVerdicts(verdicts=verdicts, risk_control_acted=acted),
        _evidence(findings, statements),
    )


def _findings(
    case: Case, spec: DeliveredSpec, items: Sequence[Item], judged: ModelVerdicts | None
) -> dict[str, Finding]:
    spec, rows = with_code(spec, spec_rows(case.delivery), case.delivery)
    if judged is not None:
        return {item.id: judged.claim(item, spec, rows) for item in items}
    said = list(passages(case.delivery))
    return {item.id: find_claim(item, spec, rows, said) for item in items}


def _verdict(
    item: Item, finding: Finding, statements: Statements, checker: Checker, unverified: frozenset[str]
) -> ItemVerdict:
    check, detail = checker.check(item)
    return ItemVerdict(
        item=item.id,
        component=item.component,
        stated=item.id in statements.stated,
        claim=finding.claim,
        check=check,
        detail=detail,
        verified=item.id not in unverified,
    )


def _compared(
    strategy: Strategy, statements: Statements, verdicts: Sequence[ItemVerdict], case: Case, *, acted: bool
) -> Compared:
    items = {item.id for item in strategy.belief.items}
    opening = set(strategy.opening_items) & items
    asked = items - opening
    unstated = [verdict for verdict in verdicts if not verdict.stated]
    known = all(verdict.verified for verdict in verdicts)
    return Compared(
        judgements=tuple(_judgement(component, verdicts, case, acted=acted) for component in COMPONENTS),
        items=len(items),
        opening=len(opening),
        stated=len(statements.stated),
        clarification_coverage=len(statements.stated & asked) / len(asked) if asked and known else None,
        assumption_rate=sum(verdict.is_missing for verdict in unstated) / len(unstated) if unstated and known else None,
    )


def _judgement(component: Component, verdicts: Sequence[ItemVerdict], case: Case, *, acted: bool) -> Judgement:
    mine = [verdict for verdict in verdicts if verdict.component == component]
    if not all(verdict.verified for verdict in mine):
        return Judgement(
            dimension=DIMENSION[component], source="compare", status="unverified", score=None, complete=False
        )
    has_backtest = case.main.trades is not None or case.main.weights is not None
    score = component_score(mine, has_backtest=has_backtest, acted=acted or component != "risk_control")
    return Judgement(
        dimension=DIMENSION[component],
        source="compare",
        status="not_applicable" if score is None else "scored",
        score=score,
        complete=not any(verdict.check == "unverified" for verdict in mine),
    )


def _evidence(findings: dict[str, Finding], statements: Statements) -> SealedEvidence:
    def shown(mentions: Sequence[object]) -> tuple[StatementEvidence, ...]:
        return tuple(StatementEvidence.model_validate(mention, from_attributes=True) for mention in mentions)

    return SealedEvidence(
        quotes=tuple(
            Quote(item=item, doc=doc, text=text[:600])
            for item, finding in findings.items()
            for doc, text in finding.quotes
        ),
        statements=shown(statements.mentions),
        undecided=shown(statements.undecided),
    )
