"""One attempt of a cell: its folder, its place at the gateway, its box, agent and user; run once, then sealed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from structlog.typing import FilteringBoundLogger

from adapters.protocol import Adapter
from records.errors import EvalError
from records.paths import AttemptPaths
from records.rerun import Rerun
from records.session import EndEvent
from records.task import Task
from runner.session import Parts, User, run_session
from runner.stop import Cancelled, Stop
from runner.store import AttemptStore
from sandbox.protocol import Sandbox


class Door(Protocol):
    """The gateway as a session needs it."""

    def open(self, session: str, paths: AttemptPaths) -> Path:
        """Begin to listen for this session, logging to its folder; return the host folder with the two sockets."""

    def close(self, session: str) -> None:
        """Stop listening; the call log is complete afterwards."""

    def check(self, session: str) -> None:
        """Raise ProviderError or SandboxError when the gateway or an upstream failed for good."""


@dataclass(frozen=True)
class Attempt:
    """Everything an attempt needs, made by `runner.wiring`."""

    session: str
    task: Task
    store: AttemptStore
    door: Door
    adapter: Adapter
    make_sandbox: Callable[[Path], Sandbox]
    """Takes the folder with the gateway's sockets."""
    make_user: Callable[[AttemptStore], User]
    stop: Stop
    now: Callable[[], datetime]
    log: FilteringBoundLogger
    rerun: Callable[[AttemptPaths], Rerun] | None = None
    """Runs the delivered code once more before the folder is sealed; None: without an engine, dimension 3.6 does not run."""

    @property
    def paths(self) -> AttemptPaths:
        """Where this attempt is written."""
        return self.store.paths

    def run(self) -> EndEvent:
        """Run the session and seal its folder. Raises EvalError or Cancelled: nothing of it runs on."""
        try:
            sandbox = self.make_sandbox(self.door.open(self.session, self.paths))
            with self.stop.kills(self.session, sandbox.cancel):
                end = run_session(self._parts(sandbox))
        finally:
            self._leave()
        self._run_again()
        self.store.seal()
        return end

    def record_void(self, end: EndEvent) -> None:
        """Write how a void or cancelled attempt ended and seal what it left. Raises OSError."""
        self.store.append(end)
        self.store.seal()

    def _parts(self, sandbox: Sandbox) -> Parts:
        return Parts(
            session=self.session,
            task=self.task,
            sandbox=sandbox,
            adapter=self.adapter,
            user=self.make_user(self.store),
            store=self.store,
            now=self.now,
            log=self.log,
            stop=self.stop,
            witness=lambda: self.door.check(self.session),
        )

    def _run_again(self) -> None:
        """Run the delivered code; where our side fails, the measured session stays and `runner grade` makes up for it."""
        if self.rerun is None:
            return
        try:
            done = self.rerun(self.paths)
        except (EvalError, OSError, Cancelled) as error:
            if not self.stop.is_set():
                self.log.error("rerun_failed", detail=str(error))
            return
        self.log.info("code_run_again", end=done.end, exit_code=done.exit_code, files=len(done.files))

    def _leave(self) -> None:
        try:
            self.door.close(self.session)
        except EvalError as error:
            if not self.stop.is_set():  # Ctrl-C in a terminal reaches the gateway as well
                self.log.error("gateway_session_not_closed", detail=str(error))
