"""The launch service of compose.yaml, as an operator starts it on a machine without the compose plugin."""

import json
import os
import secrets
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from records.paths import AttemptPaths
from runner.grading import Grader, compare, measure
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


@dataclass(frozen=True)
class Launched:
    """One null session that was run through compose."""

    home: Path
    done: subprocess.CompletedProcess[str]

    @property
    def attempt(self) -> AttemptPaths:
        """The session's folder on the host."""
        (found,) = (self.home / "runs/one/sessions/null").glob("*/repeat-1/attempt-1")
        return AttemptPaths(found)


@pytest.fixture(scope="module")
def launched(compose: str, launcher: str, tmp_path_factory: pytest.TempPathFactory) -> Launched:
    """The session, run once for all tests here."""
    home = tmp_path_factory.mktemp("home")
    arguments = ("launch", "--agents", "null", "--seeds", "6", "--offline", "--out", "runs/one", "--json")
    return Launched(home, _compose(compose, home, launcher, *arguments))


def test_one_session_through_compose_then_its_run_lies_on_the_host_and_no_container_is_left(
    launched: Launched, launcher: str, engine: Engine
) -> None:
    assert launched.done.returncode == 0, launched.done.stderr[-3000:]
    told = json.loads(launched.done.stdout)
    (session,) = told["sessions"]
    assert told["folder"] == str(launched.home / "runs/one")
    assert (session["agent"], session["end"]) == ("null", "user_left")
    assert (launched.home / "runs/one/run.json").is_file()
    listed = engine.client.api.containers(all=True, filters={"label": f"fincosmos.run={told['run']}"})
    listed += engine.client.api.containers(all=True, filters={"ancestor": launcher})
    assert listed == []


def test_graded_again_without_an_engine_then_the_same_bytes(launched: Launched, tmp_path: Path) -> None:
    """The container of the run and a child process of the host are two forms of one program."""
    (graded,) = launched.attempt.graded.iterdir()

    run = measure(Grader(None), capture=launched.attempt.public, out=tmp_path / "again")
    compare(
        Grader(None),
        capture=launched.attempt.public,
        measured=tmp_path / "again",
        strategy=launched.attempt.strategy,
        out=tmp_path / "again",
        sealed_out=tmp_path / "sealed",
    )

    assert run.form == "process"
    for name in ("spec.json", "measured.json", "judgements.json", "compared.json"):
        assert (tmp_path / "again" / name).read_bytes() == (graded / name).read_bytes(), name


def test_missing_key_for_a_live_run_through_compose_then_one_sentence_and_exit_2(
    compose: str, launcher: str, tmp_path: Path
) -> None:
    (tmp_path / "runs").mkdir()

    done = _compose(compose, tmp_path, launcher, "launch", "--agents", "null", "--seeds", "6")

    assert done.returncode == 2
    assert "FMP_API_KEY" in done.stderr
    assert "Traceback" not in done.stderr
    assert list((tmp_path / "runs").iterdir()) == []
