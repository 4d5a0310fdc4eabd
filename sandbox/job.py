"""A container that runs one command and is gone: what graders, re-runs and image checks ask of an engine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final, Protocol

from records.limits import MIB

AGENT_USER: Final = "1000:1000"


@dataclass(frozen=True)
class Mount:
    """A host file or folder as the job sees it. A read-only one is so for the job only; the host may still write."""

    source: Path
    target: PurePosixPath
    writable: bool = False


@dataclass(frozen=True)
class Job:
    """One command in its own container: no network, read-only root, no capabilities."""

    image: str
    argv: tuple[str, ...]
    """Whole command; the image's entry point is not used."""
    timeout_s: float
    mounts: tuple[Mount, ...] = ()
    user: str = AGENT_USER
    """uid:gid."""
    env: Mapping[str, str] = field(default_factory=dict)
    memory_bytes: int = 512 * MIB
    """Of all processes together; no swap on top."""
    pids: int = 256
    cpus: float = 1.0
    tmp_bytes: int = 64 * MIB
    """Size of /tmp, counted to the memory."""
    output_bytes: int = 1 * MIB
    """Of stdout and of stderr, each; head and tail are kept."""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class JobResult:
    """How a job ended. A failing command is a result, never an exception."""

    exit_code: int | None
    """None when it was killed for its time."""
    timed_out: bool
    oom_killed: bool
    """The engine saw a process of the job killed for its memory; the command may have gone on without it."""
    duration_s: float
    stdout: bytes
    stderr: bytes
    stdout_missing: int = 0
    """Bytes cut out of the middle."""
    stderr_missing: int = 0


class JobEngine(Protocol):
    """Runs jobs."""

    def run(self, job: Job) -> JobResult:
        """Run one job and remove it. Raises StartError: not started; LostError: the engine went away under it."""
