"""Grades one delivery against beliefs that it does not follow."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from unittest.mock import patch

from evaluator.compare.fidelity import DIMENSION, ItemVerdict
from evaluator.compare.run import compare
from evaluator.measure.case import Case
from evaluator.measure.specification import delivered_spec
from evaluator.package.delivery import Delivery, Message
from records.strategy import Strategy
from tests.swap.beliefs import Swap

FALLS_BELOW = 2


@dataclass(frozen=True)
class Outcome:
    """What one swapped belief made of its component's score."""

    swap: Swap
    score: int | None
    verdicts: tuple[ItemVerdict, ...]
    unsaid: tuple[str, ...]
    """Items of the component that the user's rewritten words do not state; none, or the swap is void."""

    @property
    def is_caught(self) -> bool:
        """Whether the component fell."""
        return self.score is not None and self.score < FALLS_BELOW


def outcomes(delivery: Delivery, swaps: Iterable[Swap], *, prose_only: bool = False) -> Iterator[Outcome]:
    """Grade a delivery against each belief, the swapped component's items alone, all of them stated by the user.

    Args: prose_only: leave the specification tables out, so that words and tables have to tell.
    """
    if prose_only:
        delivery = replace(delivery, tables=tuple(table for table in delivery.tables if table.role != "spec"))
    spec = delivered_spec(delivery)
    case = Case(delivery)
    for swap in swaps:
        mine = tuple(item for item in swap.strategy.belief.items if item.component == swap.component)
        belief = swap.strategy.belief.model_copy(update={"items": mine})
        narrowed = swap.strategy.model_copy(update={"belief": belief})
        said = with_user_words(delivery, narrowed)
        # What is computed from the tables does not depend on the belief: once for all swaps.
        with patch("evaluator.compare.run.Case", return_value=case):
            found = compare(said, spec, narrowed)
        score = next(j.score for j in found.compared.judgements if j.dimension == DIMENSION[swap.component])
        unsaid = tuple(verdict.item for verdict in found.verdicts.verdicts if not verdict.stated)
        yield Outcome(swap, score, found.verdicts.verdicts, unsaid)


def with_user_words(delivery: Delivery, strategy: Strategy) -> Delivery:
    """Return the delivery after a conversation in which the user states every conviction; the agent's words stay."""
    told = ". ".join(
        f"I {item.text}" if item.text.split()[0] in _VERBS else item.text for item in strategy.belief.items
    )
    messages = tuple(
        message
        if message.role != "user"
        else Message("user", message.turn, told + "." if message.turn == 0 else "Go on.")
        for message in delivery.messages
    )
    return replace(delivery, messages=messages)


_VERBS = frozenset({"rank", "blend", "use", "cut", "scale", "trade", "charge", "estimate"})
