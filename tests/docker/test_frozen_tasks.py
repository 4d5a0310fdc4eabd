"""What the controls must show on the frozen tasks: the reference hears and builds everything, null earns nothing."""

import pytest

from records.grade import Compared
from records.session import EndReason
from records.strategy import Strategy
from reports.collect import CellView, RunView
from tests.launched import cell, launched

pytestmark = pytest.mark.docker
FEW = (1, 6)
ALL = tuple(range(10))
VETOES = ("1.1", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "3.1", "3.2", "3.7", "3.8")
"""The vetoes that a program decides; the others wait for a judge."""
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


def reference_hears_and_builds_all(one: CellView) -> None:
    assert one.reason is EndReason.SATISFIED
    assert one.last is not None
    assert one.grade is not None
    assert len(one.last.turns) <= 6
    assert one.voids == 0

    strategy = Strategy.model_validate_json(one.last.paths.strategy.read_bytes())
    compared = Compared.model_validate_json(one.last.paths.grading(one.grade.evaluator_version).compared.read_bytes())
    assert compared.items == compared.stated == len(strategy.belief.items)
    assert compared.clarification_coverage == 1
    held = {DIMENSION[item.component] for item in strategy.belief.items}
    expected = {
        veto: "not_applicable" if veto in DIMENSION.values() and veto not in held else "pass" for veto in VETOES
    }
    assert {veto: one.grade.vetoes[veto] for veto in VETOES} == expected


def null_earns_nothing(one: CellView) -> None:
    assert one.reason is EndReason.USER_LEFT
    assert one.last is not None
    assert one.grade is not None
    assert one.grade.score == 0
    assert one.grade.quality == 0
    assert not one.grade.accepted

    compared = Compared.model_validate_json(one.last.paths.grading(one.grade.evaluator_version).compared.read_bytes())
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
