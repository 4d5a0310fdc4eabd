"""Every rule of evaluator.md 6.5 breaks for its own reason, and only then."""

from typing import Any

import pytest

from generator import generate, offline_conditions
from records.decision import GOALS, Decision, Observation, View, ViewFile, ViewMessage
from simulator.validator import Context, reject

TASK, STRATEGY = generate(3, conditions=offline_conditions())
VIEW = View(
    messages=(
        ViewMessage(id="m1", role="user", turn=0, text=TASK.opening),
        ViewMessage(id="m2", role="agent", turn=1, text="Done."),
    ),
    files=(ViewFile(id="f1", path="report.md", turn=1, text="# Summary"),),
)
CONTEXT = Context(
    view=VIEW,
    items=STRATEGY.belief.items,
    stated=frozenset(STRATEGY.opening_items),
    raised=("risk_control/drawdown_stop",),
)
MET = tuple(Observation(goal=goal, status="met", evidence=("f1",)) for goal in GOALS)
OPEN = tuple(Observation(goal=goal, status="missing", evidence=("m2",)) for goal in GOALS)


def _decision(**changes: Any) -> Decision:
    return Decision(**{"action": "follow_up", "observations": OPEN, "message": "Where is the trade list?"} | changes)


@pytest.mark.parametrize(
    "decision",
    [
        _decision(),
        _decision(action="close", observations=MET, message="Thanks, that covers it."),
        _decision(action="block", block_reason="walked_away", message="I leave it at that."),
        _decision(action="challenge", message="The position sizing isn't what I said."),
        _decision(action="clarify", message="A drawdown stop on the whole book."),
        _decision(message="I like 1.5 and 2.7 as numbers, and about 20 names."),
    ],
)
def test_sound_decision_passes(decision: Decision) -> None:
    assert reject(decision, CONTEXT) == []


@pytest.mark.parametrize(
    ("rule", "decision"),
    [
        ("V1", _decision(observations=OPEN[:3])),
        ("V1", _decision(observations=(*OPEN, OPEN[0]))),
        ("V2", _decision(observations=(Observation(goal="backtest", status="met"), *OPEN[1:]))),
        ("V2", _decision(observations=(Observation(goal="backtest", status="met", evidence=("f9",)), *OPEN[1:]))),
        ("V2", _decision(observations=(Observation(goal="backtest", status="met", evidence=("m1",)), *OPEN[1:]))),
        ("V3", _decision(action="close", message="Thanks.")),
        (
            "V3",
            _decision(
                action="close", message="Thanks.", observations=(Observation(goal="backtest", status="na"), *MET[1:])
            ),
        ),
        ("V4", _decision(action="challenge", observations=tuple(o.model_copy(update={"evidence": ()}) for o in OPEN))),
        ("V4", _decision(action="block", message="Bye.")),
        ("V4", _decision(block_reason="walked_away")),
        ("V5", _decision(message="Your rubric score is low.")),
        ("V5", _decision(message="This fails the look-ahead test.")),
        ("V5", _decision(message="See strategy.json.")),
        ("V5", _decision(message="2.7 is failing here.")),
        ("V5", _decision(message="s_j is low.")),
        ("V5", _decision(message="I mean risk_control/drawdown_stop.")),
        ("V5", _decision(message='{"action": "close"}')),
        ("V6", _decision(action="close", observations=MET, message="Thanks, could you add a chart?")),
        ("V6", _decision(action="close", observations=MET, message="Thanks. Please add a chart.")),
        ("V7", _decision(message=TASK.opening.upper() + "!!")),
        ("V8", _decision(message="  ")),
        ("V8", _decision(message="word " * 300)),
        ("V8", _decision(message="| a | b |\n| - | - |\n| 1 | 2 |")),
        ("V9", _decision(message="Costs are 15 bps per trade.")),
        ("V9", _decision(message="Blend them by average rank.")),
        ("V9", _decision(message="A drawdown stop at 25%.")),
        ("V9", _decision(message="A drawdown stop at 10%.")),
        ("V10", _decision(message="Let me lock a few things first.")),
        ("V10", _decision(message="As an AI I cannot say.")),
    ],
)
def test_unsound_decision_is_rejected_by_its_rule(rule: str, decision: Decision) -> None:
    assert rule in {rejection.rule for rejection in reject(decision, CONTEXT)}
