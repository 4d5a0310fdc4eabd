"""What a mutant or a clean variant is, and the list of all of them."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.controls.attempts import Attempt

Change = Callable[[Attempt], None]


@dataclass(frozen=True)
class Control:
    """One run of the matrix: a base, one change, and the name under which its expected line stands."""

    name: str
    base: str
    kind: str
    """'edited', 'process', 'words' or 'clean'."""
    thread: str
    """Where the flaw was reported, or what it is."""
    change: Change


CONTROLS: dict[str, Control] = {}


def control(name: str, base: str, kind: str, thread: str) -> Callable[[Change], Change]:
    """Register a change under a name. Raises: ValueError: the name is taken."""

    def register(change: Change) -> Change:
        if name in CONTROLS:
            raise ValueError(f"control {name}: expected a name that is not taken")
        CONTROLS[name] = Control(name, base, kind, thread, change)
        return change

    return register


def edited(name: str, base: str, thread: str) -> Callable[[Change], Change]:
    """A mutant whose delivered files were changed after the run."""
    return control(name, base, "edited", thread)


def process(name: str, base: str, thread: str) -> Callable[[Change], Change]:
    """A mutant whose program or inputs carry the flaw, with everything regenerated."""
    return control(name, base, "process", thread)


def words(name: str, base: str, thread: str) -> Callable[[Change], Change]:
    """A mutant in report or conversation."""
    return control(name, base, "words", thread)


def clean(name: str, base: str, what: str) -> Callable[[Change], Change]:
    """A variant that must stay accepted."""
    return control(name, base, "clean", what)
