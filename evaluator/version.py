"""The identity of the scoring code: two grades are comparable only under the same version."""

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path

_SCORING_SUFFIXES = (".py", ".json")
_DATA = ("grammar.json", "rubric.json", "prices.json")


@cache
def evaluator_version() -> str:
    """Return the first 16 hexadecimal digits of SHA-256 over the evaluator's source, grammar, rubric and prices.

    Paths are relative to the package and sorted, so that an installed copy in an image and a checkout agree.
    """
    root = Path(__file__).parent
    digest = hashlib.sha256()
    sources = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.suffix in _SCORING_SUFFIXES}
    for name in sorted(sources):
        _feed(digest, name, sources[name].read_bytes())
    for name in _DATA:
        _feed(digest, name, (files("records") / "data" / name).read_bytes())
    return digest.hexdigest()[:16]


def _feed(digest: "hashlib._Hash", name: str, content: bytes) -> None:
    """Add one file so that neither renaming nor moving bytes between files goes unseen."""
    digest.update(f"{name}\0{len(content)}\0".encode())
    digest.update(content)
