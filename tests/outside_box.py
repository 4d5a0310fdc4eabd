"""Delivered code run once more by the runner's own steps (dimension 3.6), in a folder that plays the box."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from records.limits import DEFAULT_LIMITS, Limits
from records.paths import AttemptPaths
from records.rerun import Rerun
from runner import rerun
from sandbox.fake import Call, FakeSandbox, Outcome

CODE = (
    Path(__file__),
    *(
        Path(rerun.__file__).with_name(f"{name}.py")
        for name in ("rerun", "rerun_box", "entrypoint", "makefile", "withheld")
    ),
)
"""What a rerun record depends on besides the delivery."""
_LOOK_S = 0.1


def _program(name: str) -> Callable[[Call], Outcome]:
    def run(call: Call) -> Outcome:
        env = {"PATH": os.environ["PATH"], "NUMBA_NUM_THREADS": "1", "HOME": str(call.root), **call.env}
        with subprocess.Popen(
            [name, *call.argv[1:]],
            cwd=call.cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            given: bytes | None = call.stdin
            while True:
                try:
                    stdout, stderr = process.communicate(given, timeout=_LOOK_S)
                    code = process.returncode
                    return Outcome(stdout, stderr, 128 - code if code < 0 else code)
                except subprocess.TimeoutExpired:
                    given = None
                    if call.stop.is_set():
                        with contextlib.suppress(ProcessLookupError):
                            os.killpg(process.pid, signal.SIGKILL)

    return run


PROGRAMS = {"python3": _program(sys.executable), **{name: _program(name) for name in ("tar", "sh", "bash")}}
"""What a box has: this Python, and the tools of this machine."""


def run_alone(paths: AttemptPaths, limits: Limits = DEFAULT_LIMITS) -> Rerun:
    """Run the delivered program on the delivered data and write rerun.json and rerun/, as after a session."""
    return rerun.Rerunner(lambda _sockets: FakeSandbox(PROGRAMS), limits).rerun(paths)
