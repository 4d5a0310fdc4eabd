"""Sessions of the reference agent, held once per state of the code that makes them."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from gateway.settings import Shape
from offline.data.cache import default_cache_dir, ensure
from offline.fmp.app import Service
from records.paths import AttemptPaths
from tests.sampled.rerun import ensure_rerun
from tests.sampled.service import open_store
from tests.sampled.session import code_sha256, hold


@cache
def store() -> Service:
    """Return the stand-in over the prepared offline tables, preparing them where needed."""
    return open_store(ensure(on_line=lambda _: None))


def folder() -> Path:
    """Return where the sessions of this state of the code lie; older states are left to `make clean`."""
    return default_cache_dir() / "sampled" / code_sha256()


def session(seed: int, *, shape: Shape = "flat") -> AttemptPaths:
    """Return one session of the reference agent, its code run again; made now unless it lies in the cache."""
    final = folder() / f"{shape}-{seed}"
    if not (final / "ended").exists():
        with _draft(final) as draft:
            hold(seed, draft, store(), shape=shape)
            (draft / "ended").touch()
    paths = AttemptPaths(final)
    ensure_rerun(paths)
    return paths


@contextmanager
def _draft(final: Path) -> Iterator[Path]:
    """Yield a folder that appears under its name when the block ends well."""
    draft = final.with_name(f".{final.name}.{os.getpid()}")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        yield draft
        if not final.exists():
            draft.rename(final)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
