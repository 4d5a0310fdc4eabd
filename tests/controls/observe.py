"""Makes one mutant, grades it and its base, and says what changed. Mutated attempts are kept until their code changes."""

import inspect
import json
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from evaluator.version import evaluator_version
from records.paths import AttemptPaths
from tests.controls.attempts import copied
from tests.controls.bases import base
from tests.controls.control import Control
from tests.controls.expected import NOTHING, Expected, expected_lines
from tests.controls.grading import graded
from tests.controls.places import HERE, digest, made_once, store


@dataclass(frozen=True)
class Observed:
    """What came of one control."""

    name: str
    changes: dict[str, int | None]
    """Dimension -> new score, where it differs from the base's."""
    fails: tuple[str, ...]
    unrun: tuple[str, ...]
    """Vetoes that no judge decided."""
    before: dict[str, int | None]
    reasons: dict[str, str]
    """Why each changed dimension has its score."""


@dataclass(frozen=True)
class Line:
    """One line of the matrix."""

    control: Control
    expected: Expected
    observed: Observed

    @property
    def is_equal(self) -> bool:
        """Whether what came is what was expected."""
        return self.expected.changes == self.observed.changes and self.expected.fails == self.observed.fails


def line(control: Control) -> Line:
    """Return the line of one control. Raises: KeyError: no line was written for it."""
    expected = NOTHING if control.kind == "clean" else expected_lines()[control.name]
    return Line(control, expected, observed(control))


def observed(control: Control) -> Observed:
    """Return what a control changes against its base."""
    before, after = _scores(base(control.base), control.base), _scores(_attempt(control), control.name)
    scores, was = after["scores"], before["scores"]
    changes = {name: score for name, score in scores.items() if score != was[name]}
    reasons = {name: after["reasons"][name] for name in changes}
    return Observed(control.name, changes, tuple(after["failed"]), tuple(after["unrun"]), was, reasons)


def _attempt(control: Control) -> Path:
    """Return the mutated attempt, made again only when its base or the code of the change is another one."""
    source = inspect.getsource(control.change)
    helpers = [HERE / "again.py", HERE / "attempts.py", HERE / "write_up.py"]
    origin = base(control.base)

    def make(place: Path) -> None:
        place.rmdir()
        attempt = copied(origin, place)
        control.change(attempt)
        attempt.refresh()

    return made_once(f"control-{control.name}", digest(helpers, source, origin.name), make)


def _scores(
    place: Path, name: str
) -> dict[str, dict[str, int | None]] | dict[str, dict[str, str]] | dict[str, list[str]]:
    """Return scores, reasons and vetoes of an attempt, kept for this evaluator version."""
    kept = store() / "grades" / f"{place.name}-{evaluator_version()[:16]}.json"
    if not kept.exists():
        found = graded(AttemptPaths(place))
        reasons = {key: one.reason for key, one in found.judgements.items()}
        text = json.dumps(
            {"scores": found.scores, "reasons": reasons, "failed": found.failed, "unrun": found.unrun, "of": name}
        )
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=kept.parent, delete=False) as draft:
            draft.write(text)
        shutil.move(draft.name, kept)
    return json.loads(kept.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def plain(one: Line) -> dict[str, object]:
    """Return a line as data."""
    return {"control": one.control.name, "expected": asdict(one.expected), "observed": asdict(one.observed)}
