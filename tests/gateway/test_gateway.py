"""The whole gateway as a process, reached as an agent reaches it: MCP client, loopback forwarder, Unix socket."""

import asyncio
import json
import os
import socket
import stat
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from gateway.catalogue import mcp_tools
from gateway.process import RunningGateway, start_gateway
from gateway.settings import GatewayConfig, SessionSockets, SessionSpec
from offline.fmp import FmpProcess
from records.calls import CallRecord
from records.errors import UsageError
from records.jsonl import read_lines
from records.limits import Limits
from tests.gateway.conftest import KEY, spec
from tests.gateway.support import ask_raw, forwarder

pytestmark = pytest.mark.thorough

Add = Callable[..., SessionSockets]


def with_client(path: str, use: Callable[[Client], Awaitable[Any]], mode: str = "auto") -> Any:
    async def go() -> Any:
        async with forwarder(path) as port, Client(f"http://127.0.0.1:{port}/mcp", mode=mode) as client:
            return await use(client)

    return asyncio.run(asyncio.wait_for(go(), 60))


def call(path: str, tool: str, mode: str = "auto", **arguments: Any) -> tuple[bool, str]:
    async def use(client: Client) -> tuple[bool, str]:
        result = await client.call_tool(tool, {name.rstrip("_"): value for name, value in arguments.items()})
        assert len(result.content) == 1
        return bool(result.is_error), result.content[0].text

    answer: tuple[bool, str] = with_client(path, use, mode)
    return answer


def log_of(sockets: SessionSockets) -> list[CallRecord]:
    path = Path(sockets.gw).parents[1] / "calls.jsonl"
    return [CallRecord.model_validate_json(line) for line in read_lines(path)]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_client_of_either_protocol_age_lists_and_calls(add: Add, mode: str) -> None:
    sockets = add(f"age-{mode}")

    async def names(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    assert with_client(sockets.gw, names, mode) == [tool.name for tool in mcp_tools("flat")]
    is_error, text = call(sockets.gw, "historical-price-eod-full", mode, symbol="KO", from_="2022-12-27")
    assert not is_error
    assert [row["date"] for row in json.loads(text)] == ["2022-12-28", "2022-12-27"]


def test_call_is_logged_with_parameters_rows_dates_and_body(add: Add) -> None:
    sockets = add("logged")
    _, text = call(sockets.gw, "historical-price-eod-light", symbol="KO", from_="2021-12-01", to="2021-12-31")
    (record,) = log_of(sockets)
    assert (record.session, record.route, record.tool) == ("logged", "fmp", "historical-price-eod-light")
    assert record.target == "historical-price-eod/light"
    assert record.params == {"symbol": "KO", "from": "2021-12-01", "to": "2021-12-31"}
    assert (record.status, record.rows, record.bytes) == (200, 22, len(text))
    assert (str(record.first_date), str(record.last_date)) == ("2021-12-01", "2021-12-31")
    body = Path(sockets.gw).parents[1] / "bodies" / str(record.body_sha256)
    assert body.read_text(encoding="utf-8") == text


def test_refusals_reach_the_agent_in_the_vendors_words(add: Add) -> None:
    sockets = add("refused")
    is_error, text = call(sockets.gw, "stock-news")
    assert is_error
    assert text.startswith("HTTP 402: Restricted Endpoint: This endpoint is not available")
    is_error, text = call(sockets.gw, "quote")
    assert is_error
    assert text.startswith("bad arguments for quote: symbol is missing")

    async def use(client: Client) -> None:
        with pytest.raises(MCPError, match="Unknown tool: no-such-tool"):
            await client.call_tool("no-such-tool", {})

    with_client(sockets.gw, use)
    assert [record.status for record in log_of(sockets)] == [402, None, None]
    assert [bool(record.refused) for record in log_of(sockets)] == [False, True, True]


def test_passing_fault_is_retried_unseen_by_the_agent(add: Add, fmp: FmpProcess) -> None:
    sockets = add("retried")
    httpx.post(fmp.base_url.replace("/stable/", "/_faults"), json=[503])
    is_error, text = call(sockets.gw, "quote", symbol="KO")
    assert not is_error
    assert json.loads(text)[0]["symbol"] == "KO"


def test_witness_tells_lasting_failure_from_the_agents_own(add: Add, gateway: RunningGateway, fmp: FmpProcess) -> None:
    sockets = add("witnessed")
    call(sockets.gw, "stock-news")
    assert gateway.client.witness("witnessed").failed_calls == 0
    httpx.post(fmp.base_url.replace("/stable/", "/_faults"), json=[401, 401])
    is_error, text = call(sockets.gw, "quote", symbol="KO")
    assert is_error
    assert text.startswith('HTTP 401: {"Error Message": "Invalid API KEY.')
    witness = gateway.client.witness("witnessed")
    assert (witness.last_failure, witness.is_lasting, witness.failed_calls) == ("fmp key refused", True, 1)
    call(sockets.gw, "quote", symbol="KO")
    assert not gateway.client.witness("witnessed").is_lasting
    assert gateway.client.remove_session("witnessed").calls == 3
    assert gateway.client.witness("witnessed").calls == 3


@pytest.mark.parametrize("status", [429, 503])
def test_failures_that_a_probe_does_not_confirm_are_not_lasting(fmp: FmpProcess, tmp_path: Path, status: int) -> None:
    config = GatewayConfig(fmp_base_url=fmp.base_url, limits=Limits(upstream_tries=1))
    with start_gateway(config, key=KEY, log_path=tmp_path / "log") as running:
        sockets = running.client.add_session(spec(tmp_path, "hammer"))
        httpx.post(fmp.base_url.replace("/stable/", "/_faults"), json=[status, status])
        assert all(call(sockets.gw, "quote", symbol="KO")[0] for _ in range(2))
        seen = running.client.witness("hammer")
        assert (seen.failing_in_a_row, seen.last_failure, seen.is_lasting) == (2, f"HTTP {status}", False)
        httpx.post(fmp.base_url.replace("/stable/", "/_faults"), json=[status])
        assert running.client.witness("hammer").is_lasting
        assert not running.client.witness("hammer").is_lasting


def test_each_call_belongs_to_the_socket_it_came_in_on(add: Add) -> None:
    sockets = {name: add(name) for name in ("one", "two", "three", "four")}
    symbols = dict(zip(sockets, ("KO", "PEP", "PG", "MRK"), strict=True))

    def ask(name: str) -> None:
        for _ in range(3):
            call(sockets[name].gw, "quote", symbol=symbols[name])

    with ThreadPoolExecutor() as pool:
        list(pool.map(ask, sockets))
    for name, its in sockets.items():
        assert [(r.session, r.params["symbol"]) for r in log_of(its)] == [(name, symbols[name])] * 3


def test_frozen_client_does_not_hold_up_another(add: Add) -> None:
    """A paused container's forwarder stops reading while the answer, a megabyte, is on its way."""
    frozen, other = add("frozen"), add("other")
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        | {"params": {"name": "historical-price-eod-full", "arguments": {"symbol": "KO"}}}
    )
    head = (
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:8801\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(frozen.gw)
        sock.sendall(head.encode() + body.encode())
        for _ in range(3):
            assert not call(other.gw, "quote", symbol="KO")[0]
        sock.settimeout(20)
        size = 0
        while size < 1_000_000:
            size += len(sock.recv(65536))


def test_sockets_have_the_modes_of_the_decision(add: Add) -> None:
    sockets = add("modes")
    for path in (sockets.gw, sockets.web):
        assert stat.S_IMODE(Path(path).stat().st_mode) == 0o666
    assert stat.S_IMODE(Path(sockets.gw).parent.stat().st_mode) == 0o711


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a socket to another group")
def test_root_gives_the_sockets_to_the_forwarders_group_alone(fmp: FmpProcess, tmp_path: Path) -> None:
    config = GatewayConfig(fmp_base_url=fmp.base_url, fmp_shape="grouped", socket_gid=999)
    with start_gateway(config, key=KEY, log_path=tmp_path / "log") as running:
        assert running.client.health().tools == 27
        sockets = running.client.add_session(spec(tmp_path, "root"))
        for path in (sockets.gw, sockets.web):
            assert (stat.S_IMODE(Path(path).stat().st_mode), Path(path).stat().st_gid) == (0o660, 999)
        is_error, text = call(sockets.gw, "quote", endpoint="quote", symbol="KO")
        assert not is_error
        assert json.loads(text)[0]["symbol"] == "KO"


def test_removed_session_loses_its_connections_sockets_and_nothing_of_its_log(
    add: Add, gateway: RunningGateway
) -> None:
    sockets = add("removed")
    call(sockets.gw, "quote", symbol="KO")
    with socket.socket(socket.AF_UNIX) as idle:
        idle.connect(sockets.gw)
        idle.sendall(b"GET /nothing HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n")
        idle.settimeout(20)
        assert idle.recv(4096)
        gateway.client.remove_session("removed")
        # What was sent before may come in pieces; the end comes after it, or the time-out raises.
        while idle.recv(4096):
            pass
    assert not Path(sockets.gw).exists()
    assert not Path(sockets.web).exists()
    assert len(log_of(sockets)) == 1
    again = gateway.client.add_session(spec(Path(sockets.gw).parents[2], "removed"))
    assert not call(again.gw, "quote", symbol="KO")[0]
    gateway.client.remove_session("removed")
    assert len(log_of(sockets)) == 2


def test_call_in_flight_at_the_end_is_logged_as_unanswered(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/stable/"
        with start_gateway(GatewayConfig(fmp_base_url=url), key=KEY, log_path=tmp_path / "log") as running:
            sockets = running.client.add_session(spec(tmp_path, "cut"))
            body = (
                b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"quote","arguments":{"symbol":"KO"}}}'
            )
            head = (
                "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:1\r\nContent-Type: application/json\r\n"
                f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            with socket.socket(socket.AF_UNIX) as agent:
                agent.connect(sockets.gw)
                agent.sendall(head.encode() + body)
                asked, _ = silent.accept()
                with asked:
                    assert b"/stable/quote" in asked.recv(4096)
                    running.client.remove_session("cut")
            (record,) = log_of(sockets)
            assert (record.status, record.target, record.params) == (None, "quote", {"symbol": "KO"})
            assert record.refused == "the session ended before the answer came"


def test_channel_that_is_off_answers_nothing(add: Add) -> None:
    sockets = add("closed", channels=("web",))
    answer = ask_raw(
        sockets.gw, b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    )
    assert answer.startswith(b"HTTP/1.1 404")
    no_web = add("no-web", mode="public", channels=("fmp-mcp",))
    assert b"no web access" in ask_raw(no_web.web, b"CONNECT www.sec.gov:443 HTTP/1.1\r\n\r\n")


def test_page_of_another_site_cannot_call_the_tools(add: Add) -> None:
    """DNS rebinding: a foreign Host header is refused."""
    sockets = add("rebinding")
    answer = ask_raw(
        sockets.gw,
        b"POST /mcp HTTP/1.1\r\nHost: evil.com\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
    )
    assert answer.startswith(b"HTTP/1.1 421")


def test_long_run_directory_is_no_obstacle(gateway: RunningGateway, tmp_path: Path) -> None:
    """A socket address holds 107 bytes; the gateway binds through the folder, so its path may be longer."""
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    sockets = gateway.client.add_session(spec(deep, "deep"))
    assert Path(sockets.gw).is_socket()
    gateway.client.remove_session("deep")


def test_mistakes_of_the_launcher_are_one_sentence(add: Add, gateway: RunningGateway, tmp_path: Path) -> None:
    add("taken")
    with pytest.raises(UsageError, match="session 'taken': expected a new name, found it in use"):
        gateway.client.add_session(spec(tmp_path, "taken"))
    with pytest.raises(UsageError, match="session 'absent': expected one that is served"):
        gateway.client.remove_session("absent")
    with pytest.raises(UsageError, match="session 'absent': expected one that was added"):
        gateway.client.witness("absent")
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="gateway socket folder"):
        gateway.client.add_session(spec(tmp_path, "blocked").model_copy(update={"socket_dir": str(blocked / "x")}))
    with pytest.raises(UsageError, match="gateway log"):
        gateway.client.add_session(spec(tmp_path, "blocked").model_copy(update={"bodies_dir": str(blocked / "x")}))
    assert "blocked" not in gateway.client.health().sessions


def test_session_names_cannot_leave_their_place() -> None:
    for name in ("../x", "", "a/b", "a b"):
        with pytest.raises(ValueError, match="session"):
            SessionSpec(session=name, socket_dir="/s", calls_path="/c", bodies_dir="/b")


def test_probe_tells_a_good_key_from_a_refused_one(gateway: RunningGateway, fmp: FmpProcess, tmp_path: Path) -> None:
    assert gateway.client.probe().ok
    with start_gateway(GatewayConfig(fmp_base_url=fmp.base_url), key="wrong", log_path=tmp_path / "log") as other:
        probe = other.client.probe()
        assert (probe.ok, probe.status, probe.reason) == (False, 401, "fmp key refused")


def test_unreachable_upstream_is_said_to_agent_and_witness(tmp_path: Path) -> None:
    config = GatewayConfig(fmp_base_url="http://127.0.0.1:9/stable/", limits=Limits(upstream_tries=1))
    with start_gateway(config, key=KEY, log_path=tmp_path / "log") as running:
        assert running.client.probe().reason == "ConnectError"
        sockets = running.client.add_session(spec(tmp_path, "alone"))
        is_error, text = call(sockets.gw, "quote", symbol="KO")
        assert is_error
        assert text == "HTTP 502: upstream not reachable: ConnectError"
        call(sockets.gw, "quote", symbol="KO")
        assert running.client.witness("alone").is_lasting


def test_many_sessions_cost_little_memory(gateway: RunningGateway, tmp_path: Path) -> None:
    before = gateway.client.health().rss_bytes
    for number in range(15):
        gateway.client.add_session(spec(tmp_path, f"many-{number}"))
    grown = gateway.client.health().rss_bytes - before
    for number in range(15):
        gateway.client.remove_session(f"many-{number}")
    assert grown < 15 * 1024 * 1024
    assert not [name for name in gateway.client.health().sessions if name.startswith("many-")]
