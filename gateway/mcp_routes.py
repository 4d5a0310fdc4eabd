"""The FMP tools over MCP: list, call, log. Which session a call belongs to is told by the socket it came in on."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)

from gateway.arguments import BadArgumentsError, UnknownToolError, find_endpoint, query_parameters
from gateway.calllog import BodyFacts, CallLog, body_facts
from gateway.catalogue import mcp_tools
from gateway.settings import Shape
from gateway.upstream import Answer, FmpUpstream
from gateway.witness import UpstreamWitness
from records.calls import CallRecord

SESSION_KEY = "fincosmos.session"
NOT_REACHABLE = 502


@dataclass(frozen=True)
class SessionCalls:
    """What a tool call needs to know of its session."""

    session: str
    log: CallLog
    witness: UpstreamWitness


def text_result(text: str, *, is_error: bool) -> CallToolResult:
    """Return a result of exactly one text item."""
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)


def answer_result(answer: Answer) -> CallToolResult:
    """Return the API's body as it is, or its refusal with the status before it."""
    text = answer.body.decode(errors="replace")
    if answer.is_ok:
        return text_result(text, is_error=False)
    return text_result(f"HTTP {answer.status or NOT_REACHABLE}: {text}", is_error=True)


class FmpTools:
    """Answers tool calls of every session from one upstream."""

    def __init__(self, shape: Shape, upstream: FmpUpstream) -> None:
        """Keep the shape in which tools are offered."""
        self._shape, self._upstream = shape, upstream

    async def call(self, calls: SessionCalls, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        """Answer one call and log it. Raises MCPError for an unknown tool."""
        at, started = datetime.now(UTC), time.monotonic()

        def record(**fields: Any) -> CallRecord:
            seconds = round(time.monotonic() - started, 4)
            return CallRecord(at=at, session=calls.session, route="fmp", tool=tool, seconds=seconds, **fields)

        given = {name: value if isinstance(value, str) else json.dumps(value) for name, value in arguments.items()}
        try:
            endpoint, named = find_endpoint(self._shape, tool, arguments)
            params = query_parameters(endpoint, named)
        except UnknownToolError as exc:
            await calls.log.write(record(target="", params=given, refused="unknown tool"))
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {tool}") from exc
        except BadArgumentsError as exc:
            await calls.log.write(record(target="", params=given, refused=f"bad arguments: {exc}"))
            return text_result(f"bad arguments for {tool}: {exc}", is_error=True)
        answer = await self._upstream.get(endpoint.path, params)
        calls.witness.saw(answer, started_at=at)
        facts = body_facts(answer.body) if answer.is_ok else BodyFacts()
        await calls.log.write(
            record(
                target=endpoint.path,
                params=params,
                status=answer.status,
                rows=facts.rows,
                bytes=len(answer.body),
                first_date=facts.first_date,
                last_date=facts.last_date,
            ),
            answer.body,
        )
        return answer_result(answer)


def make_server(shape: Shape, tools: FmpTools, find_session: Callable[[str], SessionCalls | None]) -> Server[Any]:
    """Return the MCP server of the whole process; sessions are found by what the socket's application put in the scope."""

    def session_of(context: ServerRequestContext[Any, Any]) -> SessionCalls:
        name = context.request.scope.get(SESSION_KEY, "") if context.request is not None else ""
        calls = find_session(name)
        if calls is None:
            raise MCPError(INVALID_PARAMS, "this session has ended")
        return calls

    async def list_tools(
        context: ServerRequestContext[Any, Any], _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        session_of(context)
        return ListToolsResult(tools=list(mcp_tools(shape)))

    async def call_tool(context: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> CallToolResult:
        return await tools.call(session_of(context), params.name, params.arguments or {})

    return Server("fmp", on_list_tools=list_tools, on_call_tool=call_tool)
