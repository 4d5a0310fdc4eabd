"""The FMP tools over MCP: list, call, log. Which session a call belongs to is told by the socket it came in on."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
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
UNANSWERED = "the session ended before the answer came"


@dataclass(frozen=True)
class SessionCalls:
    """What a tool call needs to know of its session."""

    session: str
    log: CallLog
    witness: UpstreamWitness
    pending: set[asyncio.Task[Answer]] = field(default_factory=set)

    async def end(self) -> None:
        """Stop what still waits for the upstream and log it as unanswered."""
        pending = tuple(self.pending)
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)


def text_result(text: str, *, is_error: bool) -> CallToolResult:
    """Return a result of exactly one text item."""
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)


def answer_result(answer: Answer) -> CallToolResult:
    """Return the API's body as it is, or its refusal with the status before it."""
    text = answer.body.decode(errors="replace")
    if answer.is_ok:
        return text_result(text, is_error=False)
    return text_result(f"HTTP {answer.status or NOT_REACHABLE}: {text}", is_error=True)


class LogLine:
    """The log line of one tool call, its clock running from the start."""

    def __init__(self, calls: SessionCalls, tool: str) -> None:
        """Start the clock."""
        self.at, self._started = datetime.now(UTC), time.monotonic()
        self._calls, self._tool = calls, tool

    async def write(self, body: bytes | None = None, **fields: Any) -> None:
        """Write the line, with the body when there is one."""
        seconds = round(time.monotonic() - self._started, 4)
        session = self._calls.session
        record = CallRecord(at=self.at, session=session, route="fmp", tool=self._tool, seconds=seconds, **fields)
        await self._calls.log.write(record, body)


class FmpTools:
    """Answers tool calls of every session from one upstream."""

    def __init__(self, shape: Shape, upstream: FmpUpstream) -> None:
        """Keep the shape in which tools are offered."""
        self._shape, self._upstream = shape, upstream

    async def call(self, calls: SessionCalls, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        """Answer one call and log it, also when the client goes away meanwhile. Raises MCPError for an unknown tool."""
        line = LogLine(calls, tool)
        given = {name: value if isinstance(value, str) else json.dumps(value) for name, value in arguments.items()}
        try:
            endpoint, named = find_endpoint(self._shape, tool, arguments)
            params = query_parameters(endpoint, named)
        except UnknownToolError as exc:
            await line.write(target="", params=given, refused="unknown tool")
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {tool}") from exc
        except BadArgumentsError as exc:
            await line.write(target="", params=given, refused=f"bad arguments: {exc}")
            return text_result(f"bad arguments for {tool}: {exc}", is_error=True)
        # A task of its own: what was sent upstream is logged even when the agent is stopped while it waits.
        sent = asyncio.get_running_loop().create_task(self._exchange(calls, line, endpoint.path, params))
        calls.pending.add(sent)
        sent.add_done_callback(calls.pending.discard)
        return answer_result(await asyncio.shield(sent))

    async def _exchange(self, calls: SessionCalls, line: LogLine, path: str, params: dict[str, str]) -> Answer:
        try:
            answer = await self._upstream.get(path, params)
        except asyncio.CancelledError:
            await line.write(target=path, params=params, refused=UNANSWERED)
            raise
        calls.witness.saw(answer, started_at=line.at)
        facts = body_facts(answer.body) if answer.is_ok else BodyFacts()
        await line.write(
            answer.body,
            target=path,
            params=params,
            status=answer.status,
            rows=facts.rows,
            bytes=len(answer.body),
            first_date=facts.first_date,
            last_date=facts.last_date,
        )
        return answer


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
