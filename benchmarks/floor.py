"""The floor under a session: what the engine itself takes for one container of the same HostConfig.

Create, start, one exec, one archive read, kill, remove; nothing of ours in between. Changed only by an ADR, so that
the ratios of different versions can be compared.
"""

from collections.abc import Mapping
from typing import Any

import docker


def floor(client: docker.DockerClient, name: str, body: Mapping[str, Any], argv: list[str], archived: str) -> None:
    """Take one container through its life."""
    api = client.api
    container = api.create_container_from_config(dict(body), name)["Id"]
    api.start(container)
    command = api.exec_create(container, argv, user="1000:1000")["Id"]
    api.exec_start(command)
    api.exec_inspect(command)
    chunks, _stat = api.get_archive(container, archived)
    for _ in chunks:
        pass
    api.kill(container)
    api.remove_container(container, v=True, force=True)
