"""From a model's tool arguments to query parameters: one endpoint, every value as the API wants it, or a reason why not."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from gateway.catalogue import GROUPED_TO_FLAT, Endpoint, Param, load_endpoints
from gateway.settings import Shape

LONGEST_VALUE = 2000


class BadArgumentsError(Exception):
    """The agent's own mistake, said as what was found and what was expected."""


class UnknownToolError(Exception):
    """There is no tool of this name in the shape in use."""


def find_endpoint(shape: Shape, tool: str, arguments: Mapping[str, Any]) -> tuple[Endpoint, dict[str, Any]]:
    """Return the endpoint and its arguments under the API's own names.

    Raises: UnknownToolError: no such tool; BadArgumentsError: a grouped tool without a known `endpoint`.
    """
    endpoints = load_endpoints()
    if shape == "flat":
        if tool not in endpoints:
            raise UnknownToolError(tool)
        return endpoints[tool], dict(arguments)
    members = [endpoint.slug for endpoint in endpoints.values() if endpoint.group == tool]
    if not members:
        raise UnknownToolError(tool)
    slug = arguments.get("endpoint")
    if slug not in members:
        raise BadArgumentsError(f"endpoint is {slug!r}; expected one of {', '.join(members)}")
    rest = {GROUPED_TO_FLAT.get(name, name): value for name, value in arguments.items() if name != "endpoint"}
    return endpoints[str(slug)], rest


def _date(value: Any) -> str | None:
    try:
        return date.fromisoformat(value).isoformat() if isinstance(value, str) else None
    except ValueError:
        return None


def _integer(value: Any) -> str | None:
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        return None
    try:
        return str(int(value))
    except (TypeError, ValueError, OverflowError):
        return None


def _number(value: Any) -> str | None:
    if isinstance(value, bool):
        return None
    try:
        return f"{float(value):.12g}"
    except (TypeError, ValueError, OverflowError):
        return None


def _boolean(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return value.lower() if isinstance(value, str) and value.lower() in ("true", "false") else None


def _string(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    text = str(value)
    return text if len(text) <= LONGEST_VALUE else None


def _list(value: Any) -> str | None:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return _string(",".join(value))
    return _string(value)


READERS = {"date": _date, "integer": _integer, "number": _number, "boolean": _boolean, "string": _string, "csv": _list}
EXPECTED = {
    "date": "a date YYYY-MM-DD",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": f"text of at most {LONGEST_VALUE} characters",
    "csv": f"comma-separated text of at most {LONGEST_VALUE} characters",
}


def _read(param: Param, value: Any) -> str:
    text = READERS[param.type](value)
    if text is None:
        raise BadArgumentsError(f"{param.name} is {str(value)[:80]!r}; expected {EXPECTED[param.type]}")
    return text


def query_parameters(endpoint: Endpoint, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the query parameters of one call. None counts as left out. Raises BadArgumentsError."""
    given = {name: value for name, value in arguments.items() if value is not None}
    known = {param.name: param for param in endpoint.params}
    for name in given:
        if name not in known:
            raise BadArgumentsError(f"there is no parameter {name[:80]!r}; expected {', '.join(known) or 'none'}")
    for param in endpoint.params:
        if param.required and given.get(param.name) in (None, ""):
            raise BadArgumentsError(f"{param.name} is missing; expected {EXPECTED[param.type]}")
    return {name: _read(known[name], value) for name, value in given.items()}
