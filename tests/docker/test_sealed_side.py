"""Who opens the sealed side in a real session, and what each grading container has mounted."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.docker
ROOT = Path(__file__).parents[2]
LIMIT_S = 900


def program(module: str, *arguments: str) -> str:
    """Run a module as a process of its own, since an audit hook can never be removed again."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def session(folder: Path, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(program("tests.docker.sealed_session", str(folder), *arguments).splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return session(tmp_path_factory.mktemp("sealed"), "reference")


def test_nothing_sealed_is_opened_under_the_agents_side(reference: dict[str, Any]) -> None:
    assert reference["end"] == "satisfied"
    assert reference["violations"] == []


def test_watch_sees_those_who_may_open_it(reference: dict[str, Any]) -> None:
    """Without this, a hook that sees nothing would pass the test above."""
    assert {"runner", "records"} & set(reference["openers"])


def test_neither_gateway_nor_data_service_opens_anything_sealed(reference: dict[str, Any]) -> None:
    assert sorted(reference["services"]) == ["gateway", "offline.fmp"]


def test_service_that_opens_the_strategy_is_caught(tmp_path: Path) -> None:
    strategy = tmp_path / "sealed" / "strategy.json"
    strategy.parent.mkdir()
    strategy.write_text("{}", encoding="utf-8")

    program("tests.docker.hooked", str(tmp_path / "report"), "json.tool", str(strategy))

    assert (tmp_path / "report").read_text(encoding="utf-8").splitlines() == [
        "json.tool",
        f"json.tool opened {strategy}",
    ]


def test_adapter_that_reads_the_strategy_in_a_real_session_is_caught(tmp_path: Path) -> None:
    violations = session(tmp_path, "null", "leak")["violations"]

    assert violations
    assert all("strategy.json opened under adapters.backends.leaking" in violation for violation in violations)


def test_measure_has_no_strategy_mounted_and_compare_has(reference: dict[str, Any]) -> None:
    measure, compare = ({mount["Destination"]: mount for mount in job["Mounts"]} for job in reference["jobs"])

    assert [job["Config"]["Cmd"][3] for job in reference["jobs"]] == ["measure", "compare"]
    assert set(measure) == {"/capture", "/out"}
    assert set(compare) == {"/capture", "/measured", "/sealed/strategy.json", "/out", "/sealed-out"}
    assert not any("sealed" in mount["Source"].split("/") for mount in measure.values())
    assert [measure["/capture"]["RW"], compare["/capture"]["RW"], compare["/sealed/strategy.json"]["RW"]] == [False] * 3
    assert {job["HostConfig"]["NetworkMode"] for job in reference["jobs"]} == {"none"}
