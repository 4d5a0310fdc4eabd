"""Writes one attempt to disk, append-only, and seals it with a hash chain. Paths come from `records.paths`."""

import hashlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from records.capture import CopyReport, Manifest, ManifestEntry
from records.decision import DecisionRecord
from records.jsonl import append_line, read_lines
from records.paths import AttemptPaths
from records.session import EVENT, AgentEvent, EndEvent, Event, UserEvent
from records.strategy import Strategy
from records.task import Task

_CHUNK = 1024 * 1024


class AttemptStore:
    """The writer of one attempt's folder. One thread owns it."""

    def __init__(self, paths: AttemptPaths) -> None:
        self.paths = paths

    def create(self, task: Task, strategy: Strategy) -> None:
        """Make public/ and sealed/ with the two halves of the task. Raises FileExistsError when the attempt exists."""
        self.paths.public.mkdir(parents=True)
        self.paths.sealed.mkdir(mode=0o700)
        self.paths.task.write_text(task.to_json(indent=1) + "\n", encoding="utf-8")
        self.paths.strategy.write_text(strategy.to_json(indent=1) + "\n", encoding="utf-8")

    def append(self, event: UserEvent | AgentEvent | EndEvent) -> None:
        """Add one event to session.jsonl and flush it to disk."""
        append_line(self.paths.session, event.to_json())

    def append_decision(self, record: DecisionRecord) -> None:
        """Add one user decision to the sealed side."""
        append_line(self.paths.decisions, record.to_json())

    def write_message(self, turn: int, text: str) -> None:
        """Write the agent's message of a turn as a file of its own."""
        folder = self.paths.turn(turn)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "message.md").write_text(text, encoding="utf-8", errors="backslashreplace")

    def note_capture(self, report: CopyReport) -> None:
        """Write what the workspace capture kept and what it refused."""
        self.paths.capture.write_text(report.to_json(indent=1) + "\n", encoding="utf-8")

    def seal(self) -> Manifest:
        """Hash every public file, chain the hashes and write manifest.json, after the last event.

        Called again only where a rerun was added to a sealed folder; the salt then stays.
        """
        if self.paths.manifest_salt.exists():
            salt = self.paths.manifest_salt.read_text(encoding="ascii")
        else:
            salt = secrets.token_hex(16)
            self.paths.manifest_salt.write_text(salt, encoding="ascii")
        manifest = Manifest(
            files=tuple(chain_files(self.paths.public, skip=self.paths.manifest)),
            sealed_sha256=hashlib.sha256(salt.encode() + self.paths.strategy.read_bytes()).hexdigest(),
        )
        self.paths.manifest.write_text(manifest.to_json(indent=1) + "\n", encoding="utf-8")
        return manifest


def chain_files(root: Path, *, skip: Path) -> Iterator[ManifestEntry]:
    """Yield every regular file below `root` in path order; links are not followed and not listed."""
    chain = ""
    for path in sorted(_regular_files(root), key=os.fsencode):
        if path == skip:
            continue
        name = printable_path(path.relative_to(root))
        digest = file_sha256(path)
        chain = hashlib.sha256((chain + name + digest).encode()).hexdigest()
        yield ManifestEntry(path=name, size=path.stat().st_size, sha256=digest, chain=chain)


def printable_path(path: Path) -> str:
    """Return a POSIX path in which bytes that are no UTF-8 are percent-encoded."""
    return "".join(
        f"%{ord(letter) - 0xDC00:02X}" if "\udc80" <= letter <= "\udcff" else letter for letter in path.as_posix()
    )


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as handle:
        while chunk := handle.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def read_events(paths: AttemptPaths) -> list[Event]:
    """Return the events of an attempt, oldest first; none when it never began."""
    return [EVENT.validate_json(line) for line in read_lines(paths.session)]


def _regular_files(root: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink():
                yield path
