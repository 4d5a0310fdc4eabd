"""Reads a folder out of a frozen box into a keeper: through the host where that is possible, else through the engine.

The engine's archive spells out a sparse file zero by zero, so a file that its caps refuse ends that reading; the host's
own view goes on behind it. It needs root and the host's process table, as `processes.NearView` does.
"""

import contextlib
import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

import docker
from docker import errors as engine_errors

from records.errors import TransferError
from sandbox.engine.client import translated
from sandbox.keep import CHUNK, Entry, Keeper, Readable
from sandbox.tree import open_below, read_tree

SKIP_BYTES: Final = 256 * 1024 * 1024
"""A refused file up to this size is read past, a larger one ends the reading (about 0.2 s at 1.2 GB/s)."""


def read_near(init_pid: int, source: PurePosixPath, keeper: Keeper) -> None:
    """Read a folder through the box's root as the host sees it. Raises TransferError when the host cannot read it."""
    try:
        root = os.open(f"/proc/{init_pid}/root", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            folder = open_below(root, source)
        finally:
            os.close(root)
        if folder is None:
            return
        try:
            read_tree(folder, keeper)
        finally:
            os.close(folder)
    except OSError as exc:
        raise TransferError(
            f"{source} could not be read from outside the box: {exc}; look at the host's disk, then run again"
        ) from exc


def read_far(client: docker.DockerClient, container_id: str, source: PurePosixPath, keeper: Keeper) -> None:
    """Read a folder through the engine's archive. Raises TransferError or LostError."""
    with translated(f"copy {source} out of the box", fault=TransferError, container_id=container_id):
        try:
            chunks, _stat = client.api.get_archive(container_id, str(source), chunk_size=CHUNK)
        except engine_errors.NotFound as exc:
            if "No such container" in str(exc.explanation):
                raise
            return
        try:
            with contextlib.closing(chunks):
                feed_archive(_Stream(chunks), source.name, keeper)
        except tarfile.TarError as exc:
            raise TransferError(f"the engine's archive of {source} broke off: {exc}; run again") from exc


def feed_archive(stream: io.RawIOBase, prefix: str, keeper: Keeper) -> None:
    """Give a keeper every entry of a tar stream below the folder named `prefix`. Raises tarfile.TarError."""
    with tarfile.open(fileobj=stream, mode="r|", encoding="utf-8", errors="surrogateescape") as archive:
        for member in archive:
            parts = tuple(os.fsencode(part) for part in member.name.split("/") if part not in {"", "."})
            if parts[:1] != (os.fsencode(prefix),) or member.isdir():
                continue
            entry = _entry(member, parts[1:], prefix)
            if not entry.parts:
                keeper.note(f"{prefix}: not a folder but a {entry.kind}, nothing was copied")
                continue
            source = _Source(archive, member)
            keeper.take(entry, source.open)
            if member.size > SKIP_BYTES and not source.opened:
                keeper.note(f"{prefix}: entries after this file of {member.size} bytes were not read", truncated=True)
                return


def _entry(member: tarfile.TarInfo, parts: tuple[bytes, ...], prefix: str) -> Entry:
    """Return a tar member as an entry."""
    if member.issym():
        return Entry(parts, "link", target=os.fsencode(member.linkname))
    if member.islnk():
        return Entry(parts, "hardlink", target=os.fsencode(member.linkname.removeprefix(f"{prefix}/")))
    if member.isreg():
        return Entry(parts, "file", size=member.size)
    return Entry(parts, "other", what="device, fifo or socket")


class _Source:
    """Opens a plain file of the archive, and knows whether it did."""

    def __init__(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        """Name the file."""
        self._archive, self._member, self.opened = archive, member, False

    def open(self) -> contextlib.AbstractContextManager[Readable]:
        """Return its bytes. Raises tarfile.ReadError when the archive has none."""
        self.opened = True
        found = self._archive.extractfile(self._member)
        if found is None:
            raise tarfile.ReadError(f"{self._member.name!r} has no bytes")
        return contextlib.nullcontext(found)


class _Stream(io.RawIOBase):
    """The engine's chunks as one readable stream."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        """Take the chunks; the caller closes them."""
        self._chunks = chunks
        self._rest = b""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes."""
        if not self._rest:
            self._rest = next(self._chunks, b"")
        data, self._rest = (self._rest[:size], self._rest[size:]) if size >= 0 else (self._rest, b"")
        return data
