from collections.abc import Iterator

import pytest

from reports.collect import RunView
from sandbox.engine.engine import Engine, connect
from tests.boxes import Boxes, boxes_on
from tests.launched import launched


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    found = connect()
    yield found
    found.close()


@pytest.fixture(scope="module")
def boxes(engine: Engine) -> Iterator[Boxes]:
    with boxes_on(engine) as made:
        yield made


@pytest.fixture(scope="session")
def controls(tmp_path_factory: pytest.TempPathFactory) -> RunView:
    """Both controls on seeds 1 and 6, offline."""
    return launched(tmp_path_factory.mktemp("controls") / "run", "1,6")
