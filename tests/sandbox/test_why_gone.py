from types import SimpleNamespace
from typing import Any, cast

import docker
import pytest

from sandbox.engine.container import Container
from sandbox.engine.forwarder import EXIT_FORWARDER, EXIT_LIFETIME


def _container(*, exit_code: int, oom: bool) -> Container:
    state = {"Running": False, "Paused": False, "Pid": 0, "ExitCode": exit_code, "OOMKilled": oom}
    api = SimpleNamespace(inspect_container=lambda _id: {"State": state}, logs=lambda _id, tail: b"")
    return Container(cast("docker.DockerClient", cast("Any", SimpleNamespace(api=api))), "c1", "box-1")


@pytest.mark.parametrize(
    ("exit_code", "oom", "agent_caused"),
    [
        (EXIT_FORWARDER, False, True),
        (EXIT_FORWARDER, True, True),
        (137, True, True),
        (137, False, False),
        (EXIT_LIFETIME, True, False),
        (0, False, False),
    ],
)
def test_only_a_dead_forwarder_and_a_memory_kill_are_the_agents_doing(
    exit_code: int, oom: bool, agent_caused: bool
) -> None:
    lost = _container(exit_code=exit_code, oom=oom).why_gone()

    assert lost.agent_caused is agent_caused
