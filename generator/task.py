"""Seed to task: the public record for the agent's side and the sealed one, made together and split here."""

from generator.draw import draw
from generator.frozen import check_frozen
from generator.identity import nonce, task_id
from generator.items import voiced_items
from generator.opening import opening_message
from generator.scope import fill_scope
from records.errors import UsageError
from records.grammar import grammar_sha256, load_grammar
from records.strategy import Belief, Strategy
from records.task import Conditions, Task


def generate(
    seed: int, *, salt: str | None = None, conditions: Conditions, offline: bool | None = None
) -> tuple[Task, Strategy]:
    """Return one task and its sealed strategy; the same arguments give the same bytes.

    Args: salt: None for the released task set, whose seeds 0-9 are frozen. offline: whether the packaged data serves the
        task, which limits the holdings and is said in the opening; None takes a task without the web channel as offline.
    Raises: UsageError: a negative seed. GeneratorError: a frozen seed's content differs from the released one.
    """
    if seed < 0:
        raise UsageError(f"seed {seed}: expected 0 or more; frozen seeds are 0-9")
    grammar = load_grammar()
    used_salt = grammar.salt if salt is None else salt
    is_offline = "web" not in conditions.channels if offline is None else offline
    drawn = draw(grammar, salt=used_salt, seed=seed)
    scope = fill_scope(drawn, salt=used_salt, seed=seed, offline=is_offline)
    task = Task(
        id=task_id(salt=used_salt, seed=seed),
        persona=drawn.persona,
        scope=scope,
        opening=opening_message(drawn, scope=scope, conditions=conditions, offline=is_offline),
        conditions=conditions,
    )
    strategy = Strategy(
        task_id=task.id,
        seed=seed,
        salt=used_salt,
        grammar_sha256=grammar_sha256(),
        belief=Belief(options=drawn.options, values=drawn.values, items=voiced_items(grammar, drawn)),
        opening_items=tuple(item.id for item in drawn.opening),
        difficulty=drawn.difficulty,
        nonce=nonce(salt=used_salt, seed=seed),
    )
    if used_salt == grammar.salt:
        check_frozen(task, strategy)
    return task, strategy
