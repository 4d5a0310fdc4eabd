"""The launcher's side of the gateway: a small JSON API on a Unix socket that only the launcher's user can open."""

from collections.abc import Awaitable, Callable

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.service import Gateway
from gateway.settings import SessionSpec
from records.base import Record
from records.errors import UsageError

Handler = Callable[[Request], Awaitable[Record]]


def _answering(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Turn a record into JSON and the caller's mistakes into 400 with a sentence."""

    async def endpoint(request: Request) -> Response:
        try:
            record = await handler(request)
        except UsageError as exc:
            return JSONResponse({"error": str(exc)}, status_code=400)
        except ValidationError as exc:
            problem = exc.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, problem["loc"]))
            return JSONResponse({"error": f"gateway request: {where}: {problem['msg']}"}, status_code=400)
        return Response(record.to_json(), media_type="application/json")

    return endpoint


def make_control(gateway: Gateway, stop: Callable[[], None]) -> Starlette:
    """Return the control application; `stop` ends the process."""

    async def health(_request: Request) -> Record:
        return gateway.health()

    async def add(request: Request) -> Record:
        return await gateway.add_session(SessionSpec.model_validate_json(await request.body()))

    async def remove(request: Request) -> Record:
        return await gateway.remove_session(request.path_params["session"])

    async def witness(request: Request) -> Record:
        return await gateway.witness(request.path_params["session"])

    async def probe(_request: Request) -> Record:
        return await gateway.probe()

    async def shutdown(_request: Request) -> Record:
        stop()
        return gateway.health()

    return Starlette(
        routes=[
            Route("/health", _answering(health)),
            Route("/probe", _answering(probe), methods=["POST"]),
            Route("/shutdown", _answering(shutdown), methods=["POST"]),
            Route("/sessions", _answering(add), methods=["POST"]),
            Route("/sessions/{session}", _answering(remove), methods=["DELETE"]),
            Route("/sessions/{session}/witness", _answering(witness)),
        ]
    )
