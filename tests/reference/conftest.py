"""The reference agent as a program beside a made-up data service on a loopback port."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
AGENT = ROOT / "images" / "reference"
for folder in (AGENT, Path(__file__).resolve().parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


class FakeService(BaseHTTPRequestHandler):
    """Answers initialize and tools/call like a stateless MCP server with JSON replies."""

    calls: list[tuple[str, dict[str, Any]]]
    refuse: str | None = None

    def do_POST(self) -> None:
        import market  # noqa: PLC0415

        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        result: dict[str, Any] = {"protocolVersion": "2025-03-26", "capabilities": {}, "serverInfo": {"name": "fake"}}
        if asked["method"] == "tools/call":
            name, arguments = asked["params"]["name"], asked["params"]["arguments"]
            type(self).calls.append((name, arguments))
            refused = type(self).refuse
            text = refused or json.dumps(market.rows_of(name, arguments))
            result = {"isError": bool(refused), "content": [{"type": "text", "text": text}]}
        body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def service() -> Iterator[tuple[str, type[FakeService]]]:
    """Return the address of a service and its handler class."""
    handler = type("Handler", (FakeService,), {"calls": [], "refuse": None})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/mcp", handler
    server.shutdown()
    server.server_close()
    thread.join()


def one_turn(address: str, workspace: Path, message: str, program: str = "agent.py") -> str:
    """Send one message to the agent and return its reply."""
    env = {**os.environ, "FMP_MCP_URL": address, "REFERENCE_WORKSPACE": str(workspace)}
    command = [sys.executable, str(AGENT / program)]
    done = subprocess.run(command, input=message.encode(), capture_output=True, env=env, check=False)
    assert done.returncode == 0, done.stderr.decode()
    reply: str = json.loads(done.stdout.decode().splitlines()[-1])["message"]
    return reply


@pytest.fixture
def talk(service: tuple[str, type[FakeService]], tmp_path: Path) -> Callable[..., str]:
    """Return a function that sends one message to an agent in a fresh workspace."""

    def send(message: str, program: str = "agent.py") -> str:
        return one_turn(service[0], tmp_path, message, program)

    return send


@pytest.fixture(scope="module")
def session(service: tuple[str, type[FakeService]], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Return the workspace and the replies of one whole conversation, shared by tests that only read it."""
    workspace = tmp_path_factory.mktemp("session")
    return workspace, [one_turn(service[0], workspace, message) for message in (SIX, SIX_ANSWER)]


OPENING = (
    "I would like a backtest of stocks with {factors} drawn from AAPL, AMD, AMZN, BAC, BBY, CVX, GE, GOOG, HD, JNJ, JPM, KO, "
    "LLY, META, MRK, MSFT, NFLX, NVDA, PEP, PFE and PG{extras}, using data from January 2, 2013 to June 30, 2016. "
    "At most 10 may be held at a time."
)
SIX = OPENING.format(
    factors="12-month momentum that leaves out the latest month", extras=", with minimum variance weights"
)
SIX_ANSWER = (
    "Estimate it with the plain sample covariance. A volume cap: never more than a small share of daily volume."
)
