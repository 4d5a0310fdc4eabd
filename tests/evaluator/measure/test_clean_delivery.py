from collections.abc import Callable
from typing import Any

from tests.evaluator.deliveries import clean, strategy

PROGRAM = ("1.1", "1.4", "2.12", "3.1", "3.2", "3.3", "3.5", "3.7", "3.8", "4.2")
BUILT = (*PROGRAM, "2.1", "2.3", "2.6")


def test_clean_delivery_reaches_the_highest_level_everywhere(graded: Callable[..., Any]) -> None:
    result = graded(clean())

    assert {dimension: result.scores.get(dimension) for dimension in BUILT} == dict.fromkeys(BUILT, 4), result.evidence(
        "3.7"
    )


def test_dimension_without_judge_is_not_run_and_never_scored(graded: Callable[..., Any]) -> None:
    found = {j.dimension: j for j in graded(clean()).measurement.measured.judgements}

    assert found["2.7"].status == "not_run"
    assert found["2.7"].score is None
    assert found["5.1"].status == "not_run"


def test_specification_table_becomes_the_delivered_specification(graded: Callable[..., Any]) -> None:
    spec = graded(clean()).measurement.spec

    assert spec.factors == ("mom_12_1",)
    assert (spec.weighting, spec.execution, spec.n_holdings, spec.rebalance) == ("equal", "next_open", 4, "monthly")
    assert spec.values == {"fixed_rate.rate_bps": 10.0}
    assert spec.origins["factors"] == "stated"


def test_delivery_without_specification_table_is_inferred_from_its_tables(graded: Callable[..., Any]) -> None:
    delivered = clean()
    del delivered.tables["specification"]
    spec = graded(delivered).measurement.spec

    assert spec.factors == ("mom_12_1",)
    assert (spec.weighting, spec.execution, spec.n_holdings, spec.rebalance) == ("equal", "next_open", 4, "monthly")
    assert spec.values["fixed_rate.rate_bps"] == 10.0
    assert spec.origins["factors"] == "inferred"


def test_unvoiced_components_do_not_apply(graded: Callable[..., Any]) -> None:
    compared = {j.dimension: j.status for j in graded(clean(), strategy()).comparison.compared.judgements}

    assert compared == {
        "2.1": "scored",
        "2.2": "not_applicable",
        "2.3": "scored",
        "2.4": "not_applicable",
        "2.5": "not_applicable",
        "2.6": "scored",
    }
