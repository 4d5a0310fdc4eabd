"""Launches with real containers, gateway and offline data, as a person starts them."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import docker
import pytest

from offline.data import ensure
from offline.fmp import start_fmp
from records.paths import AttemptPaths, RunPaths
from records.session import EndEvent, EndReason
from reports.collect import RunView, read_run
from runner.store import read_events
from tests.anthropic_server import Answer, AnthropicServer, Asked, empty, in_turn
from tests.runner.test_user_llm import told

pytestmark = pytest.mark.docker
ROOT = Path(__file__).parents[2]
LIMIT_S = 300
"""Only so that a hanging launch fails instead of stopping everything."""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "runner", "launch", *arguments]


def launch(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=LIMIT_S,
    )


def containers(run_id: str) -> list[str]:
    client = docker.from_env()
    try:
        found = client.api.containers(all=True, filters={"label": f"fincosmos.run={run_id}"})
        return [str(container["Id"]) for container in found]
    finally:
        client.close()


def wait_for(what: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    until = time.monotonic() + LIMIT_S
    while not what():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)


def attempts(view: RunView) -> list[AttemptPaths]:
    return [attempt.paths for cell in view.cells for attempt in cell.attempts]


def conversation(paths: AttemptPaths) -> list[dict[str, Any]]:
    """Return the events without times."""
    return [
        {name: value for name, value in event.model_dump(mode="json").items() if not name.endswith("at")}
        for event in read_events(paths)
    ]


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], RunView]:
    """One task met twice by null: what the launch printed, and the run on disk."""
    root = tmp_path_factory.mktemp("launch") / "run"
    done = launch("--agents", "null", "--seeds", "8", "--repeats", "2", "--offline", "--out", str(root))
    return done, read_run(root)


def test_null_session_goes_through_every_room_and_scores_zero(
    twice: tuple[subprocess.CompletedProcess[str], RunView],
) -> None:
    done, view = twice

    grades = [cell.grade for cell in view.cells]
    assert done.returncode == 0, done.stderr
    assert [cell.reason for cell in view.cells] == [EndReason.USER_LEFT] * 2
    assert [grade.score for grade in grades if grade] == [0, 0]
    assert not any(grade.accepted for grade in grades if grade)
    assert {grade.engine for grade in grades if grade} == {"container"}
    assert "Stand-in: FMP API" in done.stdout
    assert containers(view.record.run_id) == []


def test_record_of_the_run_names_images_versions_and_stand_ins(
    twice: tuple[subprocess.CompletedProcess[str], RunView],
) -> None:
    record = twice[1].record

    assert set(record.images) == {"base", "reference", "evaluator"}
    assert all(value.startswith("sha256:") for value in record.images.values())
    assert len(record.stand_ins) > 1
    assert not record.is_ranked
    assert "docker engine" in record.versions


def test_same_session_twice_gives_the_same_conversation_and_grade(
    twice: tuple[subprocess.CompletedProcess[str], RunView],
) -> None:
    first, second = twice[1].cells

    assert first.last is not None
    assert second.last is not None
    assert conversation(first.last.paths) == conversation(second.last.paths)
    assert first.grade == second.grade


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_ends_all_sessions_as_cancelled_and_leaves_no_container(tmp_path: Path, presses: int) -> None:
    paths = RunPaths(tmp_path / "run")
    arguments = ("--agents", "null", "--seeds", "0-19", "--offline", "--concurrency", "2", "--out", str(paths.root))
    with subprocess.Popen(
        command(*arguments),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        wait_for(lambda: paths.events.exists() and "sandbox_started" in paths.events.read_text("utf-8"), process)
        for _ in range(presses):
            os.killpg(process.pid, signal.SIGINT)  # a terminal tells gateway and data service too
            time.sleep(0.1)
        _, said = process.communicate(timeout=LIMIT_S)

    view = read_run(paths.root)
    ends = {event.reason for one in attempts(view) for event in read_events(one) if isinstance(event, EndEvent)}
    assert process.returncode == 1
    assert "stopping" in said
    assert "Traceback" not in said
    assert EndReason.CANCELLED in ends
    assert EndReason.ENVIRONMENT_ERROR not in ends
    assert any(cell.last is None for cell in view.cells)
    assert containers(view.record.run_id) == []


KEY = "CANARYc0ffee1234567890"


@contextmanager
def watching(run: Path) -> Iterator[dict[str, str]]:
    """Collect argv and environments of all processes, and every container's description, while the block runs."""
    seen: dict[str, str] = {}
    stop = threading.Event()
    client = docker.from_env()

    def look() -> None:
        while not stop.wait(0.05):
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    argv = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    environment = (process / "environ").read_bytes().decode(errors="replace")
                except OSError:
                    continue
                seen[f"argv {process.name}"] = argv
                if KEY in environment:
                    seen[f"holder {process.name}"] = argv
            for container in client.api.containers(all=True, filters={"label": "fincosmos.run"}):
                try:
                    seen[f"container {container['Id']}"] = json.dumps(client.api.inspect_container(container["Id"]))
                except docker.errors.NotFound:
                    continue

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()
        client.close()


def test_key_of_a_live_run_is_held_by_launcher_and_gateway_only(tmp_path: Path) -> None:
    """The live path with the stand-in as its upstream; the key is a canary that is looked for everywhere else."""
    run = tmp_path / "run"
    conditions = tmp_path / "conditions.yaml"
    conditions.write_text(
        "t_cut: 2021-12-31\nstart_hint: 2013-01-02\nchannels: [fmp-mcp]\nmax_turns: 2\nturn_limit_s: 60\n", "utf-8"
    )
    with start_fmp(ensure(), KEY) as service, watching(run) as seen:
        done = launch(
            "--agents", "null", "--seeds", "6", "--conditions", str(conditions), "--out", str(run),
            FMP_API_KEY=KEY, FMP_BASE_URL=service.base_url,
        )  # fmt: skip

    holders = [argv for name, argv in seen.items() if name.startswith("holder ")]
    files = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    assert done.returncode == 0, done.stderr
    assert any(name.startswith("container ") for name in seen)
    assert not [name for name, text in seen.items() if not name.startswith("holder ") and KEY in text]
    assert all(re.search(r"-m (runner launch|gateway|offline\.fmp)", argv) for argv in holders), holders
    assert not [path for path, body in files.items() if KEY.encode() in body]
    assert KEY not in done.stdout + done.stderr


def test_refused_key_is_one_sentence_and_nothing_is_left_behind(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with start_fmp(ensure(), KEY) as service:
        done = launch(
            "--agents", "null", "--seeds", "6", "--out", str(run),
            FMP_API_KEY="another", FMP_BASE_URL=service.base_url,
        )  # fmt: skip

    assert done.returncode == 2
    assert "the key in FMP_API_KEY was refused (HTTP 401)" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not run.exists()


def holders(secret: str) -> set[str]:
    """Return the modules of our processes that have a secret in their environment."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
            if b"-m" in arguments and secret.encode() in (folder / "environ").read_bytes():
                found.add(arguments[arguments.index(b"-m") + 1].decode())
    return found


def test_user_llm_plays_a_whole_launch_and_its_key_stays_in_its_process(tmp_path: Path) -> None:
    seen: set[str] = set()

    def script(asked: Asked) -> Answer:
        seen.update(holders("sk-ant-of-the-launch"))
        last = "Turn 2 of the conversation" in asked.prompt
        message = "I see no progress and will stop here." if last else "Please run the backtest and share the files."
        return told(message, "block" if last else "follow_up", evidence=("m2", "m4") if last else ())

    out = tmp_path / "run"
    with AnthropicServer(script, key="sk-ant-of-the-launch") as server:
        order = ("--agents", "null", "--seeds", "6", "--offline", "--user", "llm", "--out", str(out))
        done = launch(*order, **server.environ)

    assert done.returncode == 0, done.stderr
    (paths,) = attempts(read_run(out))
    assert read_events(paths)[-1].reason is EndReason.USER_LEFT  # type: ignore[union-attr]
    record = read_run(out).record
    assert record.user == "llm:claude-opus-4-8"
    assert re.fullmatch(r"[0-9a-f]{64}", record.user_prompt_sha256)
    assert seen == {"runner", "modelgate"}
    assert len(paths.model_calls.read_text(encoding="utf-8").splitlines()) == 2
    for path in out.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert b"sk-ant-of-the-launch" not in content
            assert "sealed" in path.parts or b"You play one private client" not in content


def test_refused_model_key_leaves_nothing(tmp_path: Path) -> None:
    with AnthropicServer(in_turn(empty())) as server:
        environ = server.environ | {"ANTHROPIC_API_KEY": "wrong"}
        done = launch(
            *("--agents", "null", "--seeds", "6", "--offline", "--user", "llm", "--out", str(tmp_path / "run")),
            **environ,
        )

    assert done.returncode == 2
    assert "the key in ANTHROPIC_API_KEY was refused" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
