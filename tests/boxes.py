"""What tests of boxes share: a session's two sockets with something behind them, and boxes that are always removed."""

import contextlib
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from records.limits import DEFAULT_LIMITS, MIB, Limits
from sandbox.engine.box import DockerSandbox
from sandbox.engine.engine import Engine
from sandbox.engine.images import reference
from sandbox.protocol import SandboxSpec

BASE = reference("base")
SMALL = DEFAULT_LIMITS.model_copy(
    update={
        "pids": 128,
        "memory_bytes": 256 * MIB,
        "workspace_bytes": 64 * MIB,
        "workspace_inodes": 2_000,
        "tmp_bytes": 16 * MIB,
        "stop_grace_s": 1.0,
    }
)
"""Limits small enough that tests reach them in a moment."""


class Gateway:
    """A folder with gw.sock and web.sock; each answers a connection with its own name and hangs up."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gateway-"))
        self.folder.chmod(0o711)
        self._servers = [self._serve("gw"), self._serve("web")]

    def _serve(self, name: str) -> socket.socket:
        server = socket.socket(socket.AF_UNIX)
        path = self.folder / f"{name}.sock"
        server.bind(str(path))
        os.chown(path, -1, 999)
        path.chmod(0o660)
        server.listen()
        threading.Thread(target=self._answer, args=(server, name.encode()), daemon=True).start()
        return server

    @staticmethod
    def _answer(server: socket.socket, words: bytes) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = server.accept()
                with connection:
                    connection.sendall(words)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        for server in self._servers:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            server.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Boxes:
    """Makes boxes and removes every one of them."""

    def __init__(self, engine: Engine, gateway: Gateway) -> None:
        self.engine = engine
        self.gateway = gateway
        self._made: list[DockerSandbox] = []

    def new(self, limits: Limits = SMALL, *, lifetime_s: float = 300, image: str = BASE) -> DockerSandbox:
        """Return a box that is not started."""
        spec = SandboxSpec(
            image=image,
            run="test-run",
            session=f"test-{len(self._made)}",
            attempt=1,
            gateway_dir=self.gateway.folder,
            lifetime_s=lifetime_s,
            limits=limits,
        )
        box = self.engine.sandbox(spec)
        self._made.append(box)
        return box

    def thawed(self, limits: Limits = SMALL, *, lifetime_s: float = 300) -> DockerSandbox:
        """Return a box in which a turn has begun."""
        box = self.new(limits, lifetime_s=lifetime_s)
        box.start()
        box.thaw()
        return box

    def close(self) -> None:
        """Remove all."""
        for box in self._made:
            box.close()


@contextlib.contextmanager
def boxes_on(engine: Engine) -> Iterator[Boxes]:
    """Yield a maker of boxes with a gateway of its own."""
    with Gateway() as gateway:
        boxes = Boxes(engine, gateway)
        try:
            yield boxes
        finally:
            boxes.close()


def shell(box: DockerSandbox, script: str, timeout_s: float = 30) -> str:
    """Run a shell script in a box and return what it printed, errors too."""
    result = box.exec(["sh", "-c", script], timeout_s=timeout_s)
    return (result.stdout + result.stderr).decode(errors="replace")


def python(box: DockerSandbox, program: str, *args: str, timeout_s: float = 30) -> str:
    """Run a Python program in a box and return what it printed; its traceback where it failed."""
    result = box.exec(["python3", "-c", program, *args], timeout_s=timeout_s)
    return (result.stdout + result.stderr).decode(errors="replace")
