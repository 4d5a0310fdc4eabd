"""runner tasks: the frozen tasks, new ones, and how many there are."""

from collections import Counter
from dataclasses import dataclass
from statistics import fmean

import click

from generator import count_strategies, generate, live_conditions, offline_conditions
from records.grammar import load_grammar
from records.strategy import Strategy
from records.task import Task
from reports.table import Table
from runner.plan import parse_seeds
from runner.terminal import console, print_json, print_table, safe

_SALT = click.option("--salt", help="Salt of a private task set; the released one when left out.")
_OFFLINE = click.option("--offline", is_flag=True, help="Under the conditions of the packaged data.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def tasks() -> None:
    """Frozen and new tasks."""


@tasks.command("list")
@click.option("--seeds", default="0-9", show_default=True, help="Ranges and lists of seeds.")
@_SALT
@_OFFLINE
@_JSON
def list_(seeds: str, salt: str | None, *, offline: bool, as_json: bool) -> None:
    """List tasks with what they ask for; this reveals their strategies."""
    drawn = _draw(parse_seeds(seeds), salt, offline=offline)
    if as_json:
        print_json([_summary(task, strategy) for task, strategy in drawn])
        return
    rows = tuple(
        (
            str(strategy.seed),
            task.id,
            task.persona,
            task.scope.kind,
            str(strategy.difficulty),
            str(len(strategy.belief.items)),
            str(len(strategy.opening_items)),
            words(strategy),
        )
        for task, strategy in drawn
    )
    columns = ("seed", "task", "persona", "scope", "d", "H", "O", "strategy")
    print_table(Table("Tasks", columns, rows), console())


@tasks.command()
@click.argument("seed", type=click.IntRange(min=0))
@_SALT
@_OFFLINE
@click.option("--sealed", is_flag=True, help="Also print the strategy; this reveals what an agent must find out.")
@_JSON
def show(seed: int, salt: str | None, *, offline: bool, sealed: bool, as_json: bool) -> None:
    """Show one task as an agent meets it."""
    ((task, strategy),) = _draw((seed,), salt, offline=offline)
    if as_json:
        record = {"task": task.model_dump(mode="json")}
        print_json(record | ({"strategy": strategy.model_dump(mode="json")} if sealed else {}))
        return
    limits = task.conditions
    print(f"task {task.id} · {task.persona} · {task.scope.kind} · data up to {limits.t_cut}")
    print(f"{limits.max_turns} turns of {limits.turn_limit_s:g} s · channels {', '.join(limits.channels)}\n")
    print(safe(task.opening))
    if sealed:
        print(f"\nThis reveals the strategy ({words(strategy)}, difficulty {strategy.difficulty}):")
        for item in strategy.belief.items:
            print(f"  {'opens' if item.id in strategy.opening_items else 'held '}  {item.id}: {item.text}")


@tasks.command()
@click.option("--count", "size", default=10_000, show_default=True, type=click.IntRange(1, 1_000_000))
@click.option("--from", "first", default=0, show_default=True, type=click.IntRange(min=0), help="First seed.")
@_SALT
@_OFFLINE
@_JSON
def sample(size: int, first: int, salt: str | None, *, offline: bool, as_json: bool) -> None:
    """Draw many tasks and say how they are spread."""
    spread = Spread.of(_draw(range(first, first + size), salt, offline=offline))
    if as_json:
        print_json(spread.__dict__)
        return
    print(f"{spread.tasks:,} tasks, {spread.distinct:,} distinct strategies")
    print(f"items held: mean {spread.mean_items:.2f}, {spread.least_items}-{spread.most_items}")
    print(f"items in the opening: mean {spread.mean_opening:.2f}")
    print(f"difficulty: mean {spread.mean_difficulty:.2f}, {spread.least_difficulty}-{spread.most_difficulty}")
    print("personas: " + ", ".join(f"{name} {number:,}" for name, number in spread.personas.items()))
    print("scopes: " + ", ".join(f"{name} {number:,}" for name, number in spread.scopes.items()))


@tasks.command()
@_JSON
def count(*, as_json: bool) -> None:
    """Count the coherent strategies of the grammar."""
    number = count_strategies(load_grammar())
    if as_json:
        print_json({"strategies": number})
    else:
        print(f"{number:,}")


@dataclass(frozen=True)
class Spread:
    """How a sample of tasks is spread."""

    tasks: int
    distinct: int
    mean_items: float
    least_items: int
    most_items: int
    mean_opening: float
    mean_difficulty: float
    least_difficulty: int
    most_difficulty: int
    personas: dict[str, int]
    scopes: dict[str, int]

    @classmethod
    def of(cls, drawn: list[tuple[Task, Strategy]]) -> "Spread":
        """Count a non-empty sample."""
        items = [len(strategy.belief.items) for _, strategy in drawn]
        difficulty = [strategy.difficulty for _, strategy in drawn]
        return cls(
            tasks=len(drawn),
            distinct=len({strategy.belief.to_json() for _, strategy in drawn}),
            mean_items=fmean(items),
            least_items=min(items),
            most_items=max(items),
            mean_opening=fmean(len(strategy.opening_items) for _, strategy in drawn),
            mean_difficulty=fmean(difficulty),
            least_difficulty=min(difficulty),
            most_difficulty=max(difficulty),
            personas=dict(sorted(Counter(task.persona for task, _ in drawn).items())),
            scopes=dict(sorted(Counter(task.scope.kind for task, _ in drawn).items())),
        )


def words(strategy: Strategy) -> str:
    """Return a strategy as one line: factors / combination / timing / weighting/covariance / risk / execution / cost."""
    options = strategy.belief.options
    return " / ".join(
        (
            "+".join(options.factors),
            options.combination or "-",
            options.market_timing,
            f"{options.weighting}/{options.covariance}",
            options.risk_control,
            options.execution,
            options.transaction_cost,
        )
    )


def _draw(seeds: "tuple[int, ...] | range", salt: str | None, *, offline: bool) -> list[tuple[Task, Strategy]]:
    conditions = offline_conditions() if offline else live_conditions()
    return [generate(seed, salt=salt, conditions=conditions, offline=offline) for seed in seeds]


def _summary(task: Task, strategy: Strategy) -> dict[str, object]:
    return {
        "seed": strategy.seed,
        "task": task.id,
        "persona": task.persona,
        "scope": task.scope.kind,
        "difficulty": strategy.difficulty,
        "items": len(strategy.belief.items),
        "opening_items": list(strategy.opening_items),
        "options": strategy.belief.options.model_dump(),
    }
