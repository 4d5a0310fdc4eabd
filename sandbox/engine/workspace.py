"""The workspace of a box: an ext4 image of its own size and inode count, or, without root, a soft cap.

The hard way: a sparse template is copied, its blocks reserved on the host, the file attached to a loop device and its
name removed at once. The engine mounts the device as an anonymous volume of the container and unmounts it with the
container, whereupon the kernel frees device and blocks. So removing the container is the whole clean-up, also after
the runner was killed.
"""

import errno
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from records.errors import StartError
from records.limits import Limits
from sandbox.engine import loopdev
from sandbox.engine.cache import cache_dir
from sandbox.engine.owner import this_owner
from sandbox.protocol import DELIVER, WORKSPACE

AGENT_ID: Final = 1000
"""uid and gid of the agent's processes."""
MOUNT_OPTIONS: Final = "nosuid,nodev,noatime"
TEMPLATE_VERSION: Final = 1
"""Raise when `_make_template` changes."""

Cap = Literal["hard", "soft"]


@dataclass
class Workspace:
    """One box's workspace before and while the engine mounts it."""

    cap: Cap
    device: Path | None = None
    _holder: int = -1
    """Open descriptor that keeps the loop device alive until the engine has mounted it."""
    labels: dict[str, str] = field(default_factory=dict)

    def mount(self) -> dict[str, Any]:
        """Return the HostConfig mount: an anonymous volume, removed with the container."""
        options: dict[str, Any] = {"NoCopy": True, "Labels": self.labels}
        if self.device is not None:
            options["DriverConfig"] = {
                "Name": "local",
                "Options": {"type": "ext4", "device": str(self.device), "o": MOUNT_OPTIONS},
            }
        return {"Type": "volume", "Target": str(WORKSPACE), "VolumeOptions": options}

    def release(self) -> None:
        """Let go of the device: from now on the engine's mount alone keeps it. Idempotent."""
        if self._holder >= 0:
            os.close(self._holder)
            self._holder = -1


def workspace_cap() -> Cap:
    """Return whether workspaces made by this process have an enforced size and inode count."""
    return "hard" if loopdev.available() and shutil.which("mkfs.ext4", path=_PATH) else "soft"


def make_workspace(name: str, limits: Limits, labels: dict[str, str]) -> Workspace:
    """Make one workspace; `name` is the box's, unique on this host.

    Raises: StartError: the host's disk cannot hold it, or the kernel gave no loop device.
    """
    if workspace_cap() == "soft":
        return Workspace(cap="soft", labels=labels)
    try:
        template = _template(limits.workspace_bytes, limits.workspace_inodes)
        image = images_dir() / f"{this_owner()}-{name}.img"
        try:
            _copy_sparse(template, image)
            _reserve(image, limits.workspace_bytes)
            device, holder = loopdev.attach(image)
        finally:
            image.unlink(missing_ok=True)
    except OSError as exc:
        raise StartError(
            f"the workspace of box {name} could not be made ({limits.workspace_bytes} bytes in {cache_dir()}): "
            f"{exc.strerror}; free some disk, or set FINCOSMOS_CACHE to a larger one"
        ) from exc
    return Workspace("hard", device, holder, labels)


def images_dir() -> Path:
    """Return the folder in which workspace images have a name for the moment before they are attached."""
    folder = cache_dir() / "workspaces"
    folder.mkdir(exist_ok=True, mode=0o700)
    return folder


_PATH: Final = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))


def _template(size: int, inodes: int) -> Path:
    """Return the sparse file system image of this size; made once and kept."""
    path = cache_dir() / f"workspace-v{TEMPLATE_VERSION}-{size}-{inodes}.ext4"
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=cache_dir()) as scratch:
            made = _make_template(Path(scratch), size, inodes)
            made.replace(path)
    return path


def _make_template(scratch: Path, size: int, inodes: int) -> Path:
    """Make a file system without journal and lost+found, its root and deliver folder owned by the agent."""
    tree = scratch / "tree"
    deliver = tree / DELIVER.relative_to(WORKSPACE)
    deliver.mkdir(parents=True)
    for folder in (tree, deliver):
        os.chown(folder, AGENT_ID, AGENT_ID)
        folder.chmod(0o755)
    image = scratch / "image"
    with image.open("wb") as handle:
        handle.truncate(size)
    options = f"lazy_itable_init=1,nodiscard,root_owner={AGENT_ID}:{AGENT_ID}"
    make = ["mkfs.ext4", "-q", "-F", "-m", "0", "-N", str(inodes), "-O", "^has_journal", "-E", options, "-d", str(tree)]
    for command in ([*make, str(image)], ["debugfs", "-w", "-R", "rmdir lost+found", str(image)]):
        done = subprocess.run(command, capture_output=True, env={"PATH": _PATH}, check=False)
        if done.returncode != 0:
            raise OSError(errno.EIO, f"{command[0]} said: {done.stderr.decode(errors='replace').strip()}")
    return image


def _copy_sparse(source: Path, target: Path) -> None:
    """Copy only what is written: a fresh 1 GiB file system holds about 1 MB."""
    with source.open("rb") as src, target.open("xb") as dst:
        size = os.fstat(src.fileno()).st_size
        dst.truncate(size)
        start = 0
        while start < size:
            try:
                start = os.lseek(src.fileno(), start, os.SEEK_DATA)
            except OSError as exc:
                if exc.errno == errno.ENXIO:
                    return
                raise
            end = os.lseek(src.fileno(), start, os.SEEK_HOLE)
            while start < end:
                start += os.copy_file_range(src.fileno(), dst.fileno(), end - start, start, start)


def _reserve(image: Path, size: int) -> None:
    """Reserve every block now, so that a full host fails here and never as an I/O error inside a box."""
    with image.open("r+b") as handle:
        try:
            os.posix_fallocate(handle.fileno(), 0, size)
        except OSError as exc:
            if exc.errno not in {errno.EOPNOTSUPP, errno.EINVAL}:
                raise
