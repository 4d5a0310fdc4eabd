"""The only way to the Docker engine: one client, and one place where its errors become ours.

Every call to the engine stands inside `translated`. Nothing here knows what a container is for.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import docker
import requests.exceptions
import urllib3.exceptions
from docker import errors as engine_errors

from records.errors import EvalError, LostError, PrerequisiteError, SandboxError

MIN_ENGINE: Final = (20, 10)
"""Oldest engine the docker tests ran on (Debian 12, 20.10.24)."""
CALL_TIMEOUT_S: Final = 60.0
"""One engine call; under a fork bomb a call took 7 s at most (measured 2026-11)."""
POOL_SIZE: Final = 64
"""Connections kept open to the engine; more calls at once only pay for a new connection."""
DEFAULT_SOCKET: Final = "unix:///var/run/docker.sock"
START_HINT: Final = "start it (Debian: sudo apt-get install docker.io && sudo systemctl start docker)"

ENGINE_ERRORS: Final[dict[type[Exception], type[EvalError] | None]] = {
    engine_errors.DockerException: None,
    engine_errors.APIError: None,
    engine_errors.NotFound: LostError,
    engine_errors.ImageNotFound: PrerequisiteError,
    engine_errors.InvalidVersion: PrerequisiteError,
    engine_errors.InvalidRepository: None,
    engine_errors.InvalidConfigFile: PrerequisiteError,
    engine_errors.InvalidArgument: None,
    engine_errors.DeprecatedMethod: None,
    engine_errors.TLSParameterError: PrerequisiteError,
    engine_errors.NullResource: None,
    engine_errors.ContainerError: None,
    engine_errors.StreamParseError: None,
    engine_errors.BuildError: None,
    engine_errors.ImageLoadError: None,
    engine_errors.MissingContextParameter: PrerequisiteError,
    engine_errors.ContextAlreadyExists: PrerequisiteError,
    engine_errors.ContextException: PrerequisiteError,
    engine_errors.ContextNotFound: PrerequisiteError,
}
"""Which of our errors each error of the SDK becomes; None is the class the caller of `translated` names."""

TRANSPORT_ERRORS: Final = (requests.exceptions.RequestException, urllib3.exceptions.HTTPError, OSError)
"""What a vanished or silent engine raises below the SDK's own errors."""


@contextmanager
def translated(
    doing: str, *, fault: type[SandboxError] = LostError, container_id: str | None = None, image: str | None = None
) -> Iterator[None]:
    """Turn every error of the SDK and of its transport into one of ours.

    Args: doing: what was attempted, as a clause ("start container box-1"); fault: the class where the table leaves it
    to the caller; container_id, image: named in the sentence where known.
    """
    try:
        yield
    except (engine_errors.DockerException, engine_errors.StreamParseError) as exc:
        raise _ours(exc, doing, fault, container_id, image) from exc
    except TRANSPORT_ERRORS as exc:
        message = f"the Docker engine did not answer when asked to {doing}: {_brief(exc)}; see its log, then run again"
        raise fault(message, container_id=container_id) from exc


def _ours(
    exc: Exception, doing: str, fault: type[SandboxError], container_id: str | None, image: str | None
) -> EvalError:
    """Return our error for one of the SDK's, with a sentence that says what to do next."""
    if isinstance(exc, engine_errors.ImageNotFound):
        name = image or "the image"
        return PrerequisiteError(f"image '{name}' is not built; run: runner images build")
    if isinstance(exc, engine_errors.APIError) and "No such image" in str(exc.explanation):
        return PrerequisiteError(f"image '{image or exc.explanation}' is not built; run: runner images build")
    mapped = next((ENGINE_ERRORS[kind] for kind in type(exc).__mro__ if kind in ENGINE_ERRORS), None)
    ours = mapped or fault
    message = f"the Docker engine refused to {doing}: {_brief(exc)}; look with: docker ps -a, then run again"
    if issubclass(ours, SandboxError):
        return ours(message, container_id=container_id)
    return ours(message)


def _brief(exc: BaseException) -> str:
    """Return the engine's own words on one line, at most 300 characters."""
    text = getattr(exc, "explanation", None) or str(exc) or type(exc).__name__
    return " ".join(str(text).split())[:300]


def open_client(*, timeout_s: float = CALL_TIMEOUT_S) -> docker.DockerClient:
    """Connect to the local engine, as DOCKER_HOST says, else at its usual socket.

    The client is safe to share between threads; each call takes one pooled connection.
    Raises: PrerequisiteError: no engine answers, it is too old, or it is on another machine.
    """
    host = engine_address()
    if not host.startswith("unix://"):
        raise PrerequisiteError(
            f"DOCKER_HOST is {host}, a local engine is needed (unix://...): gateway sockets and workspaces are on this "
            f"machine; run: unset DOCKER_HOST"
        )
    _knock(host)
    try:
        client = docker.DockerClient(base_url=host, version="auto", timeout=int(timeout_s), max_pool_size=POOL_SIZE)
        found = str(client.api.version()["Version"])
    except (engine_errors.DockerException, *TRANSPORT_ERRORS) as exc:
        raise PrerequisiteError(f"no Docker engine answers at {host}: {_brief(exc)}; {START_HINT}") from exc
    if _numbers(found) < MIN_ENGINE:
        wanted = ".".join(str(part) for part in MIN_ENGINE)
        raise PrerequisiteError(f"Docker engine {found} is too old, {wanted} or newer is needed; update docker.io")
    return client


def _knock(host: str) -> None:
    """Connect once before the SDK does: it leaves a refused socket open, and this sentence can be a better one."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(host.removeprefix("unix://"))
        except PermissionError as exc:
            raise PrerequisiteError(
                f"the Docker engine at {host} refuses this user; run: sudo usermod -aG docker $USER, then log in again"
            ) from exc
        except OSError as exc:
            raise PrerequisiteError(f"no Docker engine answers at {host}: {_brief(exc)}; {START_HINT}") from exc


def engine_address() -> str:
    """Return where the local engine listens: DOCKER_HOST, else its usual socket."""
    return os.environ.get("DOCKER_HOST") or DEFAULT_SOCKET


def _numbers(version: str) -> tuple[int, int]:
    """Return the first two numbers of a version such as 20.10.24+dfsg1; what cannot be read counts as new enough."""
    parts = version.split(".")
    try:
        return int(parts[0]), int(parts[1])
    except (IndexError, ValueError):
        return MIN_ENGINE
