"""The clean deliveries from which mutants and variants start."""

from pathlib import Path

from tests.controls.sessions import recorded
from tests.controls.tool_base import TOOLS, tool_base

REFERENCE = {
    "stop": 0,
    "volume": 6,
    "momentum": 35,
    "drawdown": 14,
    "target": 56,
    "staged": 48,
    "wide": 30,
}
"""Base -> seed of the released task set. Together: every component, both stops, the volatility target, four executions."""
BASES = (*REFERENCE, *TOOLS)


def base(name: str) -> Path:
    """Return the attempt of a base, made when it is not there."""
    return recorded(REFERENCE[name]) if name in REFERENCE else tool_base(name)
