"""Grades deliveries as the command line does, without a process."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from evaluator.compare.run import Comparison, compare
from evaluator.measure.run import Measurement, measure
from evaluator.package.attempt import load_delivery
from records.strategy import Strategy
from tests.evaluator.deliveries import Delivered, strategy


@dataclass(frozen=True)
class Graded:
    """Measurement and comparison of one delivery."""

    measurement: Measurement
    comparison: Comparison

    @property
    def scores(self) -> dict[str, int]:
        judgements = (*self.measurement.measured.judgements, *self.comparison.compared.judgements)
        return {judgement.dimension: judgement.score for judgement in judgements if judgement.score is not None}

    def evidence(self, dimension: str) -> str:
        found = [j for j in self.measurement.measured.judgements if j.dimension == dimension]
        return "\n".join([found[0].reason, *found[0].evidence])

    def failing(self) -> list[str]:
        """Audit checks that do not pass."""
        lines = self.evidence("3.7").splitlines()
        return [line.split()[0] for line in lines if line[:1] == "A" and line.split()[1] != "pass:"]


@pytest.fixture
def graded(tmp_path: Path) -> Callable[..., Graded]:
    """Return a function that grades a delivery against a strategy."""

    def run(delivered: Delivered, sealed: Strategy | None = None) -> Graded:
        delivery = load_delivery(delivered.write(tmp_path))
        measurement = measure(delivery)
        return Graded(measurement, compare(delivery, measurement.spec, sealed or strategy()))

    return run
