import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.oneshot import OneShotAdapter, last_message
from adapters.protocol import AgentReply
from records.errors import LaunchError
from records.limits import Limits
from sandbox.protocol import ExecResult
from tests.runner.fakes import HELLO, ScriptedSandbox, result


def send(box: ScriptedSandbox, log_dir: Path, *, turn: int = 1, limits: Limits | None = None) -> AgentReply:
    adapter = OneShotAdapter(name="null", argv=("agent",), instruction="I ", limits=limits or Limits())
    adapter.start(box, session="s")
    return adapter.send("hi", turn=turn, limit_s=60, log_dir=log_dir)


def test_last_line_of_stdout_is_the_reply_and_lines_before_it_are_kept_as_events(tmp_path: Path) -> None:
    box = ScriptedSandbox(runs=[result(b'{"event": "call"}\nnoise\n{"message": "done"}\n\n')])

    reply = send(box, tmp_path)

    assert reply == AgentReply("done", exit_code=0)
    lines = (tmp_path / "agent.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [{"event": "call"}, {"message": "done"}]


@pytest.mark.parametrize(
    "stdout",
    [
        b"", b"\n\n", b"hello", b'"hello"', b"[1]", b"null", b'{"message": 3}', b'{"message": "  "}', b"{}",
        b'{"message": "a"}\ngoodbye', b"\xff\xfe", b"[" * 200_000, b"9" * 10_000,
    ],
)  # fmt: skip
def test_garbage_is_no_reply(stdout: bytes) -> None:
    assert last_message(stdout) is None


@given(st.binary(max_size=300))
def test_any_bytes_on_stdout_are_read_without_an_exception(stdout: bytes) -> None:
    message = last_message(stdout)

    assert message is None or message.encode()


def test_lone_surrogate_in_a_reply_becomes_text_that_can_be_written() -> None:
    assert last_message(rb'{"message": "a\ud800b"}') == "a\\ud800b"


def test_unreadable_reply_is_asked_for_again_and_the_next_one_counts(tmp_path: Path) -> None:
    box = ScriptedSandbox(runs=[result(b"beep"), result(HELLO)])

    reply = send(box, tmp_path)

    assert (reply.text, reply.failure) == ("hello", None)
    assert box.stdin == [b"I hi", b"I hi"]
    assert len(reply.notes) == 1


def test_all_tries_of_a_turn_share_its_time(tmp_path: Path) -> None:
    box = ScriptedSandbox(runs=[result(b"beep")])
    ticks = iter([0.0, 0.0, 40.0, 40.0, 70.0, 70.0, 70.0])
    adapter = OneShotAdapter(name="null", argv=("agent",), instruction="", now=lambda: next(ticks))
    adapter.start(box, session="s")

    reply = adapter.send("hi", turn=1, limit_s=60, log_dir=tmp_path)

    assert box.timeouts == [60, 20]
    assert (reply.cut, reply.failure) == (True, None)


def test_program_missing_at_the_first_message_is_ours(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match=r"exit code 127.*runner images build"):
        send(ScriptedSandbox(runs=[result(b"", exit_code=127)]), tmp_path)


def test_same_exit_code_after_the_first_message_is_the_agents_own(tmp_path: Path) -> None:
    reply = send(ScriptedSandbox(runs=[result(b"", exit_code=127)]), tmp_path, turn=2)

    assert reply.failure == "the agent program died with exit code 127 and left no reply"


def test_killed_program_without_a_reply_is_the_agents_failure(tmp_path: Path) -> None:
    reply = send(ScriptedSandbox(runs=[result(b"", exit_code=None)]), tmp_path)

    assert reply.failure == "the agent program was killed and left no reply"


def test_turn_cut_before_any_reply_is_an_empty_message_and_no_failure(tmp_path: Path) -> None:
    reply = send(ScriptedSandbox(runs=[result(b"working...", exit_code=None, timed_out=True)]), tmp_path)

    assert reply == AgentReply("", cut=True)


def test_endless_reply_is_capped_and_says_so(tmp_path: Path) -> None:
    box = ScriptedSandbox(runs=[result(json.dumps({"message": "x" * 50}).encode())])

    reply = send(box, tmp_path, limits=Limits(reply_chars=10))

    assert reply.text == "x" * 10
    assert reply.notes == ("the reply has 50 characters; the first 10 were kept",)


def test_bytes_missing_from_a_stream_are_noted(tmp_path: Path) -> None:
    run = ExecResult(exit_code=0, timed_out=False, duration_s=1, stdout=HELLO, stderr=b"", stderr_missing=1500)

    assert send(ScriptedSandbox(runs=[run]), tmp_path).notes == (
        "1,500 bytes of stderr are missing between head and tail",
    )
