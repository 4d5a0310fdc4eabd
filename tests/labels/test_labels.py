"""The labelled sets are whole, and the rules agree with them no less than when they first met them.

The floors stand a little under the last measured figures (docs/judges.md). Even lines were read while the rules were
mended, odd lines were not: only the floors of the held-out half say something about cases the rules were not made from.
"""

from collections import Counter

import pytest

from records.grammar import load_grammar
from tests.labels.agreement import (
    DIMENSIONS,
    HALVES,
    LEVELS,
    MEANING,
    SENTENCES,
    Half,
    agreement,
    by_dimension,
    cases,
    graded,
    half_of,
    items_of,
    option_of,
    param_of,
    precision_recall,
    read_sentences,
    rows,
    sentences,
)

pytestmark = pytest.mark.thorough

WEIGHTED_KAPPA: dict[Half, dict[str, float]] = {
    "tuned": dict.fromkeys(DIMENSIONS, 0.95),
    "held out": {"2.7": 0.68, "4.1": 0.88, "5.1": 0.73, "5.6": 0.95},
}
PRECISION = 0.95
RECALL: dict[Half, float] = {"tuned": 0.95, "held out": 0.82}


def test_every_case_has_the_fields_of_a_case() -> None:
    for row in rows(MEANING):
        assert set(row) == {"id", "dimension", "label", "why", "messages", "files"}
        assert row["dimension"] in DIMENSIONS
        assert row["label"] in LEVELS
        assert f"(anchor {row['label']})" in row["why"]
        assert row["messages"]
        assert all(len(pair) == 2 and all(text.strip() for text in pair) for pair in row["messages"])
        assert all(name and not name.startswith("/") and ".." not in name for name in row["files"])
        assert all(isinstance(text, str) and text for text in row["files"].values())


def test_case_ids_and_conversations_are_unique() -> None:
    assert len({case.id for case in cases()}) == len(cases())
    assert len({(case.messages, tuple(case.files.items())) for case in cases()}) == len(cases())


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_every_level_is_labelled_three_times(dimension: str) -> None:
    count = Counter(case.label for case in cases() if case.dimension == dimension)
    assert count.total() >= 18
    assert min(count[level] for level in LEVELS) >= 3


def test_sentences_state_items_of_their_belief_and_of_the_grammar() -> None:
    grammar = load_grammar()
    for row in rows(SENTENCES):
        assert set(row) == {"user_message", "belief_items", "stated", "values"}
        assert row["user_message"].strip()
        assert set(row["stated"]) <= set(row["belief_items"])
        assert set(row["values"]) == {name for name in row["belief_items"] if name.count("/") == 2}
        for name in row["belief_items"]:
            component, option, *param = name.split("/")
            found = option_of(grammar, component, option)
            assert not param or param_of(found, param[0]).voiced


def test_sentences_are_many_over_many_beliefs_and_all_components() -> None:
    assert len({sentence.user_message for sentence in sentences()}) == len(sentences()) >= 60
    assert len({sentence.belief_items for sentence in sentences()}) >= 8
    stated = {name.split("/")[0] for sentence in sentences() for name in sentence.stated}
    assert stated == {item.component for sentence in sentences() for item in items_of(sentence)}
    assert len(stated) == 6
    assert sum(not sentence.stated for sentence in sentences()) >= 10


def test_a_perfect_rater_has_kappa_one_and_an_opposite_one_none() -> None:
    same = agreement([(level, level) for level in LEVELS])
    opposite = agreement([(level, 4 - level) for level in LEVELS])
    assert (same.exact, same.veto, same.kappa, same.weighted) == (1, 1, 1, 1)
    assert opposite.weighted == pytest.approx(-1)
    assert opposite.confusion.sum() == 5


@pytest.mark.parametrize("half", HALVES)
def test_the_rules_agree_with_the_labels_as_they_last_did(half: Half) -> None:
    assert all(one.score is not None for one in graded())
    found = {dimension: one.weighted for dimension, one in by_dimension(half_of(graded(), half)).items()}
    assert {name: figure for name, figure in found.items() if figure < WEIGHTED_KAPPA[half][name]} == {}


@pytest.mark.parametrize("half", HALVES)
def test_the_reader_of_statements_is_as_good_as_it_last_was(half: Half) -> None:
    precision, recall = precision_recall(half_of(read_sentences(), half))
    assert precision >= PRECISION
    assert recall >= RECALL[half]
