"""Where an option stands in a delivered specification table."""

from tests.swap.beliefs import GROUPS

_OWN_KEY = ("combination", "weighting", "covariance")
SPEC_ROW: dict[str, tuple[str, str]] = {
    "factors": ("stock_selection", "factors"),
    **{group: (component, group if group in _OWN_KEY else "rule") for group, component in GROUPS.items()},
}
"""Group of options -> component and key of its row."""
