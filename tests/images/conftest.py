from collections.abc import Iterator

import docker
import pytest

from sandbox.engine import images
from sandbox.engine.client import open_client
from sandbox.engine.oneshot import DockerJobs


@pytest.fixture(scope="session")
def client() -> Iterator[docker.DockerClient]:
    opened = open_client()
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def jobs(client: docker.DockerClient) -> DockerJobs:
    return DockerJobs(client)


@pytest.fixture(scope="session")
def built() -> dict[str, str]:
    """Ids of all images that a run needs; built when they are not."""
    return images.build([], on_line=lambda _line: None)
