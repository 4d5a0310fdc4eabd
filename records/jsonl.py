"""Append-only JSON lines: a torn last line is left out when reading and never glued to the next when writing."""

import os
from pathlib import Path


def append_line(path: Path, line: str) -> None:
    """Append one line and flush it to disk; a torn tail from a killed writer gets its own line end first."""
    with path.open("ab+") as handle:
        if handle.tell() > 0:
            handle.seek(-1, os.SEEK_END)
            if handle.read(1) != b"\n":
                handle.write(b"\n")
        handle.write(line.encode() + b"\n")
        handle.flush()
        os.fsync(handle.fileno())


def read_lines(path: Path) -> list[str]:
    """Return the complete lines, oldest first; a last line without its line end is torn and left out."""
    if not path.exists():
        return []
    *lines, _torn = path.read_text(encoding="utf-8").split("\n")
    return [line for line in lines if line.strip()]
