"""The frozen seeds: their content is hashed once and refused when it has changed since."""

import json
from hashlib import sha256

from generator.wording import frozen_hashes
from records.errors import GeneratorError
from records.strategy import Strategy
from records.task import Task


def content_sha256(task: Task, strategy: Strategy) -> str:
    """Return the hash of what makes a task: who asks, for what, what is voiced and what the opening tells.

    Left out: the conditions, which a run may set, and cues and aliases, which serve the matchers and may grow.
    """
    belief = strategy.belief
    content = {
        "id": task.id,
        "persona": task.persona,
        "scope": task.scope.model_dump(exclude={"max_holdings"}),
        "options": belief.options.model_dump(),
        "values": belief.values,
        "items": [[item.id, item.text, item.value, item.unit] for item in belief.items],
        "opening_items": strategy.opening_items,
        "difficulty": strategy.difficulty,
        "nonce": strategy.nonce,
    }
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def check_frozen(task: Task, strategy: Strategy) -> None:
    """Compare a frozen task with its released hash.

    Raises: GeneratorError: the content of a frozen seed is no longer the released one.
    """
    released = frozen_hashes().get(str(strategy.seed))
    if released is None:
        return
    found = {"id": task.id, "sha256": content_sha256(task, strategy)}
    if found != released:
        raise GeneratorError(
            f"frozen seed {strategy.seed}: expected task {released['id']} with content {released['sha256'][:12]}, "
            f"found {found['id']} with {found['sha256'][:12]}; restore the grammar and texts of this release"
        )
