"""Wheels for images, downloaded by the host's pip, so that a build needs no index, no credentials and no CA for them.

The host's pip settings (index, proxy, certificates) apply as they are, and nothing of them can reach an image.
"""

import hashlib
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from records.errors import PrerequisiteError

PYTHON: Final = "3.11"
"""Of Debian 12, in every image."""
GLIBC: Final = 36
"""Minor version of Debian 12's glibc 2.36; a wheel may ask for this one or an older one."""
OLDEST_GLIBC: Final = 5


def platforms(machine: str) -> list[str]:
    """Return the wheel platforms that Debian 12 runs, newest first."""
    named = [f"manylinux_2_{minor}_{machine}" for minor in range(GLIBC, OLDEST_GLIBC - 1, -1)]
    return [*named, f"manylinux2014_{machine}", f"manylinux2010_{machine}", f"manylinux1_{machine}"]


def download(requirements: Path, cache: Path, on_line: Callable[[str], None]) -> Path:
    """Return a folder with the wheels of a hash-pinned requirements file, downloading what the cache lacks.

    Raises: PrerequisiteError: pip is missing or could not get them; the sentence ends with its own last line.
    """
    content = requirements.read_bytes()
    folder = cache / "wheels" / hashlib.sha256(content).hexdigest()[:16]
    if folder.is_dir():
        return folder
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    on_line(f"downloading wheels of {requirements.parent.name}")
    chosen = [flag for name in platforms(platform.machine()) for flag in ("--platform", name)]
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"),
        *("--require-hashes", "--only-binary", ":all:", "--python-version", PYTHON, "--implementation", "cp"),
        *("--abi", "cp311", "--abi", "abi3", "--abi", "none", *chosen, "--dest", str(partial), "-r", str(requirements)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise PrerequisiteError(
            f"wheels of {requirements} could not be downloaded: {said}; mend the network or pip's settings, then run "
            f"again: runner images build {requirements.parent.name}"
        )
    partial.rename(folder)
    return folder
