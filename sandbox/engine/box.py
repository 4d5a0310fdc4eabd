"""DockerSandbox: one sealed container per session (docs/adr/0001-sandbox-boundary.md)."""

import secrets
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Final

import docker

from records.capture import CopyReport
from records.errors import EvalError, LostError, SandboxError, StartError
from sandbox.engine.container import Container
from sandbox.engine.forwarder import SHELL
from sandbox.engine.hostconfig import box_labels, create_body
from sandbox.engine.owner import this_owner
from sandbox.engine.processes import NearView
from sandbox.engine.stop import Stopper
from sandbox.engine.transfer import read_far, read_near
from sandbox.engine.turn import Command, Turn
from sandbox.engine.workspace import Cap, Workspace, make_workspace
from sandbox.keep import ArchiveKeeper, Caps, FolderKeeper, Keeper
from sandbox.protocol import DELIVER, GATEWAY_PORT, WEB_PORT, WORKSPACE, ExecResult, SandboxSpec, StopProof

READY_S: Final = 15.0
"""Time for both forwarders to listen; 20 ms on an idle machine."""
LOOKS_PER_STATE: Final = 50
"""The engine is asked whether the box still runs once in so many looks: it is busy enough while boxes start."""
PORTS: Final = (GATEWAY_PORT, WEB_PORT)
OPEN_WORKSPACE: Final = f"umask 0; {SHELL[0]} chmod 0777 {WORKSPACE}; {SHELL[0]} mkdir -p {DELIVER}"
"""A plain volume's root belongs to root, who has no capability in a box but owns it."""
TABLE: Final = "/proc/net/tcp"


class DockerSandbox:
    """One box on the local engine. One thread drives it; `cancel` may come from another."""

    def __init__(self, client: docker.DockerClient, spec: SandboxSpec, forwarder: Path) -> None:
        """Name the box; nothing is created yet."""
        self._client = client
        self._spec = spec
        self._forwarder = forwarder
        self.name: Final = f"fincosmos-{secrets.token_hex(8)}"
        """Stands before the container does, so that whatever exists of it can be found."""
        self._container: Container | None = None
        self._workspace: Workspace | None = None
        self._stopper: Stopper | None = None
        self._frozen = False
        self._closed = False
        self._cancelled = threading.Event()

    @property
    def id(self) -> str:
        """The container's id; empty before start."""
        return self._container.id if self._container is not None else ""

    @property
    def workspace_cap(self) -> Cap:
        """Whether the workspace's size and inode count are enforced; for run.json."""
        return self._workspace.cap if self._workspace is not None else "hard"

    def start(self) -> None:
        """Create and start the box with its workspace, then freeze it. Raises StartError; leaves nothing behind then."""
        try:
            self._start()
        except StartError:
            self._abandon()
            raise
        except SandboxError as exc:
            self._abandon()
            raise StartError(f"box {self.name} did not come up: {exc}", container_id=exc.container_id) from exc
        except BaseException:
            self._abandon()
            raise

    def _start(self) -> None:
        """Bring the box up step by step."""
        spec = self._spec
        labels = box_labels(spec, this_owner())
        self._workspace = make_workspace(self.name, spec.limits, labels)
        body = create_body(spec, self._workspace, self._forwarder, labels)
        self._container = container = Container.create(self._client, self.name, body)
        self._refuse_cancelled()
        container.start()
        self._workspace.release()
        self._refuse_cancelled()
        init_pid = container.state().pid
        self._stopper = Stopper(container, init_pid, spec.limits, _near_view(container.id, init_pid))
        if self._workspace.cap == "soft":
            container.output([*SHELL, "-c", OPEN_WORKSPACE], user="0:0")
        self._wait_ready(container, self._stopper.near)
        container.pause()
        self._frozen = True
        self._refuse_cancelled()

    def _wait_ready(self, container: Container, near: NearView | None) -> None:
        """Wait until both forwarders listen. Raises StartError or LostError."""
        started = time.monotonic()
        looks = 0
        while not (near.listening(PORTS) if near is not None else _listening(container)):
            looks += 1
            late = time.monotonic() - started > READY_S
            if late or (looks % LOOKS_PER_STATE == 0 and not container.state().running):
                raise StartError(f"{container.why_gone()}; its forwarders never listened", container_id=container.id)
            time.sleep(0.003)
        if near is not None:
            near.guard()

    def _refuse_cancelled(self) -> None:
        """Stop coming up once cancelled."""
        if self._cancelled.is_set():
            raise StartError(f"box {self.name} was cancelled while it started", container_id=self.id or None)

    def _abandon(self) -> None:
        """Remove what a failed start left; the first error is the one to tell."""
        with suppress(EvalError):
            self.close()

    def _live(self) -> tuple[Container, Stopper]:
        """Return the parts of a started box. Raises LostError."""
        if self._closed or self._cancelled.is_set() or self._container is None or self._stopper is None:
            state = "cancelled" if self._cancelled.is_set() else "closed" if self._closed else "not started"
            raise LostError(f"box {self.name} is {state}; start another one", container_id=self.id or None)
        return self._container, self._stopper

    def thaw(self) -> None:
        """Let the box run again; a turn begins. A box that runs is left running."""
        container, _ = self._live()
        if self._frozen:
            container.unpause()
            self._frozen = False

    def exec(
        self,
        argv: list[str],
        *,
        timeout_s: float,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        cwd: PurePosixPath = WORKSPACE,
        stdout_path: Path | None = None,
        stderr_path: Path | None = None,
    ) -> ExecResult:
        """Run one command as the agent's user and wait for it (see the protocol).

        Raises: LostError: the box went away or was cancelled; SandboxError: the box is frozen, call thaw first.
        """
        container, stopper = self._live()
        if self._frozen:
            raise SandboxError(f"box {self.name} is frozen, a command needs it thawed; call thaw first")
        soft = self._spec.limits.workspace_bytes if self.workspace_cap == "soft" else None
        command = Command(argv, timeout_s, stdin, dict(env or {}), cwd)
        try:
            result = Turn(container, stopper, soft_cap_bytes=soft).run(command, stdout_path, stderr_path)
        except SandboxError as exc:
            self._live()
            if not isinstance(exc, LostError):
                raise
            raise container.why_gone() if not _runs(container) else exc from exc
        self._live()
        return result

    def freeze(self) -> StopProof:
        """End a turn: kill every process of the agent, prove it from outside, freeze. Raises LostError."""
        _, stopper = self._live()
        if self._frozen:
            return StopProof((), 0, 0.0, stopper.new_oom_kills())
        proof = stopper.freeze()
        self._frozen = True
        return proof

    def copy_out(self, source: PurePosixPath, destination: Path) -> CopyReport:
        """Copy a folder of the frozen box to the host (see the protocol). Raises TransferError or LostError."""
        limits = self._spec.limits
        keeper = FolderKeeper(destination, Caps(limits.deliver_bytes, limits.deliver_files))
        self._read(source, keeper)
        return keeper.finish()

    def archive(self, source: PurePosixPath, destination: Path) -> CopyReport:
        """Write a folder of the frozen box as .tar.zst (see the protocol). Raises TransferError or LostError."""
        limits = self._spec.limits
        with ArchiveKeeper(destination, Caps(limits.workspace_bytes, limits.workspace_inodes)) as keeper:
            self._read(source, keeper)
            return keeper.finish()

    def _read(self, source: PurePosixPath, keeper: Keeper) -> None:
        """Give the keeper what lies in the box."""
        container, stopper = self._live()
        if not self._frozen:
            raise SandboxError(f"box {self.name} runs, copying needs it frozen; call freeze first")
        if stopper.near is not None and stopper.by_host:
            read_near(stopper.init_pid, source, keeper)
        else:
            read_far(self._client, container.id, source, keeper)

    def cancel(self) -> None:
        """Kill without grace; safe from another thread. A box that is still coming up is removed by its own thread."""
        self._cancelled.set()
        container = self._container
        if container is not None and not self._closed:
            with suppress(SandboxError):
                container.kill()

    def close(self) -> None:
        """Remove container, workspace and mounts. Idempotent. Raises SandboxError naming what is left."""
        if self._workspace is not None:
            self._workspace.release()
        if self._closed:
            return
        container = self._container or self._lookup()
        if container is not None:
            try:
                container.remove()
            except SandboxError as exc:
                raise SandboxError(
                    f"container {self.name} with its workspace is left behind; run: docker rm -f -v {self.name} ({exc})",
                    container_id=container.id,
                ) from exc
        self._closed = True

    def _lookup(self) -> Container | None:
        """Return a container that was created though its creation was reported as failed."""
        if self._workspace is None:
            return None
        return Container(self._client, self.name, self.name)


def _near_view(container_id: str, init_pid: int) -> NearView | None:
    """Return the near view where there is one."""
    with suppress(OSError):
        return NearView(container_id, init_pid)
    return None


def _listening(container: Container) -> bool:
    """Ask from inside whether both forwarders listen."""
    table = container.output([SHELL[0], "cat", TABLE], user="999:999").decode(errors="replace")
    return all(f"0100007F:{port:04X} 00000000:0000 0A" in table for port in PORTS)


def _runs(container: Container) -> bool:
    """Return whether the engine says that it runs."""
    with suppress(SandboxError):
        return container.state().running
    return False
