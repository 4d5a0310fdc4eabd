"""scripts/engine.sh and scripts/python.sh where nothing may be installed or started."""

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.engine.recipes import ROOT

ENGINE = ROOT / "scripts/engine.sh"
PYTHON = ROOT / "scripts/python.sh"


def _run(script: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", script],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"PATH": os.environ["PATH"]} | environment,
    )


@pytest.fixture
def answering(tmp_path: Path) -> Iterator[Path]:
    """A socket that answers every request as a healthy engine does."""
    path = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()

        def answer() -> None:
            link, _ = server.accept()
            with link:
                link.recv(1024)
                link.sendall(b"HTTP/1.0 200 OK\r\n\r\nOK")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield path
        thread.join(5)


@pytest.fixture
def plain_user(tmp_path: Path) -> dict[str, str]:
    """An environment whose `id` says that we are not root."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "id").write_text('#!/bin/sh\n[ "$1" = -u ] && echo 1234 || echo someone\n', encoding="utf-8")
    (tools / "id").chmod(0o755)
    return {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(tmp_path)}


def test_engine_that_answers_then_nothing_is_said(answering: Path, plain_user: dict[str, str]) -> None:
    done = _run(ENGINE, DOCKER_HOST=f"unix://{answering}", **plain_user)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_no_engine_and_not_root_then_one_sentence_with_the_command(plain_user: dict[str, str], tmp_path: Path) -> None:
    done = _run(ENGINE, DOCKER_HOST=f"unix://{tmp_path}/none.sock", **plain_user)

    assert done.returncode == 2
    assert done.stderr.startswith(f"engine: no Docker engine answers at unix://{tmp_path}/none.sock")
    assert len(done.stderr.splitlines()) == 1


def test_engine_on_another_machine_then_one_sentence(plain_user: dict[str, str]) -> None:
    done = _run(ENGINE, DOCKER_HOST="tcp://10.0.0.1:2375", **plain_user)

    assert done.returncode == 2
    assert (
        done.stderr == "engine: DOCKER_HOST is tcp://10.0.0.1:2375, a local engine is needed; run: unset DOCKER_HOST\n"
    )


def _checkout(tmp_path: Path) -> Path:
    """Return a checkout with an environment that looks finished."""
    root = tmp_path / "checkout"
    (root / "scripts").mkdir(parents=True)
    shutil.copy(PYTHON, root / "scripts/python.sh")
    (root / "requirements.lock").write_text("", encoding="utf-8")
    (root / "requirements-weights.lock").write_text("", encoding="utf-8")
    (root / "pyproject.toml").write_text("", encoding="utf-8")
    return root


def test_no_new_enough_python_and_not_root_then_one_sentence(tmp_path: Path, plain_user: dict[str, str]) -> None:
    root = _checkout(tmp_path)

    done = _run(root / "scripts/python.sh", FINCOSMOS_PYTHON="python-that-is-not-there", **plain_user)

    assert done.returncode == 2
    assert done.stderr == "python: no Python 3.11 or newer here; run: sudo apt-get install python3 python3-venv\n"
    assert not (root / ".venv").exists()


@pytest.mark.slow
def test_environment_made_once_then_the_second_run_does_nothing(tmp_path: Path) -> None:
    root = _checkout(tmp_path)
    (root / "pyproject.toml").write_text('[project]\nname = "box"\nversion = "1"\n[tool.setuptools]\npy-modules = []\n')
    venv = root / ".venv"

    first = _run(root / "scripts/python.sh", HOME=os.environ["HOME"])
    stamp = (venv / "fincosmos.stamp").read_text(encoding="utf-8")
    before = sorted((path, path.stat().st_mtime_ns) for path in venv.rglob("*"))
    second = _run(root / "scripts/python.sh", HOME=os.environ["HOME"])

    assert (first.returncode, second.returncode, second.stderr) == (0, 0, "")
    assert stamp.endswith(f"{root}\n")
    assert sorted((path, path.stat().st_mtime_ns) for path in venv.rglob("*")) == before
