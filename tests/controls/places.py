"""Where bases are kept between runs, and how one is found again: by a hash of the code that made it."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from offline.data import default_cache_dir

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
KEEP = "FINCOSMOS_CONTROLS"


def store() -> Path:
    """Return the folder of bases: FINCOSMOS_CONTROLS, or `controls/` in the cache of offline data."""
    return Path(os.environ.get(KEEP) or default_cache_dir() / "controls")


def digest(paths: Iterable[Path], *words: str) -> str:
    """Return 16 hexadecimal digits over names and bytes of files and some words."""
    found = hashlib.sha256()
    for path in sorted(paths):
        found.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    for word in words:
        found.update(word.encode() + b"\0")
    return found.hexdigest()[:16]


def made_once(name: str, key: str, make: Callable[[Path], None]) -> Path:
    """Return the folder `name-key`, filled by `make` when it is not there; a failed making leaves nothing."""
    place = store() / f"{name}-{key}"
    if place.exists():
        return place
    store().mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=store()))
    try:
        make(draft)
        try:
            draft.rename(place)
        except OSError:
            if not place.exists():
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return place
