"""The reference control: asks, builds a clean backtest and delivers it. Its code lies in images/reference."""

from adapters.oneshot import OneShotAdapter

NAME = "reference"
IMAGE = "reference"
MODEL = "none"


def build(instruction: str) -> OneShotAdapter:
    """Return the adapter; the program finds the conversation behind the instruction text."""
    return OneShotAdapter(name=NAME, argv=("python3", "/opt/reference/agent.py"), instruction=instruction)
