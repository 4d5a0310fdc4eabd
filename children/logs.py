"""The child's side: a log without secrets."""

import logging
from collections.abc import Callable


class KeylessFormatter(logging.Formatter):
    """Formats log records without any secret, exceptions included."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        """Keep what takes the secrets out of a text."""
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")
        self._clean = clean

    def format(self, record: logging.LogRecord) -> str:
        """Return the line without any secret."""
        return self._clean(super().format(record))


def set_up_logging(clean: Callable[[str], str]) -> None:
    """Send warnings and errors to stderr, secrets removed."""
    handler = logging.StreamHandler()
    handler.setFormatter(KeylessFormatter(clean))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
