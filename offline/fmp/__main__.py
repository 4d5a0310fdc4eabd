"""`python -m offline.fmp --data DIR --port-file FILE [--port 0]`: serve until stdin ends or SIGTERM comes."""

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path

from aiohttp import web

from children.stdin import open_stdin, stdin_ended
from offline.fmp.app import Service, key_digest, make_app
from offline.fmp.store import Store

KEY_VARIABLE = "FINCOSMOS_OFFLINE_FMP_KEY"
DIGEST_VARIABLE = "FINCOSMOS_OFFLINE_FMP_KEY_SHA256"
LOOPBACK = "127.0.0.1"


def arguments() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(prog="python -m offline.fmp", description="FMP stand-in on loopback")
    parser.add_argument("--data", type=Path, required=True, help="folder that offline.data.ensure returned")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--port-file", type=Path, required=True, help="the port is written here when it answers")
    parser.add_argument("--faults", action="store_true", help="allow POST /_faults, for tests")
    parser.add_argument("--stay", action="store_true", help="do not end when stdin ends")
    return parser.parse_args()


async def serve(options: argparse.Namespace, key_sha256: str) -> None:
    """Serve until told to stop."""
    store = Store(options.data)
    if not store.bars or not store.companies or not store.statements:
        raise FileNotFoundError(options.data)
    runner = web.AppRunner(make_app(Service(store, key_sha256), allow_faults=options.faults), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, LOOPBACK, options.port).start()
    port: int = runner.addresses[0][1]
    fresh = options.port_file.with_suffix(".new")
    fresh.write_text(str(port), encoding="utf-8")
    fresh.rename(options.port_file)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    waits: list[asyncio.Future[object]] = [asyncio.ensure_future(stop.wait())]
    if not options.stay:
        waits.append(asyncio.ensure_future(stdin_ended(await open_stdin())))
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()
    await runner.cleanup()


def main() -> int:
    """Serve; one sentence and exit code 2 when a prerequisite is missing."""
    options = arguments()
    key = os.environ.get(KEY_VARIABLE, "")
    accepted = key_digest(key) if key else os.environ.get(DIGEST_VARIABLE, "")
    if not accepted:
        sys.stderr.write(
            f"offline FMP: expected the accepted key in {KEY_VARIABLE}, found none; set it and start again\n"
        )
        return 2
    try:
        asyncio.run(serve(options, accepted))
    except FileNotFoundError as exc:
        sys.stderr.write(f"offline FMP: expected prepared tables, found {exc}; run offline.data.ensure first\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
