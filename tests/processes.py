"""Processes seen from outside."""

import time
from pathlib import Path


def wait_until_gone(pid: int) -> bool:
    """Return whether a process ends within ten seconds; a zombie has ended."""
    for _ in range(500):
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False
