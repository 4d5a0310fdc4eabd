"""Packed files: .gz and .zip, unpacked under a count in memory; an archive inside an archive is refused."""

import io
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from evaluator.package.constants import MAX_MEMBERS, MAX_RATIO, MIB
from evaluator.package.formats.raw import Unreadable

MAX_UNPACKED = 256 * MIB
"""One packed table; unlike a plain file it cannot be mapped."""
_CHUNK = 1 << 20
_NESTED = (".zip", ".gz", ".tar", ".7z", ".rar", ".bz2", ".xz", ".zst", ".tgz")


@dataclass(frozen=True)
class Member:
    """One file of an archive; `data` is None where it is refused for the reason."""

    name: str
    data: bytes | None
    reason: str = ""


def ungzipped(data: bytes) -> bytes:
    """Return what a .gz file holds. Raises Unreadable beyond the caps and where it is broken."""
    try:
        return _inflated(data)
    except zlib.error as error:
        raise Unreadable(f"not a readable .gz file: {error}") from error


def _inflated(data: bytes) -> bytes:
    out = bytearray()
    view = memoryview(data)
    at = 0
    while at < len(view):
        engine = zlib.decompressobj(wbits=31)
        feed = bytes(view[at : at + _CHUNK])
        at += len(feed)
        while True:
            out += engine.decompress(feed, _CHUNK)
            _check(len(out), len(data))
            if engine.eof:
                at -= len(engine.unused_data)
                break
            feed = engine.unconsumed_tail
            if not feed:
                if at >= len(view):
                    raise Unreadable("the .gz file ends too early")
                feed = bytes(view[at : at + _CHUNK])
                at += len(feed)
        if bytes(view[at : at + 2]) != b"\x1f\x8b":
            break
    return bytes(out)


def members(data: bytes) -> Iterator[Member]:
    """Yield the files of a .zip in order of their names. Raises Unreadable when it is no archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = sorted((p for p in archive.infolist() if not p.is_dir()), key=lambda part: part.filename)
            if len(parts) > MAX_MEMBERS:
                raise Unreadable(f"{len(parts)} members, at most {MAX_MEMBERS} are read")
            total = 0
            for part in parts:
                reason = _refusal(part)
                if reason:
                    yield Member(part.filename, None, reason)
                    continue
                content = _unpacked(archive, part, total, len(data))
                total += len(content)
                yield Member(part.filename, content)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        raise Unreadable(f"not a readable .zip file: {str(error)[:200]}") from error


def _refusal(part: zipfile.ZipInfo) -> str:
    name = part.filename.replace("\\", "/")
    if name.startswith("/") or ".." in name.split("/") or ":" in name:
        return "its path leads out of the archive"
    if (part.external_attr >> 16) & 0o170000 == 0o120000:
        return "is a link and is not followed"
    if name.lower().endswith(_NESTED):
        return "an archive inside an archive is not opened"
    return "is locked with a password" if part.flag_bits & 1 else ""


def _unpacked(archive: zipfile.ZipFile, part: zipfile.ZipInfo, before: int, packed: int) -> bytes:
    out = bytearray()
    with archive.open(part) as stream:
        while chunk := stream.read(_CHUNK):
            out += chunk
            _check(before + len(out), packed)
    return bytes(out)


def _check(size: int, packed: int) -> None:
    if size > MAX_UNPACKED:
        raise Unreadable(f"unpacks to more than {MAX_UNPACKED} bytes")
    if size > _CHUNK and size > MAX_RATIO * packed:
        raise Unreadable(f"unpacks to more than {MAX_RATIO} times its size")
