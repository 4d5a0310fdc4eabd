"""One container as a handle: each engine call a session makes, in one place and with our errors."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

import docker
from docker import errors as engine_errors

from records.errors import LostError, SandboxError, StartError
from sandbox.engine.attach import Attachment
from sandbox.engine.client import CALL_TIMEOUT_S, translated
from sandbox.engine.forwarder import EXIT_FORWARDER, EXIT_LIFETIME

GONE: Final = 404
CONFLICT: Final = 409
KILLED: Final = 137
"""Exit code after SIGKILL: the kernel's for want of memory, ours, or the operator's."""
NOT_FROZEN: Final = "unable to freeze"
"""runc gives up on the version 1 freezer after 1000 looks when the machine is busy (load 20, 2 cores); it thaws again."""
PAUSE_TRIES: Final = 20
PAUSE_WAIT_S: Final = 0.05
SHORT_EXEC_S: Final = 20.0
"""Our own small programs in a box; under a fork bomb an exec took 7 s to start (measured 2026-11)."""


@dataclass(frozen=True)
class State:
    """What the engine knows of a container."""

    running: bool
    paused: bool
    pid: int
    """PID 1 in the host's numbering, 0 when it does not run."""
    exit_code: int
    oom_killed: bool


@dataclass(frozen=True)
class ExecState:
    """What the engine knows of an exec."""

    running: bool
    exit_code: int | None
    pid: int
    """In the host's numbering, 0 before it started."""


class Container:
    """A created container."""

    def __init__(self, client: docker.DockerClient, container_id: str, name: str) -> None:
        """Take a container that exists."""
        self.client = client
        self.id = container_id
        self.name = name

    @classmethod
    def create(cls, client: docker.DockerClient, name: str, body: Mapping[str, Any]) -> "Container":
        """Create a container. Raises StartError, or PrerequisiteError when its image is not built."""
        with translated(f"create container {name}", fault=StartError, image=str(body["Image"])):
            made = client.api.create_container_from_config(dict(body), name)  # type: ignore[no-untyped-call]
        return cls(client, str(made["Id"]), name)

    def _doing(self, what: str) -> str:
        """Return the clause for an error's sentence."""
        return f"{what} container {self.name}"

    def start(self) -> None:
        """Start it. Raises StartError."""
        with translated(self._doing("start"), fault=StartError, container_id=self.id):
            self.client.api.start(self.id)

    def pause(self) -> None:
        """Freeze it. Raises LostError."""
        for tries_left in reversed(range(PAUSE_TRIES)):
            with translated(self._doing("freeze"), container_id=self.id):
                try:
                    self.client.api.pause(self.id)
                except engine_errors.APIError as exc:
                    if tries_left == 0 or NOT_FROZEN not in str(exc.explanation):
                        raise
                else:
                    return
            time.sleep(PAUSE_WAIT_S)

    def unpause(self) -> None:
        """Let it run. Raises LostError."""
        with translated(self._doing("thaw"), container_id=self.id):
            self.client.api.unpause(self.id)

    def kill(self) -> None:
        """End it at once; one that has ended or gone is left as it is."""
        with translated(self._doing("kill"), container_id=self.id):
            try:
                self.client.api.kill(self.id)
            except engine_errors.APIError as exc:
                if exc.status_code not in {GONE, CONFLICT}:
                    raise

    def remove(self) -> None:
        """Remove it with its anonymous volumes, running or not; one that is gone already is fine. Raises SandboxError."""
        with translated(self._doing("remove"), fault=SandboxError, container_id=self.id):
            try:
                self.client.api.remove_container(self.id, v=True, force=True)
            except engine_errors.APIError as exc:
                if exc.status_code != GONE and "already in progress" not in str(exc.explanation):
                    raise

    def state(self) -> State:
        """Return its state. Raises LostError when the engine no longer knows it."""
        with translated(self._doing("inspect"), container_id=self.id):
            found = self.client.api.inspect_container(self.id)["State"]
        return State(found["Running"], found["Paused"], found["Pid"], found["ExitCode"], found["OOMKilled"])

    def exec_create(
        self,
        argv: list[str],
        *,
        user: str,
        stdin: bool = False,
        env: Mapping[str, str] | None = None,
        cwd: PurePosixPath | None = None,
    ) -> str:
        """Prepare a command; returns the exec's id. Raises LostError."""
        with translated(self._doing("run a command in"), container_id=self.id):
            made = self.client.api.exec_create(
                self.id, argv, user=user, stdin=stdin, environment=dict(env or {}), workdir=str(cwd) if cwd else None
            )
        return str(made["Id"])

    def attach(self, exec_id: str, stdin: bytes = b"") -> Attachment:
        """Start a prepared command and hold its streams. Raises LostError."""
        with translated(self._doing("run a command in"), container_id=self.id):
            version = str(self.client.api.api_version)
            return Attachment(exec_id, stdin, api_version=version, timeout_s=CALL_TIMEOUT_S)

    def exec_state(self, exec_id: str) -> ExecState:
        """Return the state of an exec. Raises LostError when the container took it along."""
        with translated(self._doing("follow a command in"), container_id=self.id):
            found = self.client.api.exec_inspect(exec_id)
        return ExecState(found["Running"], found["ExitCode"], found["Pid"] or 0)

    def output(self, argv: list[str], *, user: str) -> bytes:
        """Run one of our own small programs and return what it printed. Raises LostError."""
        with self.attach(self.exec_create(argv, user=user)) as attachment:
            collected = b""
            for _ in range(int(SHORT_EXEC_S / 0.1)):
                frames = attachment.step(0.1)
                if frames is None:
                    return collected
                collected += b"".join(data for _kind, data in frames)
        raise LostError(f"{argv[0]} did not end in container {self.name} within {SHORT_EXEC_S} s", container_id=self.id)

    def why_gone(self) -> LostError:
        """Return the error for a container that ended under us, with what the engine still knows; never raises."""
        try:
            state = self.state()
            with translated(self._doing("read the log of"), container_id=self.id):
                words = self.client.api.logs(self.id, tail=5).decode(errors="replace").split()
        except SandboxError as exc:
            return LostError(f"container {self.name} is gone: {exc}", container_id=self.id)
        reasons = {
            EXIT_LIFETIME: "it lived its longest legal life",
            EXIT_FORWARDER: "a forwarder in it died",
            KILLED: "it was killed from outside",
        }
        out_of_memory = state.oom_killed and state.exit_code == KILLED
        reason = "memory ran out" if out_of_memory else reasons.get(state.exit_code, f"exit code {state.exit_code}")
        said = f"; its log ends: {' '.join(words)[:300]}" if words else ""
        return LostError(
            f"container {self.name} ended under its session: {reason}{said}",
            container_id=self.id,
            agent_caused=out_of_memory or (state.exit_code == EXIT_FORWARDER and not state.running),
        )
