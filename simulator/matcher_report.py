"""Precision and recall of the item matcher on labelled messages: `python -m simulator.matcher_report DIR [--errors]`.

A line of a `*.jsonl` file is `{"belief_items": [...]}` or `{"agent_message": ..., "raised": [...]}` under the belief above it.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from simulator.items import raised_items
from simulator.matcher import default_reader
from simulator.reading import MessageReader


@dataclass(frozen=True)
class Case:
    """One message with the items it raises."""

    message: str
    items: tuple[str, ...]
    raised: frozenset[str]


@dataclass(frozen=True)
class Counts:
    """Items raised rightly, wrongly, and missed."""

    hit: int = 0
    extra: int = 0
    missed: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        """Sum two sets of cases."""
        return Counts(self.hit + other.hit, self.extra + other.extra, self.missed + other.missed)

    @property
    def precision(self) -> float:
        """Share of raised items that were meant; 1 when none was raised."""
        return self.hit / (self.hit + self.extra) if self.hit + self.extra else 1.0

    @property
    def recall(self) -> float:
        """Share of meant items that were raised; 1 when none was meant."""
        return self.hit / (self.hit + self.missed) if self.hit + self.missed else 1.0


def read_cases(path: Path) -> Iterator[Case]:
    """Yield the cases of one file."""
    items: tuple[str, ...] = ()
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if "belief_items" in entry:
            items = tuple(entry["belief_items"])
        if "agent_message" in entry:
            yield Case(entry["agent_message"], items, frozenset(entry["raised"]))


def count(reader: MessageReader, case: Case) -> Counts:
    """Compare one message's raised items with its labels."""
    found = set(raised_items(reader.read(case.message), case.items))
    return Counts(len(found & case.raised), len(found - case.raised), len(case.raised - found))


def main(arguments: list[str]) -> int:
    """Print one line per file; with --errors every case that differs."""
    paths = sorted(Path(arguments[0]).glob("*.jsonl"))
    reader = default_reader()
    for path in paths:
        total = Counts()
        for case in read_cases(path):
            counts = count(reader, case)
            total += counts
            if "--errors" in arguments and (counts.extra or counts.missed):
                found = set(raised_items(reader.read(case.message), case.items))
                _say(
                    f"  {case.message!r}\n    missed {sorted(case.raised - found)}\n    extra {sorted(found - case.raised)}"
                )
        _say(f"{path.stem}: precision {total.precision:.3f} recall {total.recall:.3f} ({total})")
    return 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
