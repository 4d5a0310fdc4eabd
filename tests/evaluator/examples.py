"""The deliveries behind the worked examples of docs/rubric.md, and how one is graded there."""

from pathlib import Path

from evaluator.compare.run import compare
from evaluator.judge.settle import settle
from evaluator.measure.run import measure
from evaluator.measure.verdict import scored
from evaluator.package.attempt import load_delivery
from evaluator.score import grade
from records.grade import Grade, Measured
from records.judging import Finding
from records.session import EndReason
from records.strategy import Strategy
from tests.evaluator.deliveries import Delivered, _report, clean, strategy
from tests.evaluator.measure.test_flaws import same_close_fills

_CASES = ("missing data", "halted name", "split", "few candidates", "tie", "no signal", "no cash", "ends", "re-entry")
_COUNTS = ("2.10", "3.4")


def example(key: str) -> tuple[Delivered, Strategy]:
    """Return the delivery and the sealed strategy of one example."""
    delivered = clean()
    if key == "late_fill":
        same_close_fills(delivered)
        delivered.report = _report(delivered.tables["metrics"])
    if key == "missing_item":
        user, agent = delivered.messages[1]
        delivered.messages[1] = (f"{user} Fill every trade at the next close.", agent)
        return delivered, strategy(execution="next_close")
    return delivered, strategy()


def graded_by_hand(key: str, judged: dict[str, int], folder: Path) -> Grade:
    """Return the grade with the given grades of a judge of meaning; for 2.10 and 3.4 they are counts."""
    delivered, sealed = example(key)
    delivery = load_delivery(delivered.write(folder))
    measurement = measure(delivery)
    made = {one.dimension: one for one in measurement.measured.judgements}
    made["3.6"] = scored("3.6", 0, "no code was delivered")
    for dimension, value in judged.items():
        hits = _CASES[:value] if dimension in _COUNTS else ()
        finding = Finding(
            dimension=dimension,
            judge="rules",
            score=None if hits or (value == 0 and dimension in _COUNTS) else value,
            hits=hits,
        )
        made[dimension] = settle(finding, bound=measurement.measured.bounds.get(dimension))
    return grade(
        Measured(judgements=tuple(made.values())),
        compare(delivery, measurement.spec, sealed).compared,
        end_reason=EndReason.SATISFIED,
        judge="rules",
        user="rules",
        version="example",
        engine="process",
    )
