"""Looks for what must not be there: one search for each place that an agent, an auditor or a neighbour can see.

A needle is found whatever its case, and also JSON-escaped, percent-encoded, in hexadecimal or inside base64. The
searches read the host's process table and a box's files through it, so they need root.
"""

import base64
import contextlib
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import zstandard

PROC = Path("/proc")
NOT_OURS = ("proc", "sys", "usr")
"""Folders of a box that hold the kernel's view and vendors' packages."""
MAX_BYTES = 256 * 1024 * 1024

Place = Literal[
    "description",
    "arguments",
    "environment",
    "open files",
    "mounts",
    "sockets",
    "box files",
    "container log",
    "engine events",
    "measure job",
    "public",
    "graded",
    "run log",
    "run record",
    "gateway log",
]
Needles = Mapping[str, str]
"""What each canary is called, and its text."""


@dataclass(frozen=True, order=True)
class Hit:
    """One canary in one place."""

    place: Place
    where: str
    needle: str


@cache
def forms(text: str) -> tuple[bytes, ...]:
    """Return a text as it may be written, letters small except in base64."""
    raw = text.encode()
    plain = {
        raw,
        json.dumps(text)[1:-1].encode(),
        quote(text).encode(),
        quote(text, safe="").encode(),
        raw.hex().encode(),
    }
    shifted = {base64.b64encode(b"\0" * shift + raw + b"\0" * (-(shift + len(raw)) % 3)) for shift in range(3)}
    # Each end of such a code depends on the neighbours; what lies between does not.
    inner = {code[4:-4] for code in shifted if len(code) > 16}
    return (*sorted(form.lower() for form in plain), *sorted(inner))


def in_bytes(place: Place, where: str, body: bytes, needles: Needles) -> list[Hit]:
    """Return the needles in a run of bytes."""
    small = body.lower()
    return [
        Hit(place, where, name)
        for name, text in needles.items()
        if any(form in small or form in body for form in forms(text))
    ]


def in_description(place: Place, description: Any, needles: Needles, at: str = "") -> list[Hit]:
    """Return the needles in keys and values of what an engine says about a container, image, volume or event."""
    if isinstance(description, Mapping):
        return [
            hit
            for key, value in description.items()
            for hit in (
                *in_bytes(place, f"{at}/{key[:40]}", key.encode(), needles),
                *in_description(place, value, needles, f"{at}/{key[:40]}"),
            )
        ]
    if isinstance(description, list | tuple):
        return [hit for value in description for hit in in_description(place, value, needles, at)]
    return in_bytes(place, at, str(description).encode(), needles)


def in_arguments(pids: Iterable[int], needles: Needles) -> list[Hit]:
    """Return the needles in command lines."""
    return [hit for pid in pids for hit in in_bytes("arguments", str(pid), read(PROC / str(pid) / "cmdline"), needles)]


def in_environments(pids: Iterable[int], needles: Needles) -> list[Hit]:
    """Return the needles in environments."""
    return [
        hit for pid in pids for hit in in_bytes("environment", str(pid), read(PROC / str(pid) / "environ"), needles)
    ]


def in_open_files(pids: Iterable[int], needles: Needles) -> list[Hit]:
    """Return the needles in the names of files that processes hold open, and in their working folders."""
    return [
        hit
        for pid in pids
        for link in (PROC / str(pid) / "cwd", *listed(PROC / str(pid) / "fd"))
        for hit in in_bytes("open files", f"{pid} {link.name}", target(link), needles)
    ]


def in_mounts(pid: int, needles: Needles) -> list[Hit]:
    """Return the needles in what a process sees mounted: host paths, targets and options."""
    return in_bytes("mounts", str(pid), read(PROC / str(pid) / "mountinfo"), needles)


def in_box(pid: int, needles: Needles) -> list[Hit]:
    """Return the needles in names and contents of all files that a process in a box can see, vendors' packages apart."""
    root = PROC / str(pid) / "root"
    tops = [path for path in listed(root) if path.name not in NOT_OURS]
    return [
        Hit("box files", hit.where, hit.needle)
        for top in tops
        for hit in in_folder("box files", top, needles, under=root)
    ]


def in_folder(place: Place, root: Path, needles: Needles, *, under: Path | None = None) -> list[Hit]:
    """Return the needles in names and contents below a folder, or in one file; what is packed with zstd is unpacked."""
    hits = []
    for path in walk(root):
        name = str(path.relative_to(under or root.parent))
        hits += in_bytes(place, name, os.fsencode(name), needles)
        if path.is_symlink():
            hits += in_bytes(place, name, target(path), needles)
        elif path.is_file():
            hits += in_bytes(place, name, unpacked(path), needles)
    return hits


def unpacked(path: Path) -> bytes:
    """Return the content of a file, unpacked when its name says zstd."""
    body = read(path)
    if path.suffix != ".zst":
        return body
    with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(body)) as stream:
        return stream.read()


def walk(root: Path) -> Iterator[Path]:
    """Yield a path and everything below it; links are not followed."""
    yield root
    if root.is_dir() and not root.is_symlink():
        for path in listed(root):
            yield from walk(path)


def listed(folder: Path) -> list[Path]:
    """Return what is in a folder; nothing when it is gone."""
    with contextlib.suppress(OSError):
        return sorted(folder.iterdir())
    return []


def read(path: Path) -> bytes:
    """Return a file's first bytes; nothing when it is gone or cannot be read like a file."""
    with contextlib.suppress(OSError), path.open("rb") as handle:
        return handle.read(MAX_BYTES)
    return b""


def target(link: Path) -> bytes:
    """Return where a link leads, as text."""
    with contextlib.suppress(OSError):
        return os.fsencode(link.readlink())
    return b""


def all_pids() -> list[int]:
    """Return every process of the host."""
    return [int(path.name) for path in PROC.glob("[0-9]*")]


def descendants(pid: int) -> list[int]:
    """Return a process and all it started, oldest first."""
    children: dict[int, list[int]] = {}
    for each in all_pids():
        fields = read(PROC / str(each) / "stat").rpartition(b")")[2].split()
        if fields:
            children.setdefault(int(fields[1]), []).append(each)
    found = [pid]
    for parent in found:
        found += children.get(parent, [])
    return found
