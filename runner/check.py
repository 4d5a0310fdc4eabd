"""Grades a session anew into a temporary place and holds every byte against the grading that is stored.

A model judge is not asked again: its recorded findings are what the scores were made from, so they are given back.
"""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeVar

from pydantic import ValidationError

from evaluator.compare.question import ItemFindings, ItemQuestions
from evaluator.judge.question import Questions
from records.base import Record
from records.errors import GradingError, UsageError
from records.grade import Grade
from records.judging import Findings
from records.paths import AttemptPaths, GradedPaths
from runner.grade import COMPARE_FINDINGS, Grading, end_of, grade_into
from runner.judging import Judge

WHERE_IT_RAN: Final = ("engine", "confined_by")
"""Fields of grade.json that say where the evaluator ran and may differ."""
_LLM: Final = "llm:"

_R = TypeVar("_R", bound=Record)


@dataclass(frozen=True)
class Checked:
    """One stored grading held against a new one."""

    attempt: AttemptPaths
    name: str
    """Of the grading."""
    files: int
    differing: tuple[str, ...]
    """Files that differ, that only one of both has, or that cannot be read; empty: byte for byte the same."""


@dataclass(frozen=True)
class RecordedJudge(Judge):
    """A model judge whose answers are on disk."""

    on_disk: Mapping[str, Path] = field(default_factory=dict)

    def on_delivery(self, questions: Questions, *, log_to: Path) -> Findings:
        """Return the recorded findings. Raises GradingError when they cannot be read."""
        del questions, log_to
        return _record(self.on_disk["delivery"], Findings.model_validate_json)

    def on_items(self, questions: ItemQuestions, *, log_to: Path) -> ItemFindings:
        """Return the recorded findings on the strategy's items. Raises GradingError when they cannot be read."""
        del questions, log_to
        return _record(self.on_disk["items"], ItemFindings.model_validate_json)


def check_attempt(paths: AttemptPaths, how: Grading) -> tuple[Checked, ...]:
    """Hold every grading that this version of the evaluator made of an attempt against a new one.

    Args: how: judge, user and prompt hashes are taken from each stored grade.
    Raises: UsageError: this version graded it never, or the session is void. GradingError: the evaluator failed, or
    what is stored cannot be read.
    """
    end_of(paths)
    stored = sorted(paths.graded.glob(f"{how.version}*/grade.json"))
    if not stored:
        raise UsageError(
            f"'{paths.root}': expected a grading by evaluator {how.version}, found none; run first: runner grade"
        )
    return tuple(_checked(paths, how, file.parent) for file in stored)


def _checked(paths: AttemptPaths, how: Grading, folder: Path) -> Checked:
    grade = _record(folder / "grade.json", Grade.model_validate_json)
    sealed = paths.sealed / folder.name
    judge = _judge_of(grade, GradedPaths(folder).findings, sealed / COMPARE_FINDINGS)
    again = replace(how, judge=judge, user=grade.user, user_prompt_sha256=grade.user_prompt_sha256)
    with tempfile.TemporaryDirectory(prefix="fincosmos-check-") as name:
        out, sealed_out = Path(name) / "graded", Path(name) / "sealed"
        out.mkdir()
        sealed_out.mkdir()
        made = grade_into(paths, again, end_of(paths), out, sealed_out)
        elsewhere = made.model_copy(update={field: getattr(grade, field) for field in WHERE_IT_RAN})
        (out / "grade.json").write_text(elsewhere.to_json(indent=1) + "\n", encoding="utf-8")
        pairs = [(folder, out), (sealed, sealed_out)]
        names = [(here / n, there / n) for here, there in pairs for n in sorted(_names(here) | _names(there))]
        differing = tuple(
            f"{here.parent.parent.name}/{here.parent.name}/{here.name}"
            for here, there in names
            if not _same(here, there)
        )
    return Checked(paths, folder.name, len(names), differing)


def _judge_of(grade: Grade, findings: Path, item_findings: Path) -> Judge:
    """Return the judge of a stored grade, ready to say again what it said."""
    if grade.judge.startswith(_LLM):
        on_disk = {"delivery": findings, "items": item_findings}
        return RecordedJudge(kind="llm", model_id=grade.judge.removeprefix(_LLM), on_disk=on_disk)
    return Judge("rules" if grade.judge == "rules" else "none")


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


def _same(here: Path, there: Path) -> bool:
    return here.is_file() and there.is_file() and here.read_bytes() == there.read_bytes()


def _record(path: Path, parse: Callable[[bytes], _R]) -> _R:
    try:
        return parse(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise GradingError(f"'{path}': expected a record of this version, found {error}") from error
