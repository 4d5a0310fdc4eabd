"""Run our own Python as a confined child process, where there is no engine. Never for code that an agent delivered.

Limits hold always; as root it also gets a user, a network, a process and an IPC namespace of its own. The tools are util-linux's (unshare, setpriv), on every Debian and Ubuntu; the result says which of them held.
"""

import functools
import os
import resource
import shutil
import signal
import site
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Final

from records.limits import MIB
from sandbox.capped import CappedStream
from sandbox.job import JobResult

SPARE_UID: Final = 65_000
"""Of a user that exists nowhere: Debian policy 9.2.2 keeps 65000-65533 free."""
ADDRESS_SPACE_FACTOR: Final = 3
"""Address space per byte of memory allowed; numpy and pyarrow reserve about 1.4 GiB that they never touch."""
MAX_FILE_BYTES: Final = 256 * MIB
MAX_PROCESSES: Final = 256
MAX_OPEN_FILES: Final = 1024
OUTPUT_BYTES: Final = 1 * MIB
CHUNK_BYTES: Final = 64 * 1024
DRAIN_S: Final = 5.0
"""Without a process namespace something that left the session may hold a pipe; its output is not waited for."""
ROOT: Final = Path(__file__).resolve().parents[1]


class Confined:
    """Who a confined process is."""

    @staticmethod
    def uid() -> int:
        """Return the user it runs as: a spare one as root where that user can read our code, else ours."""
        return SPARE_UID if _may_change_user() else os.geteuid()


def run_confined(
    arguments: tuple[str, ...], *, timeout_s: float, memory_bytes: int
) -> tuple[JobResult, tuple[str, ...]]:
    """Run this Python with arguments and wait for it.

    Returns: the result and what confined it: `rlimits`, and where possible `network`, `processes`, `capabilities`, `user`.
    """
    prefix, confined_by = _wrapping()
    stdout, stderr = CappedStream(OUTPUT_BYTES), CappedStream(OUTPUT_BYTES)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fincosmos-empty-") as folder:
        Path(folder).chmod(0o755)
        child = subprocess.Popen(
            [*prefix, sys.executable, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=_environment(folder),
            start_new_session=True,
            preexec_fn=functools.partial(_limit, memory_bytes, timeout_s),  # noqa: PLW1509 only setrlimit calls
        )
        readers = [
            threading.Thread(target=_read, args=pair, daemon=True)
            for pair in ((child.stdout, stdout), (child.stderr, stderr))
        ]
        for reader in readers:
            reader.start()
        exit_code: int | None
        try:
            exit_code = child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            exit_code = None
        finally:
            _end(child)
        for reader in readers:
            reader.join(DRAIN_S)
    duration = time.monotonic() - started
    out, err, out_missing, err_missing = _kept(stdout, stderr)
    result = JobResult(
        exit_code=exit_code,
        timed_out=exit_code is None,
        oom_killed=False,
        duration_s=duration,
        stdout=out,
        stderr=err,
        stdout_missing=out_missing,
        stderr_missing=err_missing,
    )
    return result, confined_by


def _kept(stdout: CappedStream, stderr: CappedStream) -> tuple[bytes, bytes, int, int]:
    """Return both streams and what is missing in them, in JobResult's order."""
    (out, out_missing), (err, err_missing) = stdout.result(), stderr.result()
    return out, err, out_missing, err_missing


def _read(pipe: IO[bytes] | None, into: CappedStream) -> None:
    """Take a pipe to its end."""
    if pipe is not None:
        with pipe:
            for chunk in iter(functools.partial(os.read, pipe.fileno(), CHUNK_BYTES), b""):
                into.write(chunk)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the child's session; with a process namespace that is everything it ever started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    child.wait()


def _limit(memory_bytes: int, timeout_s: float) -> None:
    """Set the limits between fork and exec."""
    seconds = int(timeout_s) + 1
    for kind, value in (
        (resource.RLIMIT_AS, memory_bytes * ADDRESS_SPACE_FACTOR),
        (resource.RLIMIT_DATA, memory_bytes),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, MAX_FILE_BYTES),
        (resource.RLIMIT_NPROC, MAX_PROCESSES),
        (resource.RLIMIT_NOFILE, MAX_OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        ceiling = resource.getrlimit(kind)[1]
        wanted = value if ceiling == resource.RLIM_INFINITY else min(value, ceiling)
        resource.setrlimit(kind, (wanted, wanted))


def _environment(folder: str) -> dict[str, str]:
    """Return a fresh environment: nothing of ours, no key, goes into the child."""
    return {
        "PATH": os.defpath,
        "HOME": folder,
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def _wrapping() -> tuple[list[str], tuple[str, ...]]:
    """Return the programs that confine the child and what they give beside the limits."""
    unshare, setpriv = shutil.which("unshare"), shutil.which("setpriv")
    if unshare is None or setpriv is None:
        return [], ("rlimits",)
    separate = ["--net", "--ipc", "--pid", "--fork", "--kill-child"]
    if os.geteuid() != 0:
        prefix = [unshare, "--user", "--map-root-user", *separate]
        if _works([*prefix, "true"]):
            return prefix, ("rlimits", "network", "processes")
        return [], ("rlimits",)
    prefix = [unshare, *separate]
    held: tuple[str, ...] = ("rlimits", "network", "processes")
    if not _works([*prefix, "true"]):
        prefix, held = [], ("rlimits",)
    prefix += [setpriv, "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]
    held = (*held, "capabilities")
    if not _may_change_user():
        return prefix, held
    return [*prefix, f"--reuid={SPARE_UID}", f"--regid={SPARE_UID}", "--clear-groups"], (*held, "user")


@functools.cache
def _works_cached(command: tuple[str, ...]) -> bool:
    """Return whether a command ends well."""
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _works(command: list[str]) -> bool:
    """Return whether this machine lets us confine a process so; asked once."""
    return _works_cached(tuple(command))


def _may_change_user() -> bool:
    """Return whether we are root and any user could read our Python, its packages and our code."""
    if os.geteuid() != 0:
        return False
    needed = [Path(sys.executable), Path(sysconfig.get_path("stdlib")), ROOT, *map(Path, site.getsitepackages())]
    return all(_open_to_all(path) for path in needed if path.exists())


def _open_to_all(path: Path) -> bool:
    """Return whether every user can enter the folders to a path, links followed, and read what is there."""
    real = path.resolve()
    roads = {*path.parents, *real.parents}
    return all(folder.stat().st_mode & 0o1 for folder in roads) and bool(real.stat().st_mode & 0o4)
