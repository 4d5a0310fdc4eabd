"""Build our images, and say which are missing. An image whose recipe did not change is not built again.

The classic builder through the SDK is enough; no buildx, no registry. One build at a time per user.
"""

import contextlib
import fcntl
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import docker

from records.errors import PrerequisiteError, StartError
from sandbox.engine import debian, recipes, wheels
from sandbox.engine.cache import cache_dir
from sandbox.engine.client import CALL_TIMEOUT_S, open_client, translated
from sandbox.engine.context import proxies, write_context
from sandbox.engine.recipes import DEBIAN, DEFAULT_IMAGES, KEY_LABEL, PARENT_LABEL, RECIPES

BUILD_TIMEOUT_S: Final = 900.0
"""Silence between two lines of a build; pip and the last copy say nothing for tens of seconds on a slow disk."""
OLD_STAGES: Final = {"dangling": True, "label": ["fincosmos.stage=build"], "until": "24h"}
"""First stages that a killed build left; younger ones may belong to a build that runs now."""
STEP_RESULT: Final = re.compile(r"^ ---> ([0-9a-f]{12})$")
SECOND_STAGE: Final = re.compile(r"^Step \d+/\d+ : FROM scratch$")
LOG_LINES: Final = 8
"""Last lines of a failed build that its error quotes."""


def build(
    names: list[str],
    *,
    force: bool = False,
    on_line: Callable[[str], None],
    client: docker.DockerClient | None = None,
) -> dict[str, str]:
    """Build these images and what they are built on, unless they are up to date.

    Args: names: image names, empty for all that a run needs; force: build the named ones although nothing changed;
    on_line: told one line per image that is built, and every line of its build.
    Returns: the id (sha256:...) of every named image.
    Raises: PrerequisiteError: no engine, no network, or a step of a build failed; UsageError: no such image.
    """
    names = names or list(DEFAULT_IMAGES)
    order = recipes.lineage(names)
    with _engine(client, BUILD_TIMEOUT_S) as engine:
        ids = _built(engine, names)
        if force or any(name not in ids for name in order):
            with _one_at_a_time():
                ids = _built(engine, names)
                for name in order:
                    if name not in ids or (force and name in names):
                        _make(engine, name, on_line, cached=not force)
                        ids = _built(engine, names)
    return {name: ids[name] for name in names}


def missing(names: list[str], *, client: docker.DockerClient | None = None) -> list[str]:
    """Return those of these images that are not built or no longer match their recipe."""
    names = names or list(DEFAULT_IMAGES)
    with _engine(client) as engine:
        ids = _built(engine, names)
    return [name for name in names if name not in ids]


def require(names: list[str], *, client: docker.DockerClient | None = None) -> dict[str, str]:
    """Return the ids of these images. Raises: PrerequisiteError: one is not built."""
    with _engine(client) as engine:
        ids = _built(engine, names)
    for name in names:
        if name not in ids:
            raise PrerequisiteError(f"image '{name}' is not built; run: runner images build {name}")
    return {name: ids[name] for name in names}


def reference(name: str) -> str:
    """Return the name by which containers of this checkout's image are started."""
    return recipes.tag(name)


def _built(client: docker.DockerClient, names: list[str]) -> dict[str, str]:
    """Return the ids of those of these images, and of what they are built on, that are up to date."""
    with translated("list images", fault=StartError):
        listed: list[dict[str, Any]] = client.api.images(filters={"label": KEY_LABEL})
    by_tag = {tag: image for image in listed for tag in image.get("RepoTags") or ()}
    current: dict[str, str] = {}
    for name in recipes.lineage(names):
        if name != DEBIAN and RECIPES[name].parent not in current:
            continue
        image = by_tag.get(recipes.tag(name))
        if image is None:
            continue
        parent = None if name == DEBIAN else current[RECIPES[name].parent]
        if parent is None or image["Labels"].get(PARENT_LABEL) == parent:
            current[name] = image["Id"]
    return current


def _make(client: docker.DockerClient, name: str, on_line: Callable[[str], None], *, cached: bool) -> None:
    """Build one image whose parent is there; steps that the engine remembers are not run again when `cached`."""
    on_line(f"building image '{name}'")
    if name == DEBIAN:
        debian.make(client, cache_dir(), on_line)
        return
    recipe = RECIPES[name]
    requirements = recipe.folder / "requirements.txt"
    files = wheels.download(requirements, cache_dir(), on_line) if requirements.is_file() else None
    with tempfile.TemporaryFile() as context, translated(f"build image '{name}'", fault=StartError):
        write_context(recipe, files, context)
        context.seek(0)
        parent = client.images.get(recipes.tag(recipe.parent)).id
        stream = client.api.build(
            fileobj=context,
            custom_context=True,
            tag=recipes.tag(name),
            buildargs={"PARENT": recipes.tag(recipe.parent)} | (proxies() if recipe.network else {}),
            labels={KEY_LABEL: recipes.key(name), PARENT_LABEL: parent},
            network_mode="host" if recipe.network else "none",
            nocache=not cached,
            rm=True,
            forcerm=True,
            decode=True,
        )
        stage = _follow(name, stream, on_line)
        client.images.get(recipes.tag(name)).tag(recipes.latest(name))
        if stage is not None:
            with contextlib.suppress(docker.errors.APIError):
                client.api.remove_image(stage)
        client.images.prune(filters=OLD_STAGES)


def _follow(name: str, stream: Iterator[dict[str, Any]], on_line: Callable[[str], None]) -> str | None:
    """Pass a build's lines on; return the id of its first stage, None when it has but one.

    Raises: PrerequisiteError: a step failed; quotes the last lines.
    """
    kept: list[str] = []
    result: str | None = None
    stage: str | None = None
    for event in stream:
        for line in str(event.get("stream") or "").splitlines():
            if found := STEP_RESULT.match(line):
                result = found.group(1)
            if SECOND_STAGE.match(line):
                stage = result
            if line.strip():
                kept = [*kept, line.strip()][-LOG_LINES:]
                on_line(line.rstrip())
        if "error" in event:
            said = " | ".join(kept)
            raise PrerequisiteError(
                f"image '{name}' could not be built: {event['error']}; last lines: {said}; mend it, then run: "
                f"runner images build {name}"
            )
    return stage


@contextmanager
def _engine(client: docker.DockerClient | None, timeout_s: float = CALL_TIMEOUT_S) -> Iterator[docker.DockerClient]:
    """Yield the caller's client, or one of our own that is closed afterwards."""
    if client is not None:
        yield client
        return
    own = open_client(timeout_s=timeout_s)
    try:
        yield own
    finally:
        own.close()


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Wait for another build of this user; the second of two launches then finds the images built."""
    with (cache_dir() / "images.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
