"""CONNECT: a tunnel to a checked address, logged by host and bytes; what flows inside is TLS and stays unread."""

import asyncio
from dataclasses import dataclass

from gateway.policy import HostPolicy, HostRefusedError
from gateway.web_log import WebEntry
from records.limits import Limits

CHUNK = 64 * 1024


@dataclass
class Flow:
    """Bytes that went each way."""

    up: int = 0
    down: int = 0


class TunnelFullError(Exception):
    """One way of a tunnel carried more than the limit allows."""


def refusal(status: int, reason: str, text: str) -> bytes:
    """Return a whole HTTP answer with a plain-text body."""
    body = f"{text}\n".encode()
    head = (
        f"HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


def split_target(target: str) -> tuple[str, int]:
    """Return host and port of `host:port`. Raises HostRefusedError when it is neither."""
    host, colon, port = target.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise HostRefusedError(f"{target[:80]!r} is not host:port")
    return host.removeprefix("[").removesuffix("]") if "]" in host else host, int(port)


async def connect_checked(
    policy: HostPolicy, host: str, port: int, limits: Limits
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to the first checked address that answers. Raises HostRefusedError or OSError."""
    failure: OSError | None = None
    for address in await policy.addresses(host, port):
        try:
            async with asyncio.timeout(limits.web_connect_s):
                return await asyncio.open_connection(address, port)
        except OSError as exc:
            failure = exc
    raise failure or OSError(f"{host} has no address")


async def _copy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, flow: Flow, way: str, limits: Limits
) -> None:
    while True:
        async with asyncio.timeout(limits.web_idle_s):
            part = await reader.read(CHUNK)
        if not part:
            break
        total = getattr(flow, way) + len(part)
        setattr(flow, way, total)
        if total > limits.web_response_bytes:
            raise TunnelFullError
        writer.write(part)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


async def relay(
    client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    upstream: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    limits: Limits,
    flow: Flow,
) -> None:
    """Copy both ways until both sides have ended or one broke. Raises OSError, TunnelFullError or TimeoutError as a group."""
    async with asyncio.TaskGroup() as group:
        group.create_task(_copy(client[0], upstream[1], flow, "up", limits))
        group.create_task(_copy(upstream[0], client[1], flow, "down", limits))


async def serve_connect(
    target: str,
    client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    policy: HostPolicy,
    entry: WebEntry,
    limits: Limits,
) -> None:
    """Answer one CONNECT and log it. Ends with both connections closed."""
    writer = client[1]
    flow = Flow()
    try:
        host, port = split_target(target)
        upstream = await connect_checked(policy, host, port, limits)
    except HostRefusedError as exc:
        writer.write(refusal(403, "Forbidden", str(exc)))
        await entry.write(status=403, refused=str(exc))
        return
    except OSError as exc:
        writer.write(refusal(502, "Bad Gateway", f"{target} could not be reached: {type(exc).__name__}"))
        await entry.write(status=502)
        return
    try:
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await relay(client, upstream, limits, flow)
    except* (OSError, TunnelFullError):
        pass
    finally:
        upstream[1].close()
        await entry.write(status=200, size=flow.up + flow.down)
