"""The operator's stop: one flag for the run and the boxes to kill when it is set. No session sees a signal."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from records.errors import EvalError


class Cancelled(Exception):  # noqa: N818 - a stop is no error
    """The operator stopped the run."""


class Stop:
    """Set once; every registered box is killed at that moment, a box registered later at once."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._cancels: dict[str, Callable[[], None]] = {}

    def is_set(self) -> bool:
        """Whether the operator stopped the run."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise Cancelled when the run was stopped."""
        if self._event.is_set():
            raise Cancelled("stopped by the operator")

    def wait(self, timeout_s: float) -> bool:
        """Wait for the stop, in seconds; return whether it came."""
        return self._event.wait(timeout_s)

    @contextmanager
    def kills(self, name: str, cancel: Callable[[], None]) -> Iterator[None]:
        """Have `cancel` called from another thread when the stop comes while the block runs."""
        with self._lock:
            self._cancels[name] = cancel
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._cancels.pop(name, None)

    def trip(self) -> None:
        """Stop the run: set the flag and kill every box, all at the same time. Later calls do nothing."""
        with self._lock:
            if self._event.is_set():
                return
            self._event.set()
            cancels = list(self._cancels.values())
        for cancel in cancels:
            threading.Thread(target=_quietly, args=(cancel,), daemon=True).start()


def _quietly(cancel: Callable[[], None]) -> None:
    # A box that is already gone is what a stop wants; what stays is removed by label afterwards.
    with suppress(EvalError):
        cancel()


@contextmanager
def stop_on_signals(stop: Stop, notice: Callable[[str], None]) -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM into the stop while the block runs; a second one changes nothing, clean-up goes on."""

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            notice("still removing containers, a moment")
            return
        notice("stopping: ending all sessions and removing their containers")
        # The lock inside may be held by the interrupted main thread, so another thread takes it.
        threading.Thread(target=stop.trip, daemon=True).start()

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
