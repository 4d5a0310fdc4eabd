"""Run one command in a container of its own and remove it: graders, re-runs of delivered code, image checks.

Not for sessions: nothing is frozen, forwarded or captured here. Results come out of writable mounts.
"""

import contextlib
import math
import threading
import time
from dataclasses import dataclass
from typing import Any, Final

import docker
import requests.exceptions
from docker.types import LogConfig, Ulimit
from docker.types import Mount as EngineMount
from docker.utils.socket import STDERR, frames_iter

from records.errors import LostError, PrerequisiteError, StartError
from sandbox.capped import CappedStream
from sandbox.engine.client import translated
from sandbox.engine.hostconfig import LABEL_OWNER
from sandbox.engine.owner import this_owner
from sandbox.job import Job, JobResult

SELF_END_SLACK_S: Final = 30.0
"""A job whose runner died ends by itself so long after its limit."""
DRAIN_S: Final = 5.0
"""Time for the last output to arrive after the end; the engine's own grace for held streams is 2 s."""


@dataclass(frozen=True)
class DockerJobs:
    """A JobEngine on the local Docker engine; safe to share between threads."""

    client: docker.DockerClient

    def run(self, job: Job) -> JobResult:
        """Run one job and remove it, also when something fails on the way.

        Raises: PrerequisiteError: the image is not built; StartError: the container did not start; LostError: the
        engine went away.
        """
        for mount in job.mounts:
            if not mount.source.exists():
                raise StartError(f"mount {mount.source} for {mount.target} is not there; run again once it exists")
        with translated(f"create a job of image {job.image}", fault=StartError, image=job.image):
            container = self.client.api.create_container(**self._config(job))["Id"]
        try:
            return self._follow(job, container)
        finally:
            with contextlib.suppress(LostError, PrerequisiteError), translated("remove a job", container_id=container):
                self.client.api.remove_container(container, force=True, v=True)

    def _config(self, job: Job) -> dict[str, Any]:
        """Return the engine's description of the container."""
        api = self.client.api
        host = api.create_host_config(
            network_mode="none",
            read_only=True,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            init=True,
            mem_limit=job.memory_bytes,
            memswap_limit=job.memory_bytes,
            pids_limit=job.pids,
            nano_cpus=int(job.cpus * 1e9),
            tmpfs={"/tmp": f"rw,nosuid,nodev,size={job.tmp_bytes},mode=1777"},  # noqa: S108 the job's own
            shm_size=job.tmp_bytes,
            ulimits=[Ulimit(name="core", soft=0, hard=0)],
            log_config=LogConfig(type="none"),
            mounts=[
                EngineMount(
                    target=str(mount.target), source=str(mount.source), type="bind", read_only=not mount.writable
                )
                for mount in job.mounts
            ],
        )
        return {
            "image": job.image,
            "entrypoint": ["timeout", "-k", "5", str(job.timeout_s + SELF_END_SLACK_S)],
            "command": list(job.argv),
            "user": job.user,
            "environment": dict(job.env),
            "labels": {**job.labels, LABEL_OWNER: this_owner()},
            "network_disabled": True,
            "host_config": host,
        }

    def _follow(self, job: Job, container: str) -> JobResult:
        """Start the container, keep what it prints, wait for its end or its time."""
        output = _Output(CappedStream(job.output_bytes), CappedStream(job.output_bytes))
        with translated("attach to a job", fault=StartError, container_id=container):
            attached = self.client.api.attach_socket(container, {"stdout": 1, "stderr": 1, "stream": 1})
        reader = threading.Thread(target=output.read, args=(attached,), daemon=True, name="job-output")
        reader.start()
        try:
            with translated("start a job", fault=StartError, container_id=container):
                started = time.monotonic()
                self.client.api.start(container)
            with translated("wait for a job", container_id=container):
                exit_code = self._wait(container, job.timeout_s)
                duration = time.monotonic() - started
                if exit_code is None:
                    self._kill(container)
                oom = bool(self.client.api.inspect_container(container)["State"]["OOMKilled"])
            reader.join(DRAIN_S)
        finally:
            attached._response.close()  # noqa: SLF001 the SDK hides the connection's other owner there; both must close
            attached.close()
        (stdout, stdout_missing), (stderr, stderr_missing) = output.stdout.result(), output.stderr.result()
        return JobResult(exit_code, exit_code is None, oom, duration, stdout, stderr, stdout_missing, stderr_missing)

    def _wait(self, container: str, timeout_s: float) -> int | None:
        """Return the exit code, or None when the time ran out first."""
        try:
            return int(self.client.api.wait(container, timeout=math.ceil(timeout_s))["StatusCode"])
        except (requests.exceptions.ReadTimeout, requests.exceptions.ConnectionError) as exc:
            if not isinstance(exc, requests.exceptions.ReadTimeout) and "timed out" not in str(exc).lower():
                raise
            return None

    def _kill(self, container: str) -> None:
        """End the container now; it may have ended by itself meanwhile."""
        with contextlib.suppress(docker.errors.APIError):
            self.client.api.kill(container)
        self.client.api.wait(container)


@dataclass(frozen=True)
class _Output:
    """Both streams of a job."""

    stdout: CappedStream
    stderr: CappedStream

    def read(self, attached: Any) -> None:
        """Take frames until the container ends or the connection goes."""
        with contextlib.suppress(OSError, ValueError):
            for kind, chunk in frames_iter(attached, tty=False):  # type: ignore[no-untyped-call]
                (self.stderr if kind == STDERR else self.stdout).write(chunk)
