"""The engine as the rest of the product sees it: boxes, images by name, disk."""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import docker

from sandbox.engine.box import DockerSandbox
from sandbox.engine.cache import cache_dir
from sandbox.engine.client import open_client, translated
from sandbox.engine.forwarder import forwarder_folder
from sandbox.engine.images import reference
from sandbox.engine.sweep import Swept, sweep
from sandbox.engine.workspace import Cap, workspace_cap
from sandbox.protocol import SandboxSpec

FORWARDER_IMAGE: Final = "base"
"""Our image from which the forwarder's files come."""


@dataclass(frozen=True)
class Engine:
    """A connected local engine; safe to share between threads."""

    client: docker.DockerClient
    base_image: str | None = None
    """Where the forwarder's files come from; None is this checkout's base image."""
    _forwarder: list[Path] = field(default_factory=list)
    """The folder, once it was found: asking for it again would cost every session a call."""

    def sandbox(self, spec: SandboxSpec) -> DockerSandbox:
        """Return a box that is not started yet. Raises PrerequisiteError when the base image is not built."""
        if not self._forwarder:
            self._forwarder.append(forwarder_folder(self.client, self.base_image or reference(FORWARDER_IMAGE)))
        return DockerSandbox(self.client, spec, self._forwarder[0])

    def version(self) -> str:
        """Return the engine's version. Raises LostError."""
        with translated("tell its version"):
            return str(self.client.api.version()["Version"])

    def free_disk(self) -> int:
        """Return the free bytes where boxes live: the smaller of the engine's folder and our cache. Raises LostError."""
        with translated("tell where its files are"):
            root = Path(str(self.client.api.info()["DockerRootDir"]))
        places = [cache_dir(), *([root] if os.access(root, os.R_OK) or root.exists() else [])]
        return min(shutil.disk_usage(place).free for place in places)

    def workspace_cap(self) -> Cap:
        """Return whether this process can give workspaces an enforced size; for run.json."""
        return workspace_cap()

    def sweep(self) -> Swept:
        """Remove what dead runs left on this engine and host. Raises LostError."""
        return sweep(self.client)

    def close(self) -> None:
        """Hang up; boxes go on."""
        self.client.close()


def connect(*, base_image: str | None = None) -> Engine:
    """Connect to the local engine. Raises PrerequisiteError when none answers or it is too old."""
    return Engine(open_client(), base_image)
