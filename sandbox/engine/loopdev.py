"""Loop devices through the kernel's own calls: no subprocess per session, and a device that frees itself.

Source of numbers and layouts: linux/loop.h (LOOP_CONFIGURE is Linux 5.8 and later).
"""

import errno
import fcntl
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

LOOP_CLR_FD: Final = 0x4C01
LOOP_CONFIGURE: Final = 0x4C0A
LOOP_CTL_GET_FREE: Final = 0x4C82
LO_FLAGS_AUTOCLEAR: Final = 4
CONFIG: Final = struct.Struct("=II 5Q 4I 64s 64s 32s 2Q 64x")
"""struct loop_config with its struct loop_info64 inside."""
CONTROL: Final = Path("/dev/loop-control")
SYSFS: Final = Path("/sys/block")
TRIES: Final = 64
"""Between asking for a free device and taking it another process may be quicker."""


def available() -> bool:
    """Return whether this process may make loop devices."""
    return os.access(CONTROL, os.R_OK | os.W_OK) and os.geteuid() == 0


def attach(image: Path) -> tuple[Path, int]:
    """Attach a file to a free loop device that detaches itself when its last user is gone.

    Returns: the device and an open descriptor on it. The caller owns the descriptor: the device lives until that is
    closed and every mount of it is gone, so a killed runner leaves no device behind.
    Raises: OSError: no loop support, or no free device.
    """
    with image.open("r+b") as backing:
        for _ in range(TRIES):
            device = Path(f"/dev/loop{_free_number()}")
            holder = os.open(device, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.ioctl(holder, LOOP_CONFIGURE, _config(backing.fileno(), image.name))
            except OSError as exc:
                os.close(holder)
                if exc.errno != errno.EBUSY:
                    raise
            else:
                return device, holder
    raise OSError(errno.EBUSY, "no free loop device", str(image))


def _free_number() -> int:
    """Return the number of a device that was free a moment ago; the kernel makes one when all are taken."""
    control = os.open(CONTROL, os.O_RDWR | os.O_CLOEXEC)
    try:
        return fcntl.ioctl(control, LOOP_CTL_GET_FREE)
    finally:
        os.close(control)


def _config(backing: int, name: str) -> bytes:
    """Return the argument of LOOP_CONFIGURE."""
    label = name.encode()[:63]
    return CONFIG.pack(backing, 0, 0, 0, 0, 0, 0, 0, 0, 0, LO_FLAGS_AUTOCLEAR, label, b"", b"", 0, 0)


def attached(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield (device, backing file) of every loop device whose file lies, or lay, directly in `folder`."""
    for entry in sorted(SYSFS.glob("loop*/loop/backing_file")):
        try:
            backing = Path(entry.read_text(encoding="utf-8").strip().removesuffix(" (deleted)"))
        except OSError:
            continue
        if backing.parent == folder:
            yield Path("/dev") / entry.parent.parent.name, backing


def detach(device: Path) -> None:
    """Free a loop device; one that is mounted is freed by the kernel at its last unmount."""
    holder = os.open(device, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.ioctl(holder, LOOP_CLR_FD)
    except OSError as exc:
        if exc.errno != errno.ENXIO:
            raise
    finally:
        os.close(holder)
