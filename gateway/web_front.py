"""The web socket of one session: CONNECT becomes a tunnel, everything else goes to an HTTP server for absolute-form requests.

The split is made on the first bytes, before any HTTP server sees them, because none of ours can do both; TLS interception will
take the place of the tunnel here.
"""

import asyncio
import contextlib
import weakref
from collections.abc import Callable
from typing import cast

import aiohttp
from aiohttp import web

from gateway.calllog import CallLog
from gateway.forward import Forwarder, make_client
from gateway.policy import HostPolicy
from gateway.redact import Redactor
from gateway.tunnel import refusal, serve_connect
from gateway.web_log import WebEntry
from records.limits import Limits

LONGEST_HEAD = 64 * 1024
HEAD_END = b"\r\n\r\n"
CONNECT = b"CONNECT "


class WebFront:
    """Everything behind one session's web.sock."""

    def __init__(self, session: str, policy: HostPolicy, log: CallLog, redactor: Redactor, limits: Limits) -> None:
        """Open the session's own client and server; needs a running loop."""
        self._session, self._policy, self._log = session, policy, log
        self._redactor, self._limits = redactor, limits
        self._client: aiohttp.ClientSession = make_client(policy, limits)
        self._forwarder = Forwarder(policy, self._client, limits)
        self.http = web.Server(
            self._handle, access_log=None, handler_cancellation=True, keepalive_timeout=limits.web_idle_s
        )
        self.connections: weakref.WeakSet[asyncio.Transport] = weakref.WeakSet()
        self._tunnels: set[asyncio.Task[None]] = set()

    def entry(self, method: str, target: str) -> WebEntry:
        """Return a new log line."""
        return WebEntry(self._log, self._redactor, self._session, method, target)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        return await self._forwarder.forward(request, self.entry(request.method, str(request.url)))

    def open_tunnel(self, transport: asyncio.Transport, target: str, rest: bytes) -> None:
        """Take a connection over from the front after its CONNECT head; `rest` is what the client sent behind it."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=2**18, loop=loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        if rest:
            reader.feed_data(rest)
        writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        task = loop.create_task(self._tunnel(target, (reader, writer)))
        self._tunnels.add(task)
        task.add_done_callback(self._tunnels.discard)

    async def _tunnel(self, target: str, client: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
        try:
            await serve_connect(target, client, self._policy, self.entry("CONNECT", target), self._limits)
        finally:
            client[1].close()

    async def close(self) -> None:
        """End every connection of the session at once."""
        for transport in tuple(self.connections):
            transport.abort()
        for task in tuple(self._tunnels):
            task.cancel()
        for task in tuple(self._tunnels):
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await self.http.shutdown(0.1)
        await self._client.close()


class FrontProtocol(asyncio.Protocol):
    """Reads a new connection only as far as needed to tell a CONNECT from the rest."""

    def __init__(self, front: WebFront) -> None:
        """Belong to one session's front."""
        self._front = front
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the connection, so that the session's end can close it."""
        self._transport = cast("asyncio.Transport", transport)
        self._front.connections.add(self._transport)

    def connection_lost(self, _error: Exception | None) -> None:
        """Forget a connection that ended before its first request."""
        if self._transport is not None:
            self._front.connections.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        """Hand the connection over as soon as its kind is known."""
        transport = self._transport
        if transport is None:
            return
        self._buffer += data
        if not CONNECT.startswith(self._buffer[: len(CONNECT)]):
            self._become_http(transport)
        elif HEAD_END in self._buffer:
            self._become_tunnel(transport)
        elif len(self._buffer) > LONGEST_HEAD:
            transport.write(refusal(431, "Request Header Fields Too Large", "the request head is too long"))
            transport.close()

    def _become_http(self, transport: asyncio.Transport) -> None:
        handler = self._front.http()
        transport.set_protocol(handler)
        handler.connection_made(transport)
        handler.data_received(self._buffer)

    def _become_tunnel(self, transport: asyncio.Transport) -> None:
        head, _, rest = self._buffer.partition(HEAD_END)
        parts = head.split(b"\r\n", 1)[0].split(b" ")
        target = parts[1].decode("latin-1") if len(parts) > 1 else ""
        self._front.open_tunnel(transport, target, rest)


def protocol_factory(front: WebFront) -> Callable[[], FrontProtocol]:
    """Return what makes a protocol for each new connection."""
    return lambda: FrontProtocol(front)
