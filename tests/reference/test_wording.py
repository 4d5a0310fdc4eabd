"""What the client says is understood: every conviction, sampled conversations, numbers, refusals, dates and pools."""

import json
from pathlib import Path

import parse
import pytest
import say

from generator.conditions import offline_conditions
from generator.task import generate
from records.session import AgentEvent, UserEvent
from records.strategy import Strategy
from simulator.user import UserSimulator
from simulator.view import build_view

ROOT = Path(__file__).resolve().parents[2]
CONVICTIONS = json.loads((ROOT / "generator" / "data" / "convictions.json").read_text())
AT = "2026-01-01T00:00:00Z"
EMPTY = {
    "combination": "none",
    "market_timing": "always_invested",
    "covariance": "none",
    "risk_control": "none",
    "execution": "next_open",
    "cost": "none",
}


def read(text: str) -> parse.Stated:
    stated = parse.Stated()
    parse.read_message(text, stated)
    return stated


def understood(stated: parse.Stated) -> dict[str, str]:
    found = {**EMPTY, **stated.options}
    if found.get("weighting") not in ("min_variance", "mean_variance", "risk_parity"):
        found["covariance"] = "none"
    return found


def meant(strategy: Strategy) -> dict[str, str]:
    options = strategy.belief.options
    return {
        "combination": options.combination or "none",
        "market_timing": options.market_timing,
        "weighting": options.weighting,
        "covariance": options.covariance,
        "risk_control": options.risk_control,
        "execution": options.execution,
        "cost": options.transaction_cost,
    }


@pytest.mark.parametrize("item", sorted(CONVICTIONS))
def test_every_conviction_states_its_option_and_number(item: str) -> None:
    screen = "keep the top half on 1-month reversal, rank the rest on max daily return"
    stated = read(CONVICTIONS[item]["text"].format(v=15, screen=screen) + ".")
    option = item.split("/")[1]
    factors = [name for name in stated.factors if option != "sequential_screen"]
    assert [*factors, *stated.options.values()] == [option]
    if item.count("/") == 2:
        assert list(stated.numbers.values()) == [15.0]


def test_sampled_users_answer_to_the_opening_questions_gives_their_whole_strategy() -> None:
    for seed in range(120):
        task, strategy = generate(seed, salt="reference-wording", conditions=offline_conditions())
        request = parse.request_of("Instructions: today is December 28, 2022.\n\n" + task.opening)
        scope = parse.read_scope(request)
        stated = read(request)
        asked = say.opening_questions(stated)
        events = [
            UserEvent(turn=0, text=task.opening, at=AT),
            AgentEvent(turn=1, text=asked, started_at=AT, ended_at=AT),
        ]
        decision = UserSimulator(task, strategy).reply(build_view(events, deliver=lambda _: ROOT / "nowhere")).decision
        parse.read_message(decision.message, stated)
        belief = strategy.belief
        assert set(stated.factors) == set(belief.options.factors), (seed, decision.message)
        if belief.options.combination == "sequential_screen":
            assert tuple(stated.factors) == belief.options.factors, (seed, decision.message)
        assert understood(stated) == meant(strategy), (seed, decision.message)
        for item in belief.items:
            if item.value is not None:
                assert stated.numbers[item.id.replace("/", ":")] == item.value, (seed, item.id, decision.message)
        assert parse.missing(stated) == [], seed
        assert (scope.start, scope.end, scope.limit) == ("2013-01-02", "2021-12-31", 10), seed
        assert scope.symbols == sorted(task.scope.symbols), seed


@pytest.mark.parametrize(
    "text",
    [
        "I don't use any moving average on the index.",
        "Nah, no stop on the portfolio as a whole.",
        "You put in equal weights, which isn't how I do it.",
        "No clue what a Ledoit thing is.",
        "Not the one-month losers, no.",
        "25 bps is what you wrote, and no, that isn't my number.",
        "No idea on covariance, you pick.",
    ],
)
def test_refused_or_open_choice_states_nothing(text: str) -> None:
    stated = read(text)
    assert stated.factors == []
    assert {option for option in stated.options.values() if option not in ("none", "always_invested")} == set()


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("Call it 0.15% per trade.", "transaction_cost:fixed_rate:rate_bps", 15.0),
        ("five basis points a trade, one way", "transaction_cost:fixed_rate:rate_bps", 5.0),
        ("I scale the portfolio to a volatility target of ten percent.", "risk_control:vol_target:target", 10.0),
        ("If it tanks 20% I'm out, all cash.", "risk_control:drawdown_stop:threshold", 20.0),
        ("A holding that's down 12% from where I bought it gets sold.", "risk_control:position_stop:threshold", 12.0),
        ("Be in only while the VIX is below 25.", "market_timing:vix_gate:threshold", 25.0),
        ("Only when SPY is above its 150-day moving average.", "market_timing:spy_sma:window", 150.0),
    ],
)
def test_number_beside_an_option_is_taken(text: str, key: str, value: float) -> None:
    assert read(text).numbers == {key: value}


def test_later_word_replaces_an_earlier_one() -> None:
    stated = read("Equal weight in each name.")
    changed = parse.read_message("No, that's not how I do it. Risk parity weights.", stated)
    assert stated.options["weighting"] == "risk_parity"
    assert changed == ["weighting"]
