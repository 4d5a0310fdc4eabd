"""Which of several reported figures counts."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from tests.evaluator.deliveries import clean


@pytest.mark.parametrize(("name", "wrong"), [("sharpe", 1e9), ("max_drawdown", -0.95), ("total_return", 5.0)])
def test_wrong_figure_is_not_made_ambiguous_by_a_right_one_beside_the_benchmark(
    graded: Callable[..., Any], name: str, wrong: float
) -> None:
    delivered = clean()
    metrics = delivered.tables["metrics"]
    true = metrics.set_index("metric")["value"]
    measures = ["total_return", "sharpe", "max_drawdown"]
    delivered.tables["benchmark_comparison"] = pd.DataFrame(
        {"measure": measures, "strategy": [true[one] for one in measures], "benchmark": [0.5, 0.6, -0.3]}
    )
    metrics.loc[metrics["metric"] == name, "value"] = wrong

    result = graded(delivered)

    assert "A12" in result.failing()
    assert "L6 differs" in result.evidence("3.8")


def test_wrong_sum_of_fees_is_a_matter_of_the_log_not_of_the_curve(graded: Callable[..., Any]) -> None:
    delivered = clean()
    metrics = delivered.tables["metrics"]
    metrics.loc[metrics["metric"] == "total_fees", "value"] /= 2

    result = graded(delivered)

    assert result.failing() == ["A10"]
    assert result.scores["3.8"] == 4
    assert result.scores["3.2"] == 3
