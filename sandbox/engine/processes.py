"""What runs in a box, seen and ended from outside it.

Two views. The near one reads the box's cgroup and the host's process table; it needs the runner in the host's process
namespace, and root to send signals. The far one asks the engine. Either tells the agent's processes from ours by uid:
PID 1 and the forwarders have another than the agent, and no process in the box can change its own.
"""

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import docker

from sandbox.engine.client import translated

CGROUPS: Final = Path("/sys/fs/cgroup")
PROC: Final = Path("/proc")
GUARD_OOM_SCORE: Final = "-999"
"""The kernel ends PID 1 and the forwarders last when memory runs out."""


@dataclass(frozen=True)
class Process:
    """One process of a box."""

    pid: int
    """In the host's numbering."""
    uid: str
    """Number or name, as the view gives it; compared only within one view."""
    state: str
    command: str


class NearView:
    """Reads the box's cgroup; none of its methods asks the engine."""

    def __init__(self, container_id: str, init_pid: int) -> None:
        """Find the cgroup of the box. Raises OSError when this process does not see the host's process table."""
        text = (PROC / str(init_pid) / "cgroup").read_text(encoding="utf-8")
        if container_id not in text:
            raise OSError(f"process {init_pid} is not in container {container_id}")
        paths: dict[str, str] = {}
        for line in text.splitlines():
            _number, controllers, path = line.split(":", 2)
            paths.update(dict.fromkeys(controllers.split(","), path))
        self._pids = self._folder("pids", paths)
        self._memory = self._folder("memory", paths)
        if not (self._pids / "cgroup.procs").exists():
            raise OSError(f"no cgroup at {self._pids}")
        self._init_pid = init_pid
        self._guard = self._uid(init_pid)

    @staticmethod
    def _folder(controller: str, paths: dict[str, str]) -> Path:
        """Return the folder of a controller, version 1 or 2."""
        if controller in paths:
            return CGROUPS / controller / paths[controller].lstrip("/")
        return CGROUPS / paths.get("", "").lstrip("/")

    @staticmethod
    def _uid(pid: int) -> str:
        """Return the real uid of a process. Raises OSError when it is gone."""
        for line in (PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("Uid:"):
                return line.split()[1]
        raise OSError(f"process {pid} has no uid")

    def _pids_alive(self) -> list[int]:
        """Return all process ids of the box."""
        with contextlib.suppress(OSError):
            return [int(word) for word in (self._pids / "cgroup.procs").read_text(encoding="ascii").split()]
        return []

    def agent_pids(self) -> list[int]:
        """Return the agent's processes that are not dead yet."""
        found = []
        for pid in self._pids_alive():
            with contextlib.suppress(OSError):
                status = (PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace")
                fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
                if fields["Uid"].split()[0] != self._guard and fields["State"].split()[0] not in {"Z", "X"}:
                    found.append(pid)
        return found

    def describe(self, pids: list[int]) -> tuple[str, ...]:
        """Return one line per process: state and command line, for the record."""
        return tuple(self._describe(pid) for pid in pids)

    @staticmethod
    def _describe(pid: int) -> str:
        """Return state and command line of a process."""
        with contextlib.suppress(OSError):
            words = (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            state = (
                (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace").rsplit(")", 1)[1].split()[0]
            )
            return f"{state} {words or '(no command line)'}"
        return "? (gone)"

    def signal(self, number: signal.Signals) -> int:
        """Signal every process of the agent; returns how many took it.

        A process is pinned before its cgroup is checked, so no number that was used again meanwhile is ever hit.
        """
        hit = 0
        for pid in self.agent_pids():
            with contextlib.suppress(OSError), _pinned(pid) as handle:
                if self._holds(pid):
                    signal.pidfd_send_signal(handle, number)
                    hit += 1
        return hit

    def _holds(self, pid: int) -> bool:
        """Return whether a process is in this box's cgroup. Raises OSError when it is gone."""
        lines = (PROC / str(pid) / "cgroup").read_text(encoding="utf-8").splitlines()
        return any(line.rsplit("/", 1)[-1] == self._pids.name for line in lines)

    def oom_kills(self) -> int:
        """Return how many processes of the box the kernel ended for want of memory since it started."""
        for name in ("memory.oom_control", "memory.events"):
            with contextlib.suppress(OSError):
                lines = (self._memory / name).read_text(encoding="ascii").splitlines()
                return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)
        return 0

    def listening(self, ports: tuple[int, ...]) -> bool:
        """Return whether something listens on every one of these loopback ports of the box."""
        with contextlib.suppress(OSError):
            table = (PROC / str(self._init_pid) / "net" / "tcp").read_text(encoding="ascii")
            return all(f"0100007F:{port:04X} 00000000:0000 0A" in table for port in ports)
        return False

    def guard(self) -> None:
        """Shield PID 1 and the forwarders from the kernel's out-of-memory choice; their children inherit it."""
        for pid in self._pids_alive():
            with contextlib.suppress(OSError):
                (PROC / str(pid) / "oom_score_adj").write_text(GUARD_OOM_SCORE, encoding="ascii")

    def watch(self, pid: int) -> int | None:
        """Return a descriptor that becomes readable when this process of the box ends; None when it is gone already.

        The caller closes it.
        """
        with contextlib.suppress(OSError):
            handle = os.pidfd_open(pid)
            try:
                if self._holds(pid):
                    return handle
            except OSError:
                os.close(handle)
                raise
            os.close(handle)
        return None


@contextlib.contextmanager
def _pinned(pid: int) -> Iterator[int]:
    """Yield a descriptor that means this very process, whatever its number means later."""
    handle = os.pidfd_open(pid)
    try:
        yield handle
    finally:
        os.close(handle)


def far_view(client: docker.DockerClient, container_id: str, init_pid: int) -> list[Process]:
    """Return the agent's processes as the engine lists them; works on a frozen box."""
    with translated("list the processes of the box", container_id=container_id):
        rows = client.api.top(container_id, ps_args="-eo pid,uid,stat,args")["Processes"] or []
    listed = [Process(int(row[0]), row[1], row[2], " ".join(row[3:])) for row in rows]
    guards = {process.uid for process in listed if process.pid == init_pid}
    return [process for process in listed if process.uid not in guards and not process.state.startswith("Z")]
