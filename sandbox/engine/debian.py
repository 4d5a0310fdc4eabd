"""The Debian base of all images: debian:bookworm-slim from a registry, else debootstrap; the same name either way.

No registry may be assumed. A registry has `SILENCE_S` to say something, then debootstrap makes a minimal system from
the Debian archive (32 s on two cores, 82 MB), which needs root. Nothing of the host stays in it.
"""

import io
import os
import queue
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import docker

from records.errors import EvalError, PrerequisiteError, StartError
from sandbox.engine.client import translated
from sandbox.engine.context import DEBIAN_MIRROR, debian_mirror, sources_list
from sandbox.engine.recipes import DEBIAN, KEY_LABEL, key, latest, tag

PUBLIC: Final = ("debian", "bookworm-slim")
SILENCE_S: Final = 20.0
"""A registry that says nothing for so long counts as none."""
PATH_ENV: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
EMPTIED: Final = (
    *("var/cache/apt", "var/lib/apt/lists", "var/log", "dev", "tmp", "root"),
    *("usr/share/doc", "usr/share/man", "usr/share/info", "usr/share/locale", "usr/share/lintian"),
)
"""Folders left empty, as in debian:bookworm-slim."""
NO_DOCS: Final = "\n".join(
    f"path-exclude /usr/share/{name}/*" for name in ("doc", "man", "info", "locale", "lintian", "linda")
)


def make(client: docker.DockerClient, cache: Path, on_line: Callable[[str], None]) -> None:
    """Bring the Debian base under our name. Raises: PrerequisiteError: neither a registry nor debootstrap gave it."""
    labels = {KEY_LABEL: key(DEBIAN)}
    if _pulled(client, on_line):
        source = io.BytesIO(f"FROM {PUBLIC[0]}:{PUBLIC[1]}\n".encode())
        with translated("label the Debian base", fault=StartError):
            client.images.build(fileobj=source, tag=tag(DEBIAN), labels=labels, rm=True)
    else:
        on_line("no registry answers, making debian:bookworm with debootstrap")
        _bootstrap(client, cache, labels)
    with translated("name the Debian base", fault=StartError):
        client.images.get(tag(DEBIAN)).tag(latest(DEBIAN))


def _pulled(client: docker.DockerClient, on_line: Callable[[str], None]) -> bool:
    """Return whether debian:bookworm-slim is on the engine, pulling it when a registry answers."""
    events: queue.Queue[dict[str, Any] | None] = queue.Queue()

    def pull() -> None:
        try:
            with translated("pull debian:bookworm-slim", fault=StartError):
                stream: Iterable[dict[str, Any]] = client.api.pull(*PUBLIC, stream=True, decode=True)
                for event in stream:
                    events.put(event)
                events.put({"done": True})
        except EvalError as exc:
            events.put({"error": str(exc)})

    threading.Thread(target=pull, daemon=True, name="debian-pull").start()
    while True:
        try:
            event = events.get(timeout=SILENCE_S) or {}
        except queue.Empty:
            return False
        if "error" in event:
            return False
        if "done" in event:
            on_line("debian:bookworm-slim came from a registry")
            return True


def _bootstrap(client: docker.DockerClient, cache: Path, labels: dict[str, str]) -> None:
    """Make a minimal Debian 12 and import it."""
    again = "then run: runner images build"
    if os.geteuid() != 0:
        raise PrerequisiteError(
            f"no registry gave debian:bookworm-slim and debootstrap needs root; run: sudo runner images build {DEBIAN}"
        )
    if shutil.which("debootstrap") is None:
        raise PrerequisiteError(
            f"no registry gave debian:bookworm-slim and debootstrap is not installed; run: apt-get install debootstrap, {again}"
        )
    with tempfile.TemporaryDirectory(prefix="debootstrap-", dir=cache) as folder:
        root = Path(folder) / "root"
        command = ["debootstrap", "--variant=minbase", "bookworm", str(root), f"{debian_mirror()}/debian"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            said = (done.stdout.strip().splitlines() or done.stderr.strip().splitlines() or ["no message"])[-1]
            raise PrerequisiteError(f"debootstrap of bookworm from {debian_mirror()} stopped: {said}; mend it, {again}")
        _clean(root)
        _import(client, root, labels)


def _clean(root: Path) -> None:
    """Leave nothing of this machine in the tree, and none of what debian:bookworm-slim leaves out."""
    for name in EMPTIED:
        for entry in (root / name).iterdir() if (root / name).is_dir() else ():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
    for name in ("etc/hostname", "etc/resolv.conf", "etc/machine-id"):
        (root / name).unlink(missing_ok=True)
        (root / name).touch()
    (root / "etc/dpkg/dpkg.cfg.d/docker").write_text(f"force-unsafe-io\n{NO_DOCS}\n", encoding="utf-8")
    (root / "etc/apt/sources.list").write_text(sources_list(DEBIAN_MIRROR), encoding="utf-8")


def _import(client: docker.DockerClient, root: Path, labels: dict[str, str]) -> None:
    """Import a file tree as our Debian base."""
    repository, _, version = tag(DEBIAN).partition(":")
    changes = [f"ENV PATH={PATH_ENV}", 'CMD ["bash"]', *(f"LABEL {name}={value}" for name, value in labels.items())]
    with (
        translated("import the Debian base", fault=StartError),
        subprocess.Popen(["tar", "-C", str(root), "-c", "."], stdout=subprocess.PIPE) as tar,
    ):
        client.api.import_image_from_stream(tar.stdout, repository=repository, tag=version, changes=changes)
    if tar.returncode != 0:
        raise StartError(f"tar of {root} ended with {tar.returncode}; look at the free disk, then run again")
