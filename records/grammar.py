"""The strategy grammar and its lexicon as typed data (records/data/grammar.json)."""

import hashlib
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import Field

from records.base import Record


class Param(Record):
    """One parameter of an option."""

    name: str
    unit: str
    choices: tuple[float | str, ...]
    voiced: bool
    default_if_unvoiced: float | str | None = None
    say: str
    aliases: tuple[str, ...] = ()


class Option(Record):
    """One option of a component."""

    id: str
    label: str
    difficulty: int
    definition: str
    say: str
    params: tuple[Param, ...] = ()
    voiced: bool
    null: bool = False
    value_only: bool = Field(default=False, description="only its value is an item")
    weight: float = Field(default=1.0, description="sampling weight")
    aliases: tuple[str, ...] = ()


class Factor(Record):
    """One stock-selection factor."""

    id: str
    family: str
    label: str
    difficulty: int
    definition: str
    data: str
    higher_is_better: bool
    say: str
    params: tuple[Param, ...] = ()
    voiced: bool
    aliases: tuple[str, ...] = ()


class Rule(Record):
    """A coherence rule in words."""

    id: str
    text: str


class ScopeText(Record):
    """A scope in words."""

    id: str
    text: str


OptionGroup = Literal[
    "combination", "market_timing", "weighting", "covariance", "risk_control", "execution", "transaction_cost"
]
OPTION_GROUPS: tuple[OptionGroup, ...] = (
    "combination",
    "market_timing",
    "weighting",
    "covariance",
    "risk_control",
    "execution",
    "transaction_cost",
)


class Grammar(Record):
    """The whole grammar; field names as in the file."""

    version: str
    notation: str
    n_factor_weights: dict[str, float]
    min_items: int
    salt: str
    factors: tuple[Factor, ...]
    combination: tuple[Option, ...]
    market_timing: tuple[Option, ...]
    weighting: tuple[Option, ...]
    covariance: tuple[Option, ...]
    risk_control: tuple[Option, ...]
    execution: tuple[Option, ...]
    transaction_cost: tuple[Option, ...]
    shared_params: tuple[Param, ...]
    ask_cues: dict[str, tuple[str, ...]]
    value_cues: tuple[str, ...]
    concepts: dict[str, str]
    concept_vetoes: dict[str, str]
    rules: tuple[Rule, ...]
    personas: tuple[str, ...]
    scopes: tuple[ScopeText, ...]

    def group(self, name: OptionGroup) -> tuple[Option, ...]:
        """Return the options of one group, in file order."""
        found: tuple[Option, ...] = getattr(self, name)
        return found

    def option(self, group: OptionGroup, option_id: str) -> Option:
        """Return one option. Raises KeyError when the group has no such id."""
        for option in self.group(group):
            if option.id == option_id:
                return option
        raise KeyError(f"{group}/{option_id}")

    def factor(self, factor_id: str) -> Factor:
        """Return one factor. Raises KeyError when there is none with this id."""
        for factor in self.factors:
            if factor.id == factor_id:
                return factor
        raise KeyError(factor_id)


def _text() -> str:
    return (files("records") / "data" / "grammar.json").read_text(encoding="utf-8")


@cache
def load_grammar() -> Grammar:
    """Return the grammar that ships with this version."""
    return Grammar.model_validate_json(_text())


@cache
def grammar_sha256() -> str:
    """Return the SHA-256 of the grammar file, hexadecimal."""
    return hashlib.sha256(_text().encode()).hexdigest()
