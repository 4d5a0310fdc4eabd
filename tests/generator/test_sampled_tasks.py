import json
import statistics

import pytest

from generator import generate, live_conditions, offline_conditions
from generator.coherence import is_coherent
from generator.draw import NEEDS_EARNINGS
from generator.scope import OFFLINE_SYMBOLS
from generator.wording import convictions
from records.errors import UsageError
from records.strategy import Strategy
from records.task import Conditions, Task

N = 1500
FORBIDDEN = (
    "point-in-time",
    "cutoff",
    "look-ahead",
    "rubric",
    "veto",
    "grader",
    "evaluator",
    "ground truth",
    "as an ai",
)


def _tasks(conditions: Conditions) -> list[tuple[Task, Strategy]]:
    return [generate(seed, conditions=conditions) for seed in range(N)]


OFFLINE = _tasks(offline_conditions())
LIVE = _tasks(live_conditions())


def test_sampled_strategies_are_coherent_and_voice_enough() -> None:
    for _, strategy in OFFLINE:
        options = strategy.belief.options.model_dump(exclude={"transaction_cost", "factors"})

        assert is_coherent(strategy.belief.options.factors, **options)
        assert 4 <= len(strategy.belief.items) <= 11
        assert 2 <= len(strategy.opening_items) <= len(strategy.belief.items) - 2
        assert set(strategy.opening_items) <= {item.id for item in strategy.belief.items}


def test_sample_has_the_published_averages() -> None:
    """20,000 draws of the prototype gave 6.67, 3.29 and 10.3 (evaluator.md 1.3); 1,500 vary by less than .3."""
    assert statistics.mean(len(s.belief.items) for _, s in OFFLINE) == pytest.approx(6.67, abs=0.15)
    assert statistics.mean(len(s.opening_items) for _, s in OFFLINE) == pytest.approx(3.29, abs=0.1)
    assert statistics.mean(s.difficulty for _, s in OFFLINE) == pytest.approx(10.3, abs=0.3)


def test_same_seed_gives_the_same_bytes_and_another_salt_another_task() -> None:
    for seed in (0, 17, 900):
        first = generate(seed, conditions=offline_conditions())
        again = generate(seed, conditions=offline_conditions())
        private = generate(seed, salt="our-own", conditions=offline_conditions())

        assert [record.to_json() for record in first] == [record.to_json() for record in again]
        assert private[0].id != first[0].id
        assert private[1].nonce != first[1].nonce


def test_ids_are_words_without_collision_and_nonces_differ() -> None:
    assert len({task.id for task, _ in OFFLINE}) == N
    assert len({strategy.nonce for _, strategy in OFFLINE}) == N
    for task, strategy in OFFLINE:
        assert [part.isalpha() for part in task.id.split("-")] == [True] * 4
        assert strategy.task_id == task.id


def test_public_record_tells_no_seed_salt_nonce_item_or_difficulty() -> None:
    for task, strategy in OFFLINE:
        text = task.to_json()

        assert strategy.nonce not in text
        assert strategy.salt not in text
        assert not [item.id for item in strategy.belief.items if item.id in text]
        assert set(json.loads(text)) == {"schema_version", "id", "persona", "scope", "opening", "conditions"}


def test_opening_says_both_dates_and_no_forbidden_term() -> None:
    for tasks, start, end in (
        (OFFLINE, "January 2, 2013", "December 31, 2021"),
        (LIVE, "January 4, 2016", "December 31, 2025"),
    ):
        for task, _ in tasks:
            assert start in task.opening
            assert end in task.opening
            assert not [term for term in FORBIDDEN if term in task.opening.lower()]
            assert len(task.opening) < 1_200


def test_offline_task_holds_at_most_ten_and_says_so_live_has_no_limit() -> None:
    for (offline, _), (live, _) in zip(OFFLINE, LIVE, strict=True):
        assert offline.scope.max_holdings == 10
        assert " 10 " in offline.opening
        assert ("25 US names" in offline.opening) == (offline.scope.kind != "basket")
        assert live.scope.max_holdings is None
        assert "25 US names" not in live.opening


def test_basket_names_ten_to_twentyfive_stocks_of_the_offline_data() -> None:
    sizes = set()
    for task, _ in OFFLINE:
        if task.scope.kind == "basket":
            sizes.add(len(task.scope.symbols))
            assert set(task.scope.symbols) <= set(OFFLINE_SYMBOLS)
            assert all(symbol in task.opening for symbol in task.scope.symbols)
        else:
            assert task.scope.symbols == ()

    assert sizes == set(range(10, 26))


def test_pairing_rules_of_personas_and_scopes_hold() -> None:
    for task, strategy in OFFLINE:
        factors = set(strategy.belief.options.factors)
        if task.persona == "biotech_specialist":
            assert not factors & NEEDS_EARNINGS
            assert task.scope.kind != "market"
            assert task.scope.sector in (None, "Health Care")
        if task.scope.kind == "basket":
            assert "small_cap" not in factors
        if "gross_profitability" in factors:
            assert task.scope.sector != "Financials"


def test_every_value_item_says_its_exact_number() -> None:
    for _, strategy in OFFLINE:
        for item in strategy.belief.items:
            key = f"{item.option}.{item.param}"
            assert (item.value is None) == (item.param is None)
            if item.value is not None:
                assert item.value == strategy.belief.values[key]
                assert f"{item.value:g}" in item.text
            assert "{" not in item.text
            assert len(item.text) <= 130


def test_conviction_names_the_drawdown_in_plain_language() -> None:
    texts = {
        item.text for _, s in OFFLINE for item in s.belief.items if item.id == "risk_control/drawdown_stop/threshold"
    }

    assert texts == {f"cut to cash if the drawdown reaches {v}%" for v in (10, 15, 20, 25)}


def test_sequential_screen_names_the_factors_in_the_order_drawn() -> None:
    found = [s for _, s in OFFLINE if s.belief.options.combination == "sequential_screen"]

    assert found
    for strategy in found:
        text = next(item.text for item in strategy.belief.items if item.option == "sequential_screen")
        labels = [convictions()[f"stock_selection/{name}"]["short"] for name in strategy.belief.options.factors]
        places = [text.index(label) for label in labels]
        assert places == sorted(places)


def test_explicit_offline_wins_over_the_channels() -> None:
    task, _ = generate(5, conditions=live_conditions(), offline=True)

    assert task.scope.max_holdings == 10


def test_negative_seed_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="seed -1: expected 0 or more"):
        generate(-1, conditions=offline_conditions())
