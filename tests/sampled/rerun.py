"""Runs the delivered code of a sampled session again, as the runner does, with a folder for its box."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from records.capture import CopyReport, FileEntry
from records.limits import DEFAULT_LIMITS
from records.paths import AttemptPaths
from records.rerun import Rerun
from runner.rerun import Rerunner
from runner.store import file_sha256
from sandbox.protocol import WORKSPACE, ExecResult, StopProof
from tests.sampled.session import LIMIT_S, ROOT

CODE = ("rerun.py", "rerun_box.py", "entrypoint.py", "makefile.py", "withheld.py")
"""Modules of `runner` that a rerun record depends on, besides this one and the delivery."""
LIMITS = DEFAULT_LIMITS.model_copy(update={"rerun_s": LIMIT_S})
"""A rerun outside a box shares the machine with other work."""


def ensure_rerun(paths: AttemptPaths) -> None:
    """Write rerun.json and rerun/ of a session unless this state of the code wrote them already."""
    stamp = paths.root / "rerun-by"
    now = _code_sha256()
    if paths.rerun.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == now:
        return
    rerun(paths)
    stamp.write_text(now, encoding="utf-8")


def rerun(paths: AttemptPaths) -> Rerun:
    """Run the delivered code of one session in a fresh folder, with no service behind any address it knows."""
    with tempfile.TemporaryDirectory(prefix="sampled-rerun-") as root:
        return Rerunner(lambda _sockets: RerunFolder(Path(root) / "workspace"), LIMITS).rerun(paths)


class RerunFolder:
    """A box of a rerun as a folder on the host; its commands are this machine's, its Python is this one."""

    id = "folder"

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace

    def start(self) -> None:
        """Make the workspace, empty whatever an earlier try left."""
        shutil.rmtree(self._workspace, ignore_errors=True)
        (self._workspace / "deliver").mkdir(parents=True)

    def thaw(self) -> None:
        """Nothing sleeps here."""

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
        """Run one command and wait for it; one that takes too long is killed and reported as that."""
        assert stdout_path is None
        assert stderr_path is None
        own = Path(sys.executable).parent
        given = {"PATH": f"{own}{os.pathsep}{os.environ['PATH']}", "HOME": str(self._workspace), **(env or {})}
        begin = time.monotonic()
        try:
            done = subprocess.run(
                argv,
                input=stdin,
                capture_output=True,
                env=given,
                cwd=self._workspace / cwd.relative_to(WORKSPACE),
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            return ExecResult(None, timed_out=True, duration_s=timeout_s, stdout=late.stdout or b"", stderr=b"")
        spent = time.monotonic() - begin
        return ExecResult(done.returncode, timed_out=False, duration_s=spent, stdout=done.stdout, stderr=done.stderr)

    def freeze(self) -> StopProof:
        """The command has ended."""
        return StopProof(survivors=(), swept=0, duration_s=0.0)

    def copy_out(self, source: PurePosixPath, destination: Path) -> CopyReport:
        """Copy what lies below a path of the box."""
        shutil.copytree(
            self._workspace / source.relative_to(WORKSPACE),
            destination,
            ignore=shutil.ignore_patterns("__pycache__", ".*"),
        )
        files = [path for path in sorted(destination.rglob("*")) if path.is_file()]
        return CopyReport(
            files=tuple(
                FileEntry(
                    path=path.relative_to(destination).as_posix(), size=path.stat().st_size, sha256=file_sha256(path)
                )
                for path in files
            )
        )

    def archive(self, source: PurePosixPath, destination: Path) -> CopyReport:
        """Keep nothing: what a rerun made is copied out whole."""
        del source, destination
        return CopyReport()

    def cancel(self) -> None:
        """Nothing runs on."""

    def close(self) -> None:
        """Remove the workspace."""
        shutil.rmtree(self._workspace, ignore_errors=True)


def _code_sha256() -> str:
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for name in CODE:
        digest.update((ROOT / "runner" / name).read_bytes())
    return digest.hexdigest()[:16]
