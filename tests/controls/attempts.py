"""An attempt on disk as a mutator sees it: one folder of delivered files, a conversation, and how to write both again."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from records.jsonl import read_lines
from records.paths import AttemptPaths
from records.session import EVENT, AgentEvent, EndEvent, UserEvent
from tests.controls.files import entries

Event = UserEvent | AgentEvent | EndEvent


def events_of(paths: AttemptPaths) -> list[Event]:
    """Return the session's events, oldest first."""
    return [EVENT.validate_json(line) for line in read_lines(paths.session)]


@dataclass(frozen=True)
class Attempt:
    """A copy of a base that may be changed."""

    paths: AttemptPaths

    @property
    def turn(self) -> int:
        """The last agent turn, the one that delivered."""
        return max(event.turn for event in events_of(self.paths) if isinstance(event, AgentEvent))

    @property
    def deliver(self) -> Path:
        """The delivered folder."""
        return self.paths.deliver(self.turn)

    def table(self, name: str) -> pd.DataFrame:
        """Read a delivered CSV file with every cell as it stands, as text."""
        return pd.read_csv(self.deliver / f"{name}.csv", dtype=str, keep_default_na=False)

    def typed(self, name: str) -> pd.DataFrame:
        """Read a delivered CSV file with numbers as numbers."""
        return pd.read_csv(
            self.deliver / f"{name}.csv", keep_default_na=name.rsplit("/", maxsplit=1)[-1] != "specification"
        )

    def write(self, name: str, table: pd.DataFrame) -> None:
        """Write a table as CSV."""
        table.to_csv(self.deliver / f"{name}.csv", index=False, lineterminator="\n", date_format="%Y-%m-%d")

    def edit(self, name: str, change: Callable[[pd.DataFrame], pd.DataFrame | None]) -> None:
        """Change a typed table in place or by what `change` returns."""
        table = self.typed(name)
        changed = change(table)
        self.write(name, table if changed is None else changed)

    def text(self, name: str) -> str:
        """Return a delivered text."""
        return (self.deliver / name).read_text(encoding="utf-8")

    def rewrite(self, name: str, change: Callable[[str], str]) -> None:
        """Change a delivered text. Raises: ValueError: nothing changed, so the mutant would be none."""
        before = self.text(name)
        after = change(before)
        if after == before:
            raise ValueError(f"{name}: expected the edit to change the text, found it unchanged")
        (self.deliver / name).write_text(after, encoding="utf-8")

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace a passage that stands in the text exactly once."""
        count = self.text(name).count(old)
        if count != 1:
            raise ValueError(f"{name}: expected the passage {old!r} once, found it {count} times")
        self.rewrite(name, lambda text: text.replace(old, new))

    def say(self, change: Callable[[list[Event]], list[Event]]) -> None:
        """Change the conversation."""
        events = change(events_of(self.paths))
        self.paths.session.write_text("".join(event.to_json() + "\n" for event in events), encoding="utf-8")

    def reply(self, change: Callable[[str], str]) -> None:
        """Change the last message of the agent."""
        last = self.turn

        def changed(events: list[Event]) -> list[Event]:
            return [
                event.model_copy(update={"text": change(event.text)})
                if isinstance(event, AgentEvent) and event.turn == last
                else event
                for event in events
            ]

        self.say(changed)

    def refresh(self) -> None:
        """Write the file list of the last turn again, as copy-out would have."""
        last, files = self.turn, entries(self.deliver)
        self.say(
            lambda events: [
                event.model_copy(update={"files": files})
                if isinstance(event, AgentEvent) and event.turn == last
                else event
                for event in events
            ]
        )

    @property
    def state(self) -> dict[str, object]:
        """What the reference agent kept of its sources."""
        found: dict[str, object] = json.loads((self.paths.root / "state.json").read_text(encoding="utf-8"))
        return found


def copied(base: Path, place: Path) -> Attempt:
    """Return a copy of a base that may be changed."""
    shutil.copytree(base, place)
    return Attempt(AttemptPaths(place))
