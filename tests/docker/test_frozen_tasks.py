"""What the controls must show on the frozen tasks: the reference hears and builds everything, null earns nothing."""

import pytest

from records.grade import Compared
from records.paths import grading_name
from records.session import EndReason
from records.strategy import Strategy
from reports.collect import CellView, RunView
from tests.launched import cell, launched

pytestmark = pytest.mark.docker
FEW = (1, 6)
ALL = tuple(range(10))
VETOES = ("1.1", *(f"2.{n}" for n in range(1, 8)), "3.1", "3.2", "3.7", "3.8", "4.1", "5.1", "5.6")
DIMENSION = {
    "stock_selection": "2.1",
    "market_timing": "2.2",
    "portfolio_construction": "2.3",
    "risk_control": "2.4",
    "execution": "2.5",
    "transaction_cost": "2.6",
}


@pytest.fixture(scope="session")
def every_task(tmp_path_factory: pytest.TempPathFactory) -> RunView:
    return launched(tmp_path_factory.mktemp("every-task") / "run", "0-9")


def compared_of(one: CellView) -> Compared:
    assert one.last is not None
    assert one.grade is not None
    grading = one.last.paths.grading(grading_name(one.grade.evaluator_version, one.grade.judge))
    return Compared.model_validate_json(grading.compared.read_bytes())


def reference_hears_and_builds_all(one: CellView) -> None:
    assert one.reason is EndReason.SATISFIED
    assert one.last is not None
    assert one.grade is not None
    assert len(one.last.turns) <= 6
    assert one.voids == 0

    strategy = Strategy.model_validate_json(one.last.paths.strategy.read_bytes())
    compared = compared_of(one)
    assert compared.items == compared.stated == len(strategy.belief.items)
    assert compared.clarification_coverage == 1
    held = {DIMENSION[item.component] for item in strategy.belief.items}
    expected = {
        veto: "not_applicable" if veto in DIMENSION.values() and veto not in held else "pass" for veto in VETOES
    }
    assert one.grade.vetoes == expected
    assert one.grade.judge == "rules"
    assert one.grade.scores["3.6"] == 4
    assert one.grade.grading_complete
    assert one.grade.accepted


def null_earns_nothing(one: CellView) -> None:
    assert one.reason is EndReason.USER_LEFT
    assert one.last is not None
    assert one.grade is not None
    assert one.grade.score == 0
    earned = {dimension for dimension, score in one.grade.scores.items() if score}
    assert earned <= {"5.6"}, "saying hello leaks nothing; no other dimension has anything to earn"
    assert not one.grade.accepted

    compared = compared_of(one)
    assert compared.stated == compared.opening < compared.items
    assert compared.clarification_coverage == 0


@pytest.mark.parametrize("seed", FEW)
def test_reference_hears_and_builds_all(controls: RunView, seed: int) -> None:
    reference_hears_and_builds_all(cell(controls, "reference", seed))


@pytest.mark.parametrize("seed", FEW)
def test_null_earns_nothing(controls: RunView, seed: int) -> None:
    null_earns_nothing(cell(controls, "null", seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", ALL)
def test_reference_hears_and_builds_all_on_every_task(every_task: RunView, seed: int) -> None:
    reference_hears_and_builds_all(cell(every_task, "reference", seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", ALL)
def test_null_earns_nothing_on_any_task(every_task: RunView, seed: int) -> None:
    null_earns_nothing(cell(every_task, "null", seed))
