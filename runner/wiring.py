"""Names to objects: the only place that knows back ends. Heavy rooms are imported late, so that `--help` stays quick."""

from collections.abc import Callable
from dataclasses import dataclass

from adapters.backends import null, reference
from adapters.protocol import Adapter


@dataclass(frozen=True)
class Agent:
    """One agent that can be launched."""

    name: str
    image: str
    model: str
    what: str
    build: Callable[[str], Adapter]
    """Takes the filled instruction text."""


AGENTS = {
    module.NAME: Agent(module.NAME, module.IMAGE, module.MODEL, (module.__doc__ or "").splitlines()[0], module.build)
    for module in (reference, null)
}
