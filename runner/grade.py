"""Grades one finished attempt from disk: measure, compare, then the pure score. A grading is complete or not there."""

import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from evaluator import feedback, score
from evaluator.turns import joined
from records.base import Record
from records.errors import GradingError, UsageError
from records.grade import Compared, Grade, Measured
from records.paths import AttemptPaths, GradedPaths
from records.session import EndEvent
from runner.grading import Grader, compare, measure
from runner.store import read_events

_R = TypeVar("_R", bound=Record)


@dataclass(frozen=True)
class Grading:
    """How gradings of this run are made."""

    grader: Grader
    version: str
    judge: str
    user: str


def grade_attempt(paths: AttemptPaths, how: Grading) -> Grade:
    """Grade an attempt into graded/<version>/; sealed verdicts go to sealed/<version>/.

    Raises: UsageError: the session is void, has not ended, or this version graded it already. GradingError: the
    evaluator failed; nothing is left in graded/ or sealed/.
    """
    end = _end(paths)
    final = paths.grading(how.version)
    if final.root.exists():
        raise UsageError(f"'{paths.root}' was already graded by evaluator {how.version}; see: runner show")
    with _both_or_none(final.root, paths.sealed / how.version) as (out, sealed_out):
        return _grade_into(paths, how, end, out, sealed_out)


def _grade_into(paths: AttemptPaths, how: Grading, end: EndEvent, out: Path, sealed_out: Path) -> Grade:
    """Grade an attempt into two folders that are there and empty. Raises GradingError."""
    drafts = GradedPaths(out)
    run = measure(how.grader, capture=paths.public, out=out)
    compare(
        how.grader,
        capture=paths.public,
        measured=out,
        strategy=paths.strategy,
        out=out,
        sealed_out=sealed_out,
    )
    measured = _read(drafts.measured, Measured.model_validate_json)
    compared = _read(drafts.compared, Compared.model_validate_json)
    grade = score.grade(
        measured,
        compared,
        end_reason=end.reason,
        judge=how.judge,
        user=how.user,
        version=how.version,
        engine=run.form,
        confined_by=run.confined_by,
    )
    _write(drafts.grade, grade)
    _write(drafts.feedback, feedback.build(measured, compared, grade))
    _write(drafts.turns, joined(measured, compared))
    return grade


@contextmanager
def _both_or_none(graded: Path, sealed: Path) -> Iterator[tuple[Path, Path]]:
    """Yield drafts of two folders, which appear under their names when the block ends well and are gone otherwise."""
    mark = f".{secrets.token_hex(4)}.part"
    drafts = {path: path.with_name(path.name + mark) for path in (sealed, graded)}
    try:
        for draft in drafts.values():
            draft.mkdir(parents=True)
        yield drafts[graded], drafts[sealed]
        # Verdicts first: a grade on disk always has the evidence that it was made from.
        shutil.rmtree(sealed, ignore_errors=True)
        for path, draft in drafts.items():
            draft.rename(path)
    finally:
        for draft in drafts.values():
            shutil.rmtree(draft, ignore_errors=True)


def _end(paths: AttemptPaths) -> EndEvent:
    end = next((event for event in read_events(paths) if isinstance(event, EndEvent)), None)
    if end is None:
        raise UsageError(f"'{paths.root}': expected a session that ended, found none; it cannot be graded")
    if not end.reason.is_valid:
        raise UsageError(f"'{paths.root}': the session is void ({end.reason.value}) and is never graded")
    return end


def _read(path: Path, parse: Callable[[bytes], _R]) -> _R:
    try:
        return parse(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise GradingError(f"evaluator result {path.name}: expected a record of this version, found {error}") from error


def _write(path: Path, record: Record) -> None:
    path.write_text(record.to_json(indent=1) + "\n", encoding="utf-8")
