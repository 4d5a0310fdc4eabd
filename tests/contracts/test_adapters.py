"""The same behaviours on every agent that can be launched, on the fake box. A new agent is a row of AGENTS, no test."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adapters.protocol import Adapter
from records.errors import LaunchError, LostError
from runner.wiring import AGENTS
from sandbox.fake import Call, FakeSandbox, Outcome
from sandbox.protocol import DELIVER

Program = Callable[[Call], Outcome]


def echo(call: Call) -> Outcome:
    """Answer with what was said; deliver it as a file."""
    text = call.stdin.decode()
    (call.path(DELIVER) / "said.txt").write_text(text, encoding="utf-8")
    return Outcome(stdout=b'{"event": "thinking"}\n' + json.dumps({"message": f"you said: {text}"}).encode() + b"\n")


@pytest.fixture
def box() -> Iterator[FakeSandbox]:
    fake = FakeSandbox(programs={"python3": echo})
    fake.start()
    yield fake
    fake.close()


@pytest.fixture(params=AGENTS)
def adapter(request: pytest.FixtureRequest) -> Adapter:
    return AGENTS[request.param].build("INSTRUCTION ")


def test_start_sends_nothing_into_the_frozen_box(adapter: Adapter, box: FakeSandbox) -> None:
    adapter.start(box, session="s1")

    assert box.calls == []


def test_name_is_the_one_it_is_launched_by(adapter: Adapter) -> None:
    assert AGENTS[adapter.name].build("").name == adapter.name


def test_every_turn_is_one_message_and_the_first_carries_the_instruction(
    adapter: Adapter, box: FakeSandbox, tmp_path: Path
) -> None:
    adapter.start(box, session="s1")
    box.thaw()

    first = adapter.send("hello", turn=1, limit_s=10, log_dir=tmp_path / "1")
    second = adapter.send("more", turn=2, limit_s=10, log_dir=tmp_path / "2")

    assert (first.text, second.text) == ("you said: INSTRUCTION hello", "you said: more")
    assert (first.cut, first.failure, first.exit_code) == (False, None, 0)


def test_streams_and_events_of_a_turn_are_kept(adapter: Adapter, box: FakeSandbox, tmp_path: Path) -> None:
    adapter.start(box, session="s1")
    box.thaw()
    adapter.send("hello", turn=1, limit_s=10, log_dir=tmp_path)

    events = [json.loads(line) for line in (tmp_path / "agent.jsonl").read_text(encoding="utf-8").splitlines()]
    assert events[0] == {"event": "thinking"}
    assert (tmp_path / "stdout").read_bytes().startswith(b'{"event"')
    assert (tmp_path / "stderr").exists()


def test_session_id_and_instruction_never_become_arguments(adapter: Adapter, box: FakeSandbox, tmp_path: Path) -> None:
    adapter.start(box, session="s-secret")
    box.thaw()
    adapter.send("hello", turn=1, limit_s=10, log_dir=tmp_path)

    (call,) = box.calls
    assert "s-secret" not in " ".join(call.argv)
    assert "INSTRUCTION" not in " ".join(call.argv)
    assert not any("s-secret" in value for value in call.env.values())


def test_program_over_its_time_is_cut_not_failed(adapter: Adapter, tmp_path: Path) -> None:
    def waits(call: Call) -> Outcome:
        call.stop.wait(30)
        return Outcome(exit_code=130)

    fake = FakeSandbox(programs={"python3": waits})
    fake.start()
    fake.thaw()
    adapter.start(fake, session="s1")

    reply = adapter.send("hello", turn=1, limit_s=0.05, log_dir=tmp_path)

    fake.close()
    assert (reply.cut, reply.failure, reply.text) == (True, None, "")


@pytest.mark.parametrize(
    "program", [lambda _: Outcome(exit_code=1), lambda _: Outcome(stdout=b"garbage")], ids=["died", "garbage"]
)
def test_program_that_breaks_is_the_agents_failure(adapter: Adapter, tmp_path: Path, program: Program) -> None:
    fake = FakeSandbox(programs={"python3": program})
    fake.start()
    fake.thaw()
    adapter.start(fake, session="s1")

    reply = adapter.send("hello", turn=1, limit_s=10, log_dir=tmp_path)

    fake.close()
    assert reply.failure is not None


def test_program_that_is_not_there_is_ours(adapter: Adapter, tmp_path: Path) -> None:
    fake = FakeSandbox()
    fake.start()
    fake.thaw()
    adapter.start(fake, session="s1")

    with pytest.raises(LaunchError, match="runner images build"):
        adapter.send("hello", turn=1, limit_s=10, log_dir=tmp_path)
    fake.close()


def test_lost_box_passes_through(adapter: Adapter, tmp_path: Path) -> None:
    fake = FakeSandbox(programs={"python3": echo}, dies_at_call=2)
    fake.start()
    fake.thaw()
    adapter.start(fake, session="s1")
    adapter.send("hello", turn=1, limit_s=10, log_dir=tmp_path / "1")

    with pytest.raises(LostError):
        adapter.send("more", turn=2, limit_s=10, log_dir=tmp_path / "2")


def test_finalize_lets_go_and_may_come_before_any_turn(adapter: Adapter, box: FakeSandbox, tmp_path: Path) -> None:
    adapter.start(box, session="s1")
    adapter.finalize()

    with pytest.raises(LaunchError, match="start"):
        adapter.send("hello", turn=1, limit_s=10, log_dir=tmp_path)
