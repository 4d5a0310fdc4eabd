"""What a null session costs beside the floor that the engine sets (`floor.py`), in seconds and CPU seconds.

A session here is an agent box with workspace and sockets, one turn of one command, freeze, copy-out and capture, and one
container of the evaluator image that runs `true`. Floor and sessions take turns in the same run, so that what else the
machine does falls on both. Loading and running the grader are timed apart. Exits 1 when a target is missed.

Run: python -m benchmarks.session_overhead [--rounds N] [--capture runs/.../public]
"""

import argparse
import os
import shutil
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from benchmarks.floor import floor
from records.limits import DEFAULT_LIMITS
from sandbox.engine import hostconfig
from sandbox.engine.engine import Engine, connect
from sandbox.engine.forwarder import forwarder_folder
from sandbox.engine.images import reference
from sandbox.engine.oneshot import DockerJobs
from sandbox.engine.owner import this_owner
from sandbox.engine.workspace import make_workspace
from sandbox.job import Job, Mount
from sandbox.protocol import DELIVER, WORKSPACE, SandboxSpec

CONCURRENCY: Final = (1, 4, 8)
MAX_RATIO: Final = 1.5
MAX_CONTROLLER_CPU_S: Final = 0.1
COMMAND: Final = ["true"]
LOAD: Final = (
    "import importlib, pkgutil, evaluator.measure as measure, evaluator.compare as compare\n"
    "for room in (measure, compare):\n"
    "    for found in pkgutil.iter_modules(room.__path__, room.__name__ + '.'):\n"
    "        importlib.import_module(found.name)\n"
)
"""Imports every module of both graders."""


@dataclass(frozen=True)
class Cost:
    """Per session or floor, mean of one batch."""

    seconds: float
    cpu_s: float
    """Of this process alone: the controller."""


def sockets() -> Path:
    """Make a session's socket folder with two listeners nobody answers."""
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    folder.chmod(0o711)
    for name in ("gw.sock", "web.sock"):
        server = socket.socket(socket.AF_UNIX)
        server.bind(str(folder / name))
        server.listen()
        os.chmod(folder / name, 0o666)  # noqa: S103, PTH101 (behind a folder of this process)
        server.detach()
    return folder


def spec_for(gateway: Path, number: int) -> SandboxSpec:
    """Return the spec that both sides use."""
    return SandboxSpec(
        image=reference("base"),
        run="benchmark",
        session=f"null-{number}",
        attempt=1,
        gateway_dir=gateway,
        lifetime_s=600,
        limits=DEFAULT_LIMITS,
    )


def null_session(engine: Engine, gateway: Path, number: int) -> None:
    """Take one null session from its box to its grader's container.

    Everything graded is on disk once the capture stands, so the box goes while the grader runs.
    """
    folder = Path(tempfile.mkdtemp(prefix="bench-out-"))
    box = engine.sandbox(spec_for(gateway, number))
    with ThreadPoolExecutor(1) as closer:
        try:
            box.start()
            box.thaw()
            box.exec(COMMAND, timeout_s=60)
            box.freeze()
            box.copy_out(DELIVER, folder / "deliver")
            box.archive(WORKSPACE, folder / "workspace.tar.zst")
        finally:
            closing = closer.submit(box.close)
        DockerJobs(engine.client).run(Job(image=reference("evaluator"), argv=("true",), timeout_s=60))
        closing.result()
    shutil.rmtree(folder)


def batch(size: int, one: Callable[[int], None]) -> Cost:
    """Run `size` at once and return what each took."""
    started, cpu = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(size) as pool:
        list(pool.map(one, range(size)))
    return Cost((time.perf_counter() - started) / size, (time.process_time() - cpu) / size)


def floor_batch(engine: Engine, gateway: Path, forwarder: Path, size: int) -> Cost:
    """Run floors at once; their workspaces exist before the clock starts."""
    labels = hostconfig.box_labels(spec_for(gateway, 0), this_owner())
    spaces = [make_workspace(f"floor-{number}", DEFAULT_LIMITS, labels) for number in range(size)]
    bodies = [hostconfig.create_body(spec_for(gateway, 0), space, forwarder, labels) for space in spaces]
    token = time.monotonic_ns()

    def one(number: int) -> None:
        floor(engine.client, f"fincosmos-floor-{token}-{number}", bodies[number], COMMAND, str(DELIVER))
        spaces[number].release()

    try:
        return batch(size, one)
    finally:
        for space in spaces:
            space.release()


def measure(engine: Engine, gateway: Path, rounds: int) -> bool:
    """Print one line per concurrency; returns whether every target is met."""
    forwarder = forwarder_folder(engine.client, reference("base"))
    met = True
    print(f"{'at once':>7} {'floor s':>8} {'session s':>9} {'ratio':>6} {'CPU s floor':>11} {'CPU s session':>13}")
    for size in CONCURRENCY:
        floors, sessions = [], []
        for _ in range(max(2, rounds // size + 1)):
            floors.append(floor_batch(engine, gateway, forwarder, size))
            sessions.append(batch(size, lambda number: null_session(engine, gateway, number)))
        base = statistics.median(cost.seconds for cost in floors)
        took = statistics.median(cost.seconds for cost in sessions)
        floor_cpu = statistics.median(cost.cpu_s for cost in floors)
        cpu = statistics.median(cost.cpu_s for cost in sessions)
        met &= took <= MAX_RATIO * base and cpu <= MAX_CONTROLLER_CPU_S
        print(f"{size:>7} {base:>8.3f} {took:>9.3f} {took / base:>6.2f} {floor_cpu:>11.3f} {cpu:>13.3f}")
    return met


def grader(engine: Engine, capture: Path | None) -> None:
    """Print what loading the grader takes in a container of its own and, given a stored capture, what running it takes."""
    jobs = DockerJobs(engine.client)
    memory = DEFAULT_LIMITS.evaluator_memory_bytes
    image = reference("evaluator")
    load = Job(image=image, argv=("python3", "-c", LOAD), timeout_s=DEFAULT_LIMITS.evaluator_s, memory_bytes=memory)
    print(f"apart: a container that loads the grader takes {timed(jobs, load):.3f} s")
    if capture is None:
        return
    with tempfile.TemporaryDirectory(prefix="bench-out-") as out:
        Path(out).chmod(0o777)
        mounts = (
            Mount(capture.resolve(), PurePosixPath("/capture")),
            Mount(Path(out), PurePosixPath("/out"), writable=True),
        )
        argv = ("python3", "-m", "evaluator", "measure", "--capture", "/capture", "--out", "/out")
        measure = Job(image, argv, DEFAULT_LIMITS.evaluator_s, mounts, memory_bytes=memory)
        print(f"apart: a container that measures {capture} takes {timed(jobs, measure):.3f} s")


def timed(jobs: DockerJobs, job: Job) -> float:
    """Run a job and return its seconds; one that fails ends the benchmark with its words."""
    started = time.perf_counter()
    result = jobs.run(job)
    if result.exit_code != 0:
        raise SystemExit(f"{' '.join(job.argv[:3])} failed: {result.stderr.decode(errors='replace')[-300:]}")
    return time.perf_counter() - started


def main() -> int:
    """Measure and compare with the targets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=8, help="sessions and floors per concurrency, about")
    parser.add_argument("--capture", type=Path, help="an attempt's public/ tree: also time measuring it")
    arguments = parser.parse_args()
    engine, gateway = connect(), sockets()
    try:
        null_session(engine, gateway, 0)
        met = measure(engine, gateway, arguments.rounds)
        grader(engine, arguments.capture)
    finally:
        shutil.rmtree(gateway)
        engine.close()
    print(f"targets (ratio {MAX_RATIO}, controller {MAX_CONTROLLER_CPU_S} CPU s): {'met' if met else 'missed'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
