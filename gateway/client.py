"""The launcher's way to talk to the gateway: synchronous, over the control socket."""

import http.client
import json
import socket
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from gateway.settings import Health, Probe, SessionSockets, SessionSpec, Witness
from records.base import Record
from records.errors import ProviderError, UsageError

ANSWER_S = 60.0
BAD_REQUEST, FIRST_ERROR = 400, 400
Answered = TypeVar("Answered", bound=Record)


class UnixConnection(http.client.HTTPConnection):
    """HTTP on a Unix socket; closes its socket also when connecting fails, which httpx's transport does not."""

    def __init__(self, path: Path, timeout_s: float) -> None:
        """Open nothing yet."""
        super().__init__("gateway", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        """Connect. Raises OSError."""
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(self.timeout)
            sock.connect(str(self._path))
        except OSError:
            sock.close()
            raise
        self.sock = sock


class GatewayClient:
    """Requests on one control socket, each on a connection of its own, so that several threads may share a client.

    Every method raises ProviderError when the gateway is gone (a witness for a void), UsageError for a mistake of the caller.
    """

    def __init__(self, control: Path) -> None:
        """Open nothing yet."""
        self._control = control

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is held between requests."""

    def _exchange(self, method: str, path: str, body: Record | None) -> tuple[int, bytes]:
        connection = UnixConnection(self._control, ANSWER_S)
        try:
            connection.request(method, path, body=body.to_json().encode() if body else None)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as exc:
            raise ProviderError(
                f"gateway: expected an answer on {self._control}, found {type(exc).__name__}; the session is void"
            ) from exc
        finally:
            connection.close()

    def _ask(self, method: str, path: str, answer: type[Answered], body: Record | None = None) -> Answered:
        status, content = self._exchange(method, path, body)
        if status == BAD_REQUEST:
            raise UsageError(json.loads(content)["error"])
        if status >= FIRST_ERROR:
            raise ProviderError(f"gateway: expected {method} {path} to work, found HTTP {status}; see its log")
        return answer.model_validate_json(content)

    def health(self) -> Health:
        """Return the gateway's own state."""
        return self._ask("GET", "/health", Health)

    def probe(self) -> Probe:
        """Let the gateway ask FMP once; `reason` is 'fmp key refused' when the key is."""
        return self._ask("POST", "/probe", Probe)

    def add_session(self, spec: SessionSpec) -> SessionSockets:
        """Serve one more session; both sockets answer when this returns."""
        return self._ask("POST", "/sessions", SessionSockets, spec)

    def remove_session(self, session: str) -> Witness:
        """End a session: its connections are closed, its sockets gone, its log complete. Returns its witness."""
        return self._ask("DELETE", f"/sessions/{session}", Witness)

    def witness(self, session: str) -> Witness:
        """Return what was seen of FMP in a session, also after its removal."""
        return self._ask("GET", f"/sessions/{session}/witness", Witness)

    def shutdown(self) -> None:
        """Tell the gateway to end."""
        self._ask("POST", "/shutdown", Health)
