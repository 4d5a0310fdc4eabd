"""The embedded user: a deterministic disclosure automaton (evaluator.md 6.3). No model, no network, no hidden state."""

from collections.abc import Sequence

from records.decision import Action, BlockReason, Decision, Observation, View
from records.strategy import Strategy
from records.task import Task
from simulator.answer import Answer, answer
from simulator.belief import Convictions
from simulator.cues import announces_work
from simulator.deviations import Deviation
from simulator.lexicon import default_lexicon
from simulator.matcher import default_reader
from simulator.reading import MessageReader
from simulator.situation import Situation
from simulator.text import collapsed, units
from simulator.validator import Rejection
from simulator.voice import Voice, piece_name

VARIANTS = 8
"""Phrase choices tried before a message is marked as said again; five variants a phrase make the mark rare."""


class RulesBackend:
    """Decides by rules; the same view gives the same decision."""

    name = "rules"

    def __init__(self, task: Task, strategy: Strategy, *, reader: MessageReader | None = None) -> None:
        """Args: reader: None for the shipped matcher."""
        self._task = task
        self._convictions = Convictions(strategy)
        self._reader = reader or default_reader()
        self._voice = Voice.of(task)

    def decide(self, view: View, *, rejected: Sequence[Rejection] = ()) -> Decision:
        """Return the decision; `rejected` moves on to other variants of the same phrases."""
        situation = Situation(self._task, self._convictions, view, self._reader, default_lexicon())
        decision = self._decision(situation, situation.turn)
        for shift in range(len(rejected), len(rejected) + VARIANTS):
            decision = self._decision(situation, situation.turn + 100 * shift)
            if collapsed(decision.message) not in situation.said:
                return decision
        return decision.model_copy(update={"message": f"Again: {decision.message}"})

    def _decision(self, situation: Situation, turn: int) -> Decision:
        voice, standing = self._voice, situation.standing
        if situation.refuses:
            return _block(situation, "agent_gave_up", voice.says("gave_up", turn, avoid=situation.said))
        reply = answer(situation, voice, turn)
        off = situation.deviations
        if off:
            return _challenge(situation, voice, turn, reply, off)
        if standing.is_complete and not reply.objects and not reply.asked_new:
            closing = voice.says("close", turn, avoid=situation.said)
            said = reply.sentences if reply.items and not situation.reading.asked else ()
            return _decision(situation, "close", [*said, closing], items=reply.items if said else ())
        if reply:
            go = [] if standing.is_complete else [voice.says("go", turn)]
            return _decision(situation, "clarify", [*reply.sentences, *go], items=reply.items)
        return self._without_question(situation, turn)

    def _without_question(self, situation: Situation, turn: int) -> Decision:
        """Decide on a turn that raised nothing and is not finished."""
        voice = self._voice
        if situation.is_stalled:
            return _block(situation, "walked_away", voice.says("walk", turn, avoid=situation.said))
        if situation.reading.unclear and not situation.last.changed_files:
            return _decision(situation, "clarify", [voice.says("plainly", turn, avoid=situation.said)])
        return _decision(situation, "follow_up", _push(situation, voice, turn))


def _decision(
    situation: Situation,
    action: Action,
    sentences: Sequence[str],
    *,
    items: Sequence[str] = (),
    observations: tuple[Observation, ...] | None = None,
    reason: BlockReason | None = None,
) -> Decision:
    return Decision(
        action=action,
        observations=situation.standing.observations if observations is None else observations,
        stated_items=tuple(items),
        message=" ".join(sentences),
        block_reason=reason,
    )


def _challenge(situation: Situation, voice: Voice, turn: int, reply: Answer, off: Sequence[Deviation]) -> Decision:
    pieces = dict.fromkeys(piece_name(deviation.piece) for deviation in off)
    words = " and the ".join(pieces)
    named = voice.says("deviation", turn, avoid=situation.said, piece=words)
    files = tuple(dict.fromkeys(deviation.file_id for deviation in off))
    observations = tuple(
        Observation(goal=seen.goal, status="uncertain", evidence=files) if seen.goal == "backtest" else seen
        for seen in situation.standing.observations
    )
    return _decision(situation, "challenge", [named, *reply.sentences], items=reply.items, observations=observations)


def _block(situation: Situation, reason: BlockReason, message: str) -> Decision:
    """End without satisfaction; the agent's last messages are the evidence."""
    cited = tuple(message.id for message in situation.agent_messages[-2:])
    observations = tuple(
        seen
        if seen.status == "met"
        else Observation(goal=seen.goal, status="missing", evidence=(*seen.evidence, *cited))
        for seen in situation.standing.observations
    )
    return _decision(situation, "block", [message], observations=observations, reason=reason)


def _push(situation: Situation, voice: Voice, turn: int) -> list[str]:
    """Ask for the next thing that is missing: the run, its trades and prices, then numbers and report sections."""
    last, lacking = situation.last, situation.standing.lacking
    if last.cut:
        return [voice.says("cut", turn, avoid=situation.said)]
    if not situation.view.files:
        running = any(announces_work(unit.text) for unit in units(last.text))
        return [voice.says("wait" if running else "start", turn, avoid=situation.said)]
    missing = [
        voice.says(
            goal, turn, avoid=situation.said, **({"what": lacking[goal]} if goal in ("metrics_trace", "report") else {})
        )
        for goal in lacking
    ]
    return missing[:2]
