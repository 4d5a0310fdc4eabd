"""The identity of the scoring code: two grades are comparable only under the same version."""

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

SCORING_SUFFIXES = (".py", ".json", ".md", ".txt", ".jinja")
"""Code, and data and prompts that code reads."""
_FOR_PEOPLE = "README.md"
DATA = ("grammar.json", "rubric.json", "prices.json")
RECORDS = (
    "base", "calls", "capture", "chat", "errors", "grade", "grammar", "jsonl", "judging", "prices", "rerun", "rubric", "session",
    "spec", "strategy", "task", "turns", "usage",
)  # fmt: skip
"""Modules of `records` through which the evaluator reads and writes; tests hold this list against its imports."""


@cache
def evaluator_version() -> str:
    """Return the first 16 hexadecimal digits of SHA-256 over the evaluator's files, its records, grammar, rubric and prices.

    Paths are relative to the packages and sorted, so that an installed copy in an image and a checkout agree.
    """
    return version_of(Path(__file__).parent, Path(str(files("records"))))


def version_of(evaluator: Path, records: Path) -> str:
    """Return the version of the scoring code in two package folders."""
    digest = hashlib.sha256()
    for name, path in sorted(_sources(evaluator, records).items()):
        _feed(digest, name, path.read_bytes())
    return digest.hexdigest()[:16]


def _sources(evaluator: Path, records: Path) -> Mapping[str, Path]:
    own = {
        path.relative_to(evaluator).as_posix(): path
        for path in evaluator.rglob("*")
        if path.suffix in SCORING_SUFFIXES and path.name != _FOR_PEOPLE
    }
    shared = {f"records/{name}.py": records / f"{name}.py" for name in RECORDS}
    return own | shared | {f"records/data/{name}": records / "data" / name for name in DATA}


def _feed(digest: "hashlib._Hash", name: str, content: bytes) -> None:
    """Add one file so that neither renaming nor moving bytes between files goes unseen."""
    digest.update(f"{name}\0{len(content)}\0".encode())
    digest.update(content)
