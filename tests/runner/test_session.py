import json
from pathlib import Path

import pytest

from records.errors import LostError, ProviderError, SandboxError, StartError
from records.session import AgentEvent, EndEvent, EndReason, UserEvent
from runner.stop import Cancelled, Stop
from runner.store import read_events
from sandbox.fake import FakeSandbox, Outcome
from tests.runner.fakes import HELLO, FakeDoor, ScriptedSandbox, ScriptedUser, attempt, decision, result


def test_user_who_is_satisfied_ends_the_session_with_both_sides_on_disk(tmp_path: Path) -> None:
    sandbox = ScriptedSandbox(delivered={"report.md": b"# Report"})
    user = ScriptedUser([decision("follow_up", "and the trades?"), decision("close", "thanks")])

    one = attempt(tmp_path, sandbox, user)
    end = one.run()

    events = read_events(one.paths)
    assert end.reason is EndReason.SATISFIED
    assert [type(event) for event in events] == [
        UserEvent, AgentEvent, UserEvent, AgentEvent, UserEvent, EndEvent,
    ]  # fmt: skip
    assert [event.text for event in events if isinstance(event, UserEvent)] == [
        "I would like a backtest.", "and the trades?", "thanks",
    ]  # fmt: skip
    assert (one.paths.deliver(2) / "report.md").read_bytes() == b"# Report"
    assert (one.paths.turn(1) / "message.md").read_text(encoding="utf-8") == "hello"
    assert len(one.paths.decisions.read_text(encoding="utf-8").splitlines()) == 2


def test_box_is_frozen_before_copying_and_captured_before_it_is_closed(tmp_path: Path) -> None:
    sandbox = ScriptedSandbox()

    attempt(tmp_path, sandbox, ScriptedUser([decision("close", "thanks")])).run()

    assert sandbox.calls == ["start", "thaw", "exec", "freeze", "copy_out", "archive", "close"]


def test_only_the_first_message_carries_the_instruction(tmp_path: Path) -> None:
    sandbox = ScriptedSandbox()

    attempt(tmp_path, sandbox, ScriptedUser([decision("clarify", "monthly"), decision("close", "ok")])).run()

    assert sandbox.stdin == [b"INSTRUCTION I would like a backtest.", b"monthly"]


def test_turns_used_up_end_at_the_limit_without_an_unread_user_message(tmp_path: Path) -> None:
    one = attempt(tmp_path, ScriptedSandbox(), ScriptedUser([decision("follow_up", "more")]), max_turns=2)

    end = one.run()

    texts = [event.text for event in read_events(one.paths) if isinstance(event, UserEvent)]
    assert end.reason is EndReason.TURN_LIMIT
    assert texts == ["I would like a backtest.", "more"]


def test_user_may_still_close_after_the_last_turn(tmp_path: Path) -> None:
    end = attempt(tmp_path, ScriptedSandbox(), ScriptedUser([decision("close", "done")]), max_turns=1).run()

    assert end.reason is EndReason.SATISFIED


@pytest.mark.parametrize(
    ("why", "reason"), [("walked_away", EndReason.USER_LEFT), ("agent_gave_up", EndReason.AGENT_GAVE_UP)]
)
def test_user_who_blocks_ends_the_session_with_the_reason_named(tmp_path: Path, why: str, reason: EndReason) -> None:
    user = ScriptedUser([decision("block", "I will look elsewhere", why)])  # type: ignore[arg-type]

    assert attempt(tmp_path, ScriptedSandbox(), user).run().reason is reason


def test_cut_turn_counts_with_what_was_said_and_the_session_goes_on(tmp_path: Path) -> None:
    sandbox = ScriptedSandbox(runs=[result(HELLO, exit_code=None, timed_out=True), result()])
    user = ScriptedUser([decision("follow_up", "and?"), decision("close", "thanks")])

    end = attempt(tmp_path, sandbox, user).run()

    assert end.reason is EndReason.SATISFIED
    assert [(turn.cut, turn.text) for turn in user.seen] == [(True, "hello"), (False, "hello")]


def test_dead_agent_program_is_an_agent_error_not_a_void(tmp_path: Path) -> None:
    sandbox = ScriptedSandbox(runs=[result(b"Traceback", exit_code=1)])
    user = ScriptedUser([decision("close")])

    end = attempt(tmp_path, sandbox, user).run()

    assert end.reason is EndReason.AGENT_ERROR
    assert "exit code 1" in end.detail
    assert user.seen == []
    assert "archive" in sandbox.calls


def test_three_unreadable_replies_are_an_agent_error(tmp_path: Path) -> None:
    sandbox = ScriptedSandbox(runs=[result(b"beep")])

    end = attempt(tmp_path, sandbox, ScriptedUser([decision("close")])).run()

    assert end.reason is EndReason.AGENT_ERROR
    assert sandbox.calls.count("exec") == 3


def test_box_that_does_not_start_raises_and_is_closed(tmp_path: Path) -> None:
    sandbox = ScriptedSandbox(start_error=StartError("no space left"))
    door = FakeDoor()

    with pytest.raises(StartError, match="no space"):
        attempt(tmp_path, sandbox, ScriptedUser([decision("close")]), door=door).run()

    assert sandbox.calls == ["start", "close"]
    assert door.closed == door.opened


def test_lost_box_raises_after_an_attempt_to_capture_and_keeps_earlier_turns(tmp_path: Path) -> None:
    sandbox = ScriptedSandbox(runs=[result(), LostError("container gone")], delivered={"a.csv": b"x"})
    one = attempt(tmp_path, sandbox, ScriptedUser([decision("follow_up", "more")]))

    with pytest.raises(LostError, match="container gone"):
        one.run()

    assert sandbox.calls[-2:] == ["archive", "close"]
    assert (one.paths.deliver(1) / "a.csv").exists()
    assert not any(isinstance(event, EndEvent) for event in read_events(one.paths))


@pytest.mark.parametrize("turns_before", [0, 1])
def test_box_lost_by_the_agent_is_agent_error_on_what_was_delivered(tmp_path: Path, turns_before: int) -> None:
    lost = LostError("a forwarder in it died", agent_caused=True)
    sandbox = ScriptedSandbox(runs=[*[result()] * turns_before, lost], delivered={"a.csv": b"x"})
    one = attempt(tmp_path, sandbox, ScriptedUser([decision("follow_up", "more")]))

    end = one.run()

    assert (end.reason, end.detail) == (EndReason.AGENT_ERROR, "a forwarder in it died")
    assert sandbox.calls[-2:] == ["archive", "close"]
    assert (one.paths.deliver(1) / "a.csv").exists() == bool(turns_before)
    assert one.paths.manifest.exists()


def test_box_lost_by_the_agent_while_the_data_service_failed_is_ours(tmp_path: Path) -> None:
    door = FakeDoor()

    def lose(_: ScriptedSandbox) -> object:
        door.failure = ProviderError("the data service answered 503 four times")
        raise LostError("memory ran out", agent_caused=True)

    sandbox = ScriptedSandbox(runs=[lose])  # type: ignore[list-item]

    with pytest.raises(ProviderError, match="503"):
        attempt(tmp_path, sandbox, ScriptedUser([decision("close")]), door=door).run()


def test_fake_box_the_agent_ended_is_graded_without_a_capture(tmp_path: Path) -> None:
    box = FakeSandbox({"agent": lambda _: Outcome(HELLO)}, dies_at_call=2, dies_by_agent=True)
    one = attempt(tmp_path, box, ScriptedUser([decision("follow_up", "more")]))  # type: ignore[arg-type]

    end = one.run()

    assert end.reason is EndReason.AGENT_ERROR
    assert not one.paths.workspace.exists()
    assert sum(isinstance(event, AgentEvent) for event in read_events(one.paths)) == 1


def test_witnessed_upstream_failure_is_ours_even_when_the_agent_program_died_of_it(tmp_path: Path) -> None:
    door = FakeDoor()

    def die(_: ScriptedSandbox) -> object:
        door.failure = ProviderError("the data service answered 503 four times")
        return result(b"", exit_code=1)

    sandbox = ScriptedSandbox(runs=[die])  # type: ignore[list-item]

    with pytest.raises(ProviderError, match="503"):
        attempt(tmp_path, sandbox, ScriptedUser([decision("close")]), door=door).run()


def test_stop_in_a_turn_skips_the_capture_and_closes_the_box(tmp_path: Path) -> None:
    stop = Stop()

    def interrupted(box: ScriptedSandbox) -> object:
        stop.trip()
        assert box.cancelled.wait(5)
        return result(b"", exit_code=None)

    sandbox = ScriptedSandbox(runs=[interrupted])  # type: ignore[list-item]

    with pytest.raises((LostError, Cancelled)):
        attempt(tmp_path, sandbox, ScriptedUser([decision("close")]), stop=stop).run()

    assert "archive" not in sandbox.calls
    assert sandbox.calls[-1] == "close"


def test_failed_clean_up_does_not_void_a_measured_session(tmp_path: Path) -> None:
    sandbox = ScriptedSandbox(close_error=SandboxError("box-1 is left; run: docker rm -f box-1"))

    end = attempt(tmp_path, sandbox, ScriptedUser([decision("close", "thanks")])).run()

    assert end.reason is EndReason.SATISFIED


def test_public_tree_of_a_session_never_holds_the_nonce(tmp_path: Path) -> None:
    one = attempt(tmp_path, ScriptedSandbox(), ScriptedUser([decision("close", "thanks")]))
    one.run()

    public = b"".join(path.read_bytes() for path in one.paths.public.rglob("*") if path.is_file())

    assert b"NONCE" in one.paths.strategy.read_bytes()
    assert b"NONCE" not in public
    assert json.loads(one.paths.task.read_text(encoding="utf-8"))["id"] == "amber-otter"
