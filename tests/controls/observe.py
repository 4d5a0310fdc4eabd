"""Makes one mutant, grades it and its base, and says what changed. Mutated attempts are kept until their code changes."""

import inspect
import json
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from evaluator.version import evaluator_version
from records.grade import Judgement
from records.paths import AttemptPaths
from tests.controls import grading
from tests.controls.alone import with_rerun
from tests.controls.attempts import copied
from tests.controls.bases import base
from tests.controls.control import Control
from tests.controls.expected import NOTHING, Expected, expected_lines
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
    accepted: bool
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
        """Whether what came is what was expected; a clean variant must be accepted as well."""
        same = self.expected.changes == self.observed.changes and self.expected.fails == self.observed.fails
        return same and (self.observed.accepted or self.control.kind != "clean")


def line(control: Control) -> Line:
    """Return the line of one control. Raises: KeyError: no line was written for it."""
    found = expected_lines()
    expected = found.get(control.name, NOTHING) if control.kind == "clean" else found[control.name]
    return Line(control, expected, observed(control))


def observed(control: Control) -> Observed:
    """Return what a control changes against its base."""
    before = scores(with_rerun(base(control.base)), control.base)
    after = scores(_attempt(control), control.name, before)
    changes = {name: score for name, score in after.scores.items() if score != before.scores[name]}
    reasons = {name: after.reasons[name] for name in changes}
    return Observed(
        control.name, changes, tuple(after.failed), tuple(after.unrun), after.accepted, before.scores, reasons
    )


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


@dataclass(frozen=True)
class Scores:
    """What is kept of one grading."""

    of: str
    scores: dict[str, int | None]
    reasons: dict[str, str]
    failed: list[str]
    unrun: list[str]
    accepted: bool
    rerun: str
    """The verdict of 3.6 as a record."""


def scores(place: Path, name: str, origin: Scores | None = None) -> Scores:
    """Return scores, reasons and vetoes of an attempt, kept for this evaluator version.

    A second run costs as much as the first, so a control whose code was not run again has the 3.6 of its base.
    """
    words = ("" if origin is None else origin.rerun, inspect.getsource(grading))
    kept = store() / "grades" / f"{place.name}-{evaluator_version()}-{digest([], *words)[:8]}.json"
    if not kept.exists():
        found = grading.graded(
            AttemptPaths(place), None if origin is None else Judgement.model_validate_json(origin.rerun)
        )
        reasons = {key: one.reason for key, one in found.judgements.items()}
        rerun = found.judgements[grading.RERUN].to_json()
        one = Scores(name, found.scores, reasons, list(found.failed), list(found.unrun), found.accepted, rerun)
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=kept.parent, delete=False) as draft:
            draft.write(json.dumps(asdict(one)))
        shutil.move(draft.name, kept)
    return Scores(**json.loads(kept.read_text(encoding="utf-8")))
