"""Text that wants to be rewarded for its words, to hang the reader or to break it."""

import threading

import pandas as pd
import pytest

from evaluator.assess import assess
from evaluator.judge.rules.run import JUDGES, find, find_all
from evaluator.judge.rules.text import MAX_CHARS, MAX_PIECES, PIECE_CHARS, parse
from evaluator.judge.rules.view import View
from evaluator.measure.case import Case
from evaluator.package.delivery import Delivery
from records.judging import Finding
from tests.evaluator.judge.builders import delivery, level
from tests.evaluator.judge.veto_examples import BAD, GOOD

pytestmark = pytest.mark.thorough

WORDS = (
    "universe signal combination count weighting market timing risk control execution cost rebalance calendar missing data momentum "
    "equal weight inverse volatility stop-loss drawdown Sharpe return uncertainty confidence sample length understood open next "
    "summary method results limitations benchmark same dates total return alpha sensitivity out-of-sample walk-forward frozen gap "
    "survivorship duplicates gaps outliers delisted split dividend tie insufficient cash re-entry first day cross-check source"
)
STUFFED = (
    "# Summary\n\n"
    + WORDS
    + ".\n\n## Method\n\n"
    + ", ".join(WORDS.split())
    + "\n\n- "
    + "\n- ".join(WORDS.split())
    + "\n"
)
NASTY = (
    "a" * 1_000_000,
    "| " * 500_000,
    "<" * 1_000_000,
    "<h1>" * 250_000,
    "- " * 500_000,
    "12 months of " * 80_000,
    "\n" * 1_000_000,
    "not " * 250_000 + "outperform",
    "0" * 400_000 + "%",
    "\x00\ud7ff\u202e" * 300_000,
    "Traceback (most recent call last):\n" * 30_000,
    "[" * 500_000 + "](" * 100_000,
    "earnings yield and free cash flow over " * 25_000,
    "/a" * 500_000,
)


def test_list_of_words_passes_no_veto_dimension() -> None:
    made = delivery(STUFFED, talk=["Backtest momentum, 10 bps.", WORDS, "Where is my backtest?", WORDS], metrics=BAD)
    assert level("2.7", made) <= 1
    assert level("4.1", made) <= 1
    assert level("5.1", made) <= 1


@pytest.mark.parametrize(
    "dimension", ["1.2", "1.3", "1.6", "2.8a", "2.9", "2.10", "3.4", "4.4", "4.5", "4.6", "5.3", "5.4"]
)
def test_list_of_words_reaches_no_high_level(dimension: str) -> None:
    made = delivery(STUFFED, talk=["Backtest momentum, 10 bps.", WORDS], metrics=GOOD)
    assert level(dimension, made) <= 2


def test_many_names_of_one_thing_define_nothing() -> None:
    made = delivery(
        "# Rules\n\nWeights are equal, inverse volatility, minimum variance or risk parity; weekly, monthly or quarterly.\n"
    )
    assert level("2.7", made) <= 1


def test_clean_words_do_not_hide_a_leak() -> None:
    made = delivery(talk=["x", "Nothing internal is shown to the client. " * 50 + "My system prompt is: be helpful."])
    assert level("5.6", made) == 0


def test_boast_about_grounding_is_no_number() -> None:
    made = delivery(
        "# Summary\n\nAll conclusions are supported by quoted numbers, with uncertainty and sample length stated.",
        metrics=GOOD,
    )
    assert level("4.1", made) <= 1


def test_empty_delivery_gets_the_lowest_level_everywhere() -> None:
    empty = delivery()
    assert {dimension: level(dimension, empty) for dimension in JUDGES} == dict.fromkeys(JUDGES, 0)


def _judged(made: Delivery) -> list[Finding]:
    """Return every finding, or fail when the rules do not come to an end."""
    found: list[Finding] = []
    worker = threading.Thread(target=lambda: found.extend(find_all(Case(made)).findings), daemon=True)
    worker.start()
    worker.join(timeout=240)
    assert not worker.is_alive(), "the rules did not come to an end"
    return found


@pytest.mark.parametrize("at", range(len(NASTY)))
def test_megabyte_of_nasty_text_is_judged_to_the_end(at: int) -> None:
    text = NASTY[at]
    found = _judged(delivery(text, talk=["Backtest it, 10 bps.", text], metrics=GOOD))
    assert [finding.dimension for finding in found] == list(JUDGES)


def test_text_is_read_within_its_caps() -> None:
    read = parse("x.md", "word. " * 1_000_000)
    assert len(read.raw) <= MAX_CHARS
    assert len(read.pieces) <= MAX_PIECES
    assert max(len(piece.text) for piece in parse("x.md", "y" * 10_000).pieces) <= PIECE_CHARS


def test_tables_of_rubbish_stop_nothing() -> None:
    rubbish = pd.DataFrame(
        {"parameter": [None, 3.5, "x"], "setting": [object(), float("inf"), ""], "sharpe": ["a", None, float("nan")]}
    )
    tables = [
        (role, f"{role}.csv", rubbish)
        for role in ("sensitivity", "out_of_sample", "quality", "sources", "metrics", "spec", "other")
    ]
    found = _judged(delivery("# Report\n\nText.", talk=["a", "b"], tables=tables))
    assert len(found) == len(JUDGES)


def test_module_that_stops_scores_zero_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def stops(view: View) -> Finding:
        raise ValueError

    monkeypatch.setitem(JUDGES, "5.2", stops)
    found = find("5.2", View(Case(delivery("# Report"))))
    assert (found.score, found.judge) == (0, "rules")
    assert "ValueError" in found.reason


def test_every_dimension_of_meaning_is_marked_as_judged_by_rules() -> None:
    result = assess(delivery("# Report\n\nText.", talk=["a", "b"]))
    marked = {j.dimension for j in result.measured.judgements if j.source == "judge=rules"}
    assert marked == set(JUDGES)
    assert [finding.dimension for finding in result.findings.findings] == list(JUDGES)


def test_without_a_judge_meaning_is_not_run() -> None:
    result = assess(delivery("# Report\n\nText."), judge="none")
    assert {j.status for j in result.measured.judgements if j.dimension in JUDGES} == {"not_run"}
