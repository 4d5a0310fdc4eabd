"""Asks the Anthropic service: the SDK retries, every ending becomes a reply or one sentence, every call a line.

A refusal, a cut answer and text that is no JSON are replies. A sentence names service, status and next step; what the
service says in its own words may quote the prompt, so that goes to the sealed log alone.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from anthropic import (
    AnthropicError,
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    AsyncAnthropic,
    Timeout,
)
from anthropic.types import Message

from modelgate.calllog import CallLine, write_line
from modelgate.messages import output_config, prompt_sha256, text_blocks, to_reply
from modelgate.settings import Answer, Call, ModelConfig
from records.chat import ChatReply, ChatRequest

CONNECT_S = 10.0
NEW_TRY_STATUSES = frozenset({408, 409, 429})
"""With every 5xx these are what the SDK tries again (`_should_retry` of 2.15)."""
KIND = re.compile(r"[a-z_]{1,40}")
REMOVED = "[removed]"
_T = TypeVar("_T")


class Failure(Exception):  # noqa: N818 - becomes records.errors.ModelError or PrerequisiteError on the client's side
    """A call that brought no answer."""

    def __init__(self, sentence: str, detail: str = "", retries: int = 0, *, is_prerequisite: bool = False) -> None:
        """Keep the sentence for everyone and the detail for the sealed log."""
        super().__init__(sentence)
        self.sentence = sentence
        self.detail = detail
        self.retries = retries
        self.is_prerequisite = is_prerequisite


class ModelService:
    """One client of the service."""

    def __init__(self, client: AsyncAnthropic, key: str, config: ModelConfig) -> None:
        """Keep the client; the caller closes it."""
        self._client = client
        self._key = key
        self._config = config
        self._host = urlsplit(config.base_url).hostname or "the model service"

    async def answer(self, call: Call) -> Answer:
        """Return what a call of the launcher gets; never raises but when it is cancelled."""
        try:
            if call.kind == "check":
                for model in dict.fromkeys(call.models):
                    await self._check(model)
            if call.kind == "ask" and call.request is not None:
                log_to = Path(call.log_to) if call.log_to else None
                return Answer(reply=await self._ask_and_log(call.request, log_to))
        except Failure as failure:
            return Answer(error=failure.sentence, is_prerequisite=failure.is_prerequisite)
        return Answer()

    async def _ask_and_log(self, request: ChatRequest, log_to: Path | None) -> ChatReply:
        started, at = time.monotonic(), datetime.now(UTC)
        sha256 = prompt_sha256(request)
        reply: ChatReply | None = None
        failure: Failure | None = None
        retries = 0
        try:
            reply, retries = await self._in_time(self._ask(request, sha256), request.model)
        except Failure as error:
            failure, retries = error, error.retries
        if log_to is not None:
            line = CallLine(
                at=at,
                purpose=request.purpose,
                model=request.model,
                prompt_sha256=sha256,
                seconds=round(time.monotonic() - started, 3),
                retries=retries,
                request=request,
                reply=reply,
                error=failure.sentence if failure else None,
                detail=failure.detail.replace(self._key, REMOVED) if failure else "",
            )
            _log(log_to, line)
        if failure is not None:
            raise failure
        if reply is None:
            raise AssertionError("a call ends in a reply or a failure")
        return reply

    async def _in_time(self, work: Awaitable[_T], model: str) -> _T:
        """Wait for a call in all its tries; a service may ask for a very long wait between them."""
        limit_s = self._config.limits.model_total_s
        try:
            async with asyncio.timeout(limit_s):
                return await work
        except TimeoutError as exc:
            raise Failure(
                f"{self._where(model)}: expected an answer within {limit_s:g} s, retries included, found none; "
                "try again later"
            ) from exc

    async def _ask(self, request: ChatRequest, sha256: str) -> tuple[ChatReply, int]:
        """Return the reply and how often it was tried again."""
        try:
            config = output_config(request)
        except (ValueError, TypeError, KeyError) as exc:
            raise Failure(
                f"{self._where(request.model)}: expected a JSON schema that structured output takes for purpose "
                f"'{request.purpose}', found one it does not; mend the caller's schema",
                detail=str(exc),
            ) from exc
        system, prompt = text_blocks(request)
        try:
            raw = await self._client.messages.with_raw_response.create(
                model=request.model,
                max_tokens=request.max_tokens,
                system=system,
                messages=[{"role": "user", "content": prompt}],
                output_config=config,
            )
            message: object = await raw.parse()
        except Exception as exc:
            raise self._failure(exc, request.model) from exc
        if not isinstance(message, Message) or not isinstance(message.content, list):
            raise Failure(
                f"{self._where(request.model)}: expected a message of the Messages API, found something else; "
                "check the base URL",
                detail=repr(message)[:2_000],
            )
        return to_reply(message, sha256), raw.retries_taken

    async def _check(self, model: str) -> None:
        """Ask once whether key and model are accepted; costs nothing where the service lists its models.

        Raises: Failure: for the operator to mend.
        """
        try:
            await self._in_time(self._look_up(model), model)
        except Failure as failure:
            raise Failure(failure.sentence, is_prerequisite=True) from failure

    async def _look_up(self, model: str) -> None:
        once = self._client.with_options(max_retries=1)
        try:
            await once.models.retrieve(model)
        except APIStatusError as exc:
            if exc.status_code != 404:
                raise self._failure(exc, model) from exc
        except Exception as exc:
            raise self._failure(exc, model) from exc
        else:
            return
        # A proxy in front of the service need not list models; one token says for sure.
        try:
            await once.messages.create(model=model, max_tokens=1, messages=[{"role": "user", "content": "Hello"}])
        except Exception as exc:
            raise self._failure(exc, model) from exc

    def _failure(self, error: Exception, model: str) -> Failure:
        where, tries = self._where(model), 1 + self._config.limits.model_retries
        if isinstance(error, APIStatusError):
            return self._refused(error, model)
        if isinstance(error, APITimeoutError):
            found = f"none within {self._config.limits.model_call_s:g} s, {tries} times"
            return Failure(f"{where}: expected an answer, found {found}; try again later", str(error), tries - 1)
        if isinstance(error, APIConnectionError):
            return Failure(
                f"{where}: expected to reach it, found {type(error.__cause__ or error).__name__} on {tries} tries; "
                "check the network and ANTHROPIC_BASE_URL",
                str(error),
                tries - 1,
            )
        found = type(error).__name__
        kind = "an answer that the SDK cannot read" if isinstance(error, AnthropicError) else "an unexpected fault"
        return Failure(f"{where}: expected an answer, found {kind} ({found}); check ANTHROPIC_BASE_URL", str(error))

    def _refused(self, error: APIStatusError, model: str) -> Failure:
        """Return the sentence for an HTTP status; of the body only the error's kind is quoted."""
        status, where = error.status_code, self._where(model)
        body = error.body if isinstance(error.body, dict) else {}
        inner = body.get("error", body)
        kind = inner.get("type", "") if isinstance(inner, dict) else ""
        found = f"HTTP {status}" + (f" ({kind})" if isinstance(kind, str) and KIND.fullmatch(kind) else "")
        if status in (401, 403):
            next_step = f"the key in {self._config.key_variable} was refused; set the right one and run again"
            return Failure(f"{where}: expected the key to be accepted, found {found}; {next_step}", str(error))
        if status == 404:
            return Failure(f"{where}: expected a model of that id, found {found}; give another id", str(error))
        if status in NEW_TRY_STATUSES or status >= 500:
            tries = 1 + self._config.limits.model_retries
            sentence = f"{where}: expected an answer, found {found} on up to {tries} tries; try again later"
            return Failure(sentence, str(error), tries - 1)
        return Failure(
            f"{where}: expected the request to be taken, found {found}; its words are in the sealed log of model calls",
            str(error),
        )

    def _where(self, model: str) -> str:
        return f"model '{model}' at {self._host}"


def _log(path: Path, line: CallLine) -> None:
    try:
        write_line(path, line)
    except OSError as exc:
        raise Failure(
            f"log of model calls {path}: expected to be able to write it, found {exc.strerror}; check the disk"
        ) from exc


@asynccontextmanager
async def open_service(config: ModelConfig, key: str) -> AsyncIterator[ModelService]:
    """Yield a service whose client is closed afterwards. Nothing is sent yet."""
    client = AsyncAnthropic(
        api_key=key,
        base_url=config.base_url,
        timeout=Timeout(config.limits.model_call_s, connect=CONNECT_S),
        max_retries=config.limits.model_retries,
    )
    async with client:
        yield ModelService(client, key, config)
