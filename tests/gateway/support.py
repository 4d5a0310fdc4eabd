"""What several gateway tests need: a loopback forwarder as the sandbox has it, and searches for a canary."""

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path

CHUNK = 65536


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while part := await reader.read(CHUNK):
            writer.write(part)
            await writer.drain()
    writer.close()


@contextlib.asynccontextmanager
async def forwarder(path: str) -> AsyncIterator[int]:
    """Forward a free loopback port to a Unix socket while the block runs; yields the port."""
    tasks: set[asyncio.Task[None]] = set()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner = await asyncio.open_unix_connection(path)
        for pair in ((reader, inner[1]), (inner[0], writer)):
            task = asyncio.get_running_loop().create_task(_copy(*pair))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def ask_raw(path: str, request: bytes, *, timeout_s: float = 20) -> bytes:
    """Send bytes to a Unix socket and return all that comes back until it is closed."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(timeout_s)
        sock.connect(path)
        sock.sendall(request)
        parts = []
        while part := sock.recv(CHUNK):
            parts.append(part)
    return b"".join(parts)


def _processes() -> list[Path]:
    return [path for path in Path("/proc").iterdir() if path.name.isdigit()]


def in_process_files(needle: str, name: str, *, spared: tuple[int, ...] = ()) -> list[int]:
    """Return the processes whose /proc file `name` (cmdline, environ) holds the needle, without the spared ones."""
    found = []
    for path in _processes():
        with contextlib.suppress(OSError):
            if needle.encode() in (path / name).read_bytes() and int(path.name) not in spared:
                found.append(int(path.name))
    return found


def in_files(needle: str, root: Path) -> list[Path]:
    """Return the files below `root` whose content or name holds the needle."""
    return [
        path
        for path in root.rglob("*")
        if needle in path.name or (path.is_file() and os.access(path, os.R_OK) and needle.encode() in path.read_bytes())
    ]
