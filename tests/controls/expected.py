"""The expected lines, written by hand before each mutant's first run: expected/*.toml."""

import tomllib
from dataclasses import dataclass
from functools import cache

from tests.controls.places import HERE


@dataclass(frozen=True)
class Expected:
    """What one mutant must do to its base."""

    changes: dict[str, int | None]
    """Dimension -> new score; None: no score any more."""
    fails: tuple[str, ...]
    """Vetoes that fail, in the rubric's order."""
    why: str


@cache
def expected_lines() -> dict[str, Expected]:
    """Return the expected line of every mutant by name. Raises: ValueError: a name stands twice."""
    out: dict[str, Expected] = {}
    for path in sorted((HERE / "expected").glob("*.toml")):
        for name, line in tomllib.loads(path.read_text(encoding="utf-8")).items():
            if name in out:
                raise ValueError(f"{path.name}: {name} stands twice")
            changes = {key: None if value == "none" else int(value) for key, value in line["changes"].items()}
            out[name] = Expected(changes, tuple(line["fails"]), line.get("why", ""))
    return out


NOTHING = Expected({}, (), "")
"""A clean variant changes nothing and fails nothing."""
