"""The launcher's way to talk to the gateway: synchronous, over the control socket."""

from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import httpx

from gateway.settings import Health, Probe, SessionSockets, SessionSpec, Witness
from records.base import Record
from records.errors import ProviderError, UsageError

ANSWER_S = 60.0
Answered = TypeVar("Answered", bound=Record)


class GatewayClient:
    """Requests on one control socket. May be used from several threads.

    Every method raises ProviderError when the gateway is gone (a witness for a void), UsageError for a mistake of the caller.
    """

    def __init__(self, control: Path) -> None:
        """Open nothing yet."""
        self._control = control
        self._http = httpx.Client(
            transport=httpx.HTTPTransport(uds=str(control)), base_url="http://gateway", timeout=ANSWER_S
        )

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections; the gateway goes on."""
        self._http.close()

    def _ask(self, method: str, path: str, answer: type[Answered], body: Record | None = None) -> Answered:
        content = body.to_json() if body else None
        try:
            response = self._http.request(method, path, content=content)
        except httpx.TransportError as exc:
            raise ProviderError(
                f"gateway: expected an answer on {self._control}, found {type(exc).__name__}; the session is void"
            ) from exc
        if response.status_code == httpx.codes.BAD_REQUEST:
            raise UsageError(response.json()["error"])
        if response.is_error:
            raise ProviderError(
                f"gateway: expected {method} {path} to work, found HTTP {response.status_code}; see its log"
            )
        return answer.model_validate_json(response.content)

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
