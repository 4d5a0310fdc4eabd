"""Who made a container: a process named so that a later one with the same number is not taken for it."""

import contextlib
import os
from pathlib import Path


def this_owner() -> str:
    """Return this process as boot, process namespace, number and start time."""
    return _describe(os.getpid()) or f"{_boot()}.?.{os.getpid()}.?"


def is_alive(owner: str) -> bool:
    """Return whether an owner still runs; one in another process namespace cannot be seen and counts as alive."""
    parts = owner.split(".")
    if len(parts) != 4:
        return False
    boot, namespace, number, _started = parts
    if boot != _boot():
        return False
    if namespace != _namespace():
        return True
    return number.isdecimal() and _describe(int(number)) == owner


def _boot() -> str:
    """Return the first part of the boot id."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").split("-", maxsplit=1)[0]


def _namespace() -> str:
    """Return the number of this process namespace."""
    return "".join(filter(str.isdecimal, str(Path("/proc/self/ns/pid").readlink())))


def _describe(pid: int) -> str | None:
    """Return a process of this namespace, None when there is none."""
    with contextlib.suppress(OSError):
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        started = stat.rsplit(")", 1)[1].split()[19]
        return f"{_boot()}.{_namespace()}.{pid}.{started}"
    return None
