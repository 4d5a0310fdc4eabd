"""A local server of the Anthropic Messages protocol, scripted by a function from request to answer.

    with AnthropicServer(lambda asked: good({"score": 3})) as server:
        ...                    # base URL `server.url`, key `server.key`; set ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY
        server.requests        # list[Asked], oldest first, refused keys included

A script is any `Callable[[Asked], Answer]`; it may raise nothing and is called from server threads, one call at a time.
`in_turn(a, b, c)` answers with a, b, c, and c from then on.
Answers: good(object) · text(str) · malformed() · out_of_schema() · refusal() · cut(str) · empty() · tool(object)
         limited(retry_after_s=0) 429 · overloaded() 529 · failing(status, kind, message) · slow(answer, seconds)
         dropped() closes the connection without an answer · garbled(str) answers 200 with a body that is no message.
An `Asked` has .model .effort .schema .max_tokens .system (text) .prompt (text) .cached (texts under cache_control)
.headers (lower-case names) .body (whole JSON) .number (from 1, of calls of /v1/messages).

The server refuses what the service refuses: a wrong key (401), a missing version header, more than four cache
breakpoints, an empty text block, an object schema that is open or a schema with keywords outside the supported set (400).
GET /v1/models/<id> answers for the ids in `server.models`, 404 for others.
"""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

KEY = "sk-ant-test-5b1f0c7e"
MODELS = ("claude-opus-4-8", "claude-opus-5-5")
MAX_BREAKPOINTS = 4
UNSUPPORTED = frozenset(
    {
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
        *("maxItems", "uniqueItems", "default", "patternProperties", "oneOf", "examples"),
    }
)
"""JSON schema keywords that structured output refuses; read off `anthropic.transform_schema` 2.15."""


@dataclass(frozen=True)
class Asked:
    """One POST of /v1/messages."""

    number: int
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def model(self) -> str:
        return str(self.body["model"])

    @property
    def max_tokens(self) -> int:
        return int(self.body["max_tokens"])

    @property
    def effort(self) -> str | None:
        found = self.body.get("output_config", {}).get("effort")
        return None if found is None else str(found)

    @property
    def schema(self) -> dict[str, Any]:
        """The schema that the answer must have; empty when none was asked for."""
        found: dict[str, Any] = self.body.get("output_config", {}).get("format", {}).get("schema", {})
        return found

    @property
    def system(self) -> str:
        return "\n".join(block["text"] for block in _blocks(self.body.get("system", [])))

    @property
    def prompt(self) -> str:
        return "\n".join(block["text"] for block in _prompt_blocks(self.body))

    @property
    def cached(self) -> list[str]:
        """Text of each block that ends a cached prefix, in order."""
        blocks = [*_blocks(self.body.get("system", [])), *_prompt_blocks(self.body)]
        return [block["text"] for block in blocks if "cache_control" in block]


@dataclass(frozen=True)
class Answer:
    """What the server sends back."""

    status: int = 200
    content: tuple[dict[str, Any], ...] = ()
    stop: str = "end_turn"
    error: tuple[str, str] = ("api_error", "scripted")
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drop: bool = False
    raw: str | None = None


Script = Callable[[Asked], Answer]


def text(words: str, *, stop: str = "end_turn") -> Answer:
    """Any text as it stands."""
    return Answer(content=({"type": "text", "text": words},), stop=stop)


def good(answer: object) -> Answer:
    """An answer that is this object as JSON."""
    return text(json.dumps(answer))


def malformed() -> Answer:
    """Text that is no JSON."""
    return text('{"action": "clarify", "message": ')


def out_of_schema() -> Answer:
    """JSON of no expected shape."""
    return text('{"unexpected": [1, 2, 3]}')


def refusal(words: str = "") -> Answer:
    """The service declined; there may be a few words."""
    return Answer(content=({"type": "text", "text": words},) if words else (), stop="refusal")


def cut(words: str) -> Answer:
    """An answer that ended at max_tokens."""
    return text(words, stop="max_tokens")


def empty() -> Answer:
    """A finished answer without content."""
    return Answer()


def tool(answer: dict[str, Any], *, name: str = "answer") -> Answer:
    """An answer as the input of a tool call."""
    return Answer(content=({"type": "tool_use", "id": "toolu_1", "name": name, "input": answer},), stop="tool_use")


def failing(status: int, kind: str = "api_error", message: str = "scripted") -> Answer:
    """An error of the service."""
    return Answer(status=status, error=(kind, message))


def limited(*, retry_after_s: float = 0.0) -> Answer:
    """429, to be asked again after `retry_after_s`; 0 leaves the wait to the client."""
    headers = {"retry-after": f"{retry_after_s:g}"} if retry_after_s else {}
    return replace(failing(429, "rate_limit_error", "too many requests"), headers=headers)


def overloaded() -> Answer:
    """529, which the service sends when it is overloaded."""
    return failing(529, "overloaded_error", "Overloaded")


def slow(answer: Answer, seconds: float) -> Answer:
    """The same answer, later; closing the server does not wait for it."""
    return replace(answer, delay_s=seconds)


def dropped() -> Answer:
    """No answer: the connection is closed."""
    return Answer(drop=True)


def garbled(body: str) -> Answer:
    """200 with a body of something else's, as a misconfigured proxy sends it."""
    return Answer(raw=body)


def in_turn(*answers: Answer) -> Script:
    """A script that gives these answers one after the other and the last one from then on."""
    left = list(answers)
    return lambda _asked: left.pop(0) if len(left) > 1 else left[0]


class AnthropicServer:
    """Serves on 127.0.0.1 while its block runs."""

    def __init__(self, script: Script, *, key: str = KEY, models: tuple[str, ...] = MODELS) -> None:
        self.script = script
        self.key = key
        self.models = models
        self.requests: list[Asked] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def environ(self) -> dict[str, str]:
        """The variables under which a client finds this server."""
        return {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": self.key}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def is_known(self, headers: Mapping[str, str]) -> bool:
        """Whether the key is there, in either header that carries one (the SDK's 2.15 sends a bearer token)."""
        return self.key in (headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer "))

    def answer(self, headers: Mapping[str, str], body: bytes) -> tuple[Answer, str]:
        """Return the answer to a call and the model it named."""
        if not self.is_known(headers):
            with self._lock:
                self.requests.append(Asked(len(self.requests) + 1, headers, json.loads(body)))
            return failing(401, "authentication_error", "invalid x-api-key"), ""
        asked = json.loads(body)
        problem = _problem(headers, asked)
        with self._lock:
            request = Asked(len(self.requests) + 1, headers, asked)
            self.requests.append(request)
            answer = failing(400, "invalid_request_error", problem) if problem else self.script(request)
        if answer.delay_s:
            self._closing.wait(answer.delay_s)
        return answer, str(asked.get("model", ""))


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that left in the middle is part of the tests."""


def _handler(owner: AnthropicServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            name = self.path.removeprefix("/v1/models/").split("?")[0]
            if not owner.is_known({name.lower(): value for name, value in self.headers.items()}):
                self._send(401, _error("authentication_error", "invalid x-api-key"), {})
            elif self.path.startswith("/v1/models/") and name in owner.models:
                self._send(200, _model(name), {})
            else:
                self._send(404, _error("not_found_error", f"model: {name}"), {})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            if self.path.split("?")[0] != "/v1/messages":
                self._send(404, _error("not_found_error", "Not found"), {})
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer, model = owner.answer(headers, body)
            if answer.drop:
                self.close_connection = True
                return
            self._send(answer.status, _body(answer, model), answer.headers)

        def _send(self, status: int, sent: str | dict[str, Any], headers: Mapping[str, str]) -> None:
            content = (sent if isinstance(sent, str) else json.dumps(sent)).encode()
            self.send_response(status)
            fixed = {"content-type": "application/json", "content-length": str(len(content)), "request-id": "req_1"}
            for name, value in {**fixed, **headers}.items():
                self.send_header(name, value)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.end_headers()
                self.wfile.write(content)

    return Handler


def _body(answer: Answer, model: str) -> str | dict[str, Any]:
    if answer.raw is not None:
        return answer.raw
    return _message(answer, model) if answer.status == 200 else _error(*answer.error)


def _message(answer: Answer, model: str) -> dict[str, Any]:
    usage = {"input_tokens": 11, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 5, "output_tokens": 3}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": list(answer.content),
        "stop_reason": answer.stop,
        "stop_sequence": None,
        "usage": usage,
    }


def _error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def _model(name: str) -> dict[str, Any]:
    return {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _prompt_blocks(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [block for message in body.get("messages", []) for block in _blocks(message["content"])]


def _problem(headers: Mapping[str, str], body: Mapping[str, Any]) -> str:
    """Return why the service would refuse a request; empty when it would not."""
    if "anthropic-version" not in headers:
        return "anthropic-version: header is required"
    missing = [name for name in ("model", "max_tokens", "messages") if not body.get(name)]
    if missing:
        return f"{missing[0]}: Field required"
    blocks = [*_blocks(body.get("system", [])), *_prompt_blocks(body)]
    if any(not block["text"].strip() for block in blocks):
        return "messages: text content blocks must contain non-whitespace text"
    if sum("cache_control" in block for block in blocks) > MAX_BREAKPOINTS:
        return f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided."
    form = body.get("output_config", {}).get("format")
    return next(_schema_problems(form["schema"]), "") if form else ""


def _schema_problems(schema: dict[str, Any]) -> Iterator[str]:
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        yield "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
    for name in schema.keys() & UNSUPPORTED:
        yield f"output_config.format.schema: property '{name}' is not supported"
    inner = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    for name in ("items", "anyOf", "allOf"):
        found = schema.get(name, [])
        inner += found if isinstance(found, list) else [found]
    for part in inner:
        yield from _schema_problems(part)
