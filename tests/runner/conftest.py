from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(autouse=True)
def _quiet_log() -> Iterator[None]:
    with structlog.testing.capture_logs():
        yield
