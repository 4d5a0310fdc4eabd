"""A delivery that stops a check gains nothing by it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.measure import run, strictness
from evaluator.measure.case import Case
from evaluator.package.attempt import load_delivery
from evaluator.score import _veto
from records.grade import Judgement
from records.rubric import load_rubric
from tests.evaluator.deliveries import clean


@pytest.mark.parametrize("dimension", ["1.1", "3.3"])
def test_check_stopped_by_the_delivered_data_scores_zero(
    graded: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, dimension: str
) -> None:
    def stopped(_case: Case) -> Judgement:
        raise KeyError("hostile")

    monkeypatch.setitem(run._JUDGES, dimension, stopped)
    judged = graded(clean()).measurement.measured.judgements
    judgement = next(found for found in judged if found.dimension == dimension)
    assert (judgement.status, judgement.score, judgement.complete) == ("scored", 0, False)
    assert "KeyError" in judgement.reason
    rubric = load_rubric().dimension(dimension)
    assert rubric.veto_below is None or _veto(rubric, judgement) == "fail"


def test_unreadable_data_file_leaves_strictness_incomplete_and_is_named(tmp_path: Path) -> None:
    public = clean().write(tmp_path)
    assert strictness.judge(Case(load_delivery(public))).complete
    (public / "turns" / "1" / "deliver" / "late.parquet").write_bytes(b"no parquet at all")

    judgement = strictness.judge(Case(load_delivery(public)))
    assert not judgement.complete
    assert any("late.parquet" in line for line in judgement.evidence)
