"""rerun.json: what became of the delivered code when it was run once more, alone, after the session (dimension 3.6)."""

from typing import Literal

from pydantic import Field

from records.base import Record
from records.capture import FileEntry

EntryKind = Literal["readme", "shell", "makefile", "script", "notebook"]
RerunEnd = Literal["exited", "timed_out", "box_ended", "no_code", "no_entry"]
"""`box_ended`: what ran took its container down. `no_code`, `no_entry`: nothing was started."""


class Rerun(Record):
    """One run of the delivered code on the delivered data; no network, no strategy, limits of `records.limits`."""

    schema_version: Literal[1] = 1
    end: RerunEnd
    entry: str = Field(default="", description="file of the delivery that was started")
    kind: EntryKind | None = None
    why: str = Field(description="why this entry point, or why none")
    argv: tuple[str, ...] = ()
    cwd: str = Field(default="", description="working directory, relative to the delivery")
    env: dict[str, str] = Field(default_factory=dict, description="what was set on top of the image's environment")
    exit_code: int | None = Field(default=None, description="None where nothing exited by itself")
    duration_s: float = 0.0
    stdout: str = Field(default="", description="head and tail, bytes that are no UTF-8 replaced")
    stderr: str = ""
    stdout_missing: int = Field(default=0, description="bytes cut out of the middle")
    stderr_missing: int = 0
    not_parsed: dict[str, str] = Field(default_factory=dict, description="Python file -> why it does not parse")
    withheld: tuple[str, ...] = Field(
        default=(), description="delivered results that were not given to the code, so that it must make them itself"
    )
    given_back: bool = Field(
        default=False, description="the code failed without the withheld files and was run again with them"
    )
    files: tuple[FileEntry, ...] = Field(
        default=(), description="what the run made or changed, below rerun/, relative to the workspace"
    )
    notes: tuple[str, ...] = Field(default=(), description="what was refused, capped or killed")
    truncated: bool = Field(default=False, description="a stated cap was reached; some file is missing")

    @property
    def ran_well(self) -> bool:
        """Whether the code ended by itself with exit code 0."""
        return self.end == "exited" and self.exit_code == 0
