"""Whole offline runs as a person starts them, each made once per test session and read back from disk."""

import os
import subprocess
import sys
from pathlib import Path

from reports.collect import CellView, RunView, read_run

ROOT = Path(__file__).parents[1]
LIMIT_S = 3600
"""Only so that a hanging launch fails instead of stopping everything."""


def launched(out: Path, seeds: str) -> RunView:
    """Run both controls on these seeds and return the run. Fails with what the launch said when it did not succeed."""
    command = [sys.executable, "-m", "runner", "launch", "--agents", "controls", "--seeds", seeds, "--offline"]
    done = subprocess.run(
        [*command, "--out", str(out)],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return read_run(out)


def cell(run: RunView, agent: str, seed: int) -> CellView:
    """Return the cell of an agent and a seed."""
    (found,) = [each for each in run.cells if (each.planned.agent, each.planned.seed) == (agent, seed)]
    return found
