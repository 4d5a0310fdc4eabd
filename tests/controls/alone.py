"""Runs delivered code once more, alone, by the runner's own steps, in a folder that plays the box (dimension 3.6)."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from records.limits import DEFAULT_LIMITS
from runner.rerun import Rerunner
from sandbox.fake import Call, FakeSandbox, Outcome
from sandbox.protocol import Sandbox
from tests.controls.attempts import Attempt, copied
from tests.controls.places import ROOT, digest, made_once


def _program(name: str) -> Callable[[Call], Outcome]:
    def run(call: Call) -> Outcome:
        env = {"PATH": os.environ["PATH"], "NUMBA_NUM_THREADS": "1", "HOME": str(call.root), **call.env}
        done = subprocess.run(
            [name, *call.argv[1:]], input=call.stdin, cwd=call.cwd, env=env, capture_output=True, check=False
        )
        return Outcome(done.stdout, done.stderr, done.returncode)

    return run


PROGRAMS = {"python3": _program(sys.executable), "tar": _program("tar"), "sh": _program("sh")}


def run_alone(attempt: Attempt) -> None:
    """Run the delivered program on the delivered data and write rerun.json and rerun/, as after a session."""

    def box(_folder: Path) -> Sandbox:
        return FakeSandbox(PROGRAMS)

    Rerunner(box, DEFAULT_LIMITS).rerun(attempt.paths)


def with_rerun(origin: Path) -> Path:
    """Return a copy of a base that holds the record of its code's second run."""
    runner = ROOT / "runner"
    own = [Path(__file__), *(runner / f"{name}.py" for name in ("rerun", "rerun_box", "entrypoint", "withheld"))]

    def make(place: Path) -> None:
        place.rmdir()
        run_alone(copied(origin, place))

    return made_once(f"again-{origin.name}", digest(own), make)
