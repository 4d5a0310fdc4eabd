"""The simulated user of one session: asks its back end, checks the decision, tries again, records."""

from collections.abc import Sequence
from typing import Protocol

from records.decision import Decision, DecisionRecord, View
from records.errors import SimulatorError
from records.limits import DEFAULT_LIMITS, Limits
from records.session import EndReason
from records.strategy import Strategy
from records.task import Task
from simulator.belief import Convictions
from simulator.lexicon import default_lexicon
from simulator.matcher import default_reader
from simulator.reading import MessageReader
from simulator.rules import RulesBackend
from simulator.situation import Situation
from simulator.validator import Context, Rejection, reject


class Simulator(Protocol):
    """A back end: from what the user sees to what the user does."""

    @property
    def name(self) -> str:
        """Name of the back end, for the record."""
        ...

    def decide(self, view: View, *, rejected: Sequence[Rejection] = ()) -> Decision:
        """Return a decision; `rejected` holds the reasons against the tries before, oldest first.

        Raises: ValueError: the back end's answer was no decision; it counts as a rejected try.
        """
        ...


class UserSimulator:
    """One user. It keeps no state between replies: everything is replayed from the view."""

    def __init__(
        self,
        task: Task,
        strategy: Strategy,
        backend: Simulator | None = None,
        limits: Limits = DEFAULT_LIMITS,
        *,
        reader: MessageReader | None = None,
    ) -> None:
        """Args: backend: None for the embedded rules. reader: None for the shipped matcher."""
        self._task = task
        self._convictions = Convictions(strategy)
        self._reader = reader or default_reader()
        self._backend = backend or RulesBackend(task, strategy, reader=self._reader)
        self._limits = limits

    @property
    def opening(self) -> str:
        """u_0, the first message of the conversation."""
        return self._task.opening

    def reply(self, view: View) -> DecisionRecord:
        """Return the validated decision on the view's last agent message.

        Raises: SimulatorError: no valid decision within `max_regenerations` further tries; the session is void.
        """
        situation = Situation(self._task, self._convictions, view, self._reader, default_lexicon())
        context = Context(view, tuple(self._convictions.items.values()), situation.stated, situation.raised)
        rejected: list[Rejection] = []
        for _ in range(1 + self._limits.max_regenerations):
            decision, found = self._try(view, context, rejected)
            rejected += found
            if decision is not None and not found:
                return DecisionRecord(
                    turn=situation.turn,
                    backend=self._backend.name,
                    decision=decision,
                    raised=situation.raised,
                    undecided=situation.reading.undecided,
                    rejected=tuple(rejection.rule for rejection in rejected),
                )
        reasons = "; ".join(f"{rejection.rule} {rejection.reason}" for rejection in rejected[-3:])
        raise SimulatorError(
            f"user back end '{self._backend.name}', turn {situation.turn}: expected a valid decision within "
            f"{self._limits.max_regenerations} regenerations, found none (last: {reasons}); the session is void and can be retried"
        )

    def _try(
        self, view: View, context: Context, rejected: Sequence[Rejection]
    ) -> tuple[Decision | None, list[Rejection]]:
        try:
            decision = self._backend.decide(view, rejected=tuple(rejected))
        except ValueError as error:
            return None, [Rejection("V0", f"no decision: {type(error).__name__}")]
        return decision, reject(decision, context)


def end_reason(decision: Decision) -> EndReason | None:
    """Return how a decision ends the session; None when it goes on."""
    if decision.action == "close":
        return EndReason.SATISFIED
    if decision.action == "block":
        return EndReason.AGENT_GAVE_UP if decision.block_reason == "agent_gave_up" else EndReason.USER_LEFT
    return None
