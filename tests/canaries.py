"""The canaries of one session: what must be found nowhere but on the sealed side."""

from collections.abc import Iterable

from records.strategy import Item, Strategy
from records.task import Task
from runner.attempt import Attempt
from simulator.voice import Voice
from tests.live import KEY


def canaries(attempt: Attempt, strategy: Strategy, *, asked: bool) -> dict[str, str]:
    """Return what must be found nowhere. A user who is asked says every conviction; one who is not, only the opening."""
    items = strategy.belief.items if asked else unstated(strategy)
    found = {
        "nonce": strategy.nonce,
        "salt": strategy.salt,
        "key": KEY,
        "sealed folder": str(attempt.paths.sealed),
        **{f"id {item.id}": item.id for item in items},
    }
    if not asked:
        found |= {"seed": f"seed {strategy.seed}", **said(attempt.task, strategy, items)}
    return found


def said(task: Task, strategy: Strategy, items: Iterable[Item]) -> dict[str, str]:
    """Return convictions with their numbers, as the strategy words them and as the user does."""
    voice = Voice.of(task)
    return {
        name: text
        for item in items
        for name, text in (
            (f"conviction {item.id}", item.text),
            (f"voiced {item.id}", voice.states(item, strategy.belief).rstrip(".")),
        )
    }


def unstated(strategy: Strategy) -> list[Item]:
    """Return the items that the opening does not hold."""
    return [item for item in strategy.belief.items if item.id not in strategy.opening_items]
