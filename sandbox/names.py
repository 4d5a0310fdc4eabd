"""Clean names for files of a hostile tree: printable, safe on any host, and never the same for two files."""

import hashlib
import re
from typing import Final

MAX_NAME: Final = 255
"""Bytes of one name that the host's file systems take."""
ESCAPED: Final = re.compile(rb"[\x00-\x1f\x7f/\\]|%(?=[0-9A-Fa-f]{2})")
"""Bytes that never stand in a kept name; a percent sign only where it would read as an escape."""


def clean_name(parts: tuple[bytes, ...]) -> str:
    """Return the POSIX path under which an entry is kept; different paths never get the same one.

    Undecodable bytes, control characters, backslashes and ambiguous percent signs become %XX; a name that grows too
    long for the host is cut and ends in part of its hash.
    """
    return "/".join(_clean_part(part) for part in parts)


def _clean_part(part: bytes) -> str:
    """Return one clean name."""
    escaped = ESCAPED.sub(lambda found: b"".join(b"%%%02X" % byte for byte in found[0]), part)
    text = escaped.decode("utf-8", errors="surrogateescape")
    text = re.sub("[\udc80-\udcff]", lambda found: f"%{ord(found[0]) - 0xDC00:02X}", text)
    if text in {".", "..", ""}:
        text = text.replace(".", "%2E") or "%"
    if len(text.encode()) > MAX_NAME:
        head = text.encode()[: MAX_NAME - 20].decode(errors="ignore")
        text = f"{head}~{hashlib.sha256(part).hexdigest()[:16]}"
    return text
