"""One delivery graded against several beliefs: feedback differs in the scores that architecture section 4 names alone."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from evaluator.assess import assess
from evaluator.compare.run import compare
from evaluator.feedback import build
from evaluator.measure.case import Case
from evaluator.measure.run import measure
from evaluator.package.attempt import load_delivery
from evaluator.score import grade
from evaluator.trajectory import trajectory
from evaluator.turns import joined
from generator.task import generate
from records.grade import Feedback
from records.rubric import load_rubric
from records.session import EndReason
from records.strategy import Strategy
from records.task import Conditions
from records.turns import Turns
from tests.evaluator.deliveries import T_CUT, strategy
from tests.evaluator.varied import DELIVERIES

pytestmark = pytest.mark.thorough

CONDITIONS = Conditions.model_validate({"t_cut": T_CUT, "start_hint": "2015-01-02", "channels": ["fmp-mcp"]})
BELIEF_DIMENSIONS = ("2.1", "2.2", "2.3", "2.4", "2.5", "2.6")
MAY_DIFFER = {dimension.id for dimension in load_rubric().dimensions if dimension.category in ("data", "strategy")}
FIRST = dict(list(DELIVERIES.items())[:10])
REST = dict(list(DELIVERIES.items())[10:])


@cache
def beliefs() -> tuple[Strategy, ...]:
    """The one that the clean delivery follows, and four of the grammar."""
    drawn = (generate(seed, salt="non-interference", conditions=CONDITIONS)[1] for seed in range(4))
    return (strategy(), *drawn)


def graded(public: Path, *, every_turn: bool = True) -> list[tuple[Feedback, Turns]]:
    """Measure once, without any belief; compare, score and write feedback for each belief."""
    delivery = load_delivery(public)
    numbers = [turn.turn for turn in delivery.turns][0 if every_turn else -1 :]
    measured = assess(delivery, judge="rules").measured
    spec = Case(delivery).spec
    turns = trajectory(public, numbers, measured.judgements, lambda earlier: measure(earlier).measured.judgements)
    measured = measured.model_copy(update={"turns": turns})
    found = []
    for belief in beliefs():
        compared = compare(delivery, spec, belief).compared
        turns = trajectory(
            public,
            numbers,
            compared.judgements,
            lambda earlier, belief=belief: compare(earlier, Case(earlier).spec, belief).compared.judgements,
        )
        compared = compared.model_copy(update={"turns": turns})
        made = grade(
            measured,
            compared,
            end_reason=EndReason.SATISFIED,
            judge="rules",
            user="rules",
            version="v",
            engine="process",
        )
        found.append((build(measured, compared, made), joined(measured, compared)))
    return found


def hidden(feedback: Feedback) -> bytes:
    """The feedback's bytes without what may differ: Q, score, acceptance, and scores of data and strategy."""
    shown: dict[str, Any] = json.loads(feedback.to_json())
    for name in ("quality", "score", "accepted"):
        del shown[name]
    for entry in shown["entries"]:
        if entry["dimension"] in MAY_DIFFER:
            del entry["score"]
        if entry["dimension"] in BELIEF_DIMENSIONS:
            # Whether a component is part of the belief shows in the score already: it has none then.
            del entry["status"]
    for turn in shown["turns"]:
        turn["scores"] = {name: score for name, score in turn["scores"].items() if name not in MAY_DIFFER}
        turn["failed_vetoes"] = [name for name in turn["failed_vetoes"] if name not in MAY_DIFFER]
    return json.dumps(shown, ensure_ascii=False).encode("utf-8", "surrogatepass")


def check(public: Path, *, every_turn: bool = True) -> None:
    found = graded(public, every_turn=every_turn)
    first, first_turns = found[0]
    for feedback, turns in found[1:]:
        assert hidden(feedback) == hidden(first)
        for one, other in zip(turns.turns, first_turns.turns, strict=True):
            assert one.turn == other.turn
            moved = {name for name in one.scores | other.scores if one.scores.get(name) != other.scores.get(name)}
            assert moved <= set(BELIEF_DIMENSIONS)
            assert set(one.failed_vetoes) ^ set(other.failed_vetoes) <= set(BELIEF_DIMENSIONS)
    for feedback, turns in found:
        assert feedback.turns == turns.turns
        for entry in feedback.entries:
            if entry.dimension in MAY_DIFFER and entry.dimension != "1.1":
                assert (entry.reason, entry.evidence) == ("", ())
    text = b"".join(hidden(feedback) for feedback, _ in found).decode("utf-8", "replace")
    assert not any(belief.nonce in text for belief in beliefs() if len(belief.nonce) > 8)


@pytest.mark.parametrize("name", FIRST)
def test_first_ten_deliveries_against_five_beliefs(name: str, tmp_path: Path) -> None:
    check(FIRST[name](tmp_path), every_turn=name == "another weighting")


@pytest.mark.slow
@pytest.mark.parametrize("name", REST)
def test_other_forty_deliveries_against_five_beliefs(name: str, tmp_path: Path) -> None:
    check(REST[name](tmp_path))


def test_deliveries_are_fifty_and_the_beliefs_tell_them_apart(tmp_path: Path) -> None:
    assert len(DELIVERIES) == 50
    scores = {
        tuple(entry.score for entry in feedback.entries if entry.dimension in BELIEF_DIMENSIONS)
        for feedback, _ in graded(DELIVERIES["fills alone"](tmp_path), every_turn=False)
    }
    assert len(scores) > 1
