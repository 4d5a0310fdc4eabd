from collections.abc import Iterator

import pytest

from sandbox.engine.engine import Engine, connect
from tests.boxes import Boxes, boxes_on


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    found = connect()
    yield found
    found.close()


@pytest.fixture(scope="module")
def boxes(engine: Engine) -> Iterator[Boxes]:
    with boxes_on(engine) as made:
        yield made
