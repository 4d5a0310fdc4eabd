"""The launch service of compose.yaml, as an operator starts it on a machine without the compose plugin."""

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.engine import images
from sandbox.engine.cache import cache_dir
from sandbox.engine.engine import Engine
from sandbox.engine.recipes import ROOT

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def compose() -> str:
    """Path of the static binary, downloaded once."""
    done = subprocess.run(
        [sys.executable, ROOT / "images/compose.py"], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def launcher() -> str:
    """Name of this checkout's launcher image."""
    images.build(["base", "reference", "evaluator", "launcher"], on_line=lambda _line: None)
    return images.reference("launcher")


def _compose(compose: str, home: Path, launcher: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "FINCOSMOS_HOME": str(home),
        "FINCOSMOS_CACHE": str(cache_dir()),
        "FINCOSMOS_LAUNCHER": launcher,
    }
    project = f"fincosmos-test-{secrets.token_hex(4)}"
    return subprocess.run(
        [compose, "-f", ROOT / "compose.yaml", "-p", project, "run", "--rm", "-T", "launch", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=570,
        env=environment,
    )


def test_one_session_through_compose_then_its_run_lies_on_the_host_and_nothing_else_is_left(
    compose: str, launcher: str, tmp_path: Path, engine: Engine
) -> None:
    before = {found["Id"] for found in engine.client.api.containers(all=True)}
    arguments = ("launch", "--agents", "null", "--seeds", "6", "--offline", "--out", "runs/one", "--json")

    done = _compose(compose, tmp_path, launcher, *arguments)

    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout)
    (session,) = told["sessions"]
    assert told["folder"] == str(tmp_path / "runs/one")
    assert (session["agent"], session["end_reason"]) == ("null", "user_left")
    assert (tmp_path / "runs/one/run.json").is_file()
    assert list((tmp_path / "runs/one").glob("sessions/null/*/repeat-1/attempt-1/graded/*/grade.json"))
    made = [found for found in engine.client.api.containers(all=True) if found["Id"] not in before]
    assert [found["Id"] for found in made if found["Image"].startswith(launcher)] == []


def test_missing_key_for_a_live_run_through_compose_then_one_sentence_and_exit_2(
    compose: str, launcher: str, tmp_path: Path
) -> None:
    (tmp_path / "runs").mkdir()

    done = _compose(compose, tmp_path, launcher, "launch", "--agents", "null", "--seeds", "6")

    assert done.returncode == 2
    assert "FMP_API_KEY" in done.stderr
    assert "Traceback" not in done.stderr
    assert list((tmp_path / "runs").iterdir()) == []
