"""Plain HTTP through the proxy: one absolute-form request, streamed out and back, logged with its URL and body hash."""

import asyncio
import socket
from collections.abc import AsyncIterator

import aiohttp
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from gateway.policy import HostPolicy, HostRefusedError
from gateway.web_log import BodyMeter, WebEntry
from records.limits import Limits

HOP_BY_HOP = frozenset(
    [
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer"),
        *("transfer-encoding", "upgrade"),
    ]
)
CHUNK = 64 * 1024


def family_of(address: str) -> socket.AddressFamily:
    """Return the family of a numeric address."""
    return socket.AF_INET6 if ":" in address else socket.AF_INET


class CheckedResolver(AbstractResolver):
    """Resolves through the policy, so that only checked addresses are ever connected to."""

    def __init__(self, policy: HostPolicy) -> None:
        """Keep one session's policy."""
        self._policy = policy

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return checked addresses of the family, or of both. Raises HostRefusedError or OSError."""
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=family_of(address),
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in await self._policy.addresses(host, port)
            if family in (socket.AF_UNSPEC, family_of(address))
        ]

    async def close(self) -> None:
        """Nothing is held."""


def make_client(policy: HostPolicy, limits: Limits) -> aiohttp.ClientSession:
    """Return a client that follows nothing, decodes nothing, keeps no cookie and no connection."""
    connector = aiohttp.TCPConnector(
        resolver=CheckedResolver(policy), use_dns_cache=False, force_close=True, limit=64, family=socket.AF_UNSPEC
    )
    timeout = aiohttp.ClientTimeout(total=None, connect=limits.web_connect_s, sock_read=limits.web_idle_s)
    return aiohttp.ClientSession(
        connector=connector,
        timeout=timeout,
        auto_decompress=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
    )


def passed_on(headers: "aiohttp.typedefs.LooseHeaders") -> list[tuple[str, str]]:
    """Return the headers that concern the far end, in order."""
    pairs = list(headers.items()) if hasattr(headers, "items") else list(headers)
    named = {
        name.strip().lower() for key, value in pairs if key.lower() == "connection" for name in str(value).split(",")
    }
    return [(str(k), str(v)) for k, v in pairs if k.lower() not in HOP_BY_HOP and k.lower() not in named]


async def _request_body(request: web.BaseRequest, limits: Limits) -> AsyncIterator[bytes]:
    size = 0
    async for part in request.content.iter_any():
        size += len(part)
        if size > limits.web_response_bytes:
            raise web.HTTPRequestEntityTooLarge(max_size=limits.web_response_bytes, actual_size=size)
        yield part


def plain(status: int, text: str) -> web.Response:
    """Return a short answer of our own, the last on its connection."""
    response = web.Response(status=status, text=f"{text}\n")
    response.force_close()
    return response


class Forwarder:
    """Answers absolute-form requests of one session."""

    def __init__(self, policy: HostPolicy, client: aiohttp.ClientSession, limits: Limits) -> None:
        """Keep the session's policy and client; the owner closes the client."""
        self._policy, self._client, self._limits = policy, client, limits

    def _check(self, url: URL) -> None:
        if url.scheme != "http" or not url.host:
            raise HostRefusedError("this is a proxy: ask it for an absolute http:// URL, or CONNECT for https")
        self._policy.check_name(url.host, url.port or 80)
        self._policy.check_url(str(url))

    async def forward(self, request: web.BaseRequest, entry: WebEntry) -> web.StreamResponse:
        """Answer one request and log it."""
        url = request.url
        meter = BodyMeter(self._limits.web_kept_bytes)
        try:
            self._check(url)
            return await self._exchange(request, url, meter, entry)
        except HostRefusedError as exc:
            await entry.write(status=403, refused=str(exc))
            return plain(403, str(exc))
        except (aiohttp.ClientError, OSError) as exc:
            cause = exc.__cause__ if isinstance(exc.__cause__, HostRefusedError) else None
            await entry.write(status=403 if cause else 502, refused=str(cause) if cause else None)
            return plain(403, str(cause)) if cause else plain(502, f"{url.host} did not answer: {type(exc).__name__}")

    async def _exchange(
        self, request: web.BaseRequest, url: URL, meter: BodyMeter, entry: WebEntry
    ) -> web.StreamResponse:
        body = _request_body(request, self._limits) if request.body_exists else None
        sent = self._client.request(
            request.method, url.with_user(None), headers=passed_on(request.headers), data=body, allow_redirects=False
        )
        async with sent as upstream:
            response = web.StreamResponse(status=upstream.status, reason=upstream.reason)
            for name, value in passed_on(upstream.headers):
                response.headers.add(name, value)
            response.force_close()
            await response.prepare(request)
            try:
                async for part in upstream.content.iter_chunked(CHUNK):
                    meter.add(part)
                    if meter.size > self._limits.web_response_bytes:
                        break
                    await response.write(part)
            except (aiohttp.ClientError, OSError, asyncio.CancelledError):
                await asyncio.shield(entry.write(status=upstream.status, meter=meter))
                raise
            await entry.write(status=upstream.status, meter=meter)
            if meter.size > self._limits.web_response_bytes and request.transport is not None:
                request.transport.abort()
            return response
