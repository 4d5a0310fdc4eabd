"""A stream of unknown length kept within a cap: its head, its tail, and how many bytes are missing between."""

from io import BufferedWriter
from pathlib import Path
from typing import Final, Self

CONTINUATION: Final = range(0x80, 0xC0)
"""Bytes that go on a UTF-8 character and cannot start one."""


class CappedStream:
    """Takes chunks; keeps at most `limit` bytes in memory and, with a path, on disk while it runs.

    Both cuts stand between characters of UTF-8, so at most six more bytes are missing than had to be. On disk the
    first `limit` bytes are written as they come; when there were more, `close` puts head, a marker line and tail there.
    """

    def __init__(self, limit: int, path: Path | None = None) -> None:
        """Open the file, if any; its folder must exist."""
        self._limit = max(limit, 16)
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0
        self._path = path
        self._file: BufferedWriter | None = path.open("wb") if path is not None else None

    def __enter__(self) -> Self:
        """Use as a context manager that closes."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Close on the way out."""
        self.close()

    @property
    def total(self) -> int:
        """Bytes taken so far."""
        return self._total

    def write(self, chunk: bytes) -> None:
        """Take the next bytes of the stream."""
        if self._file is not None and self._total < self._limit:
            self._file.write(chunk[: self._limit - self._total])
            self._file.flush()
        self._total += len(chunk)
        room = self._limit // 2 - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk
        if len(self._tail) > 2 * self._tail_limit:
            del self._tail[: -self._tail_limit]

    @property
    def _tail_limit(self) -> int:
        """The tail's share of the cap."""
        return self._limit - self._limit // 2

    def result(self) -> tuple[bytes, int]:
        """Return (kept bytes, bytes missing); where some are missing a marker line stands in their place."""
        head, tail = bytes(self._head), bytes(self._tail[-self._tail_limit :])
        if len(head) + len(tail) == self._total:
            return head + tail, 0
        head, tail = _whole_end(head), _whole_start(tail)
        missing = self._total - len(head) - len(tail)
        return head + f"\n[{missing} bytes missing here]\n".encode() + tail, missing

    def close(self) -> None:
        """Bring the file to its final form. Idempotent."""
        if self._file is None or self._path is None:
            return
        self._file.close()
        self._file = None
        kept, missing = self.result()
        if missing:
            self._path.write_bytes(kept)


def _whole_end(data: bytes) -> bytes:
    """Return the bytes without a character that is cut off at their end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte in CONTINUATION:
            continue
        width = 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
        return data[:-back] if width > back else data
    return data


def _whole_start(data: bytes) -> bytes:
    """Return the bytes without the rest of a character that began before them."""
    start = 0
    while start < min(3, len(data)) and data[start] in CONTINUATION:
        start += 1
    return data[start:]
