"""Hashes of a delivered folder."""

import hashlib
from pathlib import Path

from records.capture import FileEntry


def entries(folder: Path) -> tuple[FileEntry, ...]:
    """Return the regular files below a folder with their hashes, in path order."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return tuple(
        FileEntry(
            path=path.relative_to(folder).as_posix(),
            size=path.stat().st_size,
            sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        for path in found
    )
