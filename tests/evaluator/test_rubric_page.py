"""The rubric is whole, its page is the committed one, and its worked examples are what the code gives."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evaluator.compare.run import compare
from evaluator.measure.run import measure
from evaluator.package.attempt import load_delivery
from evaluator.quant.quality import LIMITS
from evaluator.quant.tolerance import RELATIVE, TOLERANCE
from records.grade import SCORED_CATEGORIES
from records.rubric import load_rubric
from records.rubric_page import Example, load_examples, page
from records.session import EndReason
from tests.evaluator.conftest import Graded
from tests.evaluator.deliveries import Delivered, _report, clean, strategy
from tests.evaluator.examples import graded_by_hand
from tests.evaluator.measure.test_flaws import same_close_fills
from tests.evaluator.measure.test_signal_validation import own_diagnostics, table

pytestmark = pytest.mark.thorough

PAGE = Path(__file__).parents[2] / "docs" / "rubric.md"
VETOES = {
    "1.1": 4,
    "3.1": 2,
    "3.2": 1,
    "3.7": 4,
    "3.8": 4,
    "4.1": 2,
    "5.1": 2,
    "5.6": 2,
    **{f"2.{n}": 2 for n in range(1, 8)},
}


def test_committed_page_equals_the_generated_one() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


def test_counts_are_those_of_the_paper() -> None:
    dimensions = load_rubric().dimensions

    assert len(dimensions) == 45
    assert sum(one.category in SCORED_CATEGORIES for one in dimensions) == 37
    assert {one.id: one.veto_below for one in dimensions if one.veto_below is not None} == VETOES
    judges = [one.judge for one in dimensions]
    counts = {judge: judges.count(judge) for judge in set(judges)}
    assert counts == {"P": 12, "L": 16, "L↓P": 1, "L/P": 2, "H": 6, "R/P": 5, "M": 3}


def test_every_dimension_has_a_definition_and_every_score_an_anchor() -> None:
    for one in load_rubric().dimensions:
        assert len(one.definition) > 40, one.id
        assert set(one.anchors) == (set() if one.judge == "M" else set("01234")), one.id
        assert len(set(one.anchors.values())) == len(one.anchors), one.id


def test_rules_around_the_dimensions_are_whole() -> None:
    rubric = load_rubric()

    assert [rule.id for rule in rubric.audit] == [f"A{n:02}" for n in range(1, 17)]
    assert [rule.id for rule in rubric.links] == [f"L{n}" for n in range(1, 7)]
    assert [rule.id for rule in rubric.equations] == ["3", "4", "5", "6"]
    assert [rule.id for rule in rubric.end_reasons] == [reason.value for reason in EndReason]


def test_written_tolerances_are_those_of_the_code() -> None:
    text = {rule.id: rule.text for rule in load_rubric().tolerances}

    assert {TOLERANCE[name] for name in ("total_return", "cagr", "volatility", "max_drawdown", "win_rate")} == {0.02}
    assert {TOLERANCE[name] for name in ("sharpe", "sortino", "calmar", "information_ratio")} == {0.5}
    assert text["turnover"].startswith(f"{TOLERANCE['turnover']}")
    assert (RELATIVE["final_equity"], RELATIVE["total_fees"], RELATIVE["capital"]) == (0.02, 0.01, 0.001)
    anchors = load_rubric().dimension("1.4").anchors
    for level, at in (("3", 1), ("2", 2), ("1", 3)):
        assert f"{LIMITS['missing'][at]:.0%}" in anchors[level]
        assert f"{LIMITS['duplicates'][at] * 100:g}%" in anchors[level]


@pytest.mark.parametrize("example", load_examples().examples, ids=lambda example: example.key)
def test_worked_example_is_what_the_code_gives(example: Example, tmp_path: Path) -> None:
    found = graded_by_hand(example.key, example.judged, tmp_path)

    assert {name: found.scores[name] for name in example.scores} == example.scores
    assert found.categories == pytest.approx(example.categories, abs=1e-6)
    assert found.quality == pytest.approx(example.quality, abs=1e-6)
    assert found.score == pytest.approx(example.score, abs=1e-6)
    assert found.accepted == example.accepted
    assert tuple(name for name, state in found.vetoes.items() if state == "fail") == example.failed


def test_worked_examples_follow_equation_three_by_hand() -> None:
    rubric = load_rubric()
    for example in load_examples().examples:
        means = []
        for category in rubric.scored_categories:
            ids = [one.id for one in rubric.dimensions if one.category == category and one.id != "3.6"]
            given = [score for name in ids if (score := example.scores[name]) is not None]
            means.append(sum(given) / len(given) * 25)
            assert example.categories[category] == pytest.approx(means[-1], abs=1e-6)
        assert example.quality == pytest.approx(sum(means) / 5, abs=1e-6)
        assert example.score == (0 if example.failed else example.quality)


def validated() -> Delivered:
    """Return the clean delivery with diagnostics of its signal, so that every program dimension can fall."""
    delivered = clean()
    delivered.tables["signal_validation"] = table(*own_diagnostics(delivered))
    return delivered


def marks(result: Any) -> dict[str, int]:
    """Return scores and bounds, without the dimensions that are reported only."""
    found = {name: score for name, score in result.scores.items() if not name.startswith("6.")}
    return {**found, **result.measurement.measured.bounds}


@pytest.fixture(scope="module")
def best(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """Grade the delivery without a flaw once."""
    delivery = load_delivery(validated().write(tmp_path_factory.mktemp("best")))
    measurement = measure(delivery)
    return marks(Graded(measurement, compare(delivery, measurement.spec, strategy())))


def same_close(delivered: Delivered) -> None:
    same_close_fills(delivered)
    delivered.report = _report(delivered.tables["metrics"])


def without(*names: str) -> Callable[[Delivered], None]:
    def change(delivered: Delivered) -> None:
        for name in names:
            del delivered.tables[name]

    return change


def without_metrics(delivered: Delivered) -> None:
    del delivered.tables["metrics"]
    delivered.report = "# Report\n\nNothing.\n"


def late_equity(delivered: Delivered) -> None:
    row = delivered.tables["equity"].tail(1).assign(date=pd.Timestamp("2019-01-02"))
    delivered.tables["equity"] = pd.concat([delivered.tables["equity"], row], ignore_index=True)


def without_fees(delivered: Delivered) -> None:
    delivered.tables["trades"] = delivered.tables["trades"].drop(columns="fee")


@pytest.mark.parametrize(
    ("cause", "change"),
    [
        ("a fill on or before its signal date", same_close),
        ("no usable trade log", without("trades")),
        ("neither trade log nor weights", without("trades", "target_weights")),
        ("no price table", without("prices")),
        ("no signal values", without("signals")),
        ("no selected names", without("selections")),
        ("no target weights", without("target_weights")),
        ("no equity curve", without("equity")),
        ("no metrics", without_metrics),
        ("late rows in a backtest table", late_equity),
        ("the fee column is missing", without_fees),
    ],
)
def test_implied_dimensions_fall_with_the_flaw_and_no_others(
    graded: Callable[..., Any], best: Any, cause: str, change: Callable[[Delivered], None]
) -> None:
    line = next(one for one in load_rubric().implies if one.cause == cause)
    delivered = validated()
    change(delivered)
    after = graded(delivered)
    fallen = {name for name, score in best.items() if score > marks(after).get(name, 4)}

    assert line.dimension in fallen
    assert set(line.also) <= fallen
    assert fallen <= {line.dimension, *line.also, *line.may}
