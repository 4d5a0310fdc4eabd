"""Sessions with real containers, gateway and data service in this process, looked into while a turn runs.

A `Build` says what a build that leaks on purpose does differently; the product itself is `Build()`.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import docker
import pytest
import yaml

from generator import offline_conditions
from records.limits import DEFAULT_LIMITS
from records.paths import AttemptPaths, RunPaths
from records.session import EndEvent
from records.strategy import Strategy
from records.task import Task
from runner import launch, wiring
from runner.grade import Grading
from runner.judging import Judge
from runner.log import open_log
from runner.order import Order, Plan, resolve
from runner.plan import Cell
from runner.stop import Stop
from sandbox.engine import box as box_module
from sandbox.engine.box import DockerSandbox
from sandbox.job import Job
from sandbox.protocol import ExecResult, SandboxSpec, StopProof
from tests import leaks
from tests.canaries import canaries
from tests.leaks import Hit
from tests.live import InspectedMachine, Services

HELD = ("sh", "-c", 'kill -STOP $$; exec "$@"', "agent")
"""In front of an agent's command: it waits, stopped, until it was looked at; a quick program would be missed."""
AT_WORK_S = 2.0
"""An agent that still runs then is stopped and looked at once more in that turn."""


@dataclass
class Build:
    """Where a build may differ from the product; each part is given the session with its canaries."""

    spec: Callable[["Session", SandboxSpec], SandboxSpec] = lambda _, spec: spec
    body: Callable[["Session", dict[str, Any]], None] = lambda *_: None
    box_name: Callable[["Session"], str | None] = lambda _: None
    arguments: Callable[["Session"], list[str]] = lambda _: []
    environment: Callable[["Session"], dict[str, str]] = lambda _: {}
    job: Callable[["Session", Job], Job] = lambda _, job: job
    thawed: Callable[["Session", DockerSandbox], None] = lambda *_: None
    ended: Callable[["Session"], None] = lambda _: None


@dataclass
class Session:
    """One session under the watch, and what was found."""

    plan: Plan
    paths: AttemptPaths
    run: RunPaths
    task: Task
    strategy: Strategy
    needles: dict[str, str]
    services: Services
    client: docker.DockerClient
    build: Build
    sockets: Path
    """The folder of the session's two sockets on the host."""
    jobs: list[Mapping[str, Any]]
    """What the engine said about the evaluator's containers."""
    hits: list[Hit] = field(default_factory=list)
    looks: int = 0
    """How often the agent's program was looked at alive."""
    end: EndEvent | None = None
    undo: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    """What a leaking build has to take back when the session ended."""

    @property
    def secret(self) -> str:
        """All canaries."""
        return "\n".join(self.needles.values())

    @property
    def places(self) -> set[str]:
        """Where any canary was found, the gateway's own key apart."""
        return {hit.place for hit in self.hits if not self.is_due(hit)}

    def found(self, place: str) -> set[str]:
        """Return the canaries found in a place."""
        return {hit.needle for hit in self.hits if hit.place == place and not self.is_due(hit)}

    def is_due(self, hit: Hit) -> bool:
        """Return whether a hit is the one that must be: the key in the environment of the gateway."""
        return hit == Hit("environment", str(self.services.gateway_pid), "key")

    def look_at_processes(self, container: str) -> None:
        """Look, with the agent's program stopped, at everything but files."""
        description = self.client.api.inspect_container(container)
        pid = description["State"]["Pid"]
        box = [int(row[0]) for row in self.client.api.top(container, ps_args="-eo pid,args")["Processes"]]
        started = leaks.descendants(os.getpid())[1:]
        execs = [self.client.api.exec_inspect(each) for each in description["ExecIDs"] or ()]
        volumes = [self.client.api.inspect_volume(mount["Name"]) for mount in description["Mounts"] if "Name" in mount]
        image = self.client.api.inspect_image(description["Image"])
        self.hits += [
            *leaks.in_description("description", [description, execs, volumes, image], self.needles),
            *leaks.in_arguments(leaks.all_pids(), self.needles),
            *leaks.in_environments([os.getpid(), *started, *box], self.needles),
            *leaks.in_open_files([*started, *box], self.needles),  # we may have the sealed side open
            *leaks.in_mounts(pid, self.needles),
            *leaks.in_folder("sockets", self.sockets, self.needles),
        ]
        self.looks += 1

    def look_at_files(self, container: str) -> None:
        """Look, after the agent's program and before its processes are swept, at all that it can see or has left."""
        pid = self.client.api.inspect_container(container)["State"]["Pid"]
        logged = self.client.api.logs(container)
        self.hits += leaks.in_box(pid, self.needles)
        self.hits += leaks.in_bytes("container log", container, logged, self.needles)

    def look_at_the_rest(self, since: int) -> None:
        """Look, after everything, at what stays: the run on disk, the gateway's log and the engine's memory."""
        events = self.client.api.events(
            since=since,
            until=f"{time.time():.9f}",
            filters={"label": f"{wiring.LABEL_RUN}={self.plan.run_id}"},
            decode=True,
        )
        log = self.services.door.gateway.log_path
        told = {name: text for name, text in self.needles.items() if name != "seed"}
        self.hits += [
            *leaks.in_description("engine events", list(events), self.needles),
            *leaks.in_folder("public", self.paths.public, self.needles),
            *leaks.in_folder("graded", self.paths.graded, self.needles),
            *leaks.in_folder("run log", self.run.events, told),
            *leaks.in_folder("run record", self.run.run, told),
            *leaks.in_folder("gateway log", log, self.needles),
            *leaks.in_description("measure job", [job for job in self.jobs if "measure" in job["Args"]], self.needles),
        ]


class WatchedBox:
    """A real box that is looked into twice in each turn."""

    def __init__(self, inner: DockerSandbox, session: Session) -> None:
        self._inner = inner
        self._session = session
        name = session.build.box_name(session)
        if name is not None:
            inner.name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def start(self) -> None:
        """Start with the body of this build."""
        honest = box_module.create_body

        def body(*parts: Any) -> dict[str, Any]:
            made = honest(*parts)
            self._session.build.body(self._session, made)
            return made

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(box_module, "create_body", body)
            self._inner.start()

    def exec(self, argv: list[str], *, env: Mapping[str, str] | None = None, **options: Any) -> ExecResult:
        """Run the agent's program, look before its first instruction and again while it works."""
        session = self._session
        session.build.thawed(session, self._inner)
        command = [*HELD, *argv, *session.build.arguments(session)]
        environment = {**(env or {}), **session.build.environment(session)}
        ended = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            looks = pool.submit(self._look, ended)
            try:
                return self._inner.exec(command, env=environment, **options)
            finally:
                ended.set()
                looks.result()

    def freeze(self) -> StopProof:
        """Look at the files, then end the turn."""
        self._session.look_at_files(self._inner.id)
        return self._inner.freeze()

    def _look(self, ended: threading.Event) -> None:
        near = self._inner._stopper.near if self._inner._stopper else None
        assert near is not None
        while not ended.wait(0.005):
            held = [pid for pid in near.agent_pids() if stopped(pid)]
            if held:
                self._session.look_at_processes(self._inner.id)
                tell(held, signal.SIGCONT)
                break
        if not ended.wait(AT_WORK_S):
            working = near.agent_pids()
            tell(working, signal.SIGSTOP)
            try:
                self._session.look_at_processes(self._inner.id)
            finally:
                tell(working, signal.SIGCONT)


def stopped(pid: int) -> bool:
    """Return whether a process is stopped."""
    return leaks.read(leaks.PROC / str(pid) / "stat").rpartition(b")")[2].split()[:1] == [b"T"]


def tell(pids: list[int], number: signal.Signals) -> None:
    """Signal processes of a box that may have ended."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


class WatchedMachine(InspectedMachine):
    """The local engine, its boxes and jobs under the watch."""

    def __init__(self) -> None:
        super().__init__()
        self.session: Session | None = None

    def sandbox(self, spec: SandboxSpec) -> Any:
        """Return a box of this build."""
        assert self.session is not None
        box = super().sandbox(self.session.build.spec(self.session, spec))
        assert isinstance(box, DockerSandbox)
        return WatchedBox(box, self.session)


def watch(
    out: Path,
    made: Services,
    *,
    turns: int = 6,
    agent: str,
    seed: int,
    salt: str | None = None,
    build: Build | None = None,
    grade: bool,
) -> Session:
    """Run one session of an agent and look at every place on the way."""
    conditions = out.with_name("conditions.yaml")
    settings = offline_conditions().model_copy(update={"max_turns": turns}).model_dump(mode="json")
    conditions.write_text(yaml.safe_dump(settings), encoding="utf-8")
    order = Order(conditions=conditions, agents=agent, seeds=str(seed), offline=True, salt=salt, out=out)
    plan = resolve(order, known=wiring.AGENTS, now=datetime.now(UTC))
    machine = WatchedMachine()
    images = machine.image_ids(wiring.images_of(plan))
    run = launch._make_run(plan, launch.Ground(machine.engine_version(), images, None), DEFAULT_LIMITS, Judge("none"))
    machine.change = lambda job: session.build.job(session, job)
    grading = Grading(
        wiring.grader(DEFAULT_LIMITS, machine=machine, run=plan.run_id), "watched", Judge("none"), "rules"
    )
    log = open_log(run.events)
    work = wiring.Sessions(plan, run, made.door, machine, grading, Stop(), DEFAULT_LIMITS, log)
    since = int(time.time())
    attempt = work.attempt(Cell(agent, seed, 1), 1)
    task, strategy = plan.tasks[seed]
    needles = canaries(attempt, strategy, asked=agent != "null")
    session = Session(
        plan,
        attempt.paths,
        run,
        task,
        strategy,
        needles,
        made,
        machine.client,
        build or Build(),
        made.door.sockets / attempt.session,
        machine.described,
    )
    machine.session = session
    try:
        session.end = attempt.run()
        if grade:
            work.grade(attempt)
        session.build.ended(session)
        session.look_at_the_rest(since)
    finally:
        session.undo.close()
        machine.client.close()
    return session
