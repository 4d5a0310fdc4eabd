"""The version changes with whatever can change a score, and with nothing else."""

import ast
import shutil
from pathlib import Path

import pytest

from evaluator.version import RECORDS, evaluator_version, version_of

ROOT = Path(__file__).parents[2]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in ("evaluator", "records"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def version(root: Path) -> str:
    return version_of(root / "evaluator", root / "records")


def test_copy_elsewhere_then_the_same_version(copy: Path) -> None:
    assert version(copy) == evaluator_version()


@pytest.mark.parametrize(
    "name",
    [
        "evaluator/measure/recomputation.py", "evaluator/judge/prompts.py", "evaluator/compare/fidelity.py",
        "evaluator/score.py", "records/data/rubric.json", "records/data/grammar.json", "records/judging.py",
        "records/rerun.py", "records/grade.py",
    ],
)  # fmt: skip
def test_scoring_file_changes_then_another_version(copy: Path, name: str) -> None:
    with (copy / name).open("a", encoding="utf-8") as file:
        file.write("\n")

    assert version(copy) != evaluator_version()


@pytest.mark.parametrize("name", ["prompt.md", "prompt.txt", "lexicon.json", "more.py"])
def test_new_data_file_or_prompt_then_another_version(copy: Path, name: str) -> None:
    (copy / "evaluator" / "judge" / name).write_text("words", encoding="utf-8")

    assert version(copy) != evaluator_version()


@pytest.mark.parametrize("name", ["evaluator/quant/README.md", "records/paths.py", "records/limits.py"])
def test_what_scores_nothing_changes_then_the_same_version(copy: Path, name: str) -> None:
    with (copy / name).open("a", encoding="utf-8") as file:
        file.write("\n")

    assert version(copy) == evaluator_version()


def imported(file: Path) -> set[str]:
    """Modules of `records` that a file names in its imports."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("records."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("records.")}
    return found


def test_every_record_that_the_evaluator_reads_or_writes_is_covered() -> None:
    due = {name for file in (ROOT / "evaluator").rglob("*.py") for name in imported(file)}
    seen: set[str] = set()
    while due - seen:
        name = (due - seen).pop()
        seen.add(name)
        due |= imported(ROOT / "records" / f"{name}.py")

    assert seen <= set(RECORDS)
