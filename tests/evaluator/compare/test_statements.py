"""S from the user's words: paraphrases, denials, quotes of the agent, chatter, and every sentence of the rules user."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.compare.statements import read_statements
from evaluator.package.delivery import Message
from generator import generate, offline_conditions
from records.strategy import Item
from simulator.voice import Voice
from tests.evaluator.compare.labelled import item_of

CASES = [
    json.loads(line)
    for path in sorted((Path(__file__).parents[1] / "cases").glob("user_sentences*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]


def stated(*messages: tuple[str, str], items: tuple[Item, ...]) -> frozenset[str]:
    said = tuple(Message(role, turn, text) for turn, (role, text) in enumerate(messages))
    return read_statements(said, items).stated


@pytest.mark.parametrize("case", CASES, ids=[case["user_message"][:50] for case in CASES])
def test_investor_sentence_states_exactly_its_items(case: dict[str, Any]) -> None:
    items = tuple(item_of(identity, case.get("values", {})) for identity in case["belief_items"])

    assert stated(("user", case["user_message"]), items=items) == set(case["stated"])


def test_bare_number_answers_the_question_before_it() -> None:
    items = (item_of("risk_control/drawdown_stop/threshold", {"risk_control/drawdown_stop/threshold": 0.2}),)

    assert stated(("agent", "At which drawdown do you exit?"), ("user", "20%."), items=items) == {items[0].id}
    assert stated(("agent", "Which universe?"), ("user", "20%."), items=items) == set()


def test_words_of_the_agent_state_nothing() -> None:
    items = (item_of("portfolio_construction/equal", {}),)

    assert stated(("agent", "I use equal weight in each name."), ("user", "Go on."), items=items) == set()


def test_denied_option_is_recorded_as_undecided() -> None:
    items = (item_of("portfolio_construction/equal", {}),)
    found = read_statements((Message("user", 0, "You put in equal weights, which isn't how I do it."),), items)

    assert found.stated == set()
    assert [(mention.item, mention.stance) for mention in found.undecided] == [(items[0].id, "negated")]


@pytest.mark.parametrize("seed", range(120))
def test_opening_states_exactly_the_opening_items(seed: int) -> None:
    task, strategy = generate(seed, conditions=offline_conditions(), salt=None if seed < 10 else "statements")

    assert stated(("user", task.opening), items=strategy.belief.items) == set(strategy.opening_items)


@pytest.mark.parametrize("seed", range(120))
def test_answer_states_its_item_and_no_other_outside_the_opening(seed: int) -> None:
    task, strategy = generate(seed, conditions=offline_conditions(), salt="answers")
    voice = Voice.of(task)
    for item in strategy.belief.items:
        found = stated(("user", voice.states(item, strategy.belief)), items=strategy.belief.items)
        # A level names its control in the same sentence: stating the value states the option.
        allowed = {*strategy.opening_items, item.id, item.id.rsplit("/", 1)[0] if item.param else item.id}

        assert item.id in found
        assert found <= allowed
