"""The score rule of dimensions 2.1-2.6: equation (6) of the paper over per-item verdicts. Pure."""

from collections.abc import Sequence
from typing import Literal, get_args

from pydantic import Field

from records.base import Record
from records.strategy import Component

Claim = Literal["present", "missing", "contradicted"]
Check = Literal["confirmed", "contradicted", "unconfirmed", "unverified"]

COMPONENTS: tuple[Component, ...] = get_args(Component)
DIMENSION: dict[Component, str] = {component: f"2.{n}" for n, component in enumerate(COMPONENTS, start=1)}


class ItemVerdict(Record):
    """What was found on one item of H."""

    item: str
    component: Component
    stated: bool = Field(description="whether the user stated it (S)")
    claim: Claim = Field(description="what the delivery says; 'present' has a quote found in it")
    check: Check = Field(
        description="what the delivered tables show; 'unverified': the check was stopped, no verdict was reached"
    )
    detail: str = Field(default="", description="the numbers behind the check")
    verified: bool = Field(default=True, description="False: the judge did not return, so no verdict was reached")

    @property
    def is_missing(self) -> bool:
        """Whether the item counts into M_k: no surviving quote, contradicted by either reading, or its check was stopped.

        It must never pay to deliver what stops its own check (ADR 0014).
        """
        return self.claim != "present" or self.check in ("contradicted", "unverified")

    @property
    def is_absent(self) -> bool:
        """Whether neither words nor tables of the delivery know of it."""
        return self.claim == "missing" and self.check != "confirmed"

    @property
    def is_contradicted(self) -> bool:
        """Whether the delivery does something else instead."""
        return self.claim == "contradicted" or self.check == "contradicted"


def component_score(verdicts: Sequence[ItemVerdict], *, has_backtest: bool, acted: bool = True) -> int | None:
    """Return the score of one component; None when the strategy has no item of it.

    Args: has_backtest: fills or weights were delivered; words alone are nothing checkable and leave the component absent.
    acted: False when no delivered run shows positions that change because of the risk control (2.4, footnote a).
    """
    if not verdicts:
        return None
    if not has_backtest and not any(verdict.check == "confirmed" for verdict in verdicts):
        return 0
    missing = [verdict for verdict in verdicts if verdict.is_missing]
    if any(verdict.stated for verdict in missing):
        return 0 if all(verdict.is_contradicted or verdict.is_absent for verdict in verdicts) else 1
    if missing:
        return 2
    score = 4 if all(verdict.check == "confirmed" for verdict in verdicts) else 3
    return score if acted else min(score, 1)
