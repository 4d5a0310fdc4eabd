"""Ending what the agent runs, with proof from outside the box.

Under root the box is frozen first: then its process list stands still, and a SIGKILL sent to a frozen process is taken
before it runs again. Without root a static shell of ours does it from inside as the agent's user, which spares only
itself and PID 1; the kernel walks all processes under one lock, so no fork slips past.
"""

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from records.errors import LostError, SandboxError
from records.limits import Limits
from sandbox.engine.container import Container
from sandbox.engine.forwarder import SHELL
from sandbox.engine.hostconfig import AGENT
from sandbox.engine.processes import NearView, far_view
from sandbox.protocol import StopProof

MIN_ROUNDS: Final = 3
"""Rounds of killing before a survivor is called one, however slow the machine."""
SETTLE_S: Final = 0.5
POLL_S: Final = 0.004
FAR_POLL_S: Final = 0.05
SHELL_TEXT: Final = {signal.SIGINT: "trap '' INT; kill -INT -1", signal.SIGKILL: "kill -KILL -1"}


@dataclass
class Stopper:
    """Sees and ends the agent's processes of one running box."""

    container: Container
    init_pid: int
    limits: Limits
    near: NearView | None
    """None where this process cannot see the host's processes, or the runtime hides them."""
    by_host: bool = field(default_factory=lambda: os.geteuid() == 0)
    """Whether signals are sent from outside; else by our shell in the box."""
    _oom_seen: int = 0

    def alive(self) -> tuple[str, ...]:
        """Return one line per live process of the agent, seen from outside. Raises LostError."""
        if self.near is not None:
            return self.near.describe(self.near.agent_pids())
        found = far_view(self.container.client, self.container.id, self.init_pid)
        return tuple(f"{process.state} {process.command}" for process in found)

    def is_listed(self, pid: int) -> bool:
        """Return whether the engine lists this process, in the host's numbering. Raises LostError."""
        return any(process.pid == pid for process in far_view(self.container.client, self.container.id, self.init_pid))

    def interrupt(self) -> None:
        """Send SIGINT to every process of the agent. Raises LostError."""
        self._signal(signal.SIGINT)

    def kill(self) -> None:
        """Kill every process of the agent in a running box and wait a moment for it. Raises LostError."""
        if self.near is not None and self.by_host:
            self.container.pause()
            try:
                self.near.signal(signal.SIGKILL)
            finally:
                self.container.unpause()
        else:
            self._signal(signal.SIGKILL)
        self._settle()

    def _signal(self, number: signal.Signals) -> None:
        """Signal every process of the agent once."""
        if self.near is not None and self.by_host:
            self.near.signal(number)
        else:
            self.container.output([*SHELL, "-c", SHELL_TEXT[number]], user=AGENT)

    def _settle(self) -> None:
        """Wait until the agent's processes are gone, for a moment."""
        until = time.monotonic() + SETTLE_S
        while self.alive() and time.monotonic() < until:
            time.sleep(POLL_S if self.near is not None else FAR_POLL_S)

    def freeze(self) -> StopProof:
        """Freeze the box with no process of the agent left.

        Raises: LostError: one survives, or the box is gone; a box that could not be swept is killed as a whole.
        """
        started = time.monotonic()
        try:
            swept = self._sweep(started)
        except SandboxError:
            with suppress(SandboxError):
                self.container.kill()
            raise
        return StopProof((), swept, time.monotonic() - started, self.new_oom_kills())

    def _sweep(self, started: float) -> int:
        """Freeze, look, kill and thaw until nothing is seen in a frozen box; returns how many were seen first."""
        swept: int | None = None
        rounds = 0
        while True:
            frozen = self._try_pause()
            alive = self.alive()
            swept = len(alive) if swept is None else swept
            if frozen and not alive:
                return swept
            rounds += 1
            if rounds > MIN_ROUNDS and time.monotonic() - started > self.limits.sweep_s:
                raise self._survived(alive)
            self._round(frozen=frozen)

    def _try_pause(self) -> bool:
        """Freeze the box; False when the freezer did not catch a box that still runs."""
        try:
            self.container.pause()
        except SandboxError:
            state = self.container.state()
            if not state.running:
                raise self.container.why_gone() from None
            return state.paused
        return True

    def _round(self, *, frozen: bool) -> None:
        """Kill once and leave the box running."""
        if self.near is not None and self.by_host:
            self.near.signal(signal.SIGKILL)
        if frozen:
            self.container.unpause()
        if self.near is None or not self.by_host:
            self._signal(signal.SIGKILL)
        self._settle()

    def _survived(self, alive: tuple[str, ...]) -> LostError:
        """Return the error for processes that no signal ended."""
        shown = ", ".join(alive[:5])
        return LostError(
            f"{len(alive)} processes of the agent in {self.container.name} survived SIGKILL for "
            f"{self.limits.sweep_s} s ({shown}); the session is void, look at the host's disk and kernel log",
            container_id=self.container.id,
        )

    def new_oom_kills(self) -> int:
        """Return how many processes the kernel ended for want of memory since this was last asked. Raises LostError."""
        total = self.near.oom_kills() if self.near is not None else int(self.container.state().oom_killed)
        new, self._oom_seen = total - self._oom_seen, total
        return new
