"""What every check of the delivered tables may look at: the case, the delivered specification and the belief.

Own recomputation uses the belief's options; parameters nobody voices are the agent's own choice and come from the
delivered specification, else every choice of the grammar is tried and the best one counts.
"""

from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from evaluator.compare.fidelity import Check
from evaluator.measure.case import Case
from evaluator.measure.naming import values_of
from evaluator.measure.recompute import Recomputed
from records.grammar import OptionGroup, load_grammar
from records.spec import DeliveredSpec
from records.strategy import Strategy

Result = tuple[Check, str]


@dataclass(frozen=True)
class Context:
    """What every check may look at."""

    case: Case
    spec: DeliveredSpec
    strategy: Strategy
    distances: dict[tuple[str, str | None], float | None] = field(default_factory=dict, compare=False)
    """Distance of the delivered weights to a scheme under an estimator, once it was measured."""

    @cached_property
    def wanted(self) -> DeliveredSpec:
        """The belief written as a specification; what it does not say is as delivered."""
        options = self.strategy.belief.options
        return self.spec.model_copy(
            update={
                "factors": options.factors,
                "combination": options.combination,
                "market_timing": options.market_timing,
                "weighting": options.weighting,
                "covariance": options.covariance,
                "risk_control": options.risk_control,
                "execution": options.execution,
                "transaction_cost": options.transaction_cost,
                "values": {**values_of(self.spec), **self.voiced},
            }
        )

    @cached_property
    def voiced(self) -> dict[str, float]:
        """Values of voiced parameters, 'option.param' -> value."""
        items = self.strategy.belief.items
        return {f"{item.option}.{item.param}": item.value for item in items if item.param and item.value is not None}

    @cached_property
    def own(self) -> Recomputed:
        """The belief recomputed on the delivered data at the delivered decision dates."""
        return Recomputed(self.case.main, self.wanted, self.dates)

    @cached_property
    def dates(self) -> pd.DatetimeIndex:
        """Decision dates of the delivery."""
        return self.case.decisions

    def choices(self, group: OptionGroup, option: str) -> list[dict[str, float]]:
        """Return the parameter sets to try for an option: voiced or delivered values, else the grammar's choices."""
        sets: list[dict[str, float]] = [{}]
        for param in load_grammar().option(group, option).params:
            key = f"{option}.{param.name}"
            given = self.voiced.get(key, values_of(self.spec).get(key))
            values = [given] if given is not None else [float(choice) for choice in param.choices]
            sets = [{**chosen, param.name: value} for chosen in sets for value in values]
        return sets
