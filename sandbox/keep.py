"""What is kept of a hostile tree: plain files under clean names, within caps, each with its hash.

Two keepers take the same entries, from whatever read them: one writes a folder, the other a .tar.zst. Neither resolves
a link out of the tree, keeps a device, fifo, socket or mode bit, or goes past its caps; each refusal leaves a note.
"""

import contextlib
import errno
import hashlib
import io
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Protocol, Self

import zstandard

from records.capture import CopyReport, FileEntry
from sandbox.names import clean_name

Kind = Literal["file", "link", "hardlink", "other"]

MAX_NOTES: Final = 200
"""Notes kept one by one; more are counted. A virtual environment alone has hundreds of links."""
MAX_DEPTH: Final = 64
"""Folders below each other; deeper trees are only made to break readers."""
MAX_LINKS: Final = 8
"""Links followed one after the other inside the tree."""
CHUNK: Final = 1024 * 1024
ZSTD_LEVEL: Final = 3


class Readable(Protocol):
    """Bytes of one file."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes; none at the end."""


@dataclass(frozen=True)
class Entry:
    """One name in the hostile tree."""

    parts: tuple[bytes, ...]
    """Path below the tree's root, as raw bytes."""
    kind: Kind
    size: int = 0
    """Bytes of a file as its metadata says; a sparse file's is not what it holds on disk."""
    target: bytes = b""
    """Of a link: its text; of a hard link: the path below the root."""
    what: str = ""
    """Of any other kind: its name for the note ("device", "fifo", "socket")."""


@dataclass(frozen=True)
class Caps:
    """Where a copy stops."""

    total_bytes: int
    files: int


@dataclass
class Ledger:
    """Counts what was kept and refused, and decides on the next file."""

    caps: Caps
    kept: dict[str, FileEntry] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    more: int = 0
    used: int = 0
    truncated: bool = False

    def note(self, sentence: str) -> None:
        """Add a note, or count it when there are many."""
        if len(self.notes) < MAX_NOTES:
            self.notes.append(sentence)
        else:
            self.more += 1

    def admits(self, name: str, size: int) -> bool:
        """Return whether a file of this size still fits; where not, say which cap stands against it."""
        if len(self.kept) >= self.caps.files:
            reason = f"more than {self.caps.files} files"
        elif self.used + size > self.caps.total_bytes:
            reason = f"its {size} bytes go past the cap of {self.caps.total_bytes} bytes"
        else:
            return True
        self.truncated = True
        self.note(f"{name}: not kept, {reason}")
        return False

    def add(self, name: str, size: int, sha256: str) -> None:
        """Enter a kept file."""
        self.used += size
        self.kept[name] = FileEntry(path=name, size=size, sha256=sha256)

    def report(self) -> CopyReport:
        """Return what was kept, by name, and the notes."""
        notes = (*self.notes, f"and {self.more} more notes of this kind") if self.more else tuple(self.notes)
        files = tuple(self.kept[name] for name in sorted(self.kept))
        return CopyReport(files=files, notes=notes, truncated=self.truncated)


def no_bytes() -> contextlib.AbstractContextManager[Readable]:
    """Stand where an entry has nothing to read."""
    return contextlib.nullcontext(io.BytesIO())


class Keeper(Protocol):
    """Takes entries one by one, then gives its report."""

    def take(self, entry: Entry, open_file: Callable[[], contextlib.AbstractContextManager[Readable]]) -> None:
        """Keep or refuse one entry; `open_file` is called only for a file that fits."""

    def note(self, sentence: str, *, truncated: bool = False) -> None:
        """Add what the reader of the tree has to say."""


class FolderKeeper:
    """Keeps files in a new folder; links inside the tree become copies of what they point at."""

    def __init__(self, destination: Path, caps: Caps) -> None:
        """Make the folder; its parents too."""
        self._root = destination
        self._ledger = Ledger(caps)
        self._links: dict[str, tuple[tuple[bytes, ...], bytes]] = {}
        destination.mkdir(parents=True, exist_ok=True)

    def note(self, sentence: str, *, truncated: bool = False) -> None:
        """Add what the reader of the tree has to say."""
        self._ledger.note(sentence)
        self._ledger.truncated |= truncated

    def take(self, entry: Entry, open_file: Callable[[], contextlib.AbstractContextManager[Readable]]) -> None:
        """Keep or refuse one entry."""
        name = clean_name(entry.parts)
        if entry.kind == "file":
            if self._ledger.admits(name, entry.size):
                with open_file() as source:
                    self._write(name, source, entry.size)
        elif entry.kind == "link":
            self._links[name] = (entry.parts, entry.target)
        elif entry.kind == "hardlink":
            self._links[name] = ((), entry.target)
        else:
            self._ledger.note(f"{name}: not kept, a {entry.what}")

    def _write(self, name: str, source: Readable, size: int) -> None:
        """Write one file, mode 0644, never over another."""
        path = self._root / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as handle:
                path.chmod(0o644)
                written, digest = _pour(source, handle.write, size)
        except OSError as exc:
            if exc.errno is None or not _is_name_fault(exc):
                raise
            self._ledger.truncated = True
            self._ledger.note(f"{name[:200]}: not kept, the host cannot hold this name ({exc.strerror})")
            return
        self._ledger.add(name, written, digest)

    def finish(self) -> CopyReport:
        """Copy what links inside the tree point at, then report."""
        for name, (parts, target) in self._links.items():
            pointed = self._resolve(parts, target)
            if pointed is None:
                self._ledger.note(f"{name}: not kept, a link to no kept file of this tree")
            elif self._ledger.admits(name, pointed.size):
                with (self._root / pointed.path).open("rb") as source:
                    self._write(name, source, pointed.size)
        return self._ledger.report()

    def _resolve(self, parts: tuple[bytes, ...], target: bytes) -> FileEntry | None:
        """Return the kept file that a link means, following links inside the tree by their text alone."""
        for _ in range(MAX_LINKS):
            inside = _inside(parts[:-1], target)
            if inside is None:
                return None
            name = clean_name(inside)
            if name in self._ledger.kept:
                return self._ledger.kept[name]
            if name not in self._links:
                return None
            parts, target = self._links[name]
        return None


class ArchiveKeeper:
    """Keeps files in one .tar.zst, under names that any reader takes; links are only noted."""

    def __init__(self, destination: Path, caps: Caps) -> None:
        """Open the archive."""
        self._ledger = Ledger(caps)
        destination.parent.mkdir(parents=True, exist_ok=True)
        self._raw = destination.open("wb")
        self._packed = zstandard.ZstdCompressor(level=ZSTD_LEVEL).stream_writer(self._raw, closefd=False)
        self._tar = tarfile.TarFile.open(fileobj=self._packed, mode="w|", format=tarfile.PAX_FORMAT)

    def __enter__(self) -> Self:
        """Use as a context manager that closes."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the archive; after an error it stays torn, and the error says so."""
        with contextlib.ExitStack() as stack:
            stack.callback(self._raw.close)
            stack.callback(self._packed.close)
            if kind is None:
                self._tar.close()

    def note(self, sentence: str, *, truncated: bool = False) -> None:
        """Add what the reader of the tree has to say."""
        self._ledger.note(sentence)
        self._ledger.truncated |= truncated

    def take(self, entry: Entry, open_file: Callable[[], contextlib.AbstractContextManager[Readable]]) -> None:
        """Keep or refuse one entry."""
        name = clean_name(entry.parts)
        if entry.kind == "file":
            if self._ledger.admits(name, entry.size):
                with open_file() as source:
                    self._write(name, source, entry.size)
        elif entry.kind == "other":
            self._ledger.note(f"{name}: not kept, a {entry.what}")
        else:
            shown = clean_name(tuple(entry.target.split(b"/"))) if entry.target else ""
            self._ledger.note(f"{name}: not kept, a link to {shown[:200]}")

    def _write(self, name: str, source: Readable, size: int) -> None:
        """Write one file with a fixed head, so that the same tree gives the same bytes."""
        head = tarfile.TarInfo(name)
        head.size, head.mode = size, 0o644
        hashed = _Hashed(source, size)
        self._tar.addfile(head, hashed)
        self._ledger.add(name, size, hashed.digest())

    def finish(self) -> CopyReport:
        """Report; the archive is complete once the context ends."""
        return self._ledger.report()


class _Hashed(io.RawIOBase):
    """Passes a file on, hashed; one shorter than it said is filled with zeros, one longer is cut."""

    def __init__(self, source: Readable, size: int) -> None:
        """Wrap a source."""
        self._source, self._left, self._hash = source, size, hashlib.sha256()

    def read(self, size: int = -1, /) -> bytes:
        """Return exactly what tarfile asks for."""
        wanted = self._left if size < 0 else min(size, self._left)
        data = b""
        while len(data) < wanted:
            part = self._source.read(wanted - len(data))
            if not part:
                data += b"\0" * (wanted - len(data))
            data += part
        self._left -= len(data)
        self._hash.update(data)
        return data

    def digest(self) -> str:
        """Return the SHA-256 of what was passed on."""
        return self._hash.hexdigest()


def _pour(source: Readable, write: Callable[[bytes], int], limit: int) -> tuple[int, str]:
    """Copy at most `limit` bytes. Returns (bytes, SHA-256)."""
    digest, done = hashlib.sha256(), 0
    while done < limit and (chunk := source.read(min(CHUNK, limit - done))):
        write(chunk)
        digest.update(chunk)
        done += len(chunk)
    return done, digest.hexdigest()


def _inside(folder: tuple[bytes, ...], target: bytes) -> tuple[bytes, ...] | None:
    """Return where a link's text leads from its folder, None when that is outside the tree."""
    if target.startswith(b"/"):
        return None
    at = list(folder)
    for part in target.split(b"/"):
        if part in {b"", b"."}:
            continue
        if part == b"..":
            if not at:
                return None
            at.pop()
        else:
            at.append(part)
    return tuple(at)


def _is_name_fault(exc: OSError) -> bool:
    """Return whether the host refused a name rather than failed to write."""
    return isinstance(exc, FileExistsError | NotADirectoryError) or exc.errno in {errno.ENAMETOOLONG, errno.EILSEQ}
