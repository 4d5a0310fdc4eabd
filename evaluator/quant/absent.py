"""The typed answer 'this cannot be computed from what was delivered'."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Absent:
    """What is missing, in words; falsy, so that `if not result` reads well."""

    reason: str

    def __bool__(self) -> bool:
        """Return False always."""
        return False
