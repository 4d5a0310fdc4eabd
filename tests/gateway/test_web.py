"""The live web route against a local upstream: a fake resolver names it, and only the address check is loosened for it."""

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import web

from gateway.calllog import CallLog
from gateway.policy import HostPolicy, is_public
from gateway.redact import Redactor
from gateway.settings import WebPolicy
from gateway.sockets import bind
from gateway.web_front import WebFront, protocol_factory
from records.calls import CallRecord
from records.jsonl import read_lines
from records.limits import MIB, Limits

HOST = "data.upstream.com"
REBINDING = "rebind.upstream.com"


@dataclass
class Web:
    """A running web socket with a local upstream behind it."""

    socket: str
    port: int
    calls: Path
    bodies: Path
    front: WebFront
    seen: list[web.Request]

    async def ask(self, request: bytes) -> tuple[bytes, bytes]:
        """Send one request; returns head and body of all that came back."""
        reader, writer = await asyncio.open_unix_connection(self.socket)
        writer.write(request)
        answer = await asyncio.wait_for(reader.read(), 20)
        writer.close()
        head, _, body = answer.partition(b"\r\n\r\n")
        return head, body

    def log(self) -> list[CallRecord]:
        """Return the call log."""
        return [CallRecord.model_validate_json(line) for line in read_lines(self.calls)]


async def upstream_app(seen: list[web.Request]) -> web.Application:
    async def page(request: web.Request) -> web.Response:
        seen.append(request)
        return web.Response(text="page", headers={"X-Page": "1", "Set-Cookie": "a=b"})

    async def redirect(_request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": "http://127.0.0.1:1/secret"})

    async def echo(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        async for part in request.content.iter_any():
            await response.write(part)
        return response

    async def big(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(int(request.query["mib"])):
            await response.write(b"x" * MIB)
        return response

    app = web.Application(client_max_size=64 * MIB)
    app.router.add_get("/page", page)
    app.router.add_get("/redirect", redirect)
    app.router.add_post("/echo", echo)
    app.router.add_get("/big", big)
    return app


@contextlib.asynccontextmanager
async def running(root: Path, limits: Limits | None = None, mode: str = "public") -> AsyncIterator[Web]:
    seen: list[web.Request] = []
    runner = web.AppRunner(await upstream_app(seen), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]

    async def resolve(host: str, _port: int) -> list[str]:
        return {HOST: ["127.0.0.1"], REBINDING: ["169.254.169.254"]}.get(host, [])

    rules = WebPolicy.model_validate({"mode": mode, "ports": (port, 1)})
    policy = HostPolicy(rules, resolve=resolve, is_public=lambda text: text == "127.0.0.1" or is_public(text))
    log = CallLog(root / "calls.jsonl", root / "bodies", Redactor(["hidden-key"]))
    front = WebFront("s", policy, log, Redactor(["hidden-key"]), limits or Limits())
    loop = asyncio.get_running_loop()
    server = await loop.create_unix_server(protocol_factory(front), sock=bind(root / "web.sock", mode=0o600))
    try:
        yield Web(str(root / "web.sock"), port, root / "calls.jsonl", root / "bodies", front, seen)
    finally:
        server.close()
        await front.close()
        await runner.cleanup()


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(_await(test), 60))


async def _await(test: Callable[[], Awaitable[None]]) -> None:
    await test()


def get(url: str, *headers: str) -> bytes:
    host = url.split("/")[2]
    lines = [f"GET {url} HTTP/1.1", f"Host: {host}", *headers, "", ""]
    return "\r\n".join(lines).encode()


def test_page_comes_through_and_is_logged_with_url_status_bytes_and_hash(tmp_path: Path) -> None:
    async def test() -> None:
        async with running(tmp_path) as session:
            url = f"http://{HOST}:{session.port}/page?q=1&apikey=mine&x=hidden-key"
            head, body = await session.ask(get(url, "User-Agent: mine", "Proxy-Authorization: Basic abc"))
            assert head.startswith(b"HTTP/1.1 200 OK")
            assert b"X-Page: 1" in head
            assert body == b"page"
            (request,) = session.seen
            assert request.headers["User-Agent"] == "mine"
            assert "Proxy-Authorization" not in request.headers
            assert request.query["apikey"] == "mine"
            (record,) = session.log()
            assert (record.route, record.tool, record.status, record.bytes) == ("web", "GET", 200, 4)
            assert record.body_sha256 == hashlib.sha256(b"page").hexdigest()
            assert (session.bodies / record.body_sha256).read_bytes() == b"page"
            assert record.params == {"q": "1", "apikey": "[removed]", "x": "[removed]"}
            assert "mine" not in record.target
            assert "hidden-key" not in session.calls.read_text(encoding="utf-8")

    run(test)


def test_redirect_is_the_clients_business_and_its_target_is_checked_when_asked(tmp_path: Path) -> None:
    async def test() -> None:
        async with running(tmp_path) as session:
            head, _ = await session.ask(get(f"http://{HOST}:{session.port}/redirect"))
            assert head.startswith(b"HTTP/1.1 302")
            head, body = await session.ask(get("http://127.0.0.1:1/secret"))
            assert head.startswith(b"HTTP/1.1 403")
            assert b"numeric addresses" in body
            assert [record.status for record in session.log()] == [302, 403]

    run(test)


def test_name_that_resolves_to_metadata_is_refused_in_both_ways(tmp_path: Path) -> None:
    async def test() -> None:
        async with running(tmp_path) as session:
            head, body = await session.ask(get(f"http://{REBINDING}:{session.port}/latest/meta-data"))
            assert (head[:12], body) == (
                b"HTTP/1.1 403",
                f"{REBINDING} resolves to an address that is not public\n".encode(),
            )
            head, _ = await session.ask(f"CONNECT {REBINDING}:{session.port} HTTP/1.1\r\n\r\n".encode())
            assert head.startswith(b"HTTP/1.1 403")
            assert session.seen == []
            assert [bool(record.refused) for record in session.log()] == [True, True]

    run(test)


def test_request_body_streams_out_and_back(tmp_path: Path) -> None:
    async def test() -> None:
        async with running(tmp_path) as session:
            body = bytes(range(256)) * 4096
            head = (
                f"POST http://{HOST}:{session.port}/echo HTTP/1.1\r\nHost: {HOST}\r\n"
                f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
            )
            _, answer = await session.ask(head.encode() + body)
            assert b"HTTP/1.1 200 OK" in answer or answer
            (record,) = session.log()
            assert record.body_sha256 == hashlib.sha256(body).hexdigest()

    run(test)


def test_body_over_the_kept_size_is_hashed_and_not_kept(tmp_path: Path) -> None:
    async def test() -> None:
        async with running(tmp_path, Limits(web_kept_bytes=MIB)) as session:
            _, body = await session.ask(get(f"http://{HOST}:{session.port}/big?mib=3"))
            assert body.count(b"x") == 3 * MIB
            (record,) = session.log()
            assert record.bytes == 3 * MIB
            assert record.body_sha256 == hashlib.sha256(b"x" * 3 * MIB).hexdigest()
            assert list(session.bodies.iterdir()) == []

    run(test)


def test_response_over_the_cap_is_cut_and_the_connection_broken(tmp_path: Path) -> None:
    async def test() -> None:
        async with running(tmp_path, Limits(web_response_bytes=2 * MIB)) as session:
            with contextlib.suppress(ConnectionResetError):
                _, body = await session.ask(get(f"http://{HOST}:{session.port}/big?mib=8"))
                assert body.count(b"x") <= 2 * MIB
            (record,) = session.log()
            assert 2 * MIB < record.bytes < 3 * MIB

    run(test)


def test_tunnel_carries_both_ways_and_is_logged_by_host_and_bytes(tmp_path: Path) -> None:
    async def test() -> None:
        async with running(tmp_path) as session:
            reader, writer = await asyncio.open_unix_connection(session.socket)
            writer.write(f"CONNECT {HOST}:{session.port} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
            request = f"GET /page HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode()
            writer.write(request)
            answer = await asyncio.wait_for(reader.read(), 20)
            writer.close()
            assert answer.endswith(b"page")
            await session.front.close()
            (record,) = session.log()
            assert (record.tool, record.target, record.status) == ("CONNECT", f"{HOST}:{session.port}", 200)
            assert record.bytes == len(request) + len(answer)
            assert record.body_sha256 is None

    run(test)


def test_bytes_sent_right_behind_the_connect_head_are_not_lost(tmp_path: Path) -> None:
    async def test() -> None:
        async with running(tmp_path) as session:
            request = f"GET /page HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n"
            _, rest = await session.ask(f"CONNECT {HOST}:{session.port} HTTP/1.1\r\n\r\n{request}".encode())
            assert rest.endswith(b"page")

    run(test)


def test_host_that_does_not_answer_is_502_and_logged(tmp_path: Path) -> None:
    async def test() -> None:
        async with running(tmp_path) as session:
            head, _ = await session.ask(get(f"http://{HOST}:1/"))
            assert head.startswith(b"HTTP/1.1 502")
            head, _ = await session.ask(f"CONNECT {HOST}:1 HTTP/1.1\r\n\r\n".encode())
            assert head.startswith(b"HTTP/1.1 502")
            head, _ = await session.ask(get(f"http://nowhere.upstream.com:{session.port}/"))
            assert head.startswith(b"HTTP/1.1 502")
            assert [record.status for record in session.log()] == [502, 502, 502]

    run(test)


@pytest.mark.parametrize(
    "request_line",
    [
        *("GET / HTTP/1.1", "GET https://data.upstream.com/ HTTP/1.1", "CONNECT data.upstream.com HTTP/1.1"),
        *("CONNECT :80 HTTP/1.1", "CONNECT data.upstream.com:99999 HTTP/1.1", "CONNECT HTTP/1.1"),
    ],
)
def test_request_that_names_no_host_of_its_own_is_refused(tmp_path: Path, request_line: str) -> None:
    async def test() -> None:
        async with running(tmp_path) as session:
            head, _ = await session.ask(f"{request_line}\r\nHost: gateway\r\n\r\n".encode())
            assert head.startswith(b"HTTP/1.1 403")
            assert session.seen == []
            assert len(session.log()) == 1

    run(test)


@pytest.mark.parametrize(
    "noise", [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\r\n\r\n", b"CONNECT " + b"a" * 70_000]
)
def test_noise_ends_in_a_refusal_and_harms_nobody(tmp_path: Path, noise: bytes) -> None:
    async def test() -> None:
        async with running(tmp_path) as session:
            reader, writer = await asyncio.open_unix_connection(session.socket)
            writer.write(noise)
            writer.write_eof()
            answer = await asyncio.wait_for(reader.read(), 20)
            writer.close()
            assert b" 200 " not in answer[:16]
            head, _ = await session.ask(get(f"http://{HOST}:{session.port}/page"))
            assert head.startswith(b"HTTP/1.1 200")

    run(test)


def test_client_that_stops_reading_does_not_hold_up_another(tmp_path: Path) -> None:
    async def test() -> None:
        async with running(tmp_path) as session:
            reader, writer = await asyncio.open_unix_connection(session.socket)
            writer.write(get(f"http://{HOST}:{session.port}/big?mib=32"))
            await reader.readexactly(10)
            for _ in range(5):
                head, _ = await session.ask(get(f"http://{HOST}:{session.port}/page"))
                assert head.startswith(b"HTTP/1.1 200")
            assert (await asyncio.wait_for(reader.read(), 30)).count(b"x") > 31 * MIB
            writer.close()

    run(test)


def test_end_of_the_session_closes_tunnels_and_streams_and_logs_them(tmp_path: Path) -> None:
    async def test() -> None:
        async with running(tmp_path) as session:
            tunnel, tunnel_writer = await asyncio.open_unix_connection(session.socket)
            tunnel_writer.write(f"CONNECT {HOST}:{session.port} HTTP/1.1\r\n\r\n".encode())
            await tunnel.readuntil(b"\r\n\r\n")
            stream, stream_writer = await asyncio.open_unix_connection(session.socket)
            stream_writer.write(get(f"http://{HOST}:{session.port}/big?mib=64"))
            await stream.readexactly(10)
            await session.front.close()
            for reader in (tunnel, stream):
                with contextlib.suppress(ConnectionResetError):
                    await asyncio.wait_for(reader.read(), 20)
            tunnel_writer.close()
            stream_writer.close()
            assert {record.tool for record in session.log()} == {"CONNECT", "GET"}

    run(test)


def test_offline_every_host_is_refused_and_logged(tmp_path: Path) -> None:
    async def test() -> None:
        async with running(tmp_path, mode="offline") as session:
            for host in (HOST, "www.sec.gov", "127.0.0.1"):
                head, body = await session.ask(get(f"http://{host}:{session.port}/page"))
                assert (head[:12], body) == (b"HTTP/1.1 403", b"there is no web access in this session\n")
                head, _ = await session.ask(f"CONNECT {host}:443 HTTP/1.1\r\n\r\n".encode())
                assert head.startswith(b"HTTP/1.1 403")
            assert session.seen == []
            assert [record.refused for record in session.log()] == ["there is no web access in this session"] * 6

    run(test)
