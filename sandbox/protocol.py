"""What a session needs from a sandbox. Times in seconds, sizes in bytes; paths inside the box are POSIX."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol

from records.capture import CopyReport
from records.limits import DEFAULT_LIMITS, Limits

WORKSPACE = PurePosixPath("/workspace")
DELIVER = WORKSPACE / "deliver"
GATEWAY_PORT = 8801
"""Loopback port of the model and MCP routes inside the box."""
WEB_PORT = 8802
"""Loopback port of the web proxy inside the box."""


@dataclass(frozen=True)
class SandboxSpec:
    """How one box is made. `labels` carry run, session and attempt only, nothing that tells seed or strategy."""

    image: str
    run: str
    session: str
    attempt: int
    gateway_dir: Path
    """Host folder with gw.sock and web.sock, mounted read-only as a folder."""
    lifetime_s: float
    """PID 1 ends by itself after this long."""
    env: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = DEFAULT_LIMITS
    runtime: str = "runc"


@dataclass(frozen=True)
class ExecResult:
    """A command that was run in the box. A failing command is a result, never an exception."""

    exit_code: int | None
    """None when the command was killed before it reported one."""
    timed_out: bool
    duration_s: float
    stdout: bytes
    """Kept head and tail; where `stdout_missing` bytes were cut between them stands a marker line that says so."""
    stderr: bytes
    stdout_missing: int = 0
    stderr_missing: int = 0


@dataclass(frozen=True)
class StopProof:
    """What was alive, seen from outside the box, after the end of a turn."""

    survivors: tuple[str, ...]
    """Command lines of processes of the agent's uid; empty is the proof."""
    swept: int
    """Processes of the agent's uid seen alive before the sweep."""
    duration_s: float
    oom_kills: int = 0


class Sandbox(Protocol):
    """One box. Every method may raise LostError when the container is gone."""

    @property
    def id(self) -> str:
        """The container's id."""

    def start(self) -> None:
        """Create and start the box with its workspace, then freeze it. Raises StartError; leaves nothing behind then."""

    def thaw(self) -> None:
        """Let the box run again; a turn begins."""

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
        """Run one command as the agent's user and wait for it; at `timeout_s` SIGINT, the grace, then SIGKILL of all agent processes.

        With a path, the stream is also written to disk while it runs, capped by `Limits.stream_bytes` with head and
        tail kept. A missing program is exit_code 127. Raises SandboxError while the box is frozen.
        """

    def freeze(self) -> StopProof:
        """End a turn: kill every process of the agent's uid, prove it from outside, freeze. Raises LostError when one survives."""

    def copy_out(self, source: PurePosixPath, destination: Path) -> CopyReport:
        """Copy a folder of the frozen box to the host, no links out, devices, fifos or setuid bits. A missing folder is empty."""

    def archive(self, source: PurePosixPath, destination: Path) -> CopyReport:
        """Write a folder of the frozen box as .tar.zst with the same refusals; each kept file is hashed."""

    def cancel(self) -> None:
        """Kill without grace; safe from another thread."""

    def close(self) -> None:
        """Remove container, workspace and mounts. Idempotent. Raises SandboxError naming what is left and the command for it."""
