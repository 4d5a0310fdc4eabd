"""The gateway of one run: one upstream, one MCP server, many sessions."""

import os
import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from gateway.catalogue import mcp_tools
from gateway.mcp_routes import FmpTools, SessionCalls, make_server
from gateway.redact import Redactor
from gateway.session import Session
from gateway.settings import GatewayConfig, Health, Probe, SessionSockets, SessionSpec, Witness
from gateway.upstream import FmpUpstream
from gateway.witness import UpstreamWitness
from records.errors import UsageError

PROBE_PATH, PROBE_PARAMS = "search-symbol", {"query": "AAPL", "limit": "1"}


def resident_bytes() -> int:
    """Return the process's resident memory, in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


class Gateway:
    """Sessions by name; made by `open_gateway`."""

    def __init__(self, config: GatewayConfig, upstream: FmpUpstream, redactor: Redactor) -> None:
        """Build the MCP application; it works once `open_gateway` runs it."""
        self._config, self._upstream, self._redactor = config, upstream, redactor
        self._sessions: dict[str, Session] = {}
        self._closed: dict[str, UpstreamWitness] = {}
        self._server = make_server(config.fmp_shape, FmpTools(config.fmp_shape, upstream), self._calls)
        self._mcp_app = self._server.streamable_http_app(json_response=True, stateless_http=True)

    def _calls(self, session: str) -> SessionCalls | None:
        found = self._sessions.get(session)
        return found.calls if found else None

    async def add_session(self, spec: SessionSpec) -> SessionSockets:
        """Serve one more session. Raises UsageError: its name is in use, or its sockets cannot be made."""
        if spec.session in self._sessions:
            raise UsageError(f"session {spec.session!r}: expected a new name, found it in use; remove it first")
        session = Session(spec, self._mcp_app, self._redactor, self._config.limits)
        self._sessions[spec.session] = session
        try:
            await session.start(self._config.socket_gid)
        except UsageError:
            await self.remove_session(spec.session)
            raise
        return session.sockets

    async def remove_session(self, name: str) -> Witness:
        """End a session's connections and remove its sockets; its witness stays. Raises UsageError: unknown name."""
        session = self._sessions.pop(name, None)
        if session is None:
            raise UsageError(f"session {name!r}: expected one that is served, found none; add it first")
        self._closed[name] = session.calls.witness
        await session.close()
        return session.calls.witness.report()

    async def witness(self, name: str) -> Witness:
        """Return what was seen of the upstream in a session, served or removed; a suspicion is probed first.

        The probe waits and asks again like any call, so that a rate limit the agent ran into may pass.
        Raises: UsageError: unknown name.
        """
        session = self._sessions.get(name)
        found = session.calls.witness if session else self._closed.get(name)
        if found is None:
            raise UsageError(f"session {name!r}: expected one that was added, found none; add it first")
        if found.is_suspect:
            found.probed(await self._upstream.get(PROBE_PATH, PROBE_PARAMS))
        return found.report()

    async def probe(self) -> Probe:
        """Ask the upstream once whether it answers and takes the key."""
        answer = await self._upstream.get(PROBE_PATH, PROBE_PARAMS, tries=1)
        reason = answer.failure or ("" if answer.is_ok else f"HTTP {answer.status}")
        return Probe(ok=answer.is_ok, status=answer.status, reason=reason)

    def health(self) -> Health:
        """Return the process's own state."""
        return Health(
            pid=os.getpid(),
            fmp_shape=self._config.fmp_shape,
            tools=len(mcp_tools(self._config.fmp_shape)),
            sessions=tuple(sorted(self._sessions)),
            rss_bytes=resident_bytes(),
        )

    async def close(self) -> None:
        """End every session."""
        for name in tuple(self._sessions):
            await self.remove_session(name)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the MCP sessions' task group, once for the whole process."""
        async with self._server.session_manager.run():
            try:
                yield
            finally:
                await self.close()


@asynccontextmanager
async def open_gateway(config: GatewayConfig, key: str) -> AsyncIterator[Gateway]:
    """Serve until the block ends."""
    redactor = Redactor([key])
    async with FmpUpstream(config.fmp_base_url, key, config.limits, redactor) as upstream:
        gateway = Gateway(config, upstream, redactor)
        async with gateway.running():
            yield gateway
