"""From the options of `launch` to a complete plan: cells, tasks and conditions. Starts nothing and writes nothing."""

import os
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from generator import generate, live_conditions, load_conditions, offline_conditions
from records.run import FmpTools, PlannedCell
from records.strategy import Strategy
from records.task import Conditions, Task
from runner.judging import DEFAULT_MODEL, JudgeKind
from runner.plan import Cell, build_plan, parse_agents, parse_seeds

RUNS = Path("runs")
UserKind = Literal["rules", "llm"]
USER_MODEL = "claude-opus-4-8"
"""Of user `llm` (architecture, section 7)."""


@dataclass(frozen=True)
class Order:
    """What the operator asked for, as typed."""

    agents: str
    seeds: str
    repeats: int = 1
    offline: bool = False
    concurrency: int | None = None
    """None means one session per core."""
    conditions: Path | None = None
    salt: str | None = None
    out: Path | None = None
    user: UserKind = "rules"
    user_model: str = USER_MODEL
    """Unused but for user `llm`."""
    judge: JudgeKind = "rules"
    judge_model: str = DEFAULT_MODEL
    """Unused but for judge `llm`."""
    fmp_tools: FmpTools = "flat"

    @property
    def sealed_models(self) -> tuple[str, ...]:
        """Ids of the models that the sealed side asks, each once; empty when nobody there needs one."""
        user = (self.user_model,) if self.user == "llm" else ()
        return tuple(dict.fromkeys((*user, *((self.judge_model,) if self.judge == "llm" else ()))))


@dataclass(frozen=True)
class Plan:
    """What will be run."""

    order: Order
    run_id: str
    out: Path
    conditions: Conditions
    tasks: dict[int, tuple[Task, Strategy]]
    cells: tuple[Cell, ...]
    concurrency: int

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents of the plan, each once."""
        return tuple(dict.fromkeys(cell.agent for cell in self.cells))

    @property
    def planned(self) -> tuple[PlannedCell, ...]:
        """The cells as they stand in run.json."""
        return tuple(
            PlannedCell(agent=cell.agent, seed=cell.seed, task_id=self.tasks[cell.seed][0].id, repeat=cell.repeat)
            for cell in self.cells
        )

    @property
    def longest_s(self) -> float:
        """Upper bound of the sessions' wall clock: every turn used to its limit, voids apart."""
        rounds = -(-len(self.cells) // self.concurrency)
        return rounds * self.conditions.max_turns * self.conditions.turn_limit_s


def resolve(order: Order, *, known: Collection[str], now: datetime) -> Plan:
    """Return the plan of an order.

    Raises: UsageError: unknown agent, seeds that are no range, unreadable conditions. GeneratorError: a frozen task is
    no longer the released one.
    """
    agents = parse_agents(order.agents, known)
    seeds = parse_seeds(order.seeds)
    conditions = _conditions(order)
    run_id = f"{now:%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}"
    return Plan(
        order=order,
        run_id=run_id,
        out=(order.out or RUNS / run_id).absolute(),
        conditions=conditions,
        tasks={seed: generate(seed, salt=order.salt, conditions=conditions, offline=order.offline) for seed in seeds},
        cells=build_plan(agents, seeds, order.repeats),
        concurrency=order.concurrency or os.cpu_count() or 1,
    )


def _conditions(order: Order) -> Conditions:
    if order.conditions is not None:
        return load_conditions(order.conditions)
    return offline_conditions() if order.offline else live_conditions()
