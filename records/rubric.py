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


class Rule(Record):
    """A named line of the rubric: an equation, an audit check, a link, a tolerance, an end reason."""

    id: str
    text: str


class Implication(Record):
    """One flaw that lowers several dimensions at once, so that a second failing veto is no second flaw."""

    cause: str
    dimension: str = Field(description="the dimension that looks for this flaw")
    also: tuple[str, ...] = Field(description="dimensions that fall with it, always")
    may: tuple[str, ...] = Field(default=(), description="dimensions that can fall with it, by its size or place")


class Rubric(Record):
    """All dimensions, in the paper's order, and the rules around them."""

    dimensions: tuple[Dimension, ...]
    scored_categories: tuple[str, ...]
    equations: tuple[Rule, ...]
    audit: tuple[Rule, ...]
    links: tuple[Rule, ...]
    tolerances: tuple[Rule, ...]
    end_reasons: tuple[Rule, ...]
    implies: tuple[Implication, ...]

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
