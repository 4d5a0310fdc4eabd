"""Grades one finished attempt from disk: measure, judge, compare, then the pure score. A grading is whole or not there."""

import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from evaluator import feedback, score
from evaluator.compare.question import ItemQuestions
from evaluator.judge.complete import complete
from evaluator.judge.question import Questions
from evaluator.turns import joined
from records.base import Record
from records.errors import GradingError, UsageError
from records.grade import Compared, Grade, Measured
from records.paths import AttemptPaths, GradedPaths, grading_name
from records.session import EndEvent
from runner.grading import SEALED_QUESTION_FILES, Grader, ask_compare, compare, measure
from runner.judging import Judge
from runner.store import read_events

COMPARE_FINDINGS = "compare-findings.json"

_R = TypeVar("_R", bound=Record)


@dataclass(frozen=True)
class Grading:
    """How gradings of this run are made."""

    grader: Grader
    version: str
    judge: Judge
    user: str
    user_prompt_sha256: str = ""
    """As it stands in run.json; empty for a user that is told nothing."""

    @property
    def name(self) -> str:
        """The folder of a grading, under graded/ and under sealed/."""
        return grading_name(self.version, self.judge.name)


def grade_attempt(paths: AttemptPaths, how: Grading) -> Grade:
    """Grade an attempt into graded/<grading>/; sealed verdicts go to sealed/<grading>/.

    Raises: UsageError: the session is void, has not ended, or this version and judge graded it already. GradingError:
    the evaluator failed or the judge's service did not answer; nothing is left in graded/ or sealed/.
    """
    end = end_of(paths)
    final = paths.grading(how.name)
    if final.root.exists():
        raise UsageError(
            f"'{paths.root}' was already graded by evaluator {how.version} with judge {how.judge.name}; see: runner show"
        )
    with _both_or_none(final.root, paths.sealed / how.name) as (out, sealed_out):
        return grade_into(paths, how, end, out, sealed_out)


def grade_into(paths: AttemptPaths, how: Grading, end: EndEvent, out: Path, sealed_out: Path) -> Grade:
    """Grade an attempt into two folders that are there and empty. Raises GradingError."""
    drafts = GradedPaths(out)
    run = measure(how.grader, capture=paths.public, out=out, judge=how.judge.kind)
    if how.judge.kind == "llm":
        _judge_delivery(paths, drafts, how.judge)
    _compare(paths, how, out=out, sealed_out=sealed_out)
    measured = _read(drafts.measured, Measured.model_validate_json)
    compared = _read(drafts.compared, Compared.model_validate_json)
    grade = score.grade(
        measured,
        compared,
        end_reason=end.reason,
        judge=how.judge.name,
        user=how.user,
        version=how.version,
        engine=run.form,
        confined_by=run.confined_by,
        judge_prompt_sha256=how.judge.prompt_sha256,
        user_prompt_sha256=how.user_prompt_sha256,
    )
    _write(drafts.grade, grade)
    _write(drafts.feedback, feedback.build(measured, compared, grade))
    _write(drafts.turns, joined(measured, compared))
    return grade


def _judge_delivery(paths: AttemptPaths, drafts: GradedPaths, judge: Judge) -> None:
    """Have the model judge answer questions.json, record findings.json and settle them into the measured files."""
    questions = _read(drafts.questions, Questions.model_validate_json)
    findings = judge.on_delivery(questions, log_to=paths.model_calls)
    _write(drafts.findings, findings)
    measured = complete(_read(drafts.measured, Measured.model_validate_json), findings)
    _write(drafts.measured, measured)
    _write(drafts.judgements, Measured(judgements=measured.judgements))


def _compare(paths: AttemptPaths, how: Grading, *, out: Path, sealed_out: Path) -> None:
    """Compare with the strategy; a model judge first reads what words claim and what the user stated."""
    answers = None
    if how.judge.kind == "llm":
        ask_compare(how.grader, capture=paths.public, strategy=paths.strategy, sealed_out=sealed_out)
        asked = _read(sealed_out / SEALED_QUESTION_FILES[0], ItemQuestions.model_validate_json, sealed=True)
        answers = sealed_out / COMPARE_FINDINGS
        _write(answers, how.judge.on_items(asked, log_to=paths.model_calls))
    compare(
        how.grader,
        capture=paths.public,
        measured=out,
        strategy=paths.strategy,
        out=out,
        sealed_out=sealed_out,
        answers=answers,
    )


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


def end_of(paths: AttemptPaths) -> EndEvent:
    """Return how an attempt ended. Raises UsageError when it has not, or is void."""
    end = next((event for event in read_events(paths) if isinstance(event, EndEvent)), None)
    if end is None:
        raise UsageError(f"'{paths.root}': expected a session that ended, found none; it cannot be graded")
    if not end.reason.is_valid:
        raise UsageError(f"'{paths.root}': the session is void ({end.reason.value}) and is never graded")
    return end


def _read(path: Path, parse: Callable[[bytes], _R], *, sealed: bool = False) -> _R:
    """Return a record that the evaluator wrote; of a sealed one no word stands in the error."""
    try:
        return parse(path.read_bytes())
    except (OSError, ValidationError) as error:
        if sealed:
            raise GradingError(f"evaluator result {path.name}: expected a record of this version") from None
        raise GradingError(f"evaluator result {path.name}: expected a record of this version, found {error}") from error


def _write(path: Path, record: Record) -> None:
    path.write_text(record.to_json(indent=1) + "\n", encoding="utf-8")
