"""`python -m gateway --control SOCK`: configuration as one JSON line on stdin, the FMP key in FMP_API_KEY.

The launcher keeps stdin open; when it ends, because the launcher closed it or died, the gateway ends too.
"""

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path

from pydantic import ValidationError

from children.logs import set_up_logging
from children.stdin import open_stdin, stdin_ended
from gateway.control import make_control
from gateway.redact import Redactor
from gateway.service import open_gateway
from gateway.session import quiet_server
from gateway.settings import GatewayConfig
from gateway.sockets import PRIVATE_MODE, bind
from records.errors import UsageError

KEY_VARIABLE = "FMP_API_KEY"


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
    set_up_logging(Redactor([key]).text)
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
