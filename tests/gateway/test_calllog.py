import asyncio
import hashlib
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from gateway.calllog import BodyFacts, CallLog, body_facts
from gateway.redact import REMOVED, Redactor
from records.calls import CallRecord
from records.jsonl import read_lines

SECRET = "s3cr3t/+key"


def record(**fields: object) -> CallRecord:
    given = {"at": datetime.now(UTC), "session": "s", "route": "fmp", "tool": "quote", "target": "quote"}
    return CallRecord.model_validate(given | fields)


def test_rows_and_dates_are_read_from_a_json_list() -> None:
    body = b'[{"date":"2020-03-02","x":1},{"date":"2020-03-01 16:30:00"},{"other":1}]'
    assert body_facts(body) == BodyFacts(3, date(2020, 3, 1), date(2020, 3, 2))
    assert body_facts(b'[{"publishedDate":"2021-05-05 09:00:00"}]').first_date == date(2021, 5, 5)
    assert body_facts(b"[]") == BodyFacts(0)


@pytest.mark.parametrize("body", [b"", b"text", b'{"Error Message":"x"}', b"\xff\xfe", b"123"])
def test_other_bodies_have_no_rows(body: bytes) -> None:
    assert body_facts(body) == BodyFacts()


def test_body_is_kept_once_under_its_hash(tmp_path: Path) -> None:
    log = CallLog(tmp_path / "a" / "calls.jsonl", tmp_path / "bodies", Redactor([]))

    async def write_twice() -> None:
        await log.write(record(), b"body")
        await log.write(record(tool="profile"), b"body")
        await log.write(record(refused="unknown tool"))

    asyncio.run(write_twice())
    first, second, third = (CallRecord.model_validate_json(line) for line in read_lines(tmp_path / "a" / "calls.jsonl"))
    digest = hashlib.sha256(b"body").hexdigest()
    assert first.body_sha256 == second.body_sha256 == digest
    assert third.body_sha256 is None
    assert [path.name for path in (tmp_path / "bodies").iterdir()] == [digest]


def test_no_secret_reaches_the_log_or_a_body(tmp_path: Path) -> None:
    log = CallLog(tmp_path / "calls.jsonl", tmp_path / "bodies", Redactor([SECRET]))
    leaking = record(
        target=f"quote?apikey={SECRET}",
        tool=f"tool-{SECRET}",
        params={"apikey": "other", "symbol": SECRET, SECRET: "x", "Token": "t"},
        refused=f"because of {SECRET}",
    )
    asyncio.run(log.write(leaking, f"echo {SECRET} and s3cr3t%2F%2Bkey".encode()))
    (line,) = read_lines(tmp_path / "calls.jsonl")
    assert "s3cr3t" not in line
    written = CallRecord.model_validate_json(line)
    assert written.params == {"apikey": REMOVED, "symbol": REMOVED, REMOVED: "x", "Token": REMOVED}
    (body,) = (tmp_path / "bodies").iterdir()
    assert body.read_bytes() == f"echo {REMOVED} and {REMOVED}".encode()
    assert hashlib.sha256(body.read_bytes()).hexdigest() == body.name == written.body_sha256


def test_url_loses_user_information_secret_parameters_and_fragment() -> None:
    redactor = Redactor([SECRET])
    cleaned = redactor.url("http://me:pw@example.com/a?token=abc&x=1#part")
    assert "pw" not in cleaned
    assert "abc" not in cleaned
    assert cleaned.startswith("http://example.com/a?token=")
    assert cleaned.endswith("&x=1")
    assert redactor.url("http://example.com/a?x=%20y") == "http://example.com/a?x=%20y"
