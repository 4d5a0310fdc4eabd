"""Sampled tasks beyond the frozen ten, held outside a box: the reference hears, builds and is graded with full marks."""

import pytest

from tests.sampled.cache import session
from tests.sampled.grading import grade

pytestmark = pytest.mark.slow  # whole sessions; make sampled holds two hundred of them


@pytest.mark.parametrize("seed", [10, 14, 38])
def test_sampled_task_is_heard_and_built_with_full_marks(seed: int) -> None:
    graded = grade(session(seed))

    assert graded.good
    assert graded.troubles() == []


def test_reference_finds_its_data_where_tools_come_in_groups() -> None:
    assert grade(session(9, shape="grouped")).good
