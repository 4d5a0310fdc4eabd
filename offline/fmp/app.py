"""The HTTP side of the stand-in: key check, faults on request, one route."""

import hashlib
import json
from collections import deque
from dataclasses import dataclass, field
from hmac import compare_digest

from aiohttp import web

from offline.fmp.query import Query
from offline.fmp.replies import INVALID_KEY, LEGACY, NOT_FOUND, RESTRICTED, ApiError, Reply, reply_for
from offline.fmp.routes import ROUTES
from offline.fmp.store import Store

KEY_NAME = "apikey"
KEPT_BYTES = 64 * 1024 * 1024


def key_digest(key: str) -> str:
    """Return the SHA-256 of a key, hexadecimal."""
    return hashlib.sha256(key.encode()).hexdigest()


@dataclass
class Faults:
    """Statuses that the next requests get instead of an answer; for tests of whoever calls."""

    pending: deque[int] = field(default_factory=deque)

    def take(self) -> Reply | None:
        """Return the next fault, or None."""
        return reply_for(self.pending.popleft()) if self.pending else None


@dataclass(frozen=True)
class Service:
    """Everything one stand-in serves from. Of the accepted key only the SHA-256 is known, hexadecimal."""

    store: Store
    key_sha256: str
    faults: Faults = field(default_factory=Faults)
    bodies: dict[tuple[str, ...], bytes] = field(default_factory=dict)

    def answer(self, path: str, parameters: dict[str, str], key: str) -> Reply:
        """Return the answer to one GET below /stable/."""
        if not compare_digest(key_digest(key), self.key_sha256):
            return INVALID_KEY
        handler = ROUTES.get(path)
        if handler is None:
            return RESTRICTED
        request = (path, *(f"{name}={value}" for name, value in sorted(parameters.items())))
        body = self.bodies.get(request)
        if body is None:
            try:
                rows = handler(self.store, Query(parameters))
            except ApiError as exc:
                return exc.reply
            body = json.dumps(rows, separators=(",", ":")).encode()
            self._keep(request, body)
        return Reply(200, body)

    def _keep(self, request: tuple[str, ...], body: bytes) -> None:
        """Keep an answer for the next session that asks the same; the data never changes. The oldest gives way."""
        self.bodies[request] = body
        while sum(map(len, self.bodies.values())) > KEPT_BYTES:
            del self.bodies[next(iter(self.bodies))]


def _respond(reply: Reply) -> web.Response:
    return web.Response(status=reply.status, body=reply.body, content_type=reply.content_type, charset="utf-8")


def make_app(service: Service, *, allow_faults: bool = False) -> web.Application:
    """Return the application. With `allow_faults`, POST /_faults takes a JSON list of statuses for the next requests."""

    async def stable(request: web.Request) -> web.Response:
        fault = service.faults.take()
        if fault is not None:
            return _respond(fault)
        parameters = dict(request.query)
        in_query = parameters.pop(KEY_NAME, "")
        key = request.headers.get(KEY_NAME) or in_query
        return _respond(service.answer(request.match_info["path"].strip("/"), parameters, key))

    async def legacy(_request: web.Request) -> web.Response:
        return _respond(LEGACY)

    async def elsewhere(_request: web.Request) -> web.Response:
        return _respond(NOT_FOUND)

    async def set_faults(request: web.Request) -> web.Response:
        service.faults.pending.extend(int(status) for status in await request.json())
        return web.json_response({"pending": len(service.faults.pending)})

    app = web.Application()
    if allow_faults:
        app.router.add_post("/_faults", set_faults)
    app.router.add_get("/stable/{path:.+}", stable)
    app.router.add_get("/api/{version:v[34]}/{path:.*}", legacy)
    app.router.add_get("/{path:.*}", elsewhere)
    return app
