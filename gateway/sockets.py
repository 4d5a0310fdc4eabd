"""Unix sockets with the right owner and mode from the first moment (docs/adr/0002-gateway.md)."""

import contextlib
import os
import socket
from pathlib import Path

from records.errors import UsageError

FOLDER_MODE = 0o711
GROUP_MODE, OPEN_MODE, PRIVATE_MODE = 0o660, 0o666, 0o600
BACKLOG = 512


def bind(path: Path, *, mode: int, gid: int | None = None) -> socket.socket:
    """Return a listening socket at `path`, replacing one that a dead process left.

    It is bound through the folder's descriptor, because a socket address holds 107 bytes and run directories are longer.
    Raises: UsageError: the folder cannot be written or the group cannot be given.
    """
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
            sock.bind(f"/proc/self/fd/{folder}/{path.name}")
        finally:
            os.close(folder)
        if gid is not None:
            os.chown(path, -1, gid)
        path.chmod(mode)
        sock.listen(BACKLOG)
        sock.setblocking(False)  # noqa: FBT003 - the socket API has no keyword for it
    except OSError as exc:
        sock.close()
        raise UsageError(
            f"gateway socket {path}: expected to be able to make it, found {exc}; check the folder"
        ) from exc
    return sock
