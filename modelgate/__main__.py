"""`python -m modelgate --socket SOCK`: configuration as one JSON line on stdin, the key in FINCOSMOS_MODEL_KEY.

The launcher keeps stdin open; when it ends, because the launcher closed it or died, the process ends too. On the socket
a connection carries one line there (`Call`) and one line back (`Answer`); a caller that leaves ends its call.
"""

import argparse
import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

from pydantic import ValidationError

from children.logs import set_up_logging
from children.stdin import open_stdin, stdin_ended
from modelgate.service import REMOVED, ModelService, open_service
from modelgate.settings import MAX_LINE_BYTES, PROCESS_KEY_VARIABLE, Answer, Call, ModelConfig


async def handle(service: ModelService, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve one connection."""
    try:
        answer = await _answer(service, reader)
        if answer is not None:
            writer.write(answer.to_json().encode() + b"\n")
            await writer.drain()
    except ConnectionError:
        pass  # the caller left
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def _answer(service: ModelService, reader: asyncio.StreamReader) -> Answer | None:
    """Return the answer to the line that comes; None when the caller left before there was one."""
    try:
        call = Call.model_validate_json(await reader.readline())
    except ValueError:  # no call, or longer than a line may be; its text may hold a prompt and is not repeated
        return Answer(error="model process: expected one call of this version, found something else; restart the run")
    work = asyncio.create_task(service.answer(call))
    left = asyncio.create_task(reader.read(1))
    try:
        await asyncio.wait({work, left}, return_when=asyncio.FIRST_COMPLETED)
        return work.result() if work.done() else None
    finally:
        for task in (work, left):
            task.cancel()
        await asyncio.gather(work, left, return_exceptions=True)


async def serve(path: Path, key: str) -> None:
    """Read the configuration, serve, end when told. Raises ValidationError or OSError before anything is served."""
    stdin = await open_stdin()
    config = ModelConfig.model_validate_json(await stdin.readline())
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with open_service(config, key) as service:
        connections: set[asyncio.Task[None]] = set()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(handle(service, reader, writer))
            connections.add(task)
            task.add_done_callback(connections.discard)

        server = await asyncio.start_unix_server(accept, path=str(path), limit=MAX_LINE_BYTES)
        async with server:
            waits = [asyncio.create_task(stdin_ended(stdin)), asyncio.create_task(_wait(stop))]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            server.close()
            for task in (*waits, *connections):
                task.cancel()
            await asyncio.gather(*waits, *connections, return_exceptions=True)


async def _wait(stop: asyncio.Event) -> None:
    await stop.wait()


def main() -> int:
    """Serve; one sentence and exit code 2 when it cannot start."""
    parser = argparse.ArgumentParser(prog="python -m modelgate", description="the sealed side's way to a model")
    parser.add_argument("--socket", type=Path, required=True, help="Unix socket to serve on, in a private folder")
    options = parser.parse_args()
    key = os.environ.pop(PROCESS_KEY_VARIABLE, "")
    os.umask(0o077)
    set_up_logging(lambda line: line.replace(key, REMOVED))
    if not key:
        sys.stderr.write(f"model process: expected the key in {PROCESS_KEY_VARIABLE}, found none; set it\n")
        return 2
    try:
        asyncio.run(serve(options.socket, key))
    except ValidationError:
        sys.stderr.write("model process: expected a configuration line on stdin, found something else\n")
        return 2
    except OSError as exc:
        sys.stderr.write(
            f"model process: expected to serve on {options.socket}, found {exc}; set TMPDIR to a short path\n"
        )
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
