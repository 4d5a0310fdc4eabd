"""What sessions in this process stand on: a gateway and a data service with a key canary, and the engine inspected."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker

from generator import offline_conditions
from offline.data import ensure
from offline.fmp import start_fmp
from records.limits import DEFAULT_LIMITS
from runner import wiring
from runner.door import GatewayDoor, Upstream, open_gateway
from sandbox.engine.oneshot import DockerJobs
from sandbox.job import Job, JobEngine, JobResult

KEY = "fmp-key-canary-3f9c27d1"


@dataclass
class Services:
    """A gateway in front of the data service, both with the key canary."""

    door: GatewayDoor
    data_pid: int

    @property
    def gateway_pid(self) -> int:
        return self.door.gateway.process.pid


@contextlib.contextmanager
def services(scratch: Path) -> Iterator[Services]:
    """Run both while the block runs."""
    with (
        start_fmp(ensure(), KEY) as data,
        open_gateway(
            Upstream(data.base_url, KEY),
            offline_conditions(),
            offline=True,
            limits=DEFAULT_LIMITS,
            log_to=scratch / "gateway.log",
        ) as door,
    ):
        yield Services(door, data.process.pid)


class InspectedMachine(wiring.DockerMachine):
    """The local engine; what it says about each job is kept."""

    def __init__(self) -> None:
        self.described: list[Mapping[str, Any]] = []
        self.change: Callable[[Job], Job] = lambda job: job

    @property
    def client(self) -> docker.DockerClient:
        return self._engine.client

    def jobs(self, run: str | None) -> JobEngine:
        """Return the product's engine for jobs, which also describes each container before it runs."""
        described, change = self.described, self.change

        class Inspecting(DockerJobs):
            def run(self, job: Job) -> JobResult:
                return super().run(change(job))

            def _follow(self, job: Job, container: str) -> JobResult:
                described.append(self.client.api.inspect_container(container))
                return super()._follow(job, container)

        return Inspecting(self.client)
