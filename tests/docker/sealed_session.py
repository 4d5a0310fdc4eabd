"""Run as a program: a real session and its grading under audit hooks, in this process and in its services.

`python -m tests.docker.sealed_session FOLDER AGENT [leak]` prints one JSON object: who opened what under sealed/, and
what the engine said about the grading's containers.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from gateway import process as gateway_process
from offline.fmp import process as data_process
from records.limits import DEFAULT_LIMITS
from records.paths import RunPaths
from runner import wiring
from runner.grade import Grading
from runner.judging import Judge
from runner.log import open_log
from runner.order import Order, resolve
from runner.plan import Cell
from runner.stop import Stop
from tests.contracts import watched_session
from tests.live import InspectedMachine, services

SEED = 6


def hook_services(report: Path) -> None:
    """Let the gateway and the data service run under an audit hook of their own."""

    def hooked(command: Sequence[str], **options: Any) -> "subprocess.Popen[bytes]":
        python, dash_m, *rest = command
        return subprocess.Popen([python, dash_m, "tests.docker.hooked", str(report), *rest], **options)

    known = {name: getattr(subprocess, name) for name in ("PIPE", "TimeoutExpired")}
    for module in (gateway_process, data_process):
        module.subprocess = SimpleNamespace(Popen=hooked, **known)


def main(folder: Path, agent: str, *, leak: bool) -> None:
    """Run and grade one session under the watch."""
    report = folder / "services.txt"
    hook_services(report)
    sys.addaudithook(watched_session.watch)
    out = folder / "run"
    plan = resolve(
        Order(agents=agent, seeds=str(SEED), offline=True, out=out), known=wiring.AGENTS, now=datetime.now(UTC)
    )
    machine = InspectedMachine()
    grading = Grading(
        wiring.grader(DEFAULT_LIMITS, machine=machine, run=plan.run_id), "watched", Judge("none"), "rules"
    )
    with services(folder) as made:
        out.mkdir()
        run = RunPaths(out)
        log = open_log(run.events)
        work = wiring.Sessions(plan, run, made.door, machine, grading, Stop(), DEFAULT_LIMITS, log)
        attempt = work.attempt(Cell(agent, SEED, 1), 1)
        if leak:
            attempt = replace(attempt, adapter=watched_session.Leaking(attempt.paths.strategy))
        end = attempt.run()
        work.grade(attempt)
    machine.client.close()
    found = {
        "end": end.reason.value,
        "violations": watched_session.violations,
        "openers": sorted(watched_session.openers),
        "services": report.read_text(encoding="utf-8").splitlines(),
        "jobs": machine.described,
    }
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], leak="leak" in sys.argv[3:])
