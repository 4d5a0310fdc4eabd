"""A loopback port in front of a Unix socket, as the box has one."""

import contextlib
import socket
import threading
from collections.abc import Iterator


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while part := source.recv(1 << 16):
            target.sendall(part)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _serve(client: socket.socket, path: str) -> None:
    with client, socket.socket(socket.AF_UNIX) as inner:
        inner.connect(path)
        back = threading.Thread(target=_copy, args=(inner, client), daemon=True)
        back.start()
        _copy(client, inner)
        back.join()


@contextlib.contextmanager
def forwarded(path: str) -> Iterator[int]:
    """Yield a free loopback port whose connections reach the socket while the block runs."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    client, _ = server.accept()
                    threading.Thread(target=_serve, args=(client, path), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]
        # On Linux a blocked accept wakes up only when the listening socket is shut down.
        server.shutdown(socket.SHUT_RDWR)
