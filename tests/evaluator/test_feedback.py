from collections.abc import Callable
from typing import Any

import pytest

from evaluator.feedback import MASK, build, mask
from evaluator.score import grade
from records.grammar import OPTION_GROUPS, load_grammar
from records.session import EndReason
from tests.evaluator.deliveries import clean, strategy

pytestmark = pytest.mark.thorough


def feedback_of(result: Any) -> Any:
    measured, compared = result.measurement.measured, result.comparison.compared
    made = grade(
        measured,
        compared,
        end_reason=EndReason.SATISFIED,
        judge="none",
        user="rules",
        version="v",
        engine="process",
    )
    return build(measured, compared, made)


def test_data_and_strategy_speak_in_scores_only_except_strictness(graded: Callable[..., Any]) -> None:
    entries = {entry.dimension: entry for entry in feedback_of(graded(clean())).entries}

    assert len(entries) == 45
    assert entries["1.1"].reason != ""
    assert entries["1.4"].reason == ""
    assert entries["2.1"].reason == ""
    assert entries["2.12"].evidence == ()
    assert entries["3.7"].evidence != ()


def test_every_option_name_is_masked() -> None:
    grammar = load_grammar()
    options = [*grammar.factors, *(option for group in OPTION_GROUPS for option in grammar.group(group))]
    for name in {name for option in options for name in (option.id, option.label, *option.aliases)} - {"none"}:
        assert mask(f"own {name}: 3.") == f"own {MASK}: 3."
        assert mask(name.upper()) == MASK


def test_values_and_ordinary_words_are_not_masked() -> None:
    assert mask("within 20% of 10, none fails; unequalled") == "within 20% of 10, none fails; unequalled"


def test_two_beliefs_give_feedback_that_differs_in_strategy_scores_only(graded: Callable[..., Any]) -> None:
    first, second = graded(clean(), strategy()), graded(clean(), strategy(weighting="inverse_vol", rate_bps=20.0))
    one, other = feedback_of(first), feedback_of(second)
    moved = {a.dimension for a, b in zip(one.entries, other.entries, strict=True) if a != b}

    assert first.measurement.measured.to_json() == second.measurement.measured.to_json()
    assert moved == {"2.3", "2.6"}
    for a, b in zip(one.entries, other.entries, strict=True):
        assert a.model_copy(update={"score": None}) == b.model_copy(update={"score": None})
