"""A user back end asked again on a stored session: compared item by item, and the session left as it was."""

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from generator import generate, offline_conditions
from records.capture import FileEntry
from records.paths import AttemptPaths
from records.session import AgentEvent, EndEvent, EndReason, UserEvent
from runner.cli import program
from runner.store import AttemptStore
from simulator import UserSimulator, build_view
from tests.anthropic_server import KEY, Answer, AnthropicServer, Asked, good, in_turn, malformed
from tests.runner.test_user_llm import told
from tests.simulator.conftest import CLEAN_DELIVERY, SIX_QUESTIONS

pytestmark = pytest.mark.thorough

AT = datetime(2022, 12, 28, tzinfo=UTC)
SEED = 1
RATE = "transaction_cost/fixed_rate/rate_bps"


@pytest.fixture
def session(tmp_path: Path) -> AttemptPaths:
    """Two turns with the rules: six questions, then a clean delivery; then a third that failed."""
    task, strategy = generate(SEED, conditions=offline_conditions(), offline=True)
    store = AttemptStore(AttemptPaths(tmp_path / "repeat-1" / "attempt-1"))
    store.create(task, strategy)
    user = UserSimulator(task, strategy)
    events: list[UserEvent | AgentEvent] = [UserEvent(turn=0, at=AT, text=task.opening)]
    store.append(events[0])
    for turn, (text, files) in enumerate([(SIX_QUESTIONS, {}), ("It is running.", CLEAN_DELIVERY)], start=1):
        folder = store.paths.deliver(turn)
        folder.mkdir(parents=True)
        for name, body in files.items():
            (folder / name).write_text(body, encoding="utf-8")
        entries = tuple(
            FileEntry(path=name, size=len(body), sha256=hashlib.sha256(body.encode()).hexdigest())
            for name, body in files.items()
        )
        events.append(AgentEvent(turn=turn, started_at=AT, ended_at=AT, text=text, files=entries))
        store.append(events[-1])
        record = user.reply(build_view(events, deliver=store.paths.deliver))
        store.append_decision(record)
        events.append(UserEvent(turn=turn, at=AT, text=record.decision.message))
        store.append(events[-1])
    store.append(AgentEvent(turn=3, started_at=AT, ended_at=AT, text="", failure="it died"))
    store.append(EndEvent(at=AT, reason=EndReason.AGENT_ERROR, detail="it died"))
    store.seal()
    return store.paths


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[AnthropicServer]:
    with AnthropicServer(in_turn(malformed())) as made:
        for name, value in made.environ.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("FINCOSMOS_MODEL_KEY", raising=False)
        yield made


def tree(root: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(root)): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in root.rglob("*")
    }


def replay(*arguments: str) -> dict[str, object]:
    done = CliRunner().invoke(program, ["replay", *arguments, "--json"])
    assert done.exit_code == 0, done.output
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_rules_replayed_are_the_same_and_nothing_changes(session: AttemptPaths) -> None:
    before = tree(session.root)

    found = replay(str(session.root), "--user", "rules")

    turns = found["turns"]
    assert isinstance(turns, list)
    assert [turn["turn"] for turn in turns] == [1, 2]
    assert all(turn["stored"] == turn["replayed"] for turn in turns)
    assert turns[0]["before"] == ["stock_selection/low_beta_252", "portfolio_construction/equal"]
    assert RATE in turns[0]["replayed"]["items"]
    assert RATE in turns[1]["before"]
    assert (found["same_actions"], found["differing_items"], found["user"]) == (2, 0, "rules")
    assert tree(session.root) == before


def test_model_that_withholds_and_one_that_tells_more_are_told_apart(
    session: AttemptPaths, server: AnthropicServer
) -> None:
    def script(asked: Asked) -> Answer:
        first = "Turn 1 of the conversation" in asked.prompt
        return told("Trade at the next day close.", "clarify") if first else told("Please carry on.")

    server.script = script
    before = tree(session.root)

    found = replay(str(session.root.parent), "--user", "llm")

    turns = found["turns"]
    assert isinstance(turns, list)
    assert turns[0]["same_action"]
    assert turns[0]["only_stored"] == [RATE]
    assert turns[0]["only_replayed"] == []
    assert turns[0]["replayed"]["backend"] == found["user"] == "llm:claude-opus-4-8"
    assert found["differing_items"] == 1
    assert tree(session.root) == before
    assert len(server.requests) == 2


def test_back_end_without_a_valid_decision_is_said_and_the_other_turns_go_on(
    session: AttemptPaths, server: AnthropicServer
) -> None:
    server.script = lambda asked: good({}) if "Turn 1 of" in asked.prompt else told("Please carry on.")

    found = replay(str(session.root), "--user", "llm")

    turns = found["turns"]
    assert isinstance(turns, list)
    assert turns[0]["replayed"] is None
    assert "V0" in turns[0]["failed"]
    assert turns[1]["replayed"]["message"] == "Please carry on."


def test_out_keeps_comparison_and_calls_for_their_owner_alone(session: AttemptPaths, server: AnthropicServer) -> None:
    server.script = in_turn(told("Please carry on."), told("Please carry on, thank you."))
    out = session.sealed / "replay-1"

    shown = replay(str(session.root), "--user", "llm", "--out", str(out))

    kept = json.loads((out / "replay.json").read_text(encoding="utf-8"))
    assert [turn["replayed"] for turn in kept["turns"]] == [turn["replayed"] for turn in shown["turns"]]  # type: ignore[attr-defined]
    assert len((out / "model-calls.jsonl").read_text(encoding="utf-8").splitlines()) == 2
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in out.iterdir()} == {0o600}


@pytest.mark.parametrize("place", ["public/new", "graded/new", "sealed"])
def test_out_on_the_open_side_or_over_something_is_refused(session: AttemptPaths, place: str) -> None:
    before = tree(session.root)

    done = CliRunner().invoke(
        program, ["replay", str(session.root), "--user", "rules", "--out", str(session.root / place)]
    )

    assert done.exit_code == 2
    assert "--out" in done.stderr
    assert tree(session.root) == before


def test_missing_key_is_one_sentence(session: AttemptPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "FINCOSMOS_MODEL_KEY"):
        monkeypatch.delenv(name, raising=False)

    done = CliRunner().invoke(program, ["replay", str(session.root), "--user", "llm"])

    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert "ANTHROPIC_API_KEY" in done.stderr


def test_session_whose_sealed_half_is_broken_is_refused_without_quoting_it(session: AttemptPaths) -> None:
    session.decisions.write_text('{"turn": "SECRET"}\n', encoding="utf-8")

    done = CliRunner().invoke(program, ["replay", str(session.root), "--user", "rules"])

    assert done.exit_code == 2
    assert "SECRET" not in done.output
    assert "Traceback" not in done.output


def test_text_form_shows_both_sides(session: AttemptPaths) -> None:
    done = CliRunner().invoke(program, ["replay", str(session.root), "--user", "rules"])

    assert done.exit_code == 0
    assert "stored (rules): clarify" in done.stdout
    assert "replayed (rules): clarify" in done.stdout
    assert "2 of 2 turns with the same action, 0 items that only one of the two states" in done.stdout


def test_key_is_back_in_the_environment_afterwards(session: AttemptPaths, server: AnthropicServer) -> None:
    server.script = in_turn(told("Please carry on."), told("Please carry on, thank you."))

    replay(str(session.root), "--user", "llm")

    assert os.environ["ANTHROPIC_API_KEY"] == KEY
