"""What a view means to this user: replayed state S, what the last agent message raises, and whether work goes on.

Everything is derived from the view, so the same conversation gives the same situation in any process.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from records.decision import View, ViewMessage
from records.task import Task
from simulator import cues
from simulator.belief import Convictions
from simulator.deviations import Deviation, deviations, proposal_lines
from simulator.goals import Standing, observe
from simulator.items import raised_items
from simulator.lexicon import Lexicon
from simulator.mentions import mentioned
from simulator.reading import MessageReader, Reading
from simulator.text import collapsed, normalise, units


@dataclass(frozen=True)
class Situation:
    """One user turn to decide."""

    task: Task
    convictions: Convictions
    view: View
    reader: MessageReader
    lexicon: Lexicon

    @cached_property
    def agent_messages(self) -> tuple[ViewMessage, ...]:
        """The agent's messages, oldest first."""
        return tuple(message for message in self.view.messages if message.role == "agent")

    @property
    def last(self) -> ViewMessage:
        """The agent message to answer. Raises IndexError when the agent has not spoken."""
        return self.agent_messages[-1]

    @property
    def turn(self) -> int:
        """Number of the agent turn to answer, from 1."""
        return self.last.turn

    @cached_property
    def user_texts(self) -> tuple[str, ...]:
        """What the user said so far, the opening first."""
        return tuple(message.text for message in self.view.messages if message.role == "user")

    @cached_property
    def said(self) -> frozenset[str]:
        """The user's messages in the form in which repeats are found."""
        return frozenset(collapsed(text) for text in self.user_texts)

    @cached_property
    def stated(self) -> frozenset[str]:
        """S before this turn: the opening items and what the user's own words state."""
        found = set(self.convictions.strategy.opening_items)
        for text in self.user_texts[1:]:
            found |= mentioned(text, self.convictions.items.values()).items
        return frozenset(found)

    @cached_property
    def reading(self) -> Reading:
        """What the last message asks about and proposes, with the proposals in new specification files."""
        return self.reader.read(self.last.text)

    @cached_property
    def spec_reading(self) -> Reading:
        """What the proposal rows of specification tables delivered in this turn put forward."""
        lines = [
            line for file in self.view.files if file.turn == self.turn and file.text for line in proposal_lines(file)
        ]
        return self.reader.read("Assumptions:\n" + "\n".join(f"- {line}" for line in lines)) if lines else Reading()

    @cached_property
    def raised(self) -> tuple[str, ...]:
        """Q of this turn, in component order."""
        ids = self.convictions.ids
        found = {*raised_items(self.reading, ids), *raised_items(self.spec_reading, ids)}
        return tuple(item_id for item_id in ids if item_id in found)

    @cached_property
    def standing(self) -> Standing:
        """The four goals."""
        return observe(self.task, self.view)

    @cached_property
    def deviations(self) -> list[Deviation]:
        """Pieces of the delivery that differ from what was stated before this turn."""
        return deviations(self.convictions, self.stated, self.view, self.lexicon)

    @cached_property
    def refuses(self) -> bool:
        """Whether the agent refuses or gives up, asking for nothing and delivering nothing."""
        message = self.last
        open_question = self.raised or self.reading.subjects or self.reading.unclear
        return cues.refuses(normalise(message.text)) and not message.changed_files and not open_question

    def is_idle(self, message: ViewMessage) -> bool:
        """Return whether an agent turn brought nothing: no question to answer, no file, no announced step.

        A message the agent already sent is nothing new either. The turn after a cut is judged by its own message.
        """
        if message.changed_files:
            return False
        if _is_repeat(message, self.agent_messages):
            return True
        reading = self.reader.read(message.text)
        if raised_items(reading, self.convictions.ids) or reading.asked or reading.subjects or reading.unclear:
            return False
        return not any(cues.announces_work(unit.text) for unit in units(message.text))

    @cached_property
    def is_stalled(self) -> bool:
        """Whether the agent's last two turns were idle, one cut turn alone not counting."""
        if len(self.agent_messages) < 2:
            return False
        before, last = self.agent_messages[-2:]
        if last.cut and not before.cut:
            return False
        return self.is_idle(before) and self.is_idle(last)


def _is_repeat(message: ViewMessage, messages: Sequence[ViewMessage]) -> bool:
    earlier = {collapsed(other.text) for other in messages if other.turn < message.turn}
    return collapsed(message.text) in earlier
