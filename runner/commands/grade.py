"""runner grade: grade again from disk; needs no network and no key but for judge `llm`, and no engine either."""

import os
from pathlib import Path

import click

from evaluator.version import evaluator_version
from records.errors import GradingError, PrerequisiteError, SandboxError, UsageError
from records.limits import DEFAULT_LIMITS
from records.paths import AttemptPaths
from records.run import RunRecord
from reports.collect import CellView, read_run
from reports.table import run_report
from runner import wiring
from runner.commands.check_gradings import print_checks
from runner.commands.show import describe, find_attempt
from runner.grade import Grading, grade_attempt
from runner.grading import Grader
from runner.judging import DEFAULT_MODEL, Judge, JudgeKind
from runner.stop import Stop
from runner.supply import supply_rerun
from runner.terminal import print_json, print_report


@click.command()
@click.argument("target", type=click.Path(path_type=Path))
@click.option(
    "--judge",
    default="rules",
    show_default=True,
    type=click.Choice(["rules", "llm", "none"]),
    help="Who judges meaning; a grade by another judge lies beside the old one.",
)
@click.option("--judge-model", default=DEFAULT_MODEL, show_default=True, help="Model of judge llm.")
@click.option("--no-engine", is_flag=True, help="Run the evaluator as child processes although an engine answers.")
@click.option("--check", is_flag=True, help="Grade anew into a temporary place and compare with what is stored.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def grade(target: Path, *, judge: JudgeKind, judge_model: str, no_engine: bool, check: bool, as_json: bool) -> None:
    """Grade RUN or SESSION with this version of the evaluator; earlier gradings stay.

    Code that was never run again (dimension 3.6) is run first where an engine answers. --check writes nothing, asks no
    model, and exits 1 when a stored grading of this version comes out otherwise.
    """
    root, run = _run_of(target)
    if check:
        speechless = Grading(_grader(no_engine=no_engine), evaluator_version(), Judge("none"), run.user)
        print_checks(target, speechless, as_json=as_json)
        return
    needed = (judge_model,) if judge == "llm" else ()
    environ = dict(os.environ)
    with (
        wiring.without_model_keys(os.environ),
        wiring.open_models(needed, environ, DEFAULT_LIMITS, out=root, stop=Stop()) as models,
    ):
        speaking = wiring.make_judge(judge, judge_model, models, DEFAULT_LIMITS)
        how = Grading(_grader(no_engine=no_engine), evaluator_version(), speaking, run.user, run.user_prompt_sha256)
        if (target / "run.json").is_file():
            _grade_run(target, how, run, as_json=as_json)
            return
        paths = find_attempt(target)
        _supply(paths, how, run)
        made = grade_attempt(paths, how)
    if as_json:
        print_json(made.model_dump(mode="json"))
    else:
        print(describe(made))


def _grade_run(root: Path, how: Grading, run: RunRecord, *, as_json: bool) -> None:
    due = [paths for cell in read_run(root).cells if (paths := _due(cell, how.name)) is not None]
    failed = []
    for paths in due:
        _supply(paths, how, run)
        try:
            grade_attempt(paths, how)
        except GradingError as error:
            failed.append(str(error))
    if as_json:
        graded = {"graded": len(due) - len(failed), "failed": failed}
        print_json({**graded, "version": how.version, "judge": how.judge.name})
    else:
        print_report(run_report(read_run(root, grading=how.name)))
        print(f"{len(due) - len(failed)} sessions graded with evaluator {how.version}, judge {how.judge.name}")
        for sentence in failed:
            print(f"not graded: {sentence}")
    if failed:
        raise click.exceptions.Exit(1)


def _supply(paths: AttemptPaths, how: Grading, run: RunRecord) -> None:
    """Run delivered code that was never run again, where an engine answers; without it 3.6 does not run."""
    if paths.rerun.exists() or how.grader.jobs is None:
        return
    try:
        supply_rerun(paths, wiring.rerunner(wiring.DockerMachine(), DEFAULT_LIMITS, run=run.run_id))
    except (SandboxError, PrerequisiteError, GradingError) as error:
        click.echo(f"runner: {error}; graded without dimension 3.6", err=True)


def _grader(*, no_engine: bool) -> Grader:
    """Return the container form where an engine answers with the image built, else the process form."""
    if not no_engine:
        try:
            return wiring.grader(DEFAULT_LIMITS, machine=wiring.DockerMachine())
        except PrerequisiteError as error:
            click.echo(f"runner: {error}; grading with a child process instead", err=True)
    return wiring.grader(DEFAULT_LIMITS, machine=None)


def _due(cell: CellView, grading: str) -> AttemptPaths | None:
    last = cell.last
    if last is None or cell.reason is None or not cell.reason.is_valid or last.paths.grading(grading).root.exists():
        return None
    return last.paths


def _run_of(target: Path) -> tuple[Path, RunRecord]:
    for folder in (target, *target.absolute().parents):
        if (folder / "run.json").is_file():
            return folder, read_run(folder).record
    raise UsageError(f"'{target}': expected a run or a session in one, found no run.json above it; see: ls runs")
