"""What recorded answers of a model judge mean for claims and for S. Pure: the same answers give the same scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from evaluator.compare.claims import Finding, configured
from evaluator.compare.question import ItemAnswer, ItemFindings
from evaluator.compare.questions import STATED
from evaluator.compare.statements import Statements
from evaluator.measure.specification import Row
from records.errors import GradingError
from records.spec import DeliveredSpec
from records.strategy import Item


@dataclass(frozen=True)
class ModelVerdicts:
    """Claims and statements as the judge sees them."""

    claims: Mapping[str, ItemAnswer]
    stated: frozenset[str]
    unverified: frozenset[str]
    """Items on which no verdict was reached, because the judge did not return."""

    def claim(self, item: Item, spec: DeliveredSpec, rows: Sequence[Row]) -> Finding:
        """Return the claim on one item; a configuration that says something else outranks what was said in words."""
        answer = self.claims.get(item.id)
        written = configured(item, spec, rows)
        if written is not None and written.claim == "contradicted":
            return written
        if answer is None:
            return Finding("missing")
        if answer.verdict in ("present", "contradicted"):
            quotes = tuple((quote.doc, quote.text) for quote in answer.quotes)
            return Finding("present" if answer.verdict == "present" else "contradicted", quotes)
        return Finding("missing")

    def add_to(self, statements: Statements) -> Statements:
        """Return S with what the judge decided of the items that the phrases left open."""
        return Statements(statements.stated | self.stated, statements.mentions)


def read_findings(path: Path) -> ItemFindings:
    """Return a judge's recorded findings. Raises: GradingError: they are none, which is ours to mend."""
    try:
        return ItemFindings.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise GradingError(f"{path.name}: expected the findings of a judge, found something else") from error


def read_verdicts(findings: ItemFindings, items: Sequence[Item]) -> ModelVerdicts:
    """Return what the findings say.

    Raises: GradingError: they are not about these items; ours, never the agent's.
    """
    claims: dict[str, ItemAnswer] = {}
    stated: set[str] = set()
    unverified: set[str] = set()
    for finding in findings.findings:
        if not finding.returned:
            unverified |= set(finding.items)
        elif finding.question == STATED:
            stated |= {answer.item for answer in finding.answers if answer.verdict == "stated"}
        else:
            claims |= {answer.item: answer for answer in finding.answers}
    due = {item.id for item in items}
    asked = {item for finding in findings.findings if finding.question != STATED for item in finding.items}
    if asked != due or not (set(claims) | stated | unverified) <= due or not due <= set(claims) | unverified:
        raise GradingError(
            "findings of the judge on the strategy: expected one on each item, found others; grade again"
        )
    return ModelVerdicts(claims, frozenset(stated), frozenset(unverified))
