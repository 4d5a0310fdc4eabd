"""What the user tells: only what is asked about or proposed, with the exact numbers of the belief."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from generator import generate, live_conditions, offline_conditions
from simulator.mentions import mentioned
from simulator.validator import MAX_CHARS, forbidden_terms

from .conftest import CLEAN_DELIVERY, SIX_QUESTIONS, Talk

SEEDS = pytest.mark.parametrize(
    "seeds", [range(150), pytest.param(range(150, 1_000), marks=pytest.mark.slow)], ids=["150 tasks", "850 more"]
)
SILENT = ("Hello.", "I am loading the price data now.", "The index is built, 25 symbols have no gaps.", "Hello again.")
PROBES = (
    "How should the positions be sized?",
    "I'll put a 7% stop under every position and charge 3 bps per trade.",
    "Results so far: Sharpe 0.7, max drawdown -31.0%, 412 trades.",
    "Tell me everything about your strategy.",
    "Is there a market condition in which you go to cash?",
    "What rate of transaction cost, and when are trades filled?",
)


@SEEDS
def test_opening_states_exactly_the_opening_items_under_both_condition_sets(seeds: range) -> None:
    for seed in seeds:
        for conditions in (offline_conditions(), live_conditions()):
            task, strategy = generate(seed, conditions=conditions)

            assert mentioned(task.opening, strategy.belief.items).items == set(strategy.opening_items)
            assert forbidden_terms(task.opening.lower()) == []


@SEEDS
def test_agent_that_asks_about_all_six_components_is_told_every_item_in_one_reply(tmp_path: Path, seeds: range) -> None:
    for seed in seeds:
        talk = Talk(tmp_path, seed)

        record = talk.say(SIX_QUESTIONS)

        told = mentioned(record.decision.message, talk.strategy.belief.items)
        assert told.items == talk.items, seed
        assert told.wrong_numbers == ()
        assert set(record.decision.stated_items) == talk.items
        assert len(record.decision.message) <= MAX_CHARS
        assert record.rejected == ()
        assert record.decision.action == "clarify"
        assert re.search(r"(?i)\b(run|go|proceed)\b", record.decision.message.split(".")[-2])


@SEEDS
def test_silent_agent_is_told_nothing_beyond_the_opening(tmp_path: Path, seeds: range) -> None:
    for seed in seeds:
        talk = Talk(tmp_path, seed)
        for message in SILENT:
            record = talk.say(message)

            assert record.raised == ()
            assert record.decision.stated_items == ()
            assert mentioned(record.decision.message, talk.strategy.belief.items).items == frozenset()
            if record.decision.action == "block":
                break


@SEEDS
def test_user_never_volunteers_contradicts_repeats_or_is_rejected(tmp_path: Path, seeds: range) -> None:
    for seed in seeds:
        talk = Talk(tmp_path, seed)
        stated = set(talk.strategy.opening_items)
        for message in (PROBES * 2)[seed % 6 : seed % 6 + 5]:
            record = talk.say(message)
            told = mentioned(record.decision.message, talk.strategy.belief.items)

            assert told.items - stated <= set(record.raised), (seed, record.decision.message)
            assert told.wrong_numbers == ()
            assert record.rejected == ()
            assert forbidden_terms(record.decision.message.lower()) == []
            stated |= told.items
        texts = [record.decision.message for record in talk.records]
        assert len(set(texts)) == len(texts)


def test_same_conversation_gives_the_same_bytes_in_a_fresh_user(tmp_path: Path) -> None:
    for seed in range(0, 60, 3):
        first, again = Talk(tmp_path / "a", seed), Talk(tmp_path / "b", seed)
        for message in PROBES:
            assert first.say(message).to_json() == again.say(message).to_json()


def test_any_prefix_replayed_alone_gives_the_same_decision(talk: Callable[[int], Talk]) -> None:
    """The user keeps nothing between replies: what was stated is read off the conversation."""
    original = talk(2)
    for message in PROBES[:3]:
        original.say(message)
    late = Talk(original.folder, 2)
    late.events = original.events[:-2]
    late.records = original.records[:-1]

    assert late.say(PROBES[2]) == original.records[2]


@pytest.mark.parametrize(
    "message",
    [
        "Tell me everything about your strategy.",
        "Please describe the strategy in full.",
        "What else should I know?",
        "Could you share more details?",
        "The backtest finished: CAGR 11.2%, Sharpe 0.74, max drawdown -31.0%, 412 trades.",
        "The stop was triggered 14 times and the VIX filter kept us out for 212 days.",
        "Which benchmark do you want, how often should I rebalance and how many names should I hold?",
    ],
)
def test_general_questions_results_and_other_subjects_raise_nothing(message: str, talk: Callable[[int], Talk]) -> None:
    for seed in range(10):
        record = talk(seed).say(message)

        assert record.raised == ()
        assert record.decision.stated_items == ()


def test_question_that_names_no_decision_is_sent_back_and_is_no_stalling(talk: Callable[[int], Talk]) -> None:
    session = talk(1)
    actions = [
        session.say(text).decision.action
        for text in ("Could you tell me more about it?", "Could you elaborate?", "Can you explain what you mean?")
    ]

    assert actions == ["clarify"] * 3
    assert all(re.search(r"plain|deci|call|specific", record.decision.message) for record in session.records)


def test_value_asked_for_is_given_exactly_and_option_alone_without_its_number(talk: Callable[[int], Talk]) -> None:
    option_only = talk(3).say("Do you use any stop or drawdown rule?")
    with_value = Talk(talk(3).folder / "b", 3).say("At what drawdown do you go to cash?")

    assert option_only.decision.stated_items == ("risk_control/drawdown_stop",)
    assert "25" not in option_only.decision.message
    assert with_value.decision.stated_items == ("risk_control/drawdown_stop", "risk_control/drawdown_stop/threshold")
    assert "25%" in with_value.decision.message


def test_wrong_proposal_meets_an_objection_with_what_is_wanted(talk: Callable[[int], Talk]) -> None:
    """Seed 0: inverse volatility, next close, 5 bps."""
    session = talk(0)

    record = session.say("I'll weight the names equally and charge 20 bps per trade.")

    assert record.decision.stated_items == (
        "portfolio_construction/inverse_vol",
        "transaction_cost/fixed_rate/rate_bps",
    )
    assert "5 bps" in record.decision.message
    assert re.match(r"No|Nope|Hold on|That's not", record.decision.message)


def test_right_proposal_meets_agreement(talk: Callable[[int], Talk]) -> None:
    record = talk(0).say("I plan to use inverse volatility weights.")

    assert record.decision.stated_items == ("portfolio_construction/inverse_vol",)
    assert re.match(r"Yep|Yes|Sounds right|Exactly", record.decision.message)


def test_topic_without_conviction_is_answered_without_inventing_one(talk: Callable[[int], Talk]) -> None:
    """Seed 1 has no market timing, no risk control."""
    record = talk(1).say("Do you want any market timing, and is there a stop-loss?")

    assert record.raised == ()
    assert record.decision.stated_items == ()
    assert not re.search(r"\d", record.decision.message)


def test_dates_scope_and_holdings_are_answered_from_the_task(talk: Callable[[int], Talk]) -> None:
    record = talk(6).say(
        "Which period should the test cover, which names are in the universe and how many names do I hold?"
    )

    for part in ("2013", "2021", "AMD", "WMT", "10"):
        assert part in record.decision.message
    assert record.decision.stated_items == ()


def test_proposal_rows_of_a_delivered_specification_raise_their_topics(talk: Callable[[int], Talk]) -> None:
    """Seed 0 wants inverse volatility; the agent's own choice of equal weights is a proposal, its other rows are not."""
    spec = "component,parameter,value,source\nportfolio_construction,weighting,equal,own choice\nexecution,rule,next_open,user\n"

    record = talk(0).say("Files are attached.", {"specification.csv": spec})

    assert record.raised == ("portfolio_construction/inverse_vol",)
    assert record.decision.stated_items == ("portfolio_construction/inverse_vol",)


def test_answers_arrive_in_all_three_voices(talk: Callable[[int], Talk]) -> None:
    texts = {seed: talk(seed).say("How do you size positions?").decision.message for seed in (1, 2, 7)}

    assert "Equal weight in every name." in texts[1]
    assert "Risk parity: every holding contributes the same risk." in texts[2]
    assert "Cap-weighted: big pharma gets more than a micro name." in texts[7]


def test_told_user_goes_on_to_close_a_clean_delivery(talk: Callable[[int], Talk]) -> None:
    for seed in range(10):
        session = talk(seed)
        session.say(SIX_QUESTIONS)
        symbol = (session.task.scope.symbols or ("KO",))[0]
        files = {path: body.replace("KO", symbol) for path, body in CLEAN_DELIVERY.items()}

        record = session.say("The backtest is done; report.md, trades.csv and prices.csv are delivered.", files)

        assert record.decision.action == "close", record.decision.message
        assert "?" not in record.decision.message
