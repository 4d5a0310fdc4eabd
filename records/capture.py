"""Files that were captured, each with its hash, and the manifest that chains them."""

from typing import Literal

from pydantic import Field

from records.base import Record


class FileEntry(Record):
    """One captured file."""

    path: str = Field(
        description="POSIX path relative to the captured tree; undecodable bytes as surrogate escapes, percent-encoded"
    )
    size: int
    sha256: str


class CopyReport(Record):
    """What a copy out of the sandbox kept and what it refused."""

    files: tuple[FileEntry, ...] = ()
    notes: tuple[str, ...] = Field(default=(), description="one sentence per refused or capped entry")
    truncated: bool = Field(default=False, description="a stated cap was reached; something is missing")


class ManifestEntry(Record):
    """One file of the public tree and the chain value up to it."""

    path: str
    size: int
    sha256: str
    chain: str = Field(description="sha256(previous chain + path + sha256)")


class Manifest(Record):
    """manifest.json: all files of public/, chained, with a salted hash of the sealed strategy."""

    schema_version: Literal[1] = 1
    files: tuple[ManifestEntry, ...]
    sealed_sha256: str = Field(description="sha256(salt + strategy.json); the salt is in sealed/manifest-salt")
