"""runner doctor: what is missing on this machine and how to mend it."""

import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import click

from records.errors import EvalError, PrerequisiteError
from records.limits import DEFAULT_LIMITS
from runner import preflight, wiring
from runner.order import RUNS
from runner.terminal import print_json

State = Literal["ok", "missing", "optional"]


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report."""

    what: str
    state: State
    detail: str


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(*, as_json: bool) -> None:
    """Say what is missing on this machine and how to mend it."""
    findings = examine(wiring.DockerMachine())
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            print(f"{finding.state:<9} {finding.what:<16} {finding.detail}")
    if any(finding.state == "missing" for finding in findings):
        raise click.exceptions.Exit(PrerequisiteError.exit_code)


def examine(machine: wiring.DockerMachine) -> list[Finding]:
    """Look at everything a run needs, and at what only a live run needs."""
    return [
        _look("python", lambda: f"{sys.version_info.major}.{sys.version_info.minor}"),
        _look("docker engine", machine.engine_version),
        *(_look(f"image {name}", partial(_image, machine, name)) for name in wiring.all_images()),
        _look("disk", _disk),
        _look("workspace size", machine.workspace_cap),
        _look("user's weights", wiring.user_weights),
        _look("offline data", wiring.offline_data_state, otherwise="optional"),
        _look("data service key", _key, otherwise="optional"),
    ]


def _look(what: str, ask: Callable[[], str], *, otherwise: State = "missing") -> Finding:
    try:
        return Finding(what, "ok", ask())
    except EvalError as error:
        return Finding(what, otherwise, str(error))


def _image(machine: wiring.DockerMachine, name: str) -> str:
    return machine.image_ids((name,))[name].removeprefix("sha256:")[:12]


def _disk() -> str:
    preflight.check_disk(RUNS / "x", DEFAULT_LIMITS)
    return f"enough free space for {Path.cwd() / RUNS}"


def _key() -> str:
    preflight.check_key(os.environ)
    return f"{preflight.KEY_VARIABLE} is set"
