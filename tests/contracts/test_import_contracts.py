"""Each import contract is broken once on purpose in a copy of the packages; exactly that contract must say so."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
LINTER = Path(sys.executable).parent / "lint-imports"

BAD_IMPORTS = {
    "Imports point down": [("records/bad.py", "import reports.table")],
    "Only adapters and runner may touch a sandbox": [("reports/bad.py", "import sandbox.protocol")],
    "The sandbox knows no tasks, strategies or grades": [("sandbox/bad.py", "import records.task")],
    "The answer key is out of the agent's and the user's reach": [("adapters/bad.py", "import records.grade")],
    "Back ends are chosen in runner.wiring only": [("runner/bad.py", "import adapters.backends.null")],
    "The Docker SDK stays in one package": [("runner/bad.py", "import docker")],
    "Only the sealed-side model process speaks to a model": [("runner/bad.py", "import anthropic")],
    "Nobody on the agent's side can read a strategy": [("gateway/bad.py", "import records.strategy")],
    "The shared vocabulary computes nothing": [("records/bad.py", "import numpy")],
    "Re-grading needs no container and no network": [("evaluator/measure/bad.py", "import httpx")],
    "Adapters do not know each other": [
        ("adapters/backends/bad.py", "import adapters.backends.null"),
    ],
    "No cycles inside a package": [
        ("reports/bad.py", "import reports.worse"),
        ("reports/worse.py", "import reports.bad"),
    ],
}


def broken_contracts(root: Path) -> set[str]:
    """Run import-linter in `root` and return the names of the contracts it reports broken."""
    done = subprocess.run(
        [str(LINTER), "--no-cache"], cwd=root, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert "Contracts:" in done.stdout, done.stdout + done.stderr
    return {
        name.removesuffix(" (X warnings)").strip()
        for name in re.findall(r"^(.+?) BROKEN", done.stdout, flags=re.MULTILINE)
    }


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of all packages, without tests, with the same contracts."""
    for package in SETTINGS["root_packages"]:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__", "data"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_every_contract_has_a_bad_import() -> None:
    assert set(BAD_IMPORTS) == {contract["name"] for contract in SETTINGS["contracts"]}


def test_the_code_as_it_stands_keeps_every_contract(copy: Path) -> None:
    assert broken_contracts(copy) == set()


@pytest.mark.parametrize("contract", BAD_IMPORTS)
def test_bad_import_breaks_the_contract_meant_for_it(copy: Path, contract: str) -> None:
    for name, line in BAD_IMPORTS[contract]:
        (copy / name).write_text(f"{line}\n", encoding="utf-8")

    assert broken_contracts(copy) == {contract}
