"""The hijacked connection of one exec: bytes in on one side, frames of stdout and stderr out on the other.

The SDK hands out the bare socket behind a buffered reader, which may already hold the first frames; and it cannot write
and read at once, so a large prompt and a chatty program would wait for each other. Hence this connection of our own.
Source of the framing: Docker Engine API, "Attach to a container", stream format (8 bytes: kind, 0, 0, 0, length).
"""

import json
import select
import socket
from dataclasses import dataclass, field
from typing import Final, Self

from records.errors import LostError
from sandbox.engine.client import engine_address

HEADER: Final = 8
STDERR: Final = 2
READ_BYTES: Final = 256 * 1024
MAX_HEAD: Final = 64 * 1024


@dataclass
class Frames:
    """Takes the bytes of a multiplexed stream and gives them out by stream."""

    _buffer: bytearray = field(default_factory=bytearray)
    _kind: int = 0
    _left: int = 0
    """Bytes still to come of the frame being read."""

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """Return (stream, bytes) pairs in order; a large frame is given out as it comes."""
        self._buffer += data
        out: list[tuple[int, bytes]] = []
        position = 0
        while True:
            if self._left == 0:
                if len(self._buffer) - position < HEADER:
                    break
                self._kind = self._buffer[position]
                self._left = int.from_bytes(self._buffer[position + 4 : position + HEADER], "big")
                position += HEADER
                continue
            part = bytes(self._buffer[position : position + self._left])
            if not part:
                break
            position += len(part)
            self._left -= len(part)
            out.append((self._kind, part))
        del self._buffer[:position]
        return out


class Attachment:
    """One started exec. Not shared between threads."""

    def __init__(self, exec_id: str, stdin: bytes, *, api_version: str, timeout_s: float) -> None:
        """Start the exec. Raises OSError or LostError when the engine does not take it."""
        self._frames = Frames()
        self._stdin = memoryview(stdin)
        self._early = b""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(timeout_s)
            self._socket.connect(engine_address().removeprefix("unix://"))
            self._start(exec_id, api_version)
            self._socket.settimeout(0)
            if not stdin:
                self._end_stdin()
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self) -> Self:
        """Use as a context manager that hangs up."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Hang up; the program goes on."""
        self._socket.close()

    def _start(self, exec_id: str, api_version: str) -> None:
        """Send the request and read the answer's head; what follows it is already the stream."""
        body = json.dumps({"Detach": False, "Tty": False}).encode()
        self._socket.sendall(
            f"POST /v{api_version}/exec/{exec_id}/start HTTP/1.1\r\nHost: docker\r\nContent-Type: application/json\r\n"
            f"Connection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        answer = b""
        while b"\r\n\r\n" not in answer:
            chunk = self._socket.recv(READ_BYTES)
            if not chunk or len(answer) > MAX_HEAD:
                raise LostError(f"the engine hung up while exec {exec_id} started; run again")
            answer += chunk
        head, _, self._early = answer.partition(b"\r\n\r\n")
        status = head.split(b" ", 2)[1]
        if status not in {b"101", b"200"}:
            words = " ".join(self._early.decode(errors="replace").split())[:300]
            raise LostError(f"the engine did not start exec {exec_id} ({status.decode()}): {words}; run again")

    def _end_stdin(self) -> None:
        """Tell the program that no more input comes."""
        self._socket.shutdown(socket.SHUT_WR)

    def step(self, wait_s: float, *, also: int | None = None) -> list[tuple[int, bytes]] | None:
        """Move bytes both ways, for at most `wait_s`, or until the descriptor `also` becomes readable.

        Returns: (stream, bytes) pairs, oldest first; None when the stream ended.
        """
        if self._early:
            data, self._early = self._early, b""
            return self._frames.feed(data)
        poller = select.poll()
        poller.register(self._socket, select.POLLIN | (select.POLLOUT if self._stdin else 0))
        if also is not None:
            poller.register(also, select.POLLIN)
        ready = dict(poller.poll(max(wait_s, 0) * 1000)).get(self._socket.fileno(), 0)
        if self._stdin and ready & select.POLLOUT:
            self._send()
        return self._receive() if ready & ~select.POLLOUT else []

    def _send(self) -> None:
        """Send the next part of stdin; a program that closed it early simply gets no more."""
        try:
            sent = self._socket.send(self._stdin[:READ_BYTES])
            self._stdin = self._stdin[sent:]
            if not self._stdin:
                self._end_stdin()
        except BlockingIOError:
            pass
        except OSError:
            self._stdin = memoryview(b"")

    def _receive(self) -> list[tuple[int, bytes]] | None:
        """Read what is there."""
        try:
            data = self._socket.recv(READ_BYTES)
        except BlockingIOError:
            return []
        except ConnectionError:
            return None
        return self._frames.feed(data) if data else None
