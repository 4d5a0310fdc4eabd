"""One session's call log: a JSON line per call, each body kept once under its hash."""

import asyncio
import hashlib
import json
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from gateway.redact import Redactor
from records.calls import CallRecord
from records.jsonl import append_line

DATE_FIELDS = ("date", "publishedDate", "filingDate", "acceptedDate", "transactionDate")


@dataclass(frozen=True)
class BodyFacts:
    """What a log line says about a body."""

    rows: int | None = None
    first_date: date | None = None
    last_date: date | None = None


def _row_date(row: Any) -> date | None:
    if not isinstance(row, dict):
        return None
    for name in DATE_FIELDS:
        value = row.get(name)
        if isinstance(value, str) and len(value) >= 10:
            try:
                return date.fromisoformat(value[:10])
            except ValueError:
                continue
    return None


def body_facts(body: bytes) -> BodyFacts:
    """Return row count and date span of a JSON list; nothing for any other body."""
    try:
        rows = json.loads(body)
    except ValueError:
        return BodyFacts()
    if not isinstance(rows, list):
        return BodyFacts()
    dates = [day for day in map(_row_date, rows) if day is not None]
    return BodyFacts(len(rows), min(dates, default=None), max(dates, default=None))


class CallLog:
    """Appends to one calls.jsonl; writing happens off the event loop, in order."""

    def __init__(self, calls_path: Path, bodies_dir: Path, redactor: Redactor) -> None:
        """Make the folders; the log file appears with the first call."""
        self._calls_path, self._bodies_dir, self._redactor = calls_path, bodies_dir, redactor
        self._lock = asyncio.Lock()
        calls_path.parent.mkdir(parents=True, exist_ok=True)
        bodies_dir.mkdir(parents=True, exist_ok=True)

    def _keep(self, body: bytes) -> str:
        """Store a body unless it is there. Returns its hash."""
        digest = hashlib.sha256(body).hexdigest()
        path = self._bodies_dir / digest
        if not path.exists():
            fresh = path.with_name(f"{digest}.new")
            fresh.write_bytes(body)
            fresh.rename(path)
        return digest

    def _write(self, record: CallRecord, body: bytes | None) -> None:
        safe = {
            "target": self._redactor.text(record.target),
            "tool": self._redactor.text(record.tool),
            "params": self._redactor.params(record.params),
            "refused": self._redactor.text(record.refused) if record.refused else None,
        }
        if body is not None:
            kept = self._redactor.body(body)
            safe |= {"body_sha256": self._keep(kept)}
        append_line(self._calls_path, record.model_copy(update=safe).to_json())

    async def write(self, record: CallRecord, body: bytes | None = None) -> None:
        """Append one line, after its body is on disk; None keeps the record's own hash."""
        async with self._lock:
            await asyncio.to_thread(self._write, record, body)
