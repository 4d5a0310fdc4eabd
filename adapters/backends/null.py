"""The null control: says hello and delivers nothing; it must score 0."""

from adapters.oneshot import OneShotAdapter

NAME = "null"
IMAGE = "reference"
MODEL = "none"


def build(instruction: str) -> OneShotAdapter:
    """Return the adapter; the program ignores what it is told."""
    return OneShotAdapter(name=NAME, argv=("python3", "/opt/reference/null.py"), instruction=instruction)
