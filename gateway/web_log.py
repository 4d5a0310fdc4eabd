"""One log line per web request, whatever became of it."""

import hashlib
import time
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlsplit

from gateway.calllog import CallLog
from gateway.redact import Redactor
from records.calls import CallRecord


class BodyMeter:
    """Counts and hashes a body as it streams; keeps it while it is small."""

    def __init__(self, kept_bytes: int) -> None:
        """Keep at most so many bytes."""
        self.size = 0
        self._kept_bytes = kept_bytes
        self._digest = hashlib.sha256()
        self._parts: list[bytes] = []

    def add(self, part: bytes) -> None:
        """Count one part."""
        self.size += len(part)
        self._digest.update(part)
        if self.size <= self._kept_bytes:
            self._parts.append(part)
        else:
            self._parts.clear()

    @property
    def body(self) -> bytes | None:
        """The whole body; None when it was too large to keep."""
        return b"".join(self._parts) if self.size <= self._kept_bytes else None

    @property
    def sha256(self) -> str:
        """The hash of all that streamed."""
        return self._digest.hexdigest()


class WebEntry:
    """The log line of one request, filled as it goes on."""

    def __init__(self, log: CallLog, redactor: Redactor, session: str, method: str, target: str) -> None:
        """Start the clock. `target` is a URL, or host:port for CONNECT."""
        self._log, self._redactor, self._session = log, redactor, session
        self._method, self._target = method[:32], target[:4096]
        self._at, self._started = datetime.now(UTC), time.monotonic()

    async def write(
        self, *, status: int | None = None, size: int = 0, meter: BodyMeter | None = None, refused: str | None = None
    ) -> None:
        """Write the line; the body is kept with it when the meter still has it."""
        is_url = self._method != "CONNECT"
        query = dict(parse_qsl(urlsplit(self._target).query, keep_blank_values=True)) if is_url else {}
        record = CallRecord(
            at=self._at,
            session=self._session,
            route="web",
            tool=self._method,
            target=self._redactor.url(self._target) if is_url else self._target,
            params=query,
            status=status,
            bytes=meter.size if meter else size,
            body_sha256=meter.sha256 if meter else None,
            seconds=round(time.monotonic() - self._started, 4),
            refused=refused,
        )
        await self._log.write(record, meter.body if meter else None)
