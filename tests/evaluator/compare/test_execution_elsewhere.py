"""Fills that demonstrably lie at another session or price contradict an execution option; a doubt does not."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from tests.evaluator.compare.made import Made, belief, held, inputs, made

Edit = Callable[[pd.DataFrame], pd.DataFrame]
OPTIONS = ("next_close", "staged", "adv_cap")
DATE, SIGNAL = "fill_date", "signal_date"


def prices(field: str) -> pd.DataFrame:
    table = inputs()["prices"]
    assert table is not None
    wide = table.pivot_table(index="date", columns="symbol", values=field)
    return wide.set_axis(pd.DatetimeIndex(wide.index), axis=0)


def at(trades: pd.DataFrame, dates: pd.Series, field: str) -> pd.DataFrame:
    """Return the fills on other days, at a field of those days."""
    wide = prices(field)
    days = pd.DatetimeIndex(dates)
    paid = [wide.loc[day, name] for day, name in zip(days, trades["symbol"], strict=True)]
    return trades.assign(price=paid)


def moved(dates: pd.Series, sessions: int) -> pd.Series:
    days = prices("close").index
    places = days.searchsorted(pd.DatetimeIndex(dates)) + sessions
    return pd.Series(days[places.clip(max=len(days) - 1)], index=dates.index)


def two_days_later(trades: pd.DataFrame) -> pd.DataFrame:
    dates = moved(trades[SIGNAL], 2)
    return at(trades, dates, "open").assign(**{DATE: dates})


def at_the_signals_close(trades: pd.DataFrame) -> pd.DataFrame:
    return at(trades, trades[SIGNAL], "close").assign(**{DATE: trades[SIGNAL]})


def relabelled(trades: pd.DataFrame) -> pd.DataFrame:
    return at(trades, trades[SIGNAL], "close")


def at_stop_prices(trades: pd.DataFrame) -> pd.DataFrame:
    low, high = (at(trades, trades[DATE], field)["price"] for field in ("low", "high"))
    return trades.assign(price=low + 0.37 * (high - low))


def checked(root: Path, option: str, edit: Edit, *, of: str = "next_open") -> tuple[str, str]:
    right = made((("execution", of),), rebalance="weekly")
    trades = right.tables["trades"]
    assert {DATE, SIGNAL} <= set(trades.columns)
    return held(Made({**right.tables, "trades": edit(trades)}, right.rows).saying(execution=option), root).check(
        option, belief(execution=option)
    )


@pytest.mark.parametrize("edit", [two_days_later, at_the_signals_close, relabelled, at_stop_prices])
def test_fills_at_another_session_or_price_contradict_the_next_close(tmp_path: Path, edit: Edit) -> None:
    check, detail = checked(tmp_path, "next_close", edit)

    assert (check, "elsewhere" in detail) == ("contradicted", True)


@pytest.mark.parametrize("edit", [two_days_later, at_the_signals_close, relabelled, at_stop_prices])
def test_orders_filled_at_once_contradict_staged_parts(tmp_path: Path, edit: Edit) -> None:
    assert checked(tmp_path, "staged", edit)[0] == "contradicted"


def test_fills_on_the_signals_day_contradict_a_volume_cap_and_two_days_later_do_not(tmp_path: Path) -> None:
    assert checked(tmp_path / "a", "adv_cap", at_the_signals_close)[0] == "contradicted"
    assert checked(tmp_path / "b", "adv_cap", two_days_later)[0] == "unconfirmed"


@pytest.mark.parametrize(
    "edit",
    [
        lambda t: t.assign(
            price=t["price"] * (1 + 0.003 * t["side"].map({"BUY": 1, "SELL": -1, "buy": 1, "sell": -1}))
        ),
        lambda t: t.assign(price=t["price"] * 0.8),
    ],
    ids=["slippage", "another price basis"],
)
def test_slippage_and_another_price_basis_leave_the_option_open(tmp_path: Path, edit: Edit) -> None:
    assert checked(tmp_path, "next_close", edit, of="next_close")[0] == "unconfirmed"
