"""The control matrix as tests: its own rules, a quick sample, and all of it under `slow`."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from records.paths import AttemptPaths
from tests.controls.attempts import copied
from tests.controls.bases import BASES
from tests.controls.every import CONTROLS
from tests.controls.expected import expected_lines
from tests.controls.grading import Graded, graded
from tests.controls.matrix import counts, lacking, run, table
from tests.controls.places import HERE
from tests.controls.tool_base import TOOLS
from tests.evaluator.deliveries import clean, strategy

pytestmark = pytest.mark.thorough

MUTANTS = [one for one in CONTROLS.values() if one.kind != "clean"]
CLEAN = [one for one in CONTROLS.values() if one.kind == "clean"]
GRADERS = {"grading.py", "observe.py", "matrix.py"}
"""The files that grade; what makes deliveries or changes them must not know the evaluator."""
SAMPLE: dict[str, tuple[dict[str, int], tuple[str, ...]]] = {
    "signal-after-the-cut": ({"1.1": 0}, ("1.1",)),
    "rows-twice": ({"1.4": 0}, ()),
    # Here the smallest fill is a sale of all: sold twice, it leaves a share short, which A06 sees beside A02.
    "one-fill-twice": ({"3.7": 1}, ("3.7",)),
    "no-triggers": ({"2.12": 3}, ()),
    "trades-json-records": ({}, ()),
    "tabs": ({}, ()),
}
"""Controls that a small delivery can take, with what each changes and fails there."""


def imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return names | {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


def test_nothing_that_makes_a_delivery_imports_the_evaluator() -> None:
    makers = [path for path in HERE.glob("*.py") if path.name not in GRADERS and not path.name.startswith("test_")]
    assert len(makers) > 10
    for path in makers:
        for name in imported(path):
            assert name.split(".")[0] != "evaluator", path.name


def test_no_mutator_reaches_the_graders() -> None:
    for path in (*HERE.glob("mutants_*.py"), *HERE.glob("variants_*.py"), HERE / "again.py", HERE / "tool_base.py"):
        graders = {f"tests.controls.{name.removesuffix('.py')}" for name in GRADERS}
        assert not imported(path) & graders, path.name


def test_delivered_scripts_know_no_part_of_the_project() -> None:
    for path in (HERE / "scripts").glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        assert "evaluator" not in text
        assert "tests." not in text


def test_every_mutant_has_one_line_and_every_line_a_mutant() -> None:
    names = {one.name for one in MUTANTS}
    assert names <= set(expected_lines())
    assert set(expected_lines()) <= set(CONTROLS)


def test_there_are_enough_mutants_variants_and_tool_bases() -> None:
    kinds = Counter(one.kind for one in MUTANTS)
    assert len(MUTANTS) >= 90
    assert len(CLEAN) >= 40
    assert 0.4 <= kinds["process"] / len(MUTANTS) <= 0.6
    assert sum(one.base in TOOLS for one in MUTANTS) >= 10
    assert {one.base for one in CONTROLS.values()} == set(BASES)


def test_expected_lines_name_failing_vetoes_in_the_rubrics_order() -> None:
    for name, expected in expected_lines().items():
        places = [[int(part) for part in veto.split(".")] for veto in expected.fails]
        assert places == sorted(places), name


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Graded]:
    """Return a small clean delivery and its grade; the bases take minutes to record."""
    paths = AttemptPaths(tmp_path_factory.mktemp("small") / "attempt")
    clean().write(paths.root)
    paths.turn(1).rename(paths.turn(2))
    paths.sealed.mkdir()
    paths.strategy.write_text(strategy().to_json(), encoding="utf-8")
    return paths.root, graded(paths)


@pytest.mark.parametrize("name", SAMPLE)
def test_sampled_control_does_what_its_line_says(name: str, small: tuple[Path, Graded], tmp_path: Path) -> None:
    base, before = small
    attempt = copied(base, tmp_path / "attempt")
    CONTROLS[name].change(attempt)
    attempt.refresh()

    after = graded(attempt.paths)

    changed = {key: score for key, score in after.scores.items() if score != before.scores[key]}
    assert (changed, tuple(veto for veto in after.failed if veto not in before.failed)) == SAMPLE[name]


@pytest.mark.slow
def test_whole_matrix_is_as_expected() -> None:
    lines, broken = run(list(CONTROLS.values()))
    assert not broken
    wrong = [one for one in lines if not one.is_equal]
    assert not wrong, table(wrong) + "\n" + counts(lines)
    assert not lacking(lines)
