"""What a run will do: cells agent x seed x repeat in a fixed order. Starts nothing."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from records.errors import UsageError

CONTROLS = ("reference", "null")
_PART = re.compile(r"(\d+)(?:-(\d+))?")
_MOST_SEEDS = 100_000
"""A typing slip such as 0-9999999999 must not fill memory; far above any real run."""


@dataclass(frozen=True)
class Cell:
    """One session to be measured."""

    agent: str
    seed: int
    repeat: int

    @property
    def label(self) -> str:
        """Name for people: agent, seed and repeat."""
        return f"{self.agent} seed {self.seed} repeat {self.repeat}"


def parse_seeds(text: str) -> tuple[int, ...]:
    """Read ranges and lists such as `0-9` or `1,6,8-9`; order as written, a repeated seed counts once.

    Raises: UsageError: anything else.
    """
    seeds: dict[int, None] = {}
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        if match is None:
            raise UsageError(f"--seeds '{text}': expected ranges and lists such as 0-9 or 1,6, found '{part.strip()}'")
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        if last < first:
            raise UsageError(f"--seeds '{text}': range {part.strip()} runs backwards; write {last}-{first}")
        if last - first >= _MOST_SEEDS:
            raise UsageError(f"--seeds '{text}': expected at most {_MOST_SEEDS:,} seeds, found {last - first + 1:,}")
        seeds.update(dict.fromkeys(range(first, last + 1)))
    return tuple(seeds)


def parse_agents(text: str, known: Collection[str]) -> tuple[str, ...]:
    """Expand names, with `controls` for reference and null; order as written, each once.

    Raises: UsageError: an unknown name, or `all`, which no agent stands behind yet.
    """
    agents: dict[str, None] = {}
    for part in text.split(","):
        name = part.strip()
        names = CONTROLS if name == "controls" else (name,)
        if name == "all" and name not in known:
            raise UsageError(
                f"--agents '{text}': 'all' means the five agents of the paper, which this version does not have yet; "
                f"known: {', '.join(sorted(known))}, and 'controls' for reference,null"
            )
        for each in names:
            if each not in known:
                raise UsageError(
                    f"--agents '{text}': there is no agent '{each}'; known: {', '.join(sorted(known))}, "
                    "and 'controls' for reference,null"
                )
        agents.update(dict.fromkeys(names))
    return tuple(agents)


def build_plan(agents: Sequence[str], seeds: Sequence[int], repeats: int) -> tuple[Cell, ...]:
    """Return all cells: repeat first, then seed, then agent, so that agents meet a task side by side."""
    return tuple(Cell(agent, seed, repeat) for repeat in range(1, repeats + 1) for seed in seeds for agent in agents)
