"""The FMP API behind the gateway: key as a header, retries for what passes by itself, answers in the API's own words."""

from dataclasses import dataclass
from types import TracebackType
from typing import Self

import httpx
from tenacity import (
    AsyncRetrying,
    RetryError,
    retry_if_exception_type,
    retry_if_result,
    stop_after_attempt,
    wait_exponential_jitter,
)
from tenacity.wait import wait_base

from gateway.redact import Redactor
from records.limits import Limits

KEY_HEADER = "apikey"
KEY_REFUSED = "fmp key refused"
UNAUTHORIZED, TOO_LARGE, TOO_MANY, SERVER_ERROR = 401, 413, 429, 500
FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 8.0


@dataclass(frozen=True)
class Answer:
    """What came back. `status` is None when nothing did; `failure` is the witness's word for a failed call."""

    status: int | None
    body: bytes
    failure: str = ""

    @property
    def is_ok(self) -> bool:
        """Whether the API answered with data."""
        return self.status is not None and 200 <= self.status < 300


class BodyTooLargeError(Exception):
    """The upstream sent more than the limit allows."""


def passes_by_itself(answer: Answer) -> bool:
    """Whether asking again may help."""
    return answer.status is not None and (answer.status == TOO_MANY or answer.status >= SERVER_ERROR)


def failure_of(status: int) -> str:
    """Return the witness's word for a status; empty when the API did its part."""
    if status == UNAUTHORIZED:
        return KEY_REFUSED
    return f"HTTP {status}" if status == TOO_MANY or status >= SERVER_ERROR else ""


class FmpUpstream:
    """One connection pool to one base URL."""

    def __init__(
        self,
        base_url: str,
        key: str,
        limits: Limits,
        redactor: Redactor,
        *,
        wait: wait_base | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Open the pool. Redirects are not followed, so the key goes nowhere else; proxies in the environment are ignored."""
        self._limits, self._redactor = limits, redactor
        self._wait = wait or wait_exponential_jitter(multiplier=FIRST_WAIT_S, max=LONGEST_WAIT_S)
        self._client = httpx.AsyncClient(
            base_url=base_url,
            headers={KEY_HEADER: key},
            timeout=limits.upstream_s,
            follow_redirects=False,
            trust_env=False,
            transport=transport,
        )

    async def __aenter__(self) -> Self:
        """Return itself; the pool is open already."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the pool."""
        await self._client.aclose()

    async def _once(self, path: str, params: dict[str, str]) -> Answer:
        async with self._client.stream("GET", path, params=params) as response:
            parts, size = [], 0
            async for part in response.aiter_bytes():
                size += len(part)
                if size > self._limits.upstream_body_bytes:
                    raise BodyTooLargeError(f"more than {self._limits.upstream_body_bytes} bytes")
                parts.append(part)
        body = self._redactor.body(b"".join(parts))
        return Answer(response.status_code, body, failure_of(response.status_code))

    async def get(self, path: str, params: dict[str, str], *, tries: int | None = None) -> Answer:
        """Ask once, or again while 429, 5xx or a broken connection lasts. Never raises for what the upstream does."""
        retrying = AsyncRetrying(
            stop=stop_after_attempt(tries or self._limits.upstream_tries),
            wait=self._wait,
            retry=retry_if_result(passes_by_itself) | retry_if_exception_type(httpx.TransportError),
        )
        try:
            return await retrying(self._once, path, params)
        except BodyTooLargeError as exc:
            # The agent asked for it and asking again would not help: no failure of ours, so no void session.
            return Answer(TOO_LARGE, f"the answer has {exc}; ask for less".encode())
        except RetryError as exc:
            error = exc.last_attempt.exception()
            if error is None:
                answer: Answer = exc.last_attempt.result()
                return answer
            kind = type(error).__name__
            return Answer(None, f"upstream not reachable: {kind}".encode(), kind)
