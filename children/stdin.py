"""The child's side: stdin, which the launcher keeps open and which ends when the launcher closes it or dies."""

import asyncio
import sys


async def open_stdin() -> asyncio.StreamReader:
    """Return stdin as a stream."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


async def stdin_ended(reader: asyncio.StreamReader) -> None:
    """Return when the launcher has closed our stdin or died."""
    while await reader.read(1024):
        pass
