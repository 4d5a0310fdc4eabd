"""The 45 dimensions with their anchors as typed data (records/data/rubric.json)."""

from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import Field

from records.base import Record


class Dimension(Record):
    """One dimension of the rubric."""

    id: str
    name: str
    category: str
    judge: str = Field(description="P, L, H, L/P, L↓P, R/P or M")
    veto_below: int | None = Field(default=None, description="the session fails below this score; None is no veto")
    definition: str
    anchors: dict[str, str]


class Rubric(Record):
    """All dimensions, in the paper's order."""

    dimensions: tuple[Dimension, ...]
    scored_categories: tuple[str, ...]

    def dimension(self, dimension_id: str) -> Dimension:
        """Return one dimension. Raises KeyError when there is none with this id."""
        for dimension in self.dimensions:
            if dimension.id == dimension_id:
                return dimension
        raise KeyError(dimension_id)


Kind = Literal["P", "L", "H", "M"]


@cache
def load_rubric() -> Rubric:
    """Return the rubric that ships with this version."""
    return Rubric.model_validate_json((files("records") / "data" / "rubric.json").read_text(encoding="utf-8"))
