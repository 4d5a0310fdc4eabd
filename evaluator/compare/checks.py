"""What the delivered tables show of one item: confirmed, contradicted or unconfirmed, with the numbers behind it."""

from collections.abc import Callable

from evaluator.compare import book_checks, risk_checks, selection_checks, trading_checks
from evaluator.compare.context import Context, Result
from evaluator.measure.case import Case
from evaluator.measure.naming import group_of
from evaluator.measure.runs import DATA_FAULTS
from records.spec import DeliveredSpec
from records.strategy import Item, Strategy


class Checker:
    """Runs the check of an item; a check that the delivered data stop reaches no verdict."""

    def __init__(self, case: Case, spec: DeliveredSpec, strategy: Strategy) -> None:
        self._context = Context(case, spec, strategy)

    def check(self, item: Item) -> Result:
        """Return the verdict of the delivered tables on one item."""
        try:
            return self._of(item)(self._context, item)
        except DATA_FAULTS as fault:
            return "unverified", f"the check stopped on the delivered data ({type(fault).__name__})"

    def risk_control_acted(self) -> bool:
        """Whether a delivered run shows positions that change because of the strategy's risk control."""
        try:
            return risk_checks.acted(self._context)
        except DATA_FAULTS:
            return False

    def _of(self, item: Item) -> Callable[[Context, Item], Result]:
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
