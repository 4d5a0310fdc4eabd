import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.errors import UsageError
from runner.plan import build_plan, parse_agents, parse_seeds

KNOWN = ("reference", "null")


def test_ranges_and_lists_of_seeds_keep_their_order_and_count_once() -> None:
    assert parse_seeds("8-9, 1,6,8") == (8, 9, 1, 6)


@pytest.mark.parametrize("text", ["", "a", "1-", "-3", "1,,2", "9-0", "0-99999999999", "1.5", "٣-"])
def test_seeds_that_are_no_range_are_refused_with_what_was_found(text: str) -> None:
    with pytest.raises(UsageError, match="--seeds"):
        parse_seeds(text)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=30))
def test_any_list_of_seeds_reads_back(seeds: list[int]) -> None:
    assert parse_seeds(",".join(map(str, seeds))) == tuple(dict.fromkeys(seeds))


def test_controls_stand_for_reference_and_null() -> None:
    assert parse_agents("controls,null", KNOWN) == ("reference", "null")


def test_unknown_agent_is_named_beside_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no agent 'gpt'; known: null, reference"):
        parse_agents("null,gpt", KNOWN)


def test_all_is_told_what_it_will_mean() -> None:
    with pytest.raises(
        UsageError, match=r"'all' means the five agents of the paper, which .* not have yet; known: null, reference"
    ):
        parse_agents("all", KNOWN)


def test_plan_lets_agents_meet_each_task_side_by_side() -> None:
    cells = build_plan(("reference", "null"), (1, 6), 2)

    assert [(cell.repeat, cell.seed, cell.agent) for cell in cells[:4]] == [
        (1, 1, "reference"), (1, 1, "null"), (1, 6, "reference"), (1, 6, "null"),
    ]  # fmt: skip
    assert len(cells) == 8
