"""Passages that leave a rule open, definitions that do not, and sweeping claims beside the tables that deny them."""

import pytest

from evaluator.judge.rules.schemes import CALENDARS, WEIGHTINGS
from evaluator.judge.rules.sweeping import Sheet, against_tables
from evaluator.judge.rules.text import parse
from evaluator.judge.rules.vagueness import open_passages


def kinds(sentence: str) -> set[str]:
    return {found.kind for found in open_passages(parse("report.md", sentence).pieces)}


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Positions are resized as needed.", "left to judgement"),
        ("The book stays in cash until conditions stabilise.", "left to judgement"),
        ("Missing prices are handled appropriately.", "a way that is not said"),
        ("Signals are blended with a slight tilt to value.", "a tilt without its size"),
        ("A position is closed after a severe decline.", "a trigger without its level"),
        ("Rebalanced monthly or whenever the ranking moves.", "two definitions"),
    ],
)
def test_open_wording_is_found_with_its_kind(sentence: str, kind: str) -> None:
    assert kinds(sentence) == {kind}


@pytest.mark.parametrize(
    "sentence",
    [
        "A name is sold at the next open once it closes 15 % below entry.",
        "Decisions are taken on the last session of each month.",
        "Names without 252 returns are left out.",
        "The book goes to cash when SPY closes below its 200-day average.",
    ],
)
def test_exact_wording_is_not_open(sentence: str) -> None:
    assert kinds(sentence) == set()


@pytest.mark.parametrize(
    ("words", "scheme"),
    [
        ("25 % of equity each", "equal"),
        ("one third of the account apiece", "equal"),
        ("equal dollar amounts", "equal"),
        ("3/6, 2/6, 1/6", "rank_weighted"),
        ("in proportion to market value, weights follow it: proportional to market value", "cap_weighted"),
        ("the inverse of its 63-day volatility", "inverse_vol"),
    ],
)
def test_weights_are_known_by_parts_words_and_formulas(words: str, scheme: str) -> None:
    assert [name for name, pattern in WEIGHTINGS.items() if pattern.search(words)] == [scheme]


@pytest.mark.parametrize(
    ("words", "calendar"),
    [
        ("last session of each ISO week", "weekly"),
        ("every Friday", "weekly"),
        ("month-end close", "monthly"),
        ("last session of March, June, September, December", "quarterly"),
        ("computed from daily returns", None),
    ],
)
def test_calendars_are_known_by_their_days(words: str, calendar: str | None) -> None:
    assert [name for name, pattern in CALENDARS.items() if pattern.search(words)] == ([calendar] if calendar else [])


YEARS = Sheet(("", "", ""), {"total_return": (0.1, -0.05, 0.2)}, by_period=True, raw=("year", "return"))
SETTINGS = Sheet(("", "", ""), {"cagr": (0.08, 0.02, 0.05)}, by_period=False, raw=("window", "cagr"))


@pytest.mark.parametrize(
    ("sentence", "is_denied"),
    [
        ("The strategy made money in every calendar year.", True),
        ("The strategy did not make money in every calendar year.", False),
        ("The result is robust to all parameter choices.", True),
        ("The result is not robust to the choice of window.", False),
        ("We ran the best of all settings tested.", True),
    ],
)
def test_sweeping_claim_is_held_against_the_table(sentence: str, is_denied: bool) -> None:
    (piece,) = parse("report.md", sentence).pieces

    assert bool(list(against_tables(piece, [YEARS, SETTINGS], {"cagr": 0.05}))) is is_denied
