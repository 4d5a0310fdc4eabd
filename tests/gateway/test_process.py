"""The gateway's life: it ends with its launcher, its death is noticed, and its key stays where it belongs."""

import asyncio
import logging
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from children.logs import KeylessFormatter
from gateway.client import GatewayClient
from gateway.process import RunningGateway, start_gateway
from gateway.redact import Redactor
from gateway.service import Gateway
from gateway.settings import GatewayConfig
from gateway.upstream import FmpUpstream
from offline.fmp import FmpProcess
from records.errors import PrerequisiteError, ProviderError
from records.limits import Limits
from tests.gateway.conftest import KEY, spec
from tests.gateway.support import ask_raw, in_files, in_process_files
from tests.gateway.test_gateway import call
from tests.processes import wait_until_gone

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).resolve().parents[2]
CONFIG = GatewayConfig(fmp_base_url="http://127.0.0.1:9/stable/")
IDLE = "import time; time.sleep(60)"
PARENT = """
import sys, time
from pathlib import Path
from gateway.process import start_gateway
from gateway.settings import GatewayConfig
config = GatewayConfig(fmp_base_url="http://127.0.0.1:9/stable/")
with start_gateway(config, key="k", log_path=Path(sys.argv[1])) as gateway:
    print(gateway.process.pid, flush=True)
    time.sleep(60)
"""


def test_gateway_ends_with_its_block_and_leaves_no_socket(tmp_path: Path) -> None:
    with start_gateway(CONFIG, key=KEY, log_path=tmp_path / "log") as running:
        sockets = running.client.add_session(spec(tmp_path, "s"))
        assert running.is_alive
        running.check_alive()
    assert running.process.returncode == 0
    assert not Path(sockets.gw).exists()
    assert (tmp_path / "log").read_text(encoding="utf-8") == ""


def test_gateway_dies_with_a_killed_launcher(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(tmp_path / "log")]
    parent = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent:
        child = int(parent.stdout.readline())
        assert Path(f"/proc/{child}").exists()
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        assert wait_until_gone(child)


def test_killed_gateway_is_noticed_and_is_a_void(tmp_path: Path) -> None:
    with start_gateway(CONFIG, key=KEY, log_path=tmp_path / "log") as running:
        running.process.send_signal(signal.SIGKILL)
        running.process.wait()
        assert not running.is_alive
        with pytest.raises(ProviderError, match="found it ended with code -9"):
            running.check_alive()
        with pytest.raises(ProviderError, match="the session is void"):
            running.client.health()
    assert ProviderError.void
    assert ProviderError.retry


def test_control_socket_is_the_launchers_alone(gateway: RunningGateway) -> None:
    control = gateway.client._control
    assert stat.S_IMODE(control.stat().st_mode) == 0o600
    assert stat.S_IMODE(control.parent.stat().st_mode) == 0o700


def test_shutdown_on_request_ends_the_process(tmp_path: Path) -> None:
    with start_gateway(CONFIG, key=KEY, log_path=tmp_path / "log") as running:
        running.client.shutdown()
        assert running.process.wait(20) == 0


def test_start_without_a_key_or_with_a_bad_line_is_one_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gateway", "--control", str(tmp_path / "c.sock")]
    environment = {name: value for name, value in os.environ.items() if name != "FMP_API_KEY"}
    done = subprocess.run(command, cwd=ROOT, env=environment, input=b"{}\n", capture_output=True, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"FMP_API_KEY" in done.stderr
    environment |= {"FMP_API_KEY": KEY}
    done = subprocess.run(command, cwd=ROOT, env=environment, input=b"nonsense\n", capture_output=True, check=False)
    assert done.returncode == 2
    assert b"expected a configuration line" in done.stderr
    assert not (tmp_path / "c.sock").exists()


def test_gateway_that_cannot_start_is_a_prerequisite_error(tmp_path: Path) -> None:
    with (
        pytest.raises(PrerequisiteError, match="FMP_API_KEY"),
        start_gateway(CONFIG, key="", log_path=tmp_path / "log"),
    ):
        pass


def test_client_without_a_gateway_says_so(tmp_path: Path) -> None:
    with GatewayClient(tmp_path / "none.sock") as client, pytest.raises(ProviderError, match="expected an answer"):
        client.health()


def test_key_is_in_the_gateways_environment_and_nowhere_else(fmp: FmpProcess, tmp_path: Path) -> None:
    config = GatewayConfig(fmp_base_url=fmp.base_url)
    with start_gateway(config, key=KEY, log_path=tmp_path / "gateway.log") as running:
        sockets = running.client.add_session(spec(tmp_path, "canary"))
        call(sockets.gw, "historical-price-eod-full", symbol="KO", from_="2022-12-01")
        call(sockets.gw, "stock-news")
        call(sockets.gw, "quote", symbol=KEY)
        call(sockets.gw, "quote", symbol="KO", apikey=KEY)
        ask_raw(
            sockets.web, f"GET http://example.com/?x={KEY} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode()
        )
        ask_raw(sockets.web, f"CONNECT {KEY}.example.com:443 HTTP/1.1\r\n\r\n".encode())
        pid = running.process.pid
        mine = in_process_files(KEY, "environ", spared=(os.getpid(),))
        assert pid in mine
        assert [other for other in mine if b"gateway" not in Path(f"/proc/{other}/cmdline").read_bytes()] == []
        assert in_process_files(KEY, "cmdline") == []
        assert in_files(KEY, tmp_path) == []
        assert len((tmp_path / "canary" / "calls.jsonl").read_text(encoding="utf-8").splitlines()) == 6


def test_search_of_arguments_and_environments_catches_a_leak() -> None:
    needle = "leak-on-purpose-51c2"
    leaks = [
        subprocess.Popen([sys.executable, "-c", IDLE, needle]),
        subprocess.Popen([sys.executable, "-c", IDLE], env=os.environ | {"INNOCENT": needle}),
    ]
    try:
        assert wait_for(lambda: leaks[0].pid in in_process_files(needle, "cmdline"))
        assert wait_for(lambda: leaks[1].pid in in_process_files(needle, "environ"))
    finally:
        for leak in leaks:
            leak.kill()
            leak.wait()


def wait_for(claim: "object") -> bool:
    assert callable(claim)
    for _ in range(250):
        if claim():
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("leaks", [False, True])
def test_search_of_files_catches_a_gateway_that_does_not_remove_the_key(tmp_path: Path, leaks: bool) -> None:
    """The upstream echoes the key, as a vendor's error page may; the leaking build has a remover that knows no key."""
    redactor = Redactor([] if leaks else [KEY])

    def echo(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=[{"echo": request.headers["apikey"]}])

    async def run() -> str:
        upstream = FmpUpstream(CONFIG.fmp_base_url, KEY, Limits(), redactor, transport=httpx.MockTransport(echo))
        gateway = Gateway(CONFIG, upstream, redactor)
        async with upstream, gateway.running():
            sockets = await gateway.add_session(spec(tmp_path, "s"))
            answer = await asyncio.to_thread(call, sockets.gw, "quote", symbol="KO")
            return answer[1]

    text = asyncio.run(run())
    assert (KEY in text) == leaks
    assert bool(in_files(KEY, tmp_path)) == leaks


@pytest.mark.parametrize("leaks", [False, True])
def test_search_of_logs_catches_a_formatter_that_does_not_remove_the_key(tmp_path: Path, leaks: bool) -> None:
    formatter = logging.Formatter() if leaks else KeylessFormatter(Redactor([KEY]).text)
    record = logging.LogRecord("x", logging.ERROR, "f", 1, "request with %s failed", (KEY,), None)
    (tmp_path / "gateway.log").write_text(formatter.format(record), encoding="utf-8")
    assert bool(in_files(KEY, tmp_path)) == leaks
