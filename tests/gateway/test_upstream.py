import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from tenacity import wait_none

from gateway.redact import Redactor
from gateway.upstream import KEY_REFUSED, Answer, FmpUpstream
from gateway.witness import UpstreamWitness
from records.limits import Limits

KEY = "upstream-key"
BASE = "https://fmp.invalid/stable/"
Handler = Callable[[httpx.Request], httpx.Response]


class Vendor:
    """A fake FMP: answers in turn, the last answer for ever; remembers what it was asked."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def get(vendor: Vendor, limits: Limits | None = None) -> Answer:
    async def once() -> Answer:
        upstream = FmpUpstream(
            BASE,
            KEY,
            limits or Limits(),
            Redactor([KEY]),
            wait=wait_none(),
            transport=httpx.MockTransport(vendor),
        )
        async with upstream:
            return await upstream.get("quote", {"symbol": "KO"})

    return asyncio.run(once())


def test_key_goes_as_a_header_and_never_in_the_url() -> None:
    vendor = Vendor(httpx.Response(200, json=[]))
    assert get(vendor) == Answer(200, b"[]")
    (request,) = vendor.requests
    assert str(request.url) == f"{BASE}quote?symbol=KO"
    assert request.headers["apikey"] == KEY


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_passing_trouble_is_tried_again(status: int) -> None:
    vendor = Vendor(httpx.Response(status), httpx.Response(status), httpx.Response(200, json=[1]))
    assert get(vendor).status == 200
    assert len(vendor.requests) == 3


def test_lasting_trouble_ends_after_the_tries_with_the_vendors_words() -> None:
    vendor = Vendor(httpx.Response(429, json={"Error Message": "Limit Reach ."}))
    answer = get(vendor, Limits(upstream_tries=3))
    assert (answer.status, answer.failure, len(vendor.requests)) == (429, "HTTP 429", 3)
    assert b"Limit Reach" in answer.body


def test_no_connection_is_a_failure_with_its_kind() -> None:
    vendor = Vendor(httpx.ConnectError("no route to 10.0.0.1"))
    answer = get(vendor)
    assert (answer.status, answer.failure, len(vendor.requests)) == (None, "ConnectError", 4)
    assert answer.body == b"upstream not reachable: ConnectError"


@pytest.mark.parametrize("status", [400, 402, 403, 404])
def test_refusals_of_the_vendor_are_answers_and_not_tried_again(status: int) -> None:
    vendor = Vendor(httpx.Response(status, text="Restricted Endpoint"))
    answer = get(vendor)
    assert (answer.status, answer.failure, len(vendor.requests)) == (status, "", 1)
    assert not answer.is_ok


def test_refused_key_is_named_and_not_tried_again() -> None:
    vendor = Vendor(httpx.Response(401, json={"Error Message": "Invalid API KEY."}))
    answer = get(vendor)
    assert (answer.status, answer.failure, len(vendor.requests)) == (401, KEY_REFUSED, 1)


def test_redirect_is_not_followed_with_the_key() -> None:
    vendor = Vendor(httpx.Response(302, headers={"location": "https://elsewhere.invalid/"}))
    assert get(vendor).status == 302
    assert [request.url.host for request in vendor.requests] == ["fmp.invalid"]


def test_echoed_key_is_removed_from_the_body() -> None:
    answer = get(Vendor(httpx.Response(403, text=f"key {KEY} is not entitled")))
    assert KEY.encode() not in answer.body


def test_body_over_the_limit_is_the_agents_request_and_no_failure_of_ours() -> None:
    vendor = Vendor(httpx.Response(200, content=b"x" * 100))
    answer = get(vendor, Limits(upstream_body_bytes=50))
    assert (answer.status, answer.failure, answer.is_ok) == (413, "", False)
    assert b"more than 50 bytes" in answer.body
    assert len(vendor.requests) == 1


def test_witness_calls_a_row_of_failures_lasting_and_one_answer_ends_it() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    witness = UpstreamWitness("s", lasting_calls=2)
    bad, good = Answer(503, b"", "HTTP 503"), Answer(200, b"[]")
    witness.saw(bad, started_at=start)
    assert not witness.report().is_lasting
    witness.saw(bad, started_at=start + timedelta(seconds=30))
    assert witness.is_suspect
    assert not witness.report().is_lasting
    witness.probed(bad)
    report = witness.report()
    assert (report.is_lasting, report.failing_in_a_row, report.failing_since) == (True, 2, start)
    witness.saw(good, started_at=start + timedelta(seconds=60))
    report = witness.report()
    assert (report.is_lasting, report.failing_since, report.failed_calls, report.calls) == (False, None, 2, 3)


def test_one_refused_key_is_lasting_at_once() -> None:
    witness = UpstreamWitness("s", lasting_calls=5)
    witness.saw(Answer(401, b"", KEY_REFUSED), started_at=datetime.now(UTC))
    assert not witness.report().is_lasting
    witness.probed(Answer(401, b"", KEY_REFUSED))
    assert witness.report().is_lasting
    assert witness.report().last_failure == KEY_REFUSED
