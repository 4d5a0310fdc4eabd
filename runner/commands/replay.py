"""runner replay: what a user back end would have said in a stored conversation, beside what was said."""

import os
from contextlib import ExitStack
from pathlib import Path

import click

from records.errors import UsageError
from records.limits import DEFAULT_LIMITS
from records.paths import AttemptPaths
from runner import wiring
from runner.commands.show import find_attempt
from runner.order import USER_MODEL, Order, UserKind
from runner.replay import Replay, Said, TurnReplay, read_stored
from runner.replay import replay as replay_session
from runner.stop import Stop
from runner.terminal import print_json, safe


@click.command()
@click.argument("session", type=click.Path(path_type=Path))
@click.option("--user", required=True, type=click.Choice(["rules", "llm"]), help="The back end to ask.")
@click.option("--user-model", default=USER_MODEL, show_default=True, help="Model of user llm.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder to make for the comparison and the model's calls; both quote the strategy.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def replay(session: Path, *, user: UserKind, user_model: str, out: Path | None, as_json: bool) -> None:
    """Ask a simulated user again on each turn of SESSION and compare. Reveals the strategy; alters nothing."""
    paths = find_attempt(session)
    stored = read_stored(paths)
    order = Order(agents="", seeds="", user=user, user_model=user_model)
    if out is not None:
        _check_out(out, paths)
    with ExitStack() as stack:
        environ = dict(os.environ)
        stack.enter_context(wiring.without_model_keys(os.environ))
        models = stack.enter_context(
            wiring.open_models(order.sealed_models, environ, DEFAULT_LIMITS, out=None, stop=Stop())
        )
        if out is not None:
            _make(out)
        chat = models.logging_to(out / "model-calls.jsonl") if models and out else models
        asked = wiring.simulator(stored.task, stored.strategy, DEFAULT_LIMITS, chat=chat, model=user_model)
        made = replay_session(paths, stored, asked, name=wiring.user_name(order), limits=DEFAULT_LIMITS)
    if out is not None:
        with os.fdopen(os.open(out / "replay.json", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(made.to_json(indent=1) + "\n")
    if as_json:
        print_json(_as_json(made))
    else:
        _print(made)


def _check_out(out: Path, paths: AttemptPaths) -> None:
    """Refuse a folder that exists or that others than the sealed side read. Raises UsageError."""
    place = out.absolute().resolve()
    if out.exists() or out.is_symlink():
        raise UsageError(f"--out '{out}' exists; a replay never writes over anything, give a new name")
    for open_side in (paths.public, paths.graded):
        if place.is_relative_to(open_side.absolute().resolve()):
            raise UsageError(
                f"--out '{out}' lies under {open_side.name}/; a replay quotes the strategy, choose sealed/"
            )


def _make(out: Path) -> None:
    try:
        out.mkdir(mode=0o700, parents=True)
    except OSError as error:
        raise UsageError(f"--out '{out}' cannot be made ({error.strerror}); give another path") from error


def _as_json(made: Replay) -> dict[str, object]:
    turns = [
        turn.model_dump(mode="json")
        | {
            "same_action": turn.same_action,
            "only_stored": list(turn.only_stored),
            "only_replayed": list(turn.only_replayed),
            "other_goals": list(turn.other_goals),
        }
        for turn in made.turns
    ]
    return {
        "session": made.session,
        "user": made.user,
        "turns": turns,
        "same_actions": made.same_actions,
        "differing_items": made.differing_items,
    }


def _print(made: Replay) -> None:
    print(f"{made.session}\nreplayed by user {made.user}\n")
    for turn in made.turns:
        _print_turn(turn)
    print(
        f"{made.same_actions} of {len(made.turns)} turns with the same action, "
        f"{made.differing_items} items that only one of the two states"
    )


def _print_turn(turn: TurnReplay) -> None:
    print(f"── turn {turn.turn}, {len(turn.before)} items stated before")
    _print_said("stored", turn.stored, "no decision stored")
    _print_said("replayed", turn.replayed, turn.failed or "no decision")
    print(f"   only stored:   {', '.join(turn.only_stored) or '-'}")
    print(f"   only replayed: {', '.join(turn.only_replayed) or '-'}")
    print(f"   goals seen otherwise: {', '.join(turn.other_goals) or '-'}\n")


def _print_said(which: str, said: Said | None, otherwise: str) -> None:
    if said is None:
        print(f"   {which}: {safe(otherwise)}")
        return
    rejected = f", after {' '.join(said.rejected)}" if said.rejected else ""
    print(f"   {which} ({safe(said.backend)}): {said.action}{rejected}")
    print(f"      {safe(said.message)}")
    print(f"      states: {', '.join(said.items) or '-'}")
    print(f"      goals: {', '.join(f'{goal} {status}' for goal, status in said.goals.items())}")
