"""One JSON line per call, whole: it may hold the strategy, so it lies under sealed/ and is its owner's alone."""

import os
from datetime import datetime
from pathlib import Path

from pydantic import Field

from records.base import Record
from records.chat import ChatReply, ChatRequest
from records.jsonl import append_line

FILE_MODE, FOLDER_MODE = 0o600, 0o700


class CallLine(Record):
    """One call as sealed/model-calls.jsonl keeps it."""

    at: datetime = Field(description="when it was sent, UTC")
    purpose: str
    model: str = Field(description="id that was asked for; the reply has the one that served")
    prompt_sha256: str
    seconds: float = Field(description="wall clock, retries included")
    retries: int = Field(default=0, description="tries after the first; of a failed call those allowed")
    request: ChatRequest
    reply: ChatReply | None = Field(description="None: the call failed")
    error: str | None = Field(default=None, description="the sentence that was raised")
    detail: str = Field(default="", description="the service's own words on a failure, the key removed")


def write_line(path: Path, line: CallLine) -> None:
    """Append a call, making the file for its owner alone. Raises OSError."""
    if not path.exists():
        path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, FILE_MODE))
    append_line(path, line.to_json())
