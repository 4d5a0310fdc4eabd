"""The simulated user of one session: asks its back end, checks the decision, tries again, records."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Answered:
    """A decision with where it came from, for back ends that ask a model."""

    decision: Decision
    model: str | None = None
    """Id that the service reported; None without a model."""
    prompt_sha256: str | None = None
    asked_items: tuple[str, ...] | None = None
    """Q as the back end reads it, for audit beside the matcher's; None when it does not say."""


class Simulator(Protocol):
    """A back end: from what the user sees to what the user does."""

    @property
    def name(self) -> str:
        """Name of the back end, for the record."""
        ...

    def decide(self, view: View, *, rejected: Sequence[Rejection] = ()) -> Decision | Answered:
        """Return a decision; `rejected` holds the reasons against the tries before, oldest first.

        Raises: ValueError: the back end's answer was no decision, in words that repeat none of it; it counts as a
        rejected try. ModelError: its model did not answer at all.
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

        Raises: SimulatorError: no valid decision within `max_regenerations` further tries; the session is void. It
        names rules, not reasons, which may quote the strategy. ModelError: the back end's model did not answer.
        """
        situation = Situation(self._task, self._convictions, view, self._reader, default_lexicon())
        context = Context(view, tuple(self._convictions.items.values()), situation.stated, situation.raised)
        rejected: list[Rejection] = []
        for _ in range(1 + self._limits.max_regenerations):
            answered, found = self._try(view, context, rejected)
            rejected += found
            if answered is not None and not found:
                return DecisionRecord(
                    turn=situation.turn,
                    backend=self._backend.name,
                    decision=answered.decision,
                    raised=situation.raised,
                    undecided=(*situation.reading.undecided, *_disagreements(answered, situation.raised)),
                    rejected=tuple(rejection.rule for rejection in rejected),
                    model=answered.model,
                    prompt_sha256=answered.prompt_sha256,
                )
        rules = ", ".join(rejection.rule for rejection in rejected)
        raise SimulatorError(
            f"user back end '{self._backend.name}', turn {situation.turn}: expected a valid decision within "
            f"{self._limits.max_regenerations} regenerations, found none (rules broken: {rules}); the session is void and "
            "can be retried"
        )

    def _try(
        self, view: View, context: Context, rejected: Sequence[Rejection]
    ) -> tuple[Answered | None, list[Rejection]]:
        try:
            found = self._backend.decide(view, rejected=tuple(rejected))
        except ValueError as error:
            return None, [Rejection("V0", f"the answer was no decision: {error}")]
        answered = found if isinstance(found, Answered) else Answered(found)
        return answered, reject(answered.decision, context)


def _disagreements(answered: Answered, raised: Iterable[str]) -> tuple[str, ...]:
    """Return where the back end and the matcher differ on what was asked; the matcher's Q is what counts."""
    if answered.asked_items is None:
        return ()
    ours, theirs = set(raised), set(answered.asked_items)
    return (
        *(f"asked by the back end's reading only: {item_id}" for item_id in sorted(theirs - ours)),
        *(f"asked by the matcher's reading only: {item_id}" for item_id in sorted(ours - theirs)),
    )


def end_reason(decision: Decision) -> EndReason | None:
    """Return how a decision ends the session; None when it goes on."""
    if decision.action == "close":
        return EndReason.SATISFIED
    if decision.action == "block":
        return EndReason.AGENT_GAVE_UP if decision.block_reason == "agent_gave_up" else EndReason.USER_LEFT
    return None
