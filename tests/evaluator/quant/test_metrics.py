from typing import Any

import empyrical
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.quant.calendar import sessions
from evaluator.quant.metrics import (
    Conventions,
    max_drawdown,
    performance,
    returns_of,
    round_trips,
    trade_counts,
    trade_metrics,
)
from evaluator.quant.tolerance import compare_metrics

DAYS = sessions("2019-01-02", "2021-12-31")


def curve(seed: Any = 3) -> Any:
    rng = np.random.default_rng(seed)
    return pd.Series(1e6 * np.cumprod(1 + rng.normal(0.0004, 0.011, len(DAYS))), index=DAYS)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_figures_equal_empyrical(seed: Any) -> None:
    equity = curve(seed)
    daily = returns_of(equity, 1e6)
    own = performance(equity, capital=1e6, conventions=Conventions(cagr="periods"))

    assert own["sharpe"] == pytest.approx(empyrical.sharpe_ratio(daily), abs=1e-9)
    assert own["max_drawdown"] == pytest.approx(empyrical.max_drawdown(daily), abs=1e-9)
    assert own["cagr"] == pytest.approx(empyrical.cagr(daily), abs=1e-9)
    assert own["volatility"] == pytest.approx(empyrical.annual_volatility(daily), abs=1e-9)
    assert own["total_return"] == pytest.approx(empyrical.cum_returns_final(daily), abs=1e-9)
    assert own["sortino"] == pytest.approx(empyrical.sortino_ratio(daily), abs=1e-9)
    assert own["calmar"] == pytest.approx(empyrical.calmar_ratio(daily), abs=1e-9)


def test_calendar_growth_rate_uses_days() -> None:
    equity = pd.Series([100.0, 121.0], index=pd.DatetimeIndex(["2019-01-01", "2021-01-01"]))
    own = performance(equity)

    assert own["cagr"] == pytest.approx(1.21 ** (365.25 / 731) - 1)
    assert own["total_return"] == pytest.approx(0.21)


def test_first_day_loss_counts_in_the_drawdown() -> None:
    equity = pd.Series([940.0, 950.0, 960.0], index=DAYS[:3])

    assert max_drawdown(equity, 1000.0) == pytest.approx(-0.06)
    assert max_drawdown(equity) == 0
    assert returns_of(equity, 1000.0).iloc[0] == pytest.approx(-0.06)
    assert len(returns_of(equity, 940.0)) == 2


def test_flat_curve_has_no_ratios_and_one_value_no_figures() -> None:
    flat = performance(pd.Series(100.0, index=DAYS[:10]))

    assert "sharpe" not in flat
    assert "calmar" not in flat
    assert flat["total_return"] == 0
    assert performance(pd.Series([1.0], index=DAYS[:1])) == {}


def test_risk_free_rate_lowers_the_ratio() -> None:
    daily = returns_of(curve())
    own = performance(curve(), conventions=Conventions(rf=0.04))

    assert own["sharpe"] == pytest.approx(empyrical.sharpe_ratio(daily, risk_free=0.04 / 252), abs=1e-9)


def log() -> Any:
    rows = [
        ("2019-01-03", "A", 1, 100, 10.0, "2019-01-02"),
        ("2019-01-03", "B", 1, 50, 20.0, "2019-01-02"),
        ("2019-01-04", "A", 1, 100, 12.0, "2019-01-02"),
        ("2019-02-01", "A", -1, 50, 12.0, "2019-01-31"),
        ("2019-02-01", "A", -1, 150, 10.0, "2019-01-31"),
        ("2019-02-01", "B", -1, 50, 25.0, "2019-01-31"),
    ]
    frame = pd.DataFrame(rows, columns=["date", "symbol", "side", "quantity", "price", "signal_date"])
    frame["date"] = pd.to_datetime(frame["date"])
    frame["signal_date"] = pd.to_datetime(frame["signal_date"])
    return frame.assign(fee=1.0)


def test_round_trips_use_the_average_cost() -> None:
    trips = round_trips(log())

    assert trips["profit"].tolist() == pytest.approx([50.0, -150.0, 250.0])
    assert trips["flat"].tolist() == [False, True, True]


def test_counting_bases_are_all_named() -> None:
    assert trade_counts(log()) == {
        "fills": 6,
        "orders": 4,
        "round_trips": 3,
        "closed_positions": 2,
        "rebalances": 2,
    }
    assert trade_counts(None) == {}


def test_turnover_exposure_and_fees_of_a_log() -> None:
    equity = pd.Series(10_000.0, index=sessions("2019-01-02", "2019-12-31"))
    cash = equity * 0.25
    own = trade_metrics(log(), equity, cash)
    notional = 1000 + 1000 + 1200 + 600 + 1500 + 1250

    assert own["turnover"] == pytest.approx(notional / (2 * 10_000) / (363 / 365.25))
    assert own["exposure"] == pytest.approx(0.75)
    assert own["total_fees"] == 6
    assert own["win_rate"] == pytest.approx(2 / 3)


def within(report: Any) -> bool:
    return all(check.within is not False for check in report.checks)


def reported(**changes: Any) -> Any:
    own = performance(curve(), capital=1e6)
    return {name: own[name] for name in ("total_return", "sharpe", "max_drawdown", "cagr", "volatility")} | changes


def test_honest_report_is_within_whatever_the_drawdown_sign() -> None:
    report = compare_metrics(reported(max_drawdown=-reported()["max_drawdown"]), curve(), capital=1e6)

    assert within(report)
    assert report.conventions.name == "default"


@pytest.mark.parametrize(
    ("name", "change"), [("total_return", 0.03), ("max_drawdown", -0.03), ("sharpe", 0.6), ("volatility", 0.05)]
)
def test_figure_beyond_its_tolerance_is_caught(name: Any, change: Any) -> None:
    report = compare_metrics(reported(**{name: reported()[name] + change}), curve(), capital=1e6)

    assert not within(report)
    assert report.get(name).within is False
    assert sum(check.within is False for check in report.checks) == 1


def test_other_growth_exponent_is_accepted() -> None:
    wild = pd.Series(1e6 * 1.004 ** np.arange(len(DAYS)), index=DAYS).iloc[::2]
    by_periods = performance(wild, capital=1e6, conventions=Conventions(cagr="periods"))["cagr"]
    by_days = performance(wild, capital=1e6)["cagr"]
    assert abs(by_periods - by_days) > 0.02

    assert within(compare_metrics({"cagr": by_periods}, wild, capital=1e6))
    assert within(compare_metrics({"cagr": by_days}, wild, capital=1e6))


def test_one_set_of_conventions_must_explain_all() -> None:
    """A 365-day Sharpe is inside its tolerance here, but a 365-day volatility beside it is not the default's."""
    other = performance(curve(), capital=1e6, conventions=Conventions(periods=2520))
    mixed = reported(volatility=other["volatility"])
    stated = Conventions(periods=2520, name="stated")

    assert not within(compare_metrics(mixed, curve(), capital=1e6, stated=stated))
    whole = mixed | {"sharpe": other["sharpe"], "cagr": other["cagr"]}
    assert within(compare_metrics(whole, curve(), capital=1e6, stated=stated))


def test_tool_is_recognised_by_its_labels() -> None:
    geometric = Conventions(name="backtesting.py", cagr="periods", sharpe="geometric")
    own = performance(curve(), capital=1e6, conventions=geometric)
    wanted = {name: own[name] for name in ("sharpe", "volatility", "cagr")}
    labels = ["Return (Ann.) [%]", "Max. Drawdown [%]", "# Trades"]

    assert compare_metrics(wanted, curve(), capital=1e6, labels=labels).conventions.name == "backtesting.py"


def test_trade_count_matches_one_named_basis_exactly() -> None:
    equity = curve()

    assert compare_metrics({"trades": 6}, equity, trades=log()).count_basis == "fills"
    assert compare_metrics({"trades": 2}, equity, trades=log()).count_basis == "closed_positions"
    assert compare_metrics({"trades": 5}, equity, trades=log()).get("trades").within is False
    assert compare_metrics({"trades": 5}, equity).get("trades").within is None


def test_metric_nobody_can_recompute_is_not_comparable() -> None:
    assert compare_metrics({"turnover": 3.0}, curve()).get("turnover").within is None
    assert compare_metrics({"mystery": 3.0}, curve()).checks == ()
