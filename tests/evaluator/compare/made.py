"""Deliveries of the golden market made by the reference's backtest, and beliefs to hold against them."""

import importlib.util
import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd

from evaluator.compare.checks import Checker
from evaluator.compare.fidelity import Check
from evaluator.measure.case import Case
from evaluator.measure.specification import delivered_spec
from evaluator.package.attempt import load_delivery
from evaluator.package.delivery import Delivery
from records.spec import DeliveredSpec
from records.strategy import Item, Options, Strategy
from tests.evaluator.compare.spec_rows import SPEC_ROW
from tests.evaluator.deliveries import strategy, write_session
from tests.golden import frames
from tests.golden.cases import world
from tests.swap.beliefs import voiced

SOURCE = Path(__file__).parents[3] / "images" / "reference" / "backtest.py"
BASE: dict[str, Any] = {
    "factors": ("mom_6_1",),
    "combination": None,
    "market_timing": "always_invested",
    "weighting": "equal",
    "covariance": "none",
    "risk_control": "none",
    "execution": "next_open",
    "transaction_cost": "fixed_rate",
}


@cache
def program() -> ModuleType:
    """Return the reference's delivered backtest as a module."""
    spec = importlib.util.spec_from_file_location("made_by_backtest", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["made_by_backtest"] = module
    spec.loader.exec_module(module)
    return module


@cache
def inputs() -> dict[str, pd.DataFrame | None]:
    """Return the golden market as the backtest reads it."""
    made = world()
    return {
        "prices": frames.prices(made),
        "market": frames.market(made, column="close"),
        "fundamentals": frames.fundamentals(made),
        "universe": None,
    }


def _written(table: pd.DataFrame) -> bytes:
    return table.to_csv(index=False, date_format="%Y-%m-%d").encode()


@cache
def _market_bytes(name: str) -> bytes:
    table = inputs()[name]
    assert table is not None
    return _written(table)


@dataclass(frozen=True)
class Made:
    """A delivery's tables, with what its configuration says of itself."""

    tables: dict[str, pd.DataFrame]
    rows: tuple[tuple[str, str, str], ...]

    def saying(self, *, also: tuple[tuple[str, str, str], ...] = (), **options: str) -> "Made":
        """Return the same tables under a configuration that names other options, with further rows."""
        told = {SPEC_ROW[name]: value for name, value in options.items()}
        return replace(self, rows=(*((*row[:2], told.pop(row[:2], row[2])) for row in self.rows), *also))

    def load(self, root: Path) -> Delivery:
        """Write the delivery and read it as the evaluator does."""
        deliver = root / "public" / "turns" / "1" / "deliver"
        deliver.mkdir(parents=True)
        for name, table in self.tables.items():
            path = deliver / f"{name}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_market_bytes(name) if table is inputs().get(name) else _written(table))
        specification = pd.DataFrame(self.rows, columns=["component", "parameter", "value"])
        specification.to_csv(deliver / "specification.csv", index=False)
        return load_delivery(write_session(root / "public", [("Hello.", "Done.")]))


@cache
def made(options: tuple[tuple[str, Any], ...] = (), params: tuple[tuple[str, float], ...] = (), **numbers: Any) -> Made:
    """Return the delivery of a strategy.

    Args: options: changes of BASE. params: 'option.param' -> value. numbers: n_holdings, capital, rebalance, stress (a
    threshold or target under which a stress run is added).
    """
    chosen, values = {**BASE, **dict(options)}, dict(params)
    stress = numbers.pop("stress", None)
    spec = _spec(chosen, values, numbers)
    found = program().run(spec, inputs())
    tables = {k: v for k, v in inputs().items() if v is not None} | _tables(found)
    if stress is not None:
        name = "target" if spec.risk == "vol_target" else "threshold"
        other = replace(spec, risk_params={**spec.risk_params, name: stress})
        tables |= {f"stress/{name}": table for name, table in _tables(program().run(other, inputs())).items()}
        tables["stress/specification"] = pd.DataFrame(_rows(other, chosen), columns=["component", "parameter", "value"])
    return Made(tables, _rows(spec, chosen))


def _spec(chosen: dict[str, Any], values: dict[str, float], numbers: dict[str, Any]) -> Any:
    def of(option: str) -> dict[str, float]:
        return {key.partition(".")[2]: value for key, value in values.items() if key.startswith(f"{option}.")}

    weighting = of(chosen["covariance"]) | of(chosen["weighting"])
    return program().Spec(
        factors=chosen["factors"],
        combination=chosen["combination"] or "none",
        timing=chosen["market_timing"],
        timing_params=of(chosen["market_timing"]),
        weighting=chosen["weighting"],
        covariance=chosen["covariance"],
        risk=chosen["risk_control"],
        risk_params=of(chosen["risk_control"]),
        execution=chosen["execution"],
        execution_params=of(chosen["execution"]),
        rate_bps=values.get("fixed_rate.rate_bps", 0.0),
        n_holdings=numbers.get("n_holdings", 4),
        rebalance=numbers.get("rebalance", "monthly"),
        capital=numbers.get("capital", 100_000.0),
        **{name: int(value) for name, value in weighting.items()},
    )


def _tables(found: Any) -> dict[str, pd.DataFrame]:
    names = ("signals", "selections", "target_weights", "trades", "equity", "metrics")
    return {name: getattr(found, name) for name in names}


def _rows(spec: Any, chosen: dict[str, Any]) -> tuple[tuple[str, str, str], ...]:
    rows = [
        ("stock_selection", "factors", "+".join(spec.factors)),
        ("stock_selection", "combination", spec.combination),
        ("market_timing", "rule", spec.timing),
        *(("market_timing", name, f"{value:g}") for name, value in spec.timing_params.items()),
        ("portfolio_construction", "weighting", spec.weighting),
        ("portfolio_construction", "covariance", spec.covariance),
        ("portfolio_construction", "n_holdings", str(spec.n_holdings)),
        ("portfolio_construction", "rebalance", spec.rebalance),
        ("risk_control", "rule", spec.risk),
        *(("risk_control", name, f"{value:g}") for name, value in spec.risk_params.items()),
        ("execution", "rule", spec.execution),
        *(("execution", name, f"{value:g}") for name, value in spec.execution_params.items()),
        ("transaction_cost", "rate_bps", f"{spec.rate_bps:g}"),
        ("general", "capital", f"{spec.capital:g}"),
    ]
    if chosen["weighting"] == "inverse_vol":
        rows.append(("portfolio_construction", "vol_window", str(spec.vol_window)))
    if chosen["covariance"] != "none":
        rows.append(("portfolio_construction", "cov_window", str(spec.cov_window)))
    if chosen["covariance"] == "ewma":
        rows.append(("portfolio_construction", "halflife", str(spec.halflife)))
    return tuple(rows)


def belief(values: dict[str, float] | None = None, **options: Any) -> Strategy:
    """Return a sealed strategy of BASE with other options; voiced values as given."""
    return voiced(strategy(), Options.model_validate(BASE | options), values or {})


@dataclass(frozen=True)
class Held:
    """A delivery that beliefs are held against."""

    case: Case
    spec: DeliveredSpec

    def check(self, option: str, sealed: Strategy, *, value: bool = False) -> tuple[Check, str]:
        """Return what the tables show of one item of the belief."""
        return Checker(self.case, self.spec, sealed).check(_item(sealed, option, value=value))

    def acted(self, sealed: Strategy) -> bool:
        """Whether a risk control is seen to act."""
        return Checker(self.case, self.spec, sealed).risk_control_acted()


def held(delivered: Made, root: Path) -> Held:
    """Load a delivery."""
    delivery = delivered.load(root)
    return Held(Case(delivery), delivered_spec(delivery))


def _item(sealed: Strategy, option: str, *, value: bool) -> Item:
    return next(i for i in sealed.belief.items if i.option == option and (i.param is not None) == value)
