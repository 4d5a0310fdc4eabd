"""A small client of the data service: JSON-RPC over HTTP with the standard library, a few calls at a time."""

from __future__ import annotations

import itertools
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

DEFAULT_URL = "http://127.0.0.1:8801/mcp"
PROTOCOL = "2025-03-26"
REST = {
    "historical-price-eod-full": "historical-price-eod/full",
    "historical-price-eod-dividend-adjusted": "historical-price-eod/dividend-adjusted",
    "dividends-company": "dividends",
    "splits-company": "splits",
    "income-statement": "income-statement",
    "balance-sheet-statement": "balance-sheet-statement",
    "cashflow-statement": "cash-flow-statement",
    "profile-symbol": "profile",
    "search-company-screener": "company-screener",
}
"""Tool -> path under https://financialmodelingprep.com/stable/."""

RENAMED_IN_GROUPS = {"from": "from_date", "to": "to_date"}
"""Parameters that a group's tool names otherwise."""


class DataError(Exception):
    """The data service did not give what was asked; the text is fit for the client."""


class Service:
    """Calls tools, keeps a record of every call for the source table."""

    def __init__(self, url: str | None = None, *, workers: int = 6, pause_s: float = 1.0) -> None:
        """Take the address of the service; `FMP_MCP_URL` when none is given."""
        self.url = url or os.environ.get("FMP_MCP_URL", DEFAULT_URL)
        self.workers, self.pause_s = workers, pause_s
        self.calls: list[dict[str, Any]] = []
        self._group: dict[str, str] = {}
        self._ids = itertools.count(1)
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open

    def connect(self) -> None:
        """Shake hands and learn whether every endpoint is a tool of its own or one of a group's."""
        client = {"name": "backtest-client", "version": "1"}
        self._post("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client})
        tools = self._post("tools/list", {}).get("tools", [])
        names = {str(tool.get("name")) for tool in tools}
        for tool in tools:
            schema = tool.get("inputSchema", {}).get("properties", {}).get("endpoint", {})
            self._group.update({slug: str(tool["name"]) for slug in schema.get("enum", []) if slug not in names})

    def rows(self, tool: str, **arguments: Any) -> list[dict[str, Any]]:
        """Return the rows of one call, newest first as the service gives them.

        Raises:
            DataError: the service refused, was out of reach or answered with something else than rows.

        """
        what = REST.get(tool, tool)
        asked = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for attempt in range(3):
            text, failed = self._text(self._post("tools/call", self._call(tool, arguments)))
            if not failed:
                break
            if attempt == 2 or not text.startswith(("HTTP 429", "HTTP 5")):
                raise DataError(f"the market data service refused '{what}' for {_shown(arguments)} ({text[:120]})")
            time.sleep(self.pause_s * (attempt + 1))
        rows = _parsed(text, what)
        self.calls.append({"tool": tool, "arguments": arguments, "retrieved_at": asked, "rows": len(rows)})
        return rows

    def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return name and arguments of a call as the service offers its endpoints."""
        if tool not in self._group:
            return {"name": tool, "arguments": arguments}
        named = {RENAMED_IN_GROUPS.get(name, name): value for name, value in arguments.items()}
        return {"name": self._group[tool], "arguments": {"endpoint": tool, **named}}

    def many(self, jobs: list[tuple[str, dict[str, Any]]]) -> list[list[dict[str, Any]]]:
        """Return the rows of several calls in the order asked."""
        with ThreadPoolExecutor(max_workers=self.workers) as pool:
            run: Callable[[tuple[str, dict[str, Any]]], list[dict[str, Any]]] = lambda job: self.rows(job[0], **job[1])  # noqa: E731
            return list(pool.map(run, jobs))

    def _post(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send one request and return its result; a server event stream is read like plain JSON."""
        body = json.dumps({"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}).encode()
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": PROTOCOL,
        }
        request = urllib.request.Request(self.url, data=body, headers=headers, method="POST")  # noqa: S310
        try:
            with self._open(request, timeout=60) as reply:
                text = reply.read().decode()
        except (urllib.error.URLError, OSError, ValueError) as error:
            raise DataError("the market data service is out of reach") from error
        if text.lstrip().startswith(("event:", "data:", ":")):
            text = next((line[5:] for line in reversed(text.splitlines()) if line.startswith("data:")), "{}")
        try:
            answer = json.loads(text)
        except ValueError as error:
            raise DataError("the market data service answered with something that is not data") from error
        if "error" in answer:
            raise DataError("the market data service does not know this request")
        result: dict[str, Any] = answer.get("result", {})
        return result

    @staticmethod
    def _text(result: dict[str, Any]) -> tuple[str, bool]:
        """Return the text of a tool result and whether it is an error."""
        parts = [part.get("text", "") for part in result.get("content", []) if part.get("type") == "text"]
        return "".join(parts), bool(result.get("isError"))


def _shown(arguments: dict[str, Any]) -> str:
    """Return arguments for a sentence."""
    return ", ".join(f"{name} {value}" for name, value in arguments.items()) or "no arguments"


def _parsed(text: str, what: str) -> list[dict[str, Any]]:
    """Return the rows in a body."""
    try:
        rows = json.loads(text)
    except ValueError as error:
        raise DataError(f"the market data service gave no readable rows for '{what}'") from error
    if not isinstance(rows, list):
        raise DataError(f"the market data service gave a message instead of rows for '{what}'")
    return [row for row in rows if isinstance(row, dict)]
