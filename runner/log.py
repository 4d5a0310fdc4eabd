"""structlog to events.jsonl, configured only here; ids are bound once per session with `log.bind`."""

import threading
from pathlib import Path
from typing import Any

import structlog
from structlog.typing import FilteringBoundLogger

from records.jsonl import append_line

_SECRETS = ("key", "apikey", "api_key", "authorization", "token")


class _Lines:
    """A structlog logger that appends each rendered event as one line; safe between threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def msg(self, message: str) -> None:
        with self._lock:
            append_line(self._path, message)

    debug = info = warning = error = critical = exception = msg


def open_log(path: Path) -> FilteringBoundLogger:
    """Return a logger that appends JSON lines with a UTC time to `path`."""
    logger: FilteringBoundLogger = structlog.wrap_logger(
        _Lines(path),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _hide_secrets,
            structlog.processors.JSONRenderer(sort_keys=True, default=str),
        ],
        wrapper_class=structlog.make_filtering_bound_logger("info"),
        cache_logger_on_first_use=False,
    )
    return logger


def _hide_secrets(_logger: Any, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    # No caller logs a key; this is the net below that rule.
    return {name: "***" if name.lower() in _SECRETS else value for name, value in event.items()}
