"""The FMP tools as data and as MCP tool definitions, flat or grouped.

The paper counts 247 tools; its number moves with the vendor's catalogue, which held 245 endpoints without bulk when
`data/fmp_tools.json` was made. Tool names are the vendor's document slugs, so both shapes name one thing in one way.
"""

import json
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from mcp_types import Tool as McpTool
from mcp_types import ToolAnnotations

from gateway.settings import Shape

DESCRIBED_FIELDS = 10
FLAT_TO_GROUPED = {"from": "from_date", "to": "to_date"}
GROUPED_TO_FLAT = {grouped: flat for flat, grouped in FLAT_TO_GROUPED.items()}
HINTS = {
    "from": "first date, YYYY-MM-DD",
    "to": "last date, YYYY-MM-DD",
    "period": "annual or quarter",
    "symbols": "comma-separated symbols",
}
SCHEMAS: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "csv": {"type": "string"},
    "date": {"type": "string", "format": "date"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
}


@dataclass(frozen=True)
class Param:
    """One query parameter; `type` is string, csv, date, integer, number or boolean."""

    name: str
    type: str
    required: bool

    def schema(self) -> dict[str, Any]:
        """Return its JSON schema."""
        hint = HINTS.get(self.name)
        return SCHEMAS[self.type] | ({"description": hint} if hint else {})


@dataclass(frozen=True)
class Endpoint:
    """One REST endpoint; `asof` says what a row's date means (see the data file)."""

    slug: str
    path: str
    group: str
    category: str
    asof: str
    params: tuple[Param, ...]
    fields: tuple[str, ...] = field(default=())

    def description(self) -> str:
        """Return one line for a model: what it is, where it lies, what a row has."""
        words = self.slug.replace("-", " ")
        shown = ", ".join(self.fields[:DESCRIBED_FIELDS]) + (", ..." if len(self.fields) > DESCRIBED_FIELDS else "")
        return f"{self.category}: {words} (GET {self.path})." + (f" Rows: {shown}." if shown else "")


@cache
def load_endpoints() -> dict[str, Endpoint]:
    """Return every endpoint by slug, in the vendor's order."""
    data = json.loads((files("gateway") / "data" / "fmp_tools.json").read_text(encoding="utf-8"))
    made = {}
    for row in data["tools"]:
        params = tuple(Param(**param) for param in row.pop("params"))
        made[row["slug"]] = Endpoint(params=params, fields=tuple(row.pop("fields")), **row)
    return made


def _tool(name: str, description: str, properties: dict[str, Any], required: list[str]) -> McpTool:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return McpTool(
        name=name,
        description=description,
        input_schema=schema,
        annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True),
    )


def _flat(endpoint: Endpoint) -> McpTool:
    properties = {param.name: param.schema() for param in endpoint.params}
    required = [param.name for param in endpoint.params if param.required]
    return _tool(endpoint.slug, endpoint.description(), properties, required)


def _grouped(group: str, endpoints: list[Endpoint]) -> McpTool:
    lines = []
    properties: dict[str, Any] = {
        "endpoint": {"type": "string", "enum": [endpoint.slug for endpoint in endpoints], "description": "what to get"}
    }
    for endpoint in endpoints:
        names = [FLAT_TO_GROUPED.get(p.name, p.name) + ("" if p.required else "?") for p in endpoint.params]
        lines.append(f"{endpoint.slug}({', '.join(names)})")
        for param in endpoint.params:
            properties.setdefault(FLAT_TO_GROUPED.get(param.name, param.name), param.schema())
    return _tool(group, f"{endpoints[0].category}. Endpoints: {'; '.join(lines)}.", properties, ["endpoint"])


@cache
def mcp_tools(shape: Shape) -> tuple[McpTool, ...]:
    """Return the tool definitions: 245 flat, or 27 grouped."""
    endpoints = list(load_endpoints().values())
    if shape == "flat":
        return tuple(_flat(endpoint) for endpoint in endpoints)
    groups: dict[str, list[Endpoint]] = {}
    for endpoint in endpoints:
        groups.setdefault(endpoint.group, []).append(endpoint)
    return tuple(_grouped(group, members) for group, members in groups.items())
