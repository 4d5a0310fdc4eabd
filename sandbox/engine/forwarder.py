"""The forwarder folder: one read-only folder that runs in any vendor image, with or without a C library.

It holds socat with its own loader and libraries, a static shell, and the program of PID 1. It is taken once from our
base image, whose packages socat and busybox-static are Debian's, and kept in the cache under a hash of image and recipe.
"""

import hashlib
import io
import os
import shutil
import tarfile
import tempfile
from pathlib import Path, PurePosixPath
from typing import Final

import docker

from records.errors import PrerequisiteError, StartError, TransferError
from sandbox.engine.cache import cache_dir
from sandbox.engine.client import translated
from sandbox.protocol import GATEWAY_PORT, WEB_PORT

FOLDER: Final = PurePosixPath("/run/forwarder")
"""Where the folder is mounted in every box."""
SHELL: Final = (str(FOLDER / "busybox"), "sh")
"""The only shell we rely on inside a box."""
GATEWAY_FOLDER: Final = PurePosixPath("/run/gateway")
"""Where the session's socket folder is mounted in the box."""
EXIT_LIFETIME: Final = 124
"""PID 1 ended because the box had lived its longest legal life."""
EXIT_FORWARDER: Final = 70
"""PID 1 ended because a forwarder died."""
MAX_CONNECTIONS: Final = 100
"""Open connections per port; each is one process and counts against the pids limit."""
HALF_OPEN_S: Final = 30
"""A client that has sent all it has may wait so long for the answer; socat's own half second cuts slow ones off."""

_PROGRAM: Final = f"""\
# PID 1 of a box, under the engine's init: two forwarders and a clock. Whichever ends first ends the box.
# Told by signal, as wait -n of this shell (busybox 1.35) sleeps through a child that failed.
b={FOLDER}/busybox
forward() {{
  {FOLDER}/lib/loader --library-path {FOLDER}/lib {FOLDER}/socat -t {HALF_OPEN_S} \\
    "TCP4-LISTEN:$1,bind=127.0.0.1,fork,reuseaddr,backlog=512,max-children={MAX_CONNECTIONS}" "UNIX-CONNECT:$2"
  kill -TERM $$
}}
trap 'exit {EXIT_FORWARDER}' TERM
forward {GATEWAY_PORT} {GATEWAY_FOLDER}/gw.sock &
forward {WEB_PORT} {GATEWAY_FOLDER}/web.sock &
$b sleep "$1" &
wait $!
exit {EXIT_LIFETIME}
"""
_COLLECT: Final = """\
set -e
mkdir -p /tmp/out/lib
cp -L "$(command -v socat)" /tmp/out/socat
cp -L "$(command -v busybox)" /tmp/out/busybox
ldd /tmp/out/socat | while read -r name arrow path rest; do
  case "$name" in /*) cp -L "$name" /tmp/out/lib/loader ;; *) [ -f "$path" ] && cp -L "$path" "/tmp/out/lib/$name" || : ;; esac
done
test -f /tmp/out/lib/loader
"""


def forwarder_folder(client: docker.DockerClient, base_image: str) -> Path:
    """Return the host folder to mount at FOLDER, made from `base_image` when the cache has none for it.

    Raises: PrerequisiteError: the image is not built or lacks the two packages.
    """
    with translated(f"look at image {base_image}", image=base_image):
        image_id = client.images.get(base_image).id
    recipe = hashlib.sha256(f"{image_id}\n{_PROGRAM}\n{_COLLECT}".encode()).hexdigest()[:16]
    folder = cache_dir() / f"forwarder-{recipe}"
    if folder.is_dir():
        return folder
    scratch = Path(tempfile.mkdtemp(dir=cache_dir(), prefix="forwarder-new-"))
    try:
        _extract(client, base_image, scratch)
        (scratch / "pid1").write_text(_PROGRAM, encoding="utf-8")
        _seal(scratch)
        scratch.rename(folder)
    except OSError as exc:
        if not folder.is_dir():  # another process may have been quicker
            raise StartError(f"the forwarder folder {folder} could not be written: {exc}; free some disk") from exc
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return folder


def pid1_command(lifetime_s: float) -> list[str]:
    """Return the main command of a box that ends by itself after `lifetime_s`, rounded up to a second."""
    return [*SHELL, str(FOLDER / "pid1"), str(int(lifetime_s) + 1)]


def _extract(client: docker.DockerClient, base_image: str, target: Path) -> None:
    """Let a container of the base image collect the files, and copy them to the host."""
    api = client.api
    with translated(f"collect the forwarder from image {base_image}", fault=StartError, image=base_image):
        container = client.containers.create(
            base_image, entrypoint=["/bin/sh", "-c", _COLLECT], command=[], network_mode="none", user="0:0"
        )
        try:
            container.start()
            code = container.wait(timeout=60)["StatusCode"]
            if code != 0:
                words = container.logs(tail=5).decode(errors="replace").strip()
                raise PrerequisiteError(
                    f"image '{base_image}' lacks socat and busybox-static ({words or f'exit code {code}'}); "
                    f"run: runner images build"
                )
            chunks, _stat = api.get_archive(str(container.id), "/tmp/out/.")  # noqa: S108 (a path in the container)
            data = io.BytesIO(b"".join(chunks))
        finally:
            container.remove(force=True, v=True)
    try:
        with tarfile.open(fileobj=data) as archive:
            _unpack(archive, target)
    except tarfile.TarError as exc:
        raise TransferError(
            f"the forwarder files from image '{base_image}' are not readable: {exc}; run again"
        ) from exc


def _unpack(archive: tarfile.TarFile, target: Path) -> None:
    """Write the plain files; extraction filters are younger than Debian 12's Python (3.11.2)."""
    for member in archive:
        source = archive.extractfile(member) if member.isreg() else None
        if source is not None and ".." not in PurePosixPath(member.name).parts:
            path = target / member.name.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(source.read())


def _seal(folder: Path) -> None:
    """Make everything readable and executable for every uid, writable for none."""
    for path in (folder, *folder.rglob("*")):
        if path.is_dir() or path.name in {"socat", "busybox", "loader"}:
            path.chmod(0o755)
        else:
            path.chmod(0o644)
        if os.geteuid() == 0:
            os.chown(path, 0, 0)
