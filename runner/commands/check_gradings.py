"""runner grade --check: whether stored gradings come out the same again."""

from pathlib import Path

import click

from records.errors import GradingError, UsageError
from records.paths import AttemptPaths
from reports.collect import read_run
from runner.check import Checked, check_attempt
from runner.commands.show import find_attempt
from runner.grade import Grading
from runner.terminal import print_json


def print_checks(target: Path, how: Grading, *, as_json: bool) -> None:
    """Check SESSION, or every graded session of RUN, and say what differs. Exits 1 when something does.

    Raises: UsageError: no grading of this version is there.
    """
    found: list[Checked] = []
    failed: list[str] = []
    attempts = _attempts(target, how)
    for paths in attempts:
        try:
            found += check_attempt(paths, how)
        except GradingError as error:
            failed.append(str(error))
    differing = [one for one in found if one.differing]
    if as_json:
        print_json(
            {
                "version": how.version,
                "identical": len(found) - len(differing),
                "differing": [
                    {"session": str(one.attempt.root), "grading": one.name, "files": one.differing} for one in differing
                ],
                "failed": failed,
            }
        )
    else:
        for one in found:
            said = f"differs: {', '.join(one.differing)}" if one.differing else f"{one.files} files identical"
            print(f"{one.attempt.root} {one.name}: {said}")
        for sentence in failed:
            print(f"not graded: {sentence}")
        print(f"{len(found) - len(differing)} of {len(found)} gradings by evaluator {how.version} come out the same")
    if differing or failed:
        raise click.exceptions.Exit(1)


def _attempts(target: Path, how: Grading) -> list[AttemptPaths]:
    if not (target / "run.json").is_file():
        return [find_attempt(target)]
    last = [cell.last.paths for cell in read_run(target).cells if cell.last is not None]
    graded = [paths for paths in last if any(paths.graded.glob(f"{how.version}*/grade.json"))]
    if not graded:
        raise UsageError(
            f"'{target}': expected gradings by evaluator {how.version}, found none; run first: runner grade {target}"
        )
    return graded
