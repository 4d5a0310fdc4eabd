import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]


def watched(root: Path, *more: str) -> dict[str, Any]:
    """Run the watched session as a process of its own, since an audit hook can never be removed again."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.contracts.watched_session", str(root), *more],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A whole session under the watch: its folder and what the watch saw."""
    root = tmp_path_factory.mktemp("run")
    return root, watched(root)


def test_nothing_sealed_is_opened_under_the_agents_side_or_measure(clean: tuple[Path, dict[str, Any]]) -> None:
    assert clean[1]["violations"] == []
    assert clean[1]["codes"] == [0, 0]


def test_watch_sees_those_who_may_read_the_sealed_side(clean: tuple[Path, dict[str, Any]]) -> None:
    """Without this, a hook that sees nothing would pass the test above."""
    assert {"runner", "evaluator"} <= set(clean[1]["openers"])


def test_adapter_that_reads_the_strategy_is_caught(tmp_path: Path) -> None:
    violations = watched(tmp_path, "leak")["violations"]

    assert violations
    assert all("strategy.json opened under adapters.backends.leaking" in violation for violation in violations)


def test_measure_as_a_process_opens_nothing_sealed(clean: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    public = next(clean[0].glob("sessions/*/*/*/*/public"))
    hook = (
        "import sys\n"
        "seen = []\n"
        "sys.addaudithook(lambda event, args: seen.append(args[0])"
        " if event == 'open' and 'sealed' in str(args[0]).split('/') else None)\n"
        "from evaluator.__main__ import main\n"
        "code = main(['measure', '--capture', sys.argv[1], '--out', sys.argv[2]])\n"
        "sys.exit(f'opened {seen}' if seen else code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", hook, str(public), str(tmp_path / "again")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )

    assert (done.returncode, done.stderr) == (0, "")
