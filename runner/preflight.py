"""What must be there before anything starts; each check raises one sentence and leaves nothing behind."""

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol

from records.errors import EvalError, PrerequisiteError, UsageError
from records.limits import Limits

KEY_VARIABLE = "FMP_API_KEY"
_GIB = 1024**3

Check = Callable[[], object]


class Machine(Protocol):
    """What the checks ask about this machine."""

    def engine_version(self) -> str:
        """Return the Docker engine's version. Raises PrerequisiteError when none answers or it is too old."""

    def image_ids(self, names: Iterable[str]) -> dict[str, str]:
        """Return the ids of these images. Raises PrerequisiteError naming the first that is not built."""

    def free_disk(self) -> int:
        """Return the free bytes where images and workspaces lie. Raises PrerequisiteError or LostError."""

    def workspace_cap(self) -> str:
        """Return in words whether a workspace's size limit is enforced on this machine."""


def check_out(out: Path) -> None:
    """Refuse a run directory that exists or cannot be made. Raises UsageError."""
    if out.exists() or out.is_symlink():
        raise UsageError(f"run directory '{out}' exists; a run never writes over another, give --out a new name")
    parent = existing_parent(out)
    if not parent.is_dir():
        raise UsageError(f"run directory '{out}': '{parent}' is a file; give --out a path below a folder")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise UsageError(f"run directory '{out}': '{parent}' cannot be written by this user; give --out another path")


def check_disk(out: Path, limits: Limits) -> None:
    """Refuse to start on a disk that is nearly full. Raises PrerequisiteError."""
    parent = existing_parent(out)
    free = shutil.disk_usage(parent).free
    if free < limits.min_free_disk_bytes:
        raise PrerequisiteError(
            f"disk of '{parent}': expected {limits.min_free_disk_bytes / _GIB:.1f} GiB free, found "
            f"{free / _GIB:.1f} GiB; free some space (runner clean, docker image prune) or give --out another disk"
        )


def check_engine_disk(machine: Machine, limits: Limits) -> None:
    """Refuse to start where images and workspaces have too little room. Raises PrerequisiteError."""
    free = machine.free_disk()
    if free < limits.min_free_disk_bytes:
        raise PrerequisiteError(
            f"disk of the engine and the workspaces: expected {limits.min_free_disk_bytes / _GIB:.1f} GiB free, found "
            f"{free / _GIB:.1f} GiB; free some space (runner clean, docker image prune)"
        )


def check_key(environ: Mapping[str, str]) -> str:
    """Return the data service's key. Raises PrerequisiteError when the environment has none."""
    key = environ.get(KEY_VARIABLE, "").strip()
    if not key:
        raise PrerequisiteError(
            f"{KEY_VARIABLE} is not set, a live run needs the key of the data service; run: export {KEY_VARIABLE}=..., "
            "or add --offline"
        )
    return key


def existing_parent(path: Path) -> Path:
    """Return the nearest ancestor that exists."""
    return next(parent for parent in path.absolute().parents if parent.exists())


def what_is_missing(checks: Iterable[Check]) -> list[str]:
    """Run all checks and return the sentences of those that fail, in order, each once."""
    sentences: dict[str, None] = {}
    for check in checks:
        try:
            check()
        except EvalError as error:
            sentences[str(error)] = None
    return list(sentences)
