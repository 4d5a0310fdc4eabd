"""The build context of an image as one tar stream, and what a build may know of the host.

The host's CA bundle and apt settings go into `build-time/`, which only the first stage of a Dockerfile copies and which
no layer of the finished image holds. Times and owners are fixed, so an unchanged file is found in the engine's cache.
"""

import io
import os
import shutil
import subprocess
import tarfile
from pathlib import Path, PurePosixPath
from typing import IO, Final

from records.errors import PrerequisiteError
from sandbox.engine.recipes import Recipe, context_files

FILE_TIME: Final = 1_767_225_600
"""2026-01-01, the time of every file in a context."""
HOST_CA_BUNDLE: Final = Path("/etc/ssl/certs/ca-certificates.crt")
DEBIAN_MIRROR: Final = "http://deb.debian.org"
APT_SETTINGS: Final = ("Acquire::http", "Acquire::https", "Acquire::Check-", "Acquire::ForceIPv", "Acquire::Queue-Mode")
"""Groups of the host's apt settings that a build needs to reach the archive: proxies, and clocks that are off."""
PROXY_VARIABLES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")


def debian_mirror() -> str:
    """Return the host below which /debian and /debian-security lie."""
    return os.environ.get("FINCOSMOS_DEBIAN_MIRROR", DEBIAN_MIRROR).rstrip("/")


def sources_list(mirror: str) -> str:
    """Return apt's sources for Debian 12 from a mirror."""
    return (
        f"deb {mirror}/debian bookworm main\n"
        f"deb {mirror}/debian bookworm-updates main\n"
        f"deb {mirror}/debian-security bookworm-security main\n"
    )


def proxies() -> dict[str, str]:
    """Return the host's proxy variables; as predefined build arguments they do not enter an image's history."""
    return {name: os.environ[name] for name in PROXY_VARIABLES if name in os.environ}


def ca_bundle() -> bytes:
    """Return the CA bundle that builds trust: FINCOSMOS_CA_BUNDLE, else the host's; empty when the host has none."""
    named = os.environ.get("FINCOSMOS_CA_BUNDLE")
    path = Path(named) if named else HOST_CA_BUNDLE
    if path.is_file():
        return path.read_bytes()
    if named:
        raise PrerequisiteError(
            f"FINCOSMOS_CA_BUNDLE is {named}, no such file; set it to a PEM bundle or run: unset FINCOSMOS_CA_BUNDLE"
        )
    return b""


def apt_settings() -> str:
    """Return the host's apt settings for reaching the archive, with our paths inside the build."""
    lines = ['Acquire::Retries "3";', 'Acquire::https::CAInfo "/build-time/ca.crt";']
    if shutil.which("apt-config"):
        dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=False).stdout
        lines += [
            line
            for line in dump.splitlines()
            if line.startswith(APT_SETTINGS) and "CAInfo" not in line and not line.endswith('"";')
        ]
    if debian_mirror() != DEBIAN_MIRROR:
        lines += ['Dir::Etc::sourcelist "/build-time/sources.list";', 'Dir::Etc::sourceparts "-";']
    return "\n".join(lines) + "\n"


def write_context(recipe: Recipe, wheels: Path | None, out: IO[bytes]) -> None:
    """Write the tar stream of one image's build context. Raises: PrerequisiteError: no checkout, or no such CA bundle."""
    with tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        for inside, path in context_files(recipe):
            _add(tar, inside, path.read_bytes(), executable=bool(path.stat().st_mode & 0o100))
        for folder in sorted({(PurePosixPath("code") / target).as_posix() for _, target in recipe.code}):
            tar.addfile(_entry(folder, 0o755, tarfile.DIRTYPE))
        if not recipe.network:
            return
        _add(tar, "build-time/ca.crt", ca_bundle())
        _add(tar, "build-time/apt.conf", apt_settings().encode())
        _add(tar, "build-time/sources.list", sources_list(debian_mirror()).encode())
        for wheel in sorted(wheels.glob("*.whl")) if wheels else ():
            _add(tar, f"build-time/wheels/{wheel.name}", wheel.read_bytes())


def _add(tar: tarfile.TarFile, name: str, content: bytes, *, executable: bool = False) -> None:
    """Add one file owned by root."""
    info = _entry(name, 0o755 if executable else 0o644, tarfile.REGTYPE)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))


def _entry(name: str, mode: int, kind: bytes) -> tarfile.TarInfo:
    """Return a tar header owned by root, of a fixed time."""
    info = tarfile.TarInfo(name)
    info.mode, info.type, info.mtime = mode, kind, FILE_TIME
    return info
