"""Asks a user back end again on a stored conversation and sets its decisions beside the stored ones. Alters nothing.

Each turn is asked on the conversation as it went, so both decisions stand on the same S; what differs is what either
would have added to it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from records.base import Record
from records.decision import GOALS, Action, Decision, DecisionRecord, Goal, View
from records.errors import SimulatorError, UsageError
from records.jsonl import read_lines
from records.limits import Limits
from records.paths import AttemptPaths
from records.session import AgentEvent, EndEvent, UserEvent
from records.strategy import Strategy
from records.task import Task
from runner.store import read_events
from simulator import UserSimulator, build_view
from simulator.mentions import mentioned


class Said(Record):
    """One decision as it is compared."""

    backend: str
    action: Action
    message: str
    items: tuple[str, ...]
    """Items that the message states, read off its text, in component order."""
    goals: dict[Goal, str]
    """Goal -> status."""
    rejected: tuple[str, ...] = ()
    """Rules that tries before it broke."""


class TurnReplay(Record):
    """One user turn, stored and replayed."""

    turn: int
    before: tuple[str, ...]
    """S before the turn."""
    stored: Said | None
    """None: no decision was stored, as in a session that is void from here."""
    replayed: Said | None
    failed: str | None = None
    """Why the back end reached no valid decision; None when it did."""

    @property
    def only_stored(self) -> tuple[str, ...]:
        """Items that the stored decision adds to S and the replayed one does not."""
        return self._added(self.stored, self.replayed)

    @property
    def only_replayed(self) -> tuple[str, ...]:
        """Items that the replayed decision adds to S and the stored one does not."""
        return self._added(self.replayed, self.stored)

    @property
    def other_goals(self) -> tuple[Goal, ...]:
        """Goals that the two see differently."""
        if self.stored is None or self.replayed is None:
            return ()
        return tuple(goal for goal in GOALS if self.stored.goals.get(goal) != self.replayed.goals.get(goal))

    @property
    def same_action(self) -> bool:
        """Whether both did the same."""
        return self.stored is not None and self.replayed is not None and self.stored.action == self.replayed.action

    def _added(self, one: Said | None, other: Said | None) -> tuple[str, ...]:
        known = {*self.before, *(other.items if other else ())}
        return tuple(item for item in (one.items if one else ()) if item not in known)


class Replay(Record):
    """A replayed session. It quotes the sealed strategy."""

    session: str
    user: str
    turns: tuple[TurnReplay, ...]

    @property
    def same_actions(self) -> int:
        """Turns with the same action."""
        return sum(turn.same_action for turn in self.turns)

    @property
    def differing_items(self) -> int:
        """Items that one of the two adds to S and the other does not, over all turns."""
        return sum(len(turn.only_stored) + len(turn.only_replayed) for turn in self.turns)


@dataclass(frozen=True)
class Stored:
    """What a replay reads of an attempt."""

    task: Task
    strategy: Strategy
    events: Sequence[UserEvent | AgentEvent]
    decisions: dict[int, DecisionRecord]


def read_stored(paths: AttemptPaths) -> Stored:
    """Return an attempt's conversation and its sealed half. Raises UsageError: the folder lacks them."""
    try:
        task = Task.model_validate_json(paths.task.read_bytes())
        strategy = Strategy.model_validate_json(paths.strategy.read_bytes())
        lines = read_lines(paths.decisions)
        decisions = {found.turn: found for found in map(DecisionRecord.model_validate_json, lines)}
        events = [event for event in read_events(paths) if not isinstance(event, EndEvent)]
    except (OSError, ValueError) as error:
        # The words of a validation error repeat what lies under sealed/.
        raise UsageError(
            f"'{paths.root}': expected a session with its sealed half as this version writes it, found "
            f"{type(error).__name__}; a replay needs public/ and sealed/"
        ) from None
    return Stored(task, strategy, events, decisions)


def replay(paths: AttemptPaths, stored: Stored, user: UserSimulator, *, name: str, limits: Limits) -> Replay:
    """Ask the back end on every turn that a user decided on. Raises ModelError: its model did not answer."""
    turns = tuple(_turn(stored, user, view, turn) for turn, view in _views(paths, stored, limits))
    return Replay(session=str(paths.root), user=name, turns=turns)


def _views(paths: AttemptPaths, stored: Stored, limits: Limits) -> Iterator[tuple[int, View]]:
    for place, event in enumerate(stored.events, start=1):
        if isinstance(event, AgentEvent) and event.failure is None:
            yield event.turn, build_view(stored.events[:place], deliver=paths.deliver, limits=limits)


def _turn(stored: Stored, user: UserSimulator, view: View, turn: int) -> TurnReplay:
    record = stored.decisions.get(turn)
    replayed, failed = None, None
    try:
        replayed = user.reply(view)
    except SimulatorError as error:
        failed = str(error)
    said = [message.text for message in view.messages if message.role == "user"][1:]
    told = set(stored.strategy.opening_items).union(*(_items(stored, text) for text in said))
    return TurnReplay(
        turn=turn,
        before=tuple(item.id for item in stored.strategy.belief.items if item.id in told),
        stored=_said(stored, record) if record else None,
        replayed=_said(stored, replayed) if replayed else None,
        failed=failed,
    )


def _said(stored: Stored, record: DecisionRecord) -> Said:
    decision: Decision = record.decision
    return Said(
        backend=record.backend,
        action=decision.action,
        message=decision.message,
        items=_items(stored, decision.message),
        goals={seen.goal: seen.status for seen in decision.observations},
        rejected=record.rejected,
    )


def _items(stored: Stored, text: str) -> tuple[str, ...]:
    items = stored.strategy.belief.items
    found = mentioned(text, items).items
    return tuple(item.id for item in items if item.id in found)
