"""Each dimension gives each of its five levels to a delivery that deserves it."""

import pytest

from tests.evaluator.judge import other_examples
from tests.evaluator.judge.builders import level, why
from tests.evaluator.judge.veto_examples import BY_DIMENSION, Example

VETO = [
    pytest.param(dimension, example, id=f"{dimension}-{example.level}-{example.name}")
    for dimension, examples in BY_DIMENSION.items()
    for example in examples
]
OTHER = [
    pytest.param(dimension, wanted, at, id=f"{dimension}-{wanted}-{at}")
    for dimension, levels in other_examples.BY_DIMENSION.items()
    for wanted, made in levels.items()
    for at in range(len(made))
]


@pytest.mark.parametrize(("dimension", "example"), VETO)
def test_veto_dimension_meets_the_anchor(dimension: str, example: Example) -> None:
    assert level(dimension, example.made) == example.level, why(dimension, example.made)


@pytest.mark.parametrize(("dimension", "wanted", "at"), OTHER)
def test_dimension_meets_the_anchor(dimension: str, wanted: int, at: int) -> None:
    made = other_examples.BY_DIMENSION[dimension][wanted][at]
    assert level(dimension, made) == wanted, why(dimension, made)


def test_every_level_of_every_dimension_has_an_example() -> None:
    for dimension, examples in BY_DIMENSION.items():
        assert {example.level for example in examples} == {0, 1, 2, 3, 4}, dimension
    for dimension, levels in other_examples.BY_DIMENSION.items():
        assert set(levels) == {0, 1, 2, 3, 4}, dimension


def test_source_that_was_never_called_traces_nothing() -> None:
    assert level("1.2", other_examples.NEVER_CALLED) == 1
    assert level("1.2", other_examples.WAS_CALLED) == 4
