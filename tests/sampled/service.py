"""The data service of a session outside a box: the gateway's tools and the stand-in's answers in this process."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from gateway.arguments import BadArgumentsError, UnknownToolError, find_endpoint, query_parameters
from gateway.calllog import body_facts
from gateway.catalogue import mcp_tools
from gateway.settings import Shape
from offline.fmp.app import Service, key_digest
from offline.fmp.store import Store
from records.calls import CallRecord
from records.jsonl import append_line

KEY = "kept-in-this-process"
INVALID_PARAMS = -32602


def open_store(data: Path) -> Service:
    """Return the stand-in over the prepared tables, all of them read."""
    store = Store(data)
    assert store.bars
    assert store.companies
    assert store.statements
    return Service(store, key_digest(KEY))


class _Handler(BaseHTTPRequestHandler):
    """Answers initialize and tools/call like the gateway does, without event streams."""

    protocol_version = "HTTP/1.1"
    api: Service
    shape: Shape
    log_to: Path
    lock: threading.Lock

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": asked["id"]}
        if asked["method"] == "tools/call":
            answer |= self._call(asked["params"]["name"], asked["params"]["arguments"])
        elif asked["method"] == "tools/list":
            tools = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in mcp_tools(self.shape)]
            answer["result"] = {"tools": tools}
        else:
            server = {"name": "data", "version": "1"}
            answer["result"] = {"protocolVersion": "2025-03-26", "capabilities": {}, "serverInfo": server}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            endpoint, named = find_endpoint(self.shape, tool, arguments)
            params = query_parameters(endpoint, named)
        except UnknownToolError:
            return {"error": {"code": INVALID_PARAMS, "message": f"Unknown tool: {tool}"}}
        except BadArgumentsError as error:
            return {"result": _text(f"bad arguments for {tool}: {error}", is_error=True)}
        reply = self.api.answer(endpoint.path, params, KEY)
        text = reply.body.decode()
        facts = body_facts(reply.body)
        record = CallRecord(
            at=datetime.now(UTC),
            session="sampled",
            route="fmp",
            tool=tool,
            target=endpoint.path,
            params=params,
            status=reply.status,
            rows=facts.rows,
            bytes=len(reply.body),
            first_date=facts.first_date,
            last_date=facts.last_date,
        )
        with self.lock:
            append_line(self.log_to, record.to_json())
        if reply.status == 200:
            return {"result": _text(text, is_error=False)}
        return {"result": _text(f"HTTP {reply.status}: {text}", is_error=True)}

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def _text(text: str, *, is_error: bool) -> dict[str, Any]:
    return {"isError": is_error, "content": [{"type": "text", "text": text}]}


@contextmanager
def serving(api: Service, log_to: Path, shape: Shape = "flat") -> Iterator[str]:
    """Serve one session on a loopback port while the block runs; yield the address."""
    log_to.touch()
    fields = {"api": api, "shape": shape, "log_to": log_to, "lock": threading.Lock()}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), fields))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
