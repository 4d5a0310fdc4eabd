"""One session's two sockets and what answers on them."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.calllog import CallLog
from gateway.mcp_routes import SESSION_KEY, SessionCalls
from gateway.policy import HostPolicy
from gateway.redact import Redactor
from gateway.settings import SessionSockets, SessionSpec, WebPolicy
from gateway.sockets import FOLDER_MODE, GROUP_MODE, OPEN_MODE, bind
from gateway.web_front import WebFront, protocol_factory
from gateway.witness import UpstreamWitness
from records.errors import UsageError
from records.limits import Limits

# A frozen client is silent for as long as its user thinks; uvicorn's default of 5 s would cut it.
KEEP_ALIVE_S = 3600
GRACE_S = 1


class QuietServer(uvicorn.Server):
    """A uvicorn server among others in one process: it leaves signals alone."""

    def __init__(self, config: uvicorn.Config) -> None:
        """Not started yet."""
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and tell whoever waits."""
        await super().startup(sockets)
        self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing; the process has one owner of signals."""
        yield


def quiet_server(app: ASGIApp) -> QuietServer:
    """Return a server for sockets that are bound already."""
    config = uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="off",
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
        access_log=False,
        log_config=None,
        server_header=False,
    )
    return QuietServer(config)


def tagged(app: ASGIApp, session: str, *, has_fmp: bool) -> ASGIApp:
    """Return the application as one session sees it: every request carries the session's name from here on."""

    async def tagged_app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not has_fmp:
            headers = [(b"content-type", b"text/plain"), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 404, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return
        await app({**scope, SESSION_KEY: session}, receive, send)

    return tagged_app


def make_folder(folder: Path) -> Path:
    """Make a session's socket folder: anyone may pass through it, nobody else may list it. Raises UsageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(FOLDER_MODE)
    except OSError as exc:
        raise UsageError(
            f"gateway socket folder: expected to be able to make it, found {exc}; check its parent"
        ) from exc
    return folder


def remove_files(*paths: str) -> None:
    """Remove files that may be gone already."""
    for path in paths:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            Path(path).unlink()


class Session:
    """The servers of one session, from `start` to `close`."""

    def __init__(self, spec: SessionSpec, mcp_app: ASGIApp, redactor: Redactor, limits: Limits) -> None:
        """Prepare; nothing listens yet. Raises UsageError: the log's folders cannot be made."""
        self.spec = spec
        try:
            log = CallLog(Path(spec.calls_path), Path(spec.bodies_dir), redactor)
        except OSError as exc:
            raise UsageError(f"gateway log: expected to be able to make its folders, found {exc}; check them") from exc
        self.calls = SessionCalls(spec.session, log, UpstreamWitness(spec.session, limits.upstream_lasting_calls))
        policy = spec.web if "web" in spec.channels else WebPolicy(mode="offline")
        hosts = HostPolicy(policy, timeout_s=limits.web_connect_s)
        self._front = WebFront(spec.session, hosts, log, redactor, limits)
        self._server = quiet_server(tagged(mcp_app, spec.session, has_fmp="fmp-mcp" in spec.channels))
        self._serving: asyncio.Task[None] | None = None
        self._web: asyncio.Server | None = None

    @property
    def sockets(self) -> SessionSockets:
        """Where the two sockets lie."""
        folder = Path(self.spec.socket_dir)
        return SessionSockets(session=self.spec.session, gw=str(folder / "gw.sock"), web=str(folder / "web.sock"))

    async def start(self, gid: int | None) -> None:
        """Make the folder and both sockets and answer on them. Raises UsageError."""
        folder = make_folder(Path(self.spec.socket_dir))
        mode = OPEN_MODE if gid is None else GROUP_MODE
        mcp_socket = bind(folder / "gw.sock", mode=mode, gid=gid)
        try:
            web_socket = bind(folder / "web.sock", mode=mode, gid=gid)
        except UsageError:
            mcp_socket.close()
            raise
        loop = asyncio.get_running_loop()
        self._web = await loop.create_unix_server(protocol_factory(self._front), sock=web_socket)
        self._serving = loop.create_task(self._server.serve(sockets=[mcp_socket]))
        await self._server.ready.wait()

    async def close(self) -> None:
        """End all connections, remove both socket files."""
        if self._web is not None:
            self._web.close()
        await self._front.close()
        self._server.should_exit = True
        await self.calls.end()
        if self._serving is not None:
            await self._serving
        remove_files(self.sockets.gw, self.sockets.web)
