"""The driver around a back end that can fail."""

from collections.abc import Callable, Sequence

import pytest

from records.decision import GOALS, Decision, Observation, View
from records.errors import SimulatorError
from records.limits import Limits
from simulator import UserSimulator
from simulator.validator import Rejection

from .conftest import Talk

GOOD = Decision(
    action="follow_up",
    observations=tuple(Observation(goal=goal, status="missing") for goal in GOALS),
    message="Please run it.",
)
BAD = GOOD.model_copy(update={"message": "The rubric says no."})


class Scripted:
    """A back end that gives its decisions one by one; None is an answer that is no decision."""

    name = "scripted"

    def __init__(self, *decisions: Decision | None) -> None:
        self.left = list(decisions)
        self.heard: list[tuple[str, ...]] = []

    def decide(self, view: View, *, rejected: Sequence[Rejection] = ()) -> Decision:
        self.heard.append(tuple(rejection.rule for rejection in rejected))
        decision = self.left.pop(0)
        if decision is None:
            raise ValueError("not JSON")
        return decision


def _with(talk: Callable[[int], Talk], backend: Scripted, limits: Limits | None = None) -> Talk:
    session = talk(1)
    session.user = UserSimulator(session.task, session.strategy, backend, limits or Limits())
    return session


def test_rejected_decision_is_made_again_with_the_reasons(talk: Callable[[int], Talk]) -> None:
    backend = Scripted(BAD, None, GOOD)

    record = _with(talk, backend).say("Hello.")

    assert record.decision == GOOD
    assert record.backend == "scripted"
    assert record.rejected == ("V5", "V0")
    assert backend.heard == [(), ("V5",), ("V5", "V0")]


def test_sixth_regeneration_may_still_pass(talk: Callable[[int], Talk]) -> None:
    assert _with(talk, Scripted(*[BAD] * 6, GOOD)).say("Hello.").decision == GOOD


def test_no_valid_decision_within_six_regenerations_is_a_simulator_error(talk: Callable[[int], Talk]) -> None:
    backend = Scripted(*[BAD] * 7, GOOD)

    with pytest.raises(SimulatorError, match=r"'scripted', turn 1: .* 6 regenerations") as caught:
        _with(talk, backend).say("Hello.")

    assert caught.value.retry
    assert len(backend.left) == 1


def test_limit_comes_from_limits(talk: Callable[[int], Talk]) -> None:
    with pytest.raises(SimulatorError):
        _with(talk, Scripted(BAD, GOOD), Limits(max_regenerations=0)).say("Hello.")
