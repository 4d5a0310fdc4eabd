"""What the service says becomes a reply or one sentence, and every call a line on the sealed side."""

import hashlib
import json
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from modelgate.calllog import CallLine
from modelgate.messages import prompt_sha256
from records.chat import Block
from records.errors import ModelError
from records.limits import Limits
from tests.anthropic_server import (
    KEY,
    Answer,
    cut,
    dropped,
    empty,
    failing,
    garbled,
    good,
    in_turn,
    limited,
    malformed,
    overloaded,
    refusal,
    slow,
    text,
    tool,
)
from tests.modelgate.conftest import SECRET, Opened, request

pytestmark = pytest.mark.thorough

NO_RETRY = Limits(model_retries=0, model_call_s=5, model_total_s=20)


def test_good_answer_comes_back_with_model_stop_usage_and_hash(opened: Opened) -> None:
    _, models = opened(in_turn(good({"score": 3})))

    reply = models.client.ask(request())

    assert json.loads(reply.text) == {"score": 3}
    assert (reply.model, reply.stop) == ("claude-opus-5-5", "end_turn")
    assert reply.usage.model_dump() == {"input": 11, "cache_read": 7, "cache_write": 5, "output": 3}
    assert reply.prompt_sha256 == prompt_sha256(request())


def test_request_has_schema_effort_and_cache_breakpoints(opened: Opened) -> None:
    server, models = opened(in_turn(good({})))

    models.client.ask(request(max_tokens=77))

    asked = server.requests[0]
    assert (asked.effort, asked.max_tokens, asked.model) == ("low", 77, "claude-opus-5-5")
    assert asked.cached == ["You judge.", SECRET]
    assert asked.schema["additionalProperties"] is False
    assert asked.schema["properties"]["score"]["type"] == "integer"
    assert asked.prompt.endswith("Which score?")


def test_no_effort_is_sent_when_none_is_given(opened: Opened) -> None:
    server, models = opened(in_turn(good({})))

    models.client.ask(request(effort=None))

    assert server.requests[0].effort is None
    assert "effort" not in server.requests[0].body["output_config"]


def test_more_cached_blocks_than_the_service_takes_keep_the_last_four(opened: Opened) -> None:
    server, models = opened(in_turn(good({})))
    blocks = tuple(Block(text=f"part {number}", cached=True) for number in range(6))

    models.client.ask(request(prompt=(*blocks, Block(text="  "))))

    assert server.requests[0].cached == ["part 2", "part 3", "part 4", "part 5"]


@pytest.mark.parametrize(
    ("answer", "words", "stop"),
    [
        (malformed(), '{"action": "clarify", "message": ', "end_turn"),
        (refusal(), "", "refusal"),
        (cut('{"sco'), '{"sco', "max_tokens"),
        (empty(), "", "end_turn"),
        (tool({"score": 1}), '{"score": 1}', "tool_use"),
    ],
)
def test_whatever_the_model_said_is_a_reply(opened: Opened, answer: Answer, words: str, stop: str) -> None:
    _, models = opened(in_turn(answer))

    reply = models.client.ask(request())

    assert (reply.text, reply.stop) == (words, stop)


def test_busy_service_is_asked_again(opened: Opened, tmp_path: Path) -> None:
    limits = Limits(model_retries=3, model_call_s=5, model_total_s=30)
    server, models = opened(in_turn(limited(retry_after_s=0.01), overloaded(), good({"score": 2})), limits=limits)
    log = tmp_path / "sealed" / "model-calls.jsonl"

    assert models.client.logging_to(log).ask(request()).stop == "end_turn"
    assert len(server.requests) == 3
    assert CallLine.model_validate_json(log.read_text(encoding="utf-8")).retries == 2


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (overloaded(), r"HTTP 529 \(overloaded_error\) on up to 1 tries; try again later"),
        (limited(), r"HTTP 429 \(rate_limit_error\)"),
        (failing(500), r"HTTP 500 \(api_error\)"),
        (failing(400, "invalid_request_error", SECRET), r"HTTP 400 \(invalid_request_error\).*sealed log"),
        (failing(401, "authentication_error"), r"HTTP 401 .*ANTHROPIC_API_KEY was refused"),
        (failing(404, "not_found_error"), r"HTTP 404 .*give another id"),
        (failing(418, SECRET), r"found HTTP 418;"),
        (dropped(), r"expected to reach it, found \w+ on 1 tries; check the network"),
        (slow(good({}), 30), r"none within 0.2 s"),
    ],
)
def test_service_that_fails_is_a_model_error_without_key_and_prompt(opened: Opened, answer: Answer, found: str) -> None:
    limits = NO_RETRY.model_copy(update={"model_call_s": 0.2}) if answer.delay_s else NO_RETRY
    _, models = opened(in_turn(answer), limits=limits)

    with pytest.raises(ModelError, match=r"model 'claude-opus-5-5' at 127.0.0.1: .*" + found) as caught:
        models.client.ask(request())

    assert caught.value.retry
    assert KEY not in str(caught.value)
    assert SECRET not in str(caught.value)


def test_wait_the_service_asks_for_ends_at_the_limit_of_the_whole_call(opened: Opened) -> None:
    limits = Limits(model_retries=5, model_call_s=5, model_total_s=0.5)
    _, models = opened(in_turn(limited(retry_after_s=3600)), limits=limits)

    with pytest.raises(ModelError, match=r"within 0\.5 s, retries included"):
        models.client.ask(request())


@pytest.mark.parametrize("body", ["<html>", "[1]", '{"ok": true}', '{"type": "message", "content": null}', '"x"'])
def test_answer_that_is_no_message_is_a_model_error(opened: Opened, body: str) -> None:
    _, models = opened(in_turn(garbled(body)), limits=NO_RETRY)

    with pytest.raises(ModelError, match=r"expected .*; check (the base URL|ANTHROPIC_BASE_URL)"):
        models.client.ask(request())


def test_content_that_is_no_block_is_an_answer_without_text(opened: Opened) -> None:
    strange = Answer(content=({"type": "hologram"}, {"type": "text", "text": None}))
    _, models = opened(in_turn(strange), limits=NO_RETRY)

    assert models.client.ask(request()).text == ""


def test_schema_the_service_cannot_take_is_said_without_being_sent(opened: Opened) -> None:
    server, models = opened(in_turn(good({})))

    with pytest.raises(ModelError, match=r"mend the caller's schema"):
        models.client.ask(request(answer_schema={"title": "nothing"}))

    assert server.requests == []


def test_every_call_is_logged_whole_for_its_owner_alone(opened: Opened, tmp_path: Path) -> None:
    _, models = opened(in_turn(refusal("no"), failing(400, "invalid_request_error", f"bad {KEY}")), limits=NO_RETRY)
    log = tmp_path / "attempt" / "sealed" / "model-calls.jsonl"
    client = models.client.logging_to(log)
    client.ask(request())
    with pytest.raises(ModelError):
        client.ask(request())

    said = log.read_text(encoding="utf-8")
    first, second = (CallLine.model_validate_json(line) for line in said.splitlines())

    assert first.request == request()
    assert first.reply is not None
    assert (first.reply.text, first.reply.stop, first.error) == ("no", "refusal", None)
    assert (first.purpose, first.model, first.prompt_sha256) == ("judge", "claude-opus-5-5", prompt_sha256(request()))
    assert second.reply is None
    assert "HTTP 400" in str(second.error)
    assert "bad [removed]" in second.detail
    assert KEY not in said
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.parent.stat().st_mode) == 0o700


def test_call_that_cannot_be_logged_is_an_error_not_a_silent_gap(opened: Opened, tmp_path: Path) -> None:
    _, models = opened(in_turn(good({})))
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(ModelError, match="log of model calls"):
        models.client.logging_to(tmp_path / "file" / "calls.jsonl").ask(request())


def test_threads_share_a_client_and_lines_do_not_mix(opened: Opened, tmp_path: Path) -> None:
    server, models = opened(lambda asked: text(hashlib.sha256(asked.prompt.encode()).hexdigest()))
    client = models.client.logging_to(tmp_path / "sealed" / "calls.jsonl")
    requests = [request(prompt=(Block(text=f"prompt {number} " * 3000),)) for number in range(16)]

    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(client.ask, requests))

    assert [reply.text for reply in replies] == [
        hashlib.sha256(each.prompt[0].text.encode()).hexdigest() for each in requests
    ]
    lines = (tmp_path / "sealed" / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    assert {CallLine.model_validate_json(line).request.prompt for line in lines} == {each.prompt for each in requests}
    assert len(server.requests) == 16


def test_hash_is_of_canonical_json_and_blind_to_caching_and_purpose() -> None:
    parts = {
        "model": "claude-opus-5-5",
        "prompt": [SECRET, "Which score?"],
        "schema": request().answer_schema,
        "system": ["You judge."],
    }
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    assert prompt_sha256(request()) == hashlib.sha256(canonical.encode()).hexdigest()
    assert prompt_sha256(request(purpose="user", system=(Block(text="You judge."),))) == prompt_sha256(request())
    assert prompt_sha256(request(model="claude-opus-4-8")) != prompt_sha256(request())


def test_caller_that_leaves_ends_its_call_at_the_service(opened: Opened, tmp_path: Path) -> None:
    answers = [slow(good({}), 3), good({})]
    _, models = opened(lambda _asked: answers.pop(0))
    log = tmp_path / "sealed" / "calls.jsonl"
    impatient = replace(models.client, answer_s=0.5).logging_to(log)

    with pytest.raises(ModelError, match="TimeoutError"):
        impatient.ask(request())

    assert models.client.logging_to(log).ask(request()).stop == "end_turn"
    assert len(log.read_text(encoding="utf-8").splitlines()) == 1


def test_lone_surrogate_in_a_prompt_is_sent_as_a_question_mark(opened: Opened) -> None:
    server, models = opened(in_turn(good({})))

    models.client.ask(request(prompt=(Block(text="name \udcff end"),)))

    assert server.requests[0].prompt == "name ? end"


def test_stop_ends_a_call_that_waits(opened: Opened) -> None:
    started, gone = threading.Event(), threading.Event()

    def script(_asked: object) -> Answer:
        started.set()
        return slow(good({}), 30)

    _, models = opened(script, fresh=True)
    client = models.client

    def ask() -> None:
        with pytest.raises(ModelError, match="it ended or was stopped"):
            client.ask(request())
        gone.set()

    caller = threading.Thread(target=ask)
    caller.start()
    assert started.wait(10)
    models.end()
    caller.join(10)
    assert gone.is_set()
