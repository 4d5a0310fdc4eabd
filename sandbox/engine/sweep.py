"""Removes what dead runs left: containers, volumes, loop devices and images of ours, and nothing of anybody else.

Ours is what carries our owner label, or lies in our own cache folder. It is a leftover when the process in the label no
longer runs. `remaining` says what a person has to remove by hand.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import docker
from docker import errors as engine_errors

from records.errors import EvalError, SandboxError
from sandbox.engine import loopdev
from sandbox.engine.client import translated
from sandbox.engine.hostconfig import LABEL_OWNER
from sandbox.engine.owner import is_alive
from sandbox.engine.workspace import images_dir

GONE: Final = 404


@dataclass(frozen=True)
class Swept:
    """What a sweep did."""

    removed: tuple[str, ...]
    """One line per thing removed."""
    remaining: tuple[str, ...]
    """One sentence per thing that could not be removed, with the command for it."""


def sweep(client: docker.DockerClient, *, alive: Callable[[str], bool] = is_alive) -> Swept:
    """Remove leftovers of dead owners.

    Args: alive: tells from an owner label whether its process still runs; things of living owners stay.
    Raises: LostError or PrerequisiteError: the engine does not answer; a single thing that stays is in `remaining`.
    """
    removed: list[str] = []
    remaining: list[str] = []
    marked = {"label": [LABEL_OWNER]}
    with translated("list our containers and volumes"):
        containers = client.api.containers(all=True, filters=marked)
        volumes = client.api.volumes(filters=marked)["Volumes"] or []
    for found in containers:
        if not alive(str(found["Labels"][LABEL_OWNER])):
            _remove_container(client, str(found["Id"]), str(found["Names"][0]).lstrip("/"), removed, remaining)
    for found in volumes:
        if not alive(str(found["Labels"][LABEL_OWNER])):
            _remove_volume(client, str(found["Name"]), removed, remaining)
    _sweep_loops(removed, remaining)
    return Swept(tuple(removed), tuple(remaining))


def _remove_container(
    client: docker.DockerClient, container_id: str, name: str, removed: list[str], remaining: list[str]
) -> None:
    """Remove one container with its anonymous volumes, frozen or not."""
    try:
        with translated(f"remove container {name}", fault=SandboxError, container_id=container_id):
            client.api.remove_container(container_id, v=True, force=True)
    except EvalError as exc:
        remaining.append(f"container {name} stays ({exc}); run: docker rm -f -v {name}")
    else:
        removed.append(f"container {name}")


def _remove_volume(client: docker.DockerClient, name: str, removed: list[str], remaining: list[str]) -> None:
    """Remove one volume; most went with their container a moment ago."""
    try:
        with translated(f"remove volume {name}", fault=SandboxError):
            try:
                client.api.remove_volume(name)
            except engine_errors.APIError as exc:
                if exc.status_code != GONE:
                    raise
                return
    except EvalError as exc:
        remaining.append(f"volume {name} stays ({exc}); run: docker volume rm {name}")
    else:
        removed.append(f"volume {name}")


def _sweep_loops(removed: list[str], remaining: list[str]) -> None:
    """Free loop devices over our images, and images that a killed runner left with a name.

    Asking for a device that is mounted or held open changes nothing: the kernel frees it at its last user anyway.
    """
    folder = images_dir()
    for device, backing in list(loopdev.attached(folder)):
        try:
            loopdev.detach(device)
        except OSError as exc:
            remaining.append(f"loop device {device} stays ({exc.strerror}); run: losetup -d {device}")
            continue
        if device not in {found for found, _ in loopdev.attached(folder)}:
            removed.append(f"loop device {device} of {backing.name}")
    for image in sorted(folder.glob("*.img")):
        if not is_alive(image.name.partition("-")[0]):
            image.unlink(missing_ok=True)
            removed.append(f"workspace image {image.name}")
