"""The launcher's way to the model process: synchronous, one connection per call, so that threads may share a client."""

import socket
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from modelgate.settings import MAX_LINE_BYTES, Answer, Call
from records.chat import ChatReply, ChatRequest
from records.errors import ModelError, PrerequisiteError
from records.limits import DEFAULT_LIMITS

SLACK_S = 30.0
"""More than the process itself waits, so that its sentence comes first."""
CHUNK_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Client:
    """A `records.chat.ChatModel` behind a socket. Holds nothing between calls."""

    path: Path
    log_to: Path | None = None
    """Where the process logs the calls, whole: a file under sealed/. None: nowhere."""
    answer_s: float = DEFAULT_LIMITS.model_total_s + SLACK_S

    def logging_to(self, path: Path) -> "Client":
        """Return the same model with its calls logged to this file, made when there is a call."""
        return replace(self, log_to=path.absolute())

    def ask(self, request: ChatRequest) -> ChatReply:
        """Return the answer. Raises: ModelError: no answer within the retries, or the process is gone."""
        request = _sendable(request)
        answer = self._exchange(Call(kind="ask", request=request, log_to=str(self.log_to) if self.log_to else None))
        if answer.reply is None:
            raise ModelError(answer.error or "model process: expected a reply, found none; see its log")
        return answer.reply

    def check(self, models: tuple[str, ...]) -> None:
        """Let the service say once that it takes the key and knows these models.

        Raises: PrerequisiteError: it does not, or does not answer. ModelError: the process is gone.
        """
        answer = self._exchange(Call(kind="check", models=models))
        if answer.error is not None:
            raise PrerequisiteError(answer.error)

    def health(self) -> None:
        """Return when the process answers. Raises ModelError when it does not."""
        self._exchange(Call(kind="health"))

    def _exchange(self, call: Call) -> Answer:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
                sock.settimeout(self.answer_s)
                sock.connect(str(self.path))
                sock.sendall(call.to_json().encode() + b"\n")
                return Answer.model_validate_json(_line(sock))
        except (OSError, ValidationError) as exc:
            # What did not parse may hold a prompt, so the cause stays out of the chain.
            raise ModelError(
                f"model process: expected an answer on its socket, found {type(exc).__name__}; it ended or was stopped, "
                "see model.log under the run's sealed folder"
            ) from None


def _sendable(request: ChatRequest) -> ChatRequest:
    """Return the request with texts that UTF-8 can carry: a lone surrogate from a hostile file becomes `?`."""
    system, prompt = (
        tuple(
            block.model_copy(update={"text": block.text.encode("utf-8", "replace").decode("utf-8")}) for block in part
        )
        for part in (request.system, request.prompt)
    )
    return request.model_copy(update={"system": system, "prompt": prompt})


def _line(sock: socket.socket) -> bytes:
    """Return what comes until the other side closes. Raises OSError."""
    parts: list[bytes] = []
    size = 0
    while part := sock.recv(CHUNK_BYTES):
        parts.append(part)
        size += len(part)
        if size > MAX_LINE_BYTES:
            raise OSError("the answer is too long")
    return b"".join(parts)
