from datetime import date

import pytest

from adapters.instruction import DATA_URL, Instruction, template, template_sha256

FORBIDDEN = (
    "point-in-time", "cutoff", "cut-off", "look-ahead", "lookahead", "rubric", "veto", "grader", "grade", "grading",
    "evaluator", "evaluate", "evaluation", "benchmark task", "ground truth", "score", "judge", "hidden", "strategy",
    "as an ai", "simulated", "simulator", "test condition", "pass", "fail", "accepted",
)  # fmt: skip
"""The personas' forbidden words (evaluator.md 6.4) and every word that speaks of grading."""


def filled(*, web: bool = False) -> str:
    return Instruction(today=date(2022, 12, 28), turn_limit_s=300, web=web).render()


@pytest.mark.parametrize("word", FORBIDDEN)
def test_instruction_has_not_a_word_on_grading(word: str) -> None:
    assert word not in filled().lower()
    assert word not in filled(web=True).lower()


def test_instruction_tells_workspace_delivery_time_tools_and_date() -> None:
    text = filled()

    assert "/workspace/deliver" in text
    assert "5 minutes" in text
    assert DATA_URL in text
    assert "Wednesday 2022-12-28" in text
    assert "no access to the open web" in text
    assert "{" not in text


@pytest.mark.parametrize(("seconds", "words"), [(60, "1 minute."), (90, "90 seconds."), (7.5, "7.5 seconds.")])
def test_time_limit_is_said_in_whole_minutes_or_seconds(seconds: float, words: str) -> None:
    assert words in Instruction(today=date(2022, 12, 28), turn_limit_s=seconds, web=True).render()


def test_hash_is_of_the_template_not_of_the_filled_text() -> None:
    assert len(template_sha256()) == 64
    assert "{today}" in template()
