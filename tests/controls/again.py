"""Runs a delivery's program again after a change, and writes the texts that follow from it."""

import json
import os
import shutil
import subprocess
import sys

from tests.controls.attempts import Attempt
from tests.controls.places import ROOT
from tests.controls.tool_base import SCRIPT, regenerate, texts

AGENT = ROOT / "images" / "reference"
_RUN = """
import sys
from pathlib import Path
sys.path.insert(0, ".")
import backtest
import pandas as pd
kept = pd.read_csv("sensitivity.csv")
backtest.sensitivity = lambda lab: kept
backtest.regenerate(Path("."), Path("."))
"""
"""The program as delivered, but for the sensitivity table, which stays the clean run's: a dozen more backtests that no
check of a program reads."""
_TEXTS = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import report, say
folder, fetched = Path(sys.argv[2]), json.loads(sys.argv[3])
known = {"stand_in": fetched["stand_in"], "modelled_rows": fetched["modelled_rows"]}
report.write_report(folder, notes=fetched["notes"], **known)
print(json.dumps(say.delivery(folder, changed=[], **known)))
"""


def rerun(attempt: Attempt) -> None:
    """Run the delivered program and write report and last message anew. Raises: RuntimeError: it failed."""
    if (attempt.deliver / SCRIPT).exists():
        regenerate(attempt)
        return
    shutil.rmtree(attempt.deliver / "stress", ignore_errors=True)
    _run([sys.executable, "-c", _RUN], attempt)
    retold(attempt)


def _run(command: list[str], attempt: Attempt) -> str:
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=attempt.deliver, env=env, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[1]}: {done.stderr.decode()[-900:]}")
    return done.stdout.decode()


def patched(attempt: Attempt, old: str, new: str) -> None:
    """Change one line of the delivered program and run everything again."""
    program = SCRIPT if (attempt.deliver / SCRIPT).exists() else "backtest.py"
    attempt.replace(program, old, new)
    rerun(attempt)


def respecified(attempt: Attempt, component: str, parameter: str, value: str) -> None:
    """Give the reference's program another value of one parameter and run everything again."""
    table = attempt.table("specification")
    row = (table["component"] == component) & (table["parameter"] == parameter)
    if row.sum() != 1 or (table.loc[row, "value"] == value).all():
        raise ValueError(f"specification.csv: expected one row {component}/{parameter} with another value than {value}")
    table.loc[row, "value"] = value
    attempt.write("specification", table)
    rerun(attempt)


def retold(attempt: Attempt) -> None:
    """Write report and last message again from the tables as they now stand."""
    if (attempt.deliver / SCRIPT).exists():
        texts(attempt)
        return
    fetched = json.dumps(attempt.state["fetched"])
    said = _run([sys.executable, "-c", _TEXTS, str(AGENT), str(attempt.deliver), fetched], attempt)
    attempt.reply(lambda _: str(json.loads(said.splitlines()[-1])))
    attempt.refresh()
