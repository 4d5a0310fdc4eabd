"""The evaluator's own arithmetic against cases made a third way."""

import numpy as np
import pandas as pd
import pytest

from evaluator.package.delivery import Delivery  # noqa: F401  (the seam the frames follow)
from evaluator.quant.accounting import rebuild
from evaluator.quant.combination import combine as own_combine
from evaluator.quant.covariance import covariance as own_covariance
from evaluator.quant.execution import execution_fit, fee_fit
from evaluator.quant.factors import FactorInputs, factor_scores, market_cap
from evaluator.quant.panel import PricePanel, price_panel
from evaluator.quant.risk import drawdown_breaches, position_breaches, vol_target_exposure
from evaluator.quant.selection import select
from evaluator.quant.statements import statements
from evaluator.quant.timing import gate as own_gate
from evaluator.quant.weighting import WeightInputs, target_weights

from . import cases, frames
from .third_way import (
    PRICE_FACTORS,
    STATEMENT_FACTORS,
    combine,
    covariance,
    factor,
    gate,
    returns,
    weights,
)
from .third_way import (
    vol_target_exposure as golden_exposure,
)
from .world import FINANCIAL, SYMBOLS


def stamp(i: int) -> pd.Timestamp:
    return pd.Timestamp(cases.world().sessions[i])


@pytest.fixture(scope="module")
def panel() -> PricePanel:
    found = price_panel(frames.prices(cases.world()))
    assert isinstance(found, PricePanel)
    return found


@pytest.fixture(scope="module")
def inputs(panel: PricePanel) -> FactorInputs:
    world = cases.world()
    spy = pd.Series(world.spy, index=panel.sessions)
    return FactorInputs(
        panel=panel,
        statements=statements(frames.fundamentals(world)),
        spy=spy,
        financials=frozenset({FINANCIAL}),
    )


def dates(sessions: tuple[int, ...]) -> pd.DatetimeIndex:
    return pd.DatetimeIndex([stamp(i) for i in sessions])


@pytest.mark.parametrize("name", [*PRICE_FACTORS, *STATEMENT_FACTORS])
def test_factor_of_the_golden_market_then_the_hand_made_scores(name: str, inputs: FactorInputs) -> None:
    scores = factor_scores(name, inputs, dates(cases.FACTOR_SESSIONS))

    for i in cases.FACTOR_SESSIONS:
        expected = factor(cases.world(), name, i)
        assert scores.loc[stamp(i)].dropna().to_dict() == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("method", [None, *cases.COMBINATIONS])
@pytest.mark.parametrize("names", [*cases.PAIRS, cases.TRIPLE])
def test_combination_then_the_hand_made_order_and_composite(
    names: tuple[str, ...], method: str | None, inputs: FactorInputs
) -> None:
    names = names[:1] if method is None else names
    when = dates(cases.FACTOR_SESSIONS)
    combined = own_combine({n: factor_scores(n, inputs, when) for n in names}, method)

    for i in cases.FACTOR_SESSIONS:
        composite, order = combine(method, [factor(cases.world(), n, i) for n in names])
        ranks = combined.ranks.loc[stamp(i)].dropna().sort_values()
        assert list(ranks.index) == order
        if composite is not None:
            assert combined.composite.loc[stamp(i)].dropna().to_dict() == pytest.approx(composite, abs=1e-9)


@pytest.mark.parametrize(("rule", "param", "choices"), cases.GATES)
def test_gate_then_the_hand_made_state_both_on_and_off(
    rule: str, param: str, choices: tuple[int, ...], inputs: FactorInputs, panel: PricePanel
) -> None:
    sessions = cases.decisions(777 if rule == "vol_gate" else 260)
    vix = pd.Series(cases.world().vix, index=panel.sessions)
    seen = set()
    for value in choices:
        own = own_gate(rule, inputs, dates(sessions), params={param: value}, vix=vix)
        expected = [gate(rule, cases.world(), i, value) for i in sessions]
        seen |= set(expected)
        assert list(own) == [float(x) for x in expected]

    assert seen == {True, False}


def test_always_invested_then_on_at_every_decision(inputs: FactorInputs) -> None:
    assert set(own_gate("always_invested", inputs, dates(cases.decisions(260)))) == {1.0}


@pytest.mark.parametrize("method", cases.COVARIANCES)
@pytest.mark.parametrize("window", [126, 252])
def test_covariance_then_the_hand_made_matrix(method: str, window: int) -> None:
    world, names = cases.world(), list(SYMBOLS[:5])
    rows = np.array([returns(world.adj_close[s], cases.WEIGHT_SESSION, window) for s in names]).T

    own = own_covariance(rows, method, halflife=21)

    expected = covariance(method, world, names, cases.WEIGHT_SESSION, window=window, halflife=21)
    assert own == pytest.approx(np.array(expected), rel=1e-9)


@pytest.mark.parametrize(
    ("scheme", "cov"),
    [
        *((s, "none") for s in cases.SIMPLE_SCHEMES),
        *((s, c) for s in cases.OPTIMISED_SCHEMES for c in cases.COVARIANCES),
    ],
)
@pytest.mark.parametrize("n", [3, 5, 8])
def test_weighting_then_the_hand_made_weights(
    scheme: str, cov: str, n: int, inputs: FactorInputs, panel: PricePanel
) -> None:
    when = dates((cases.WEIGHT_SESSION,))
    scores = factor(cases.world(), "mom_12_1", cases.WEIGHT_SESSION)
    _, order = combine(None, [scores])
    combined = own_combine({"mom_12_1": factor_scores("mom_12_1", inputs, when)}, None)

    own = target_weights(
        scheme,
        WeightInputs(select(combined, n), combined.composite, panel, market_cap(inputs, when)),
        covariance=None if cov == "none" else cov,
    )

    expected = weights(scheme, cases.world(), order[:n], scores, cases.WEIGHT_SESSION, cov=cov)
    found = own.loc[when[0]].dropna()
    assert {s: found.get(s, 0.0) for s in expected} == pytest.approx(expected, abs=2e-5)
    assert found.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("target", [8, 10, 12, 15])
@pytest.mark.parametrize("window", [21, 63])
def test_vol_target_then_the_hand_made_exposure(target: int, window: int, panel: PricePanel) -> None:
    sessions = cases.decisions(260)
    book = {"AAA": 0.5, "EEE": 0.3, "HHH": 0.2}
    table = pd.DataFrame([book] * len(sessions), index=dates(sessions))

    own = vol_target_exposure(table, panel, params={"target": target, "vol_window": window})

    expected = [golden_exposure(cases.world(), book, i, target_pct=target, window=window) for i in sessions]
    assert min(expected) < 1
    assert list(own) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", cases.BOOK_RULES)
def test_fills_of_a_golden_book_then_its_equity_is_rebuilt(name: str, panel: PricePanel) -> None:
    book = cases.book(name)

    own = rebuild(frames.trades(cases.world(), book), panel, capital=1_000_000.0)

    expected = frames.equity(cases.world(), book)
    common = own.equity.index.intersection(expected.index)
    assert len(common) >= len(expected) - 1
    assert own.equity[common].to_numpy() == pytest.approx(expected[common].to_numpy(), rel=1e-9)


EXECUTIONS = {
    "next_open": ("next_open", {}),
    "next_close": ("next_close", {}),
    "staged_3": ("staged", {"days": 3}),
    "staged_5": ("staged", {"days": 5}),
    "adv_cap_1": ("adv_cap", {"cap": 1}),
    "adv_cap_5": ("adv_cap", {"cap": 5}),
    "adv_cap_10": ("adv_cap", {"cap": 10}),
}


@pytest.mark.parametrize("name", EXECUTIONS)
def test_execution_of_a_golden_book_then_recognised(name: str, panel: PricePanel) -> None:
    option, params = EXECUTIONS[name]
    table = frames.trades(cases.world(), cases.book(name))

    fit = execution_fit(option, table, panel, params=params)

    # a child is smaller where the cash ran out, so not every staged order is equal to the end
    assert fit.share >= (0.9 if option == "staged" else 0.99)
    if option == "adv_cap":
        assert fit.split_orders > 0


@pytest.mark.parametrize("name", EXECUTIONS)
def test_execution_of_a_golden_book_then_not_taken_for_another(name: str, panel: PricePanel) -> None:
    option, _ = EXECUTIONS[name]
    table = frames.trades(cases.world(), cases.book(name))
    others = {"next_open": "next_close", "next_close": "next_open", "staged": "next_close", "adv_cap": "next_open"}

    assert execution_fit(others[option], table, panel).share < 0.5


def test_fees_of_a_golden_book_then_the_rate_is_recognised_and_no_other() -> None:
    table = frames.trades(cases.world(), cases.book("fixed_rate"))

    assert fee_fit(table, rate_bps=15).share >= 0.99
    assert fee_fit(table, rate_bps=10).share < 0.1
    assert fee_fit(frames.trades(cases.world(), cases.book("next_open")), rate_bps=0).share >= 0.99


@pytest.mark.parametrize(
    ("name", "threshold", "cooldown"), [("drawdown_stop", 0.10, 21), ("drawdown_stop_staged_with_cost", 0.10, 10)]
)
def test_drawdown_stop_of_a_golden_book_then_every_breach_found_and_left(
    name: str, threshold: float, cooldown: int, panel: PricePanel
) -> None:
    book = cases.book(name)
    own = rebuild(frames.trades(cases.world(), book), panel, capital=1_000_000.0)

    breaches = drawdown_breaches(
        own, threshold=threshold, decisions=dates(cases.decisions(cases.FIRST_DECISION)), cooldown=cooldown
    )

    assert [b.date for b in breaches] == [stamp(i) for i in book.stops]
    assert all(b.exit_sessions is not None and b.exit_sessions <= 3 for b in breaches)
    assert all(b.rebought is None for b in breaches)


@pytest.mark.parametrize(("name", "threshold"), [("position_stop", 0.08), ("position_stop_next_close", 0.10)])
def test_position_stop_of_a_golden_book_then_every_breach_found_and_sold(
    name: str, threshold: float, panel: PricePanel
) -> None:
    book = cases.book(name)
    table = frames.trades(cases.world(), book)
    own = rebuild(table, panel, capital=1_000_000.0)

    breaches = position_breaches(
        own, table, threshold=threshold, decisions=dates(cases.decisions(cases.FIRST_DECISION))
    )

    expected = {(stamp(f.signal), f.symbol) for f in book.fills if f.reason == "stop"}
    assert {(b.date, b.symbol) for b in breaches if not b.open_end} >= expected
    assert all(b.exit_sessions is not None and b.exit_sessions <= 3 for b in breaches if not b.open_end)
