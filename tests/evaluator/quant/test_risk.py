from typing import Any

import numpy as np
import pandas as pd
import pytest

from evaluator.quant.absent import Absent
from evaluator.quant.accounting import rebuild
from evaluator.quant.calendar import decision_dates, sessions
from evaluator.quant.panel import price_panel
from evaluator.quant.risk import (
    changed_because_of,
    drawdown_breaches,
    position_breaches,
    vol_target_exposure,
)
from tests.evaluator.worlds import CAPITAL, backtest, canonical_trades, market

DAYS = sessions("2020-01-02", "2020-06-30")


def table(closes: Any, names: Any = ("A",)) -> Any:
    """Long prices from a path of closes per name; opens equal the previous close."""
    rows = []
    for name, given in zip(names, closes, strict=True):
        path = [*given, *[given[-1]] * (len(DAYS) - len(given))]
        for i, day in enumerate(DAYS):
            rows.append((day, name, path[max(i - 1, 0)], path[i]))
    return pd.DataFrame(rows, columns=["date", "symbol", "open", "close"])


def fills(*rows: Any) -> Any:
    frame = pd.DataFrame(rows, columns=["at", "symbol", "side", "quantity", "price"])
    frame["date"] = DAYS[frame["at"]]
    frame["signal_date"] = DAYS[frame["at"] - 1]
    return frame.drop(columns="at").assign(fee=0.0)


MONTHS = decision_dates(DAYS, "monthly")


def test_breach_with_exit_next_session_is_reported_with_its_level() -> None:
    path = [100, 100, 100, 90, 79, 79, 79]
    panel = price_panel(table([path]))
    log = fills((1, "A", 1, 100, 100.0), (5, "A", -1, 100, 79.0))
    made = rebuild(log, panel, capital=10_000)
    (breach,) = drawdown_breaches(made, threshold=0.20, decisions=MONTHS, cooldown=10)

    assert breach.date == DAYS[4]
    assert breach.level == pytest.approx(-0.21)
    assert breach.exit_sessions == 1
    assert breach.rebought is None


def test_breach_without_exit_says_so() -> None:
    path = [100, 100, 100, 90, 79, 79, 79]
    made = rebuild(fills((1, "A", 1, 100, 100.0)), price_panel(table([path])), capital=10_000)
    first, *rest = drawdown_breaches(made, threshold=0.20, decisions=MONTHS, cooldown=10)

    assert first.exit_date is None
    assert rest == []  # the peak is reset at the decision after the cooldown, and the price stays flat


def test_buying_back_before_the_cooldown_is_seen() -> None:
    path = [100, 100, 100, 90, 79, 79, 79]
    log = fills((1, "A", 1, 100, 100.0), (5, "A", -1, 100, 79.0), (8, "A", 1, 50, 79.0))
    made = rebuild(log, price_panel(table([path])), capital=10_000)
    (breach,) = drawdown_breaches(made, threshold=0.20, decisions=MONTHS, cooldown=10)

    assert breach.rebought == DAYS[8]


def test_drawdown_above_the_threshold_is_no_breach() -> None:
    path = [100, 100, 100, 90, 81, 81]
    made = rebuild(fills((1, "A", 1, 100, 100.0)), price_panel(table([path])), capital=10_000)

    assert drawdown_breaches(made, threshold=0.20, decisions=MONTHS) == ()


def test_breach_on_the_last_session_has_an_open_end() -> None:
    path = [100.0] * (len(DAYS) - 1) + [70.0]
    made = rebuild(fills((1, "A", 1, 100, 100.0)), price_panel(table([path])), capital=10_000)
    (breach,) = drawdown_breaches(made, threshold=0.20, decisions=MONTHS)

    assert breach.open_end


def test_entry_is_the_average_of_buys_and_sells_leave_it() -> None:
    # bought at 100 and 92: the average is 96, ten per cent below it is 86.4; 87 would breach the first entry alone.
    path = [100, 100, 92, 92, 87, 87, 86, 86, 86]
    log = fills((1, "A", 1, 100, 100.0), (3, "A", 1, 100, 92.0), (5, "A", -1, 50, 87.0), (7, "A", -1, 150, 86.0))
    made = rebuild(log, price_panel(table([path])), capital=100_000)
    (breach,) = position_breaches(made, log, threshold=0.10, decisions=MONTHS)

    assert breach.date == DAYS[6]
    assert breach.level == pytest.approx(86 / 96 - 1)
    assert breach.exit_date == DAYS[7]


def test_honest_position_stop_is_always_followed_by_an_exit() -> None:
    prices = market()
    run = backtest(prices, stop=0.08)
    log = canonical_trades(run)
    made = rebuild(log, price_panel(prices), capital=CAPITAL)
    decisions = pd.DatetimeIndex(run.weights["date"].unique())
    found = position_breaches(made, log, threshold=0.08, decisions=decisions)
    stops = log[log["reason"] == "stop"]

    assert len(found) == len(stops) > 3
    assert all(one.exit_sessions == 1 and one.rebought is None for one in found)
    assert {(one.exit_date, one.symbol) for one in found} == set(zip(stops["date"], stops["symbol"], strict=True))


def test_stop_that_was_never_built_is_found_unfollowed() -> None:
    prices = market()
    run = backtest(prices)
    log = canonical_trades(run)
    made = rebuild(log, price_panel(prices), capital=CAPITAL)
    decisions = pd.DatetimeIndex(run.weights["date"].unique())
    found = position_breaches(made, log, threshold=0.08, decisions=decisions)

    assert any(one.exit_sessions is None or one.exit_sessions > 3 for one in found if not one.open_end)


def test_position_breaches_without_a_log_are_none() -> None:
    prices = market(("AA", "BB"), end="2019-01-31")
    run = backtest(prices, n=1)
    made = rebuild(canonical_trades(run), price_panel(prices), capital=CAPITAL)

    assert position_breaches(made, None, threshold=0.1, decisions=MONTHS) == ()


def test_vol_target_scales_to_the_unscaled_book() -> None:
    panel = price_panel(market())
    day = panel.sessions[[500]]
    book = pd.DataFrame(0.1, index=day, columns=panel.symbols)
    daily = panel.returns.iloc[438:501].to_numpy() @ np.full(10, 0.1)
    volatility = daily.std(ddof=1) * np.sqrt(252)

    found = vol_target_exposure(book, panel, params={"target": 8})
    assert found.iloc[0] == pytest.approx(min(1, 0.08 / volatility))
    assert vol_target_exposure(book, panel, params={"target": 90}).iloc[0] == 1
    assert isinstance(vol_target_exposure(book, panel), Absent)


def test_vol_target_without_history_or_book_is_missing() -> None:
    panel = price_panel(market())
    days = panel.sessions[[10, 500]]
    book = pd.DataFrame([[0.1] * 10, [0.0] * 10], index=days, columns=panel.symbols)

    assert vol_target_exposure(book, panel, params={"target": 8}).isna().all()


def test_fills_off_the_calendar_or_with_a_reason_are_changes() -> None:
    prices = market()
    run = backtest(prices, stop=0.08)
    log = canonical_trades(run)
    decisions = pd.DatetimeIndex(run.weights["date"].unique())

    with_reason = changed_because_of(log, decisions)
    by_date = changed_because_of(log.drop(columns="reason"), decisions)
    assert set(with_reason["reason"]) == {"stop"}
    assert 0 < len(by_date) <= len(with_reason)
    assert len(changed_because_of(canonical_trades(backtest(prices)), decisions)) == 0
