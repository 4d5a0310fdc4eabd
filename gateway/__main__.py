"""`python -m gateway --control SOCK`: configuration as one JSON line on stdin, the FMP key in FMP_API_KEY.

The launcher keeps stdin open; when it ends, because the launcher closed it or died, the gateway ends too.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
from pathlib import Path

from pydantic import ValidationError

from gateway.control import make_control
from gateway.redact import Redactor
from gateway.service import open_gateway
from gateway.session import quiet_server
from gateway.settings import GatewayConfig
from gateway.sockets import PRIVATE_MODE, bind
from records.errors import UsageError

KEY_VARIABLE = "FMP_API_KEY"


class KeylessFormatter(logging.Formatter):
    """Formats log records without any secret, exceptions included."""

    def __init__(self, redactor: Redactor) -> None:
        """Keep what knows the secrets."""
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        """Return the line without any secret."""
        return self._redactor.text(super().format(record))


def set_up_logging(key: str) -> None:
    """Send warnings and errors to stderr, keys removed."""
    handler = logging.StreamHandler()
    handler.setFormatter(KeylessFormatter(Redactor([key])))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)


async def stdin_ended(reader: asyncio.StreamReader) -> None:
    """Return when the launcher has closed our stdin or died."""
    while await reader.read(1024):
        pass


async def open_stdin() -> asyncio.StreamReader:
    """Return stdin as a stream."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


async def serve(control: Path, key: str) -> None:
    """Read the configuration, serve, end when told. Raises UsageError or ValidationError before anything is made."""
    stdin = await open_stdin()
    config = GatewayConfig.model_validate_json(await stdin.readline())
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with open_gateway(config, key) as gateway:
        server = quiet_server(make_control(gateway, stop.set))
        serving = asyncio.create_task(server.serve(sockets=[bind(control, mode=PRIVATE_MODE)]))
        waits = [asyncio.create_task(stdin_ended(stdin)), asyncio.create_task(_wait(stop)), serving]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits[:2]:
            wait.cancel()
        server.should_exit = True
        await serving


async def _wait(stop: asyncio.Event) -> None:
    await stop.wait()


def main() -> int:
    """Serve; one sentence and exit code 2 when it cannot start."""
    parser = argparse.ArgumentParser(prog="python -m gateway", description="the sandbox's only way out")
    parser.add_argument("--control", type=Path, required=True, help="Unix socket to be told on")
    options = parser.parse_args()
    key = os.environ.get(KEY_VARIABLE, "")
    os.umask(0o077)
    set_up_logging(key)
    if not key:
        sys.stderr.write(f"gateway: expected the FMP key in {KEY_VARIABLE}, found none; set it and start again\n")
        return 2
    try:
        asyncio.run(serve(options.control, key))
        options.control.unlink(missing_ok=True)
    except (UsageError, ValidationError) as exc:
        sys.stderr.write(f"gateway: expected a configuration line on stdin, found: {exc}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
