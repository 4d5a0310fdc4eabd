"""What the delivered tables show of one item: confirmed, contradicted or unconfirmed, with the numbers behind it.

Own recomputation uses the belief's options; parameters nobody voices are the agent's own choice and come from the
delivered specification, else every choice of the grammar is tried and the best one counts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from evaluator.compare.fidelity import Check
from evaluator.measure.case import Case
from evaluator.measure.naming import group_of, values_of
from evaluator.measure.recompute import Recomputed
from records.grammar import OptionGroup, load_grammar
from records.spec import DeliveredSpec
from records.strategy import Item, Strategy

Result = tuple[Check, str]
DATA_FAULTS = (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError)


@dataclass(frozen=True)
class Context:
    """What every check may look at."""

    case: Case
    spec: DeliveredSpec
    strategy: Strategy

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


class Checker:
    """Runs the check of an item; a check that stops on hostile data leaves the item unconfirmed."""

    def __init__(self, case: Case, spec: DeliveredSpec, strategy: Strategy) -> None:
        self._context = Context(case, spec, strategy)

    def check(self, item: Item) -> Result:
        """Return the verdict of the delivered tables on one item."""
        try:
            return self._of(item)(self._context, item)
        except DATA_FAULTS as fault:
            return "unconfirmed", f"the check stopped on the delivered data ({type(fault).__name__})"

    def risk_control_acted(self) -> bool:
        """Whether a delivered run shows positions that change because of the strategy's risk control."""
        from evaluator.compare.risk_checks import acted  # noqa: PLC0415 the arithmetic loads only when needed

        try:
            return acted(self._context)
        except DATA_FAULTS:
            return False

    def _of(self, item: Item) -> Callable[[Context, Item], Result]:
        from evaluator.compare import book_checks, risk_checks, selection_checks, trading_checks  # noqa: PLC0415

        by_component: dict[str, Callable[[Context, Item], Result]] = {
            "market_timing": book_checks.timing,
            "risk_control": risk_checks.risk_control,
            "execution": trading_checks.execution,
            "transaction_cost": trading_checks.cost,
        }
        if item.component == "stock_selection":
            return selection_checks.combination if group_of(item.option) == "combination" else selection_checks.factor
        if item.component == "portfolio_construction":
            return book_checks.covariance if group_of(item.option) == "covariance" else book_checks.weighting
        return by_component[item.component]
