"""`compare` reads what `measure` wrote and does no heavy work twice."""

from pathlib import Path

import pandas as pd
import pytest

from evaluator.compare import book_checks
from evaluator.compare.context import Context
from evaluator.compare.run import compare
from evaluator.measure import case as case_module
from evaluator.measure.specification import delivered_spec
from tests.evaluator.compare.made import belief, made


def test_specification_is_inferred_once_and_no_scheme_is_optimised_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"weighting": "min_variance", "covariance": "ewma"}
    delivery = made(tuple(options.items()), n_holdings=6).load(tmp_path)
    spec = delivered_spec(delivery)
    read: list[object] = []
    asked: list[tuple[str, str | None]] = []
    measured = book_checks._measured

    def counted(context: Context, scheme: str, estimator: str | None, delivered: pd.DataFrame) -> float | None:
        asked.append((scheme, estimator))
        return measured(context, scheme, estimator, delivered)

    monkeypatch.setattr(case_module, "delivered_spec", read.append)
    monkeypatch.setattr(book_checks, "_measured", counted)
    comparison = compare(delivery, spec, belief(**options))

    assert read == []
    assert len(asked) == len(set(asked)) > 1
    assert {v.check for v in comparison.verdicts.verdicts if v.component == "portfolio_construction"} == {"confirmed"}
