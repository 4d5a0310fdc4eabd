"""The reference agent's delivered backtest against cases made a third way."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from . import cases, frames
from .third_way import (
    PRICE_FACTORS,
    STATEMENT_FACTORS,
    combine,
    covariance,
    factor,
    gate,
    returns,
    vol_target_exposure,
    weights,
)
from .third_way_book import Rules, run
from .world import FINANCIAL, SYMBOLS

SOURCE = Path(__file__).parents[2] / "images" / "reference" / "backtest.py"


@pytest.fixture(scope="module")
def backtest() -> ModuleType:
    spec = importlib.util.spec_from_file_location("delivered_backtest", SOURCE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["delivered_backtest"] = module
    spec.loader.exec_module(module)
    return module


def stamp(i: int) -> pd.Timestamp:
    return pd.Timestamp(cases.world().sessions[i])


def dates(sessions: tuple[int, ...]) -> pd.DatetimeIndex:
    return pd.DatetimeIndex([stamp(i) for i in sessions])


@pytest.fixture(scope="module")
def wide() -> dict[str, pd.DataFrame]:
    table = frames.prices(cases.world())
    return {c: table.pivot_table(index="date", columns="symbol", values=c) for c in ("adj_close", "close", "volume")}


@pytest.fixture(scope="module")
def market() -> pd.DataFrame:
    return frames.market(cases.world(), column="close").pivot_table(index="date", columns="symbol", values="close")


def sectors() -> dict[str, str]:
    return {s: "Financial Services" if s == FINANCIAL else "Technology" for s in SYMBOLS}


@pytest.mark.parametrize("name", [*PRICE_FACTORS, *STATEMENT_FACTORS])
def test_factor_of_the_golden_market_then_the_hand_made_scores(
    name: str, backtest: ModuleType, wide: dict[str, pd.DataFrame], market: pd.DataFrame
) -> None:
    scores = backtest.factor_scores(
        name,
        wide,
        frames.fundamentals(cases.world()),
        market,
        dates=dates(cases.FACTOR_SESSIONS),
        sectors=sectors(),
    )

    for i in cases.FACTOR_SESSIONS:
        expected = factor(cases.world(), name, i)
        assert scores.loc[stamp(i)].dropna().to_dict() == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("method", [None, *cases.COMBINATIONS])
@pytest.mark.parametrize("names", [*cases.PAIRS, cases.TRIPLE])
def test_combination_then_the_hand_made_order_and_composite(
    names: tuple[str, ...], method: str | None, backtest: ModuleType
) -> None:
    names = names[:1] if method is None else names
    for i in cases.FACTOR_SESSIONS:
        tables = [factor(cases.world(), n, i) for n in names]
        scores = pd.DataFrame(dict(zip(names, tables, strict=True)), index=list(SYMBOLS))

        own = backtest.combine(method or "none", scores, names)

        composite, order = combine(method, tables)
        assert list(own.symbols) == order
        assert (own.composite is None) == (composite is None)
        if composite is not None:
            assert own.composite.to_dict() == pytest.approx(composite, abs=1e-9)


@pytest.mark.parametrize(("rule", "param", "choices"), cases.GATES)
def test_gate_then_the_hand_made_state_both_on_and_off(
    rule: str,
    param: str,
    choices: tuple[int, ...],
    backtest: ModuleType,
    market: pd.DataFrame,
    wide: dict[str, pd.DataFrame],
) -> None:
    sessions = cases.decisions(777 if rule == "vol_gate" else 260)
    seen = set()
    for value in choices:
        own = backtest.gate(rule, {param: value}, market, wide["adj_close"], dates=dates(sessions))
        expected = [gate(rule, cases.world(), i, value) for i in sessions]
        seen |= set(expected)
        assert list(own) == expected

    assert seen == {True, False}


@pytest.mark.parametrize("method", cases.COVARIANCES)
@pytest.mark.parametrize("window", [126, 252])
def test_covariance_then_the_hand_made_matrix(method: str, window: int, backtest: ModuleType) -> None:
    world, names = cases.world(), list(SYMBOLS[:5])
    rows = pd.DataFrame({s: returns(world.adj_close[s], cases.WEIGHT_SESSION, window) for s in names})

    own = backtest.covariance(method, rows, halflife=21)

    expected = covariance(method, world, names, cases.WEIGHT_SESSION, window=window, halflife=21)
    assert own.to_numpy() == pytest.approx(np.array(expected), rel=1e-9)


@pytest.mark.parametrize(
    ("scheme", "cov"),
    [
        *((s, "none") for s in cases.SIMPLE_SCHEMES),
        *((s, c) for s in cases.OPTIMISED_SCHEMES for c in cases.COVARIANCES),
    ],
)
@pytest.mark.parametrize("n", [3, 5, 8])
def test_weighting_then_the_hand_made_weights(scheme: str, cov: str, n: int, backtest: ModuleType) -> None:
    world, i = cases.world(), cases.WEIGHT_SESSION
    scores = factor(world, "mom_12_1", i)
    _, order = combine(None, [scores])
    rows = pd.DataFrame({s: returns(world.adj_close[s], i, 252) for s in SYMBOLS})
    vols = pd.DataFrame({s: returns(world.adj_close[s], i, 126) for s in SYMBOLS}).std(ddof=1)
    caps = pd.Series({s: np.exp(-v) for s, v in factor(world, "small_cap", i).items()})

    own = backtest.weights(
        scheme,
        order[:n],
        composite=pd.Series(scores),
        vols=vols,
        caps=caps,
        cov=None if cov == "none" else backtest.covariance(cov, rows[order[:n]]),
    )

    expected = weights(scheme, world, order[:n], scores, i, cov=cov)
    assert own.to_dict() == pytest.approx(expected, abs=1e-6)


def specification(backtest: ModuleType, rules: Rules, **other: object) -> object:
    risk, params = "none", {}
    if rules.drawdown_pct is not None:
        risk, params = "drawdown_stop", {"threshold": rules.drawdown_pct, "cooldown": rules.cooldown}
    if rules.position_pct is not None:
        risk, params = "position_stop", {"threshold": rules.position_pct}
    execution = {"staged": {"days": rules.days}, "adv_cap": {"cap": rules.cap_pct}}.get(rules.execution, {})
    options = {
        "factors": ("rev_5",),
        "n_holdings": 3,
        "risk": risk,
        "risk_params": params,
        "execution": rules.execution,
        "execution_params": execution,
        "rate_bps": rules.rate_bps,
    }
    return backtest.Spec(**(options | other))


def tables() -> dict[str, pd.DataFrame]:
    return {
        "prices": frames.prices(cases.world()),
        "market": frames.market(cases.world(), column="close"),
        "fundamentals": frames.fundamentals(cases.world()),
        "universe": pd.DataFrame({"symbol": list(sectors()), "sector": list(sectors().values())}),
    }


def own_fills(results: object) -> list[tuple[pd.Timestamp, pd.Timestamp, str, str, int]]:
    table = results.trades
    columns = zip(
        pd.to_datetime(table["signal_date"]),
        pd.to_datetime(table["fill_date"]),
        table["symbol"],
        table["side"],
        table["quantity"],
        strict=True,
    )
    return sorted((a, b, c, d, int(e)) for a, b, c, d, e in columns)


@pytest.mark.parametrize("name", cases.BOOK_RULES)
def test_whole_backtest_then_the_hand_made_fills_fees_and_equity(name: str, backtest: ModuleType) -> None:
    book = cases.book(name)

    results = backtest.run(specification(backtest, cases.BOOK_RULES[name]), tables())

    expected = [
        (stamp(f.signal), stamp(f.session), f.symbol, "BUY" if f.side > 0 else "SELL", f.quantity) for f in book.fills
    ]
    assert own_fills(results) == sorted(expected)
    assert results.trades["fee"].sum() == pytest.approx(sum(f.fee for f in book.fills), abs=1e-6)
    assert results.equity["equity"].to_numpy() == pytest.approx(np.array(list(book.equity.values())), rel=1e-9)


def test_vol_target_in_a_whole_backtest_then_the_hand_made_target_weights(backtest: ModuleType) -> None:
    first = 63

    def target(i: int, _stopped: set[str]) -> tuple[dict[str, float], str]:
        base, _ = cases.golden_target(i, set())
        exposure = vol_target_exposure(cases.world(), base, i, target_pct=10, window=63)
        return {s: w * exposure for s, w in base.items()}, "rebalance"

    book = run(cases.world(), [i for i in cases.decisions(first) if i >= first], target, Rules(), last=cases.LAST)

    results = backtest.run(
        specification(backtest, Rules(), risk="vol_target", risk_params={"target": 10, "vol_window": 63}), tables()
    )

    assert results.equity["equity"].to_numpy() == pytest.approx(np.array(list(book.equity.values())), rel=1e-9)
    table = results.target_weights
    for i, expected in book.targets.items():
        rows = table[(pd.to_datetime(table["date"]) == stamp(i)) & (table["symbol"] != "CASH")]
        assert dict(zip(rows["symbol"], rows["weight"], strict=True)) == pytest.approx(expected, rel=1e-9)


def test_gate_in_a_whole_backtest_then_cash_at_every_decision_that_is_off(backtest: ModuleType) -> None:
    first = 99

    def target(i: int, stopped: set[str]) -> tuple[dict[str, float], str]:
        return cases.golden_target(i, stopped) if gate("spy_sma", cases.world(), i, 100) else ({}, "timing")

    book = run(cases.world(), list(cases.decisions(first)), target, Rules(), last=cases.LAST)

    results = backtest.run(specification(backtest, Rules(), timing="spy_sma", timing_params={"window": 100}), tables())

    assert {} in book.targets.values()
    assert results.equity["equity"].to_numpy() == pytest.approx(np.array(list(book.equity.values())), rel=1e-9)
    assert set(results.trades.loc[results.trades["reason"] == "timing", "side"]) == {"SELL"}
