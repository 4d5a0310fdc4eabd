from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evaluator.quant.absent import Absent
from evaluator.quant.execution import execution_fit, fee_fit
from evaluator.quant.inference import infer_execution, infer_rate_bps
from evaluator.quant.panel import price_panel
from tests.evaluator.worlds import backtest, canonical_trades, market

PRICES = market()
PANEL = price_panel(PRICES)


@cache
def orders() -> Any:
    run = canonical_trades(backtest(PRICES))
    frame = run[["signal_date", "symbol"]].rename(columns={"signal_date": "date"})
    return frame.assign(quantity=run["side"] * run["quantity"])


def filled(option: Any, scale: Any = 1.0, **params: Any) -> Any:
    """Fills made by a loop of its own."""
    out = []
    at = {day: i for i, day in enumerate(PANEL.sessions)}
    for day, symbol, quantity in orders().itertuples(index=False):
        i, left, sign = at[day], round(abs(quantity) * scale), np.sign(quantity)
        if option in ("next_open", "next_close"):
            plan = [(i + 1, left)]
        elif option == "staged":
            each = left // params["days"]
            plan = [(i + 1 + k, each) for k in range(params["days"] - 1)]
            plan.append((i + params["days"], left - each * (params["days"] - 1)))
        else:
            plan = []
            for k in range(1, 6):
                if i + k < len(PANEL.sessions):
                    volume = PANEL.fields["volume"].iloc[i + k][symbol]
                    part = min(left, int(params["cap"] / 100 * volume))
                    plan.append((i + k, part))
                    left -= part
        field = "open" if option in ("next_open", "staged") else "close"
        for k, part in plan:
            if part > 0 and k < len(PANEL.sessions):
                price = PANEL.fields[field].iloc[k][symbol]
                out.append((day, PANEL.sessions[k], symbol, sign, part, price))
    return pd.DataFrame(out, columns=["signal_date", "date", "symbol", "side", "quantity", "price"])


CASES = [
    ("next_open", 1.0, {}),
    ("next_close", 1.0, {}),
    ("staged", 1.0, {"days": 3}),
    ("staged", 1.0, {"days": 5}),
    ("adv_cap", 20.0, {"cap": 5}),
    ("adv_cap", 10.0, {"cap": 1}),
]


@pytest.mark.parametrize(("option", "scale", "params"), CASES)
def test_option_fits_its_own_fills_and_is_inferred(option: Any, scale: Any, params: Any) -> None:
    fit = execution_fit(option, filled(option, scale, **params), PANEL, params=params)

    assert fit.share == 1
    if option in ("staged", "adv_cap"):
        assert fit.split_orders > 0
    inferred = infer_execution(filled(option, scale, **params), PANEL)
    assert inferred.option == option
    assert inferred.accepted


def test_fill_at_the_wrong_price_or_day_does_not_fit() -> None:
    right = filled("next_open")

    assert execution_fit("next_close", right, PANEL).share < 0.2
    assert execution_fit("staged", right, PANEL).share == 0
    late = right.assign(signal_date=right["signal_date"] - pd.Timedelta(days=7))
    assert execution_fit("next_open", late, PANEL).share == 0


def test_fill_over_the_cap_does_not_fit() -> None:
    fit = execution_fit("adv_cap", filled("next_close", 20.0), PANEL, params={"cap": 1})

    assert fit.share < 0.7
    assert fit.split_orders == 0


def test_dividend_adjusted_fills_fit_too() -> None:
    log = filled("next_close")
    scale = PANEL.fields["adj_close"] / PANEL.fields["close"]
    log["price"] *= [scale.loc[day, name] for day, name in zip(log["date"], log["symbol"], strict=True)]

    assert execution_fit("next_close", log, PANEL).share == 1


def test_missing_tables_are_absent() -> None:
    bare = price_panel(PRICES.drop(columns=["volume", "open"]))

    assert isinstance(execution_fit("adv_cap", filled("next_close"), bare), Absent)
    assert execution_fit("next_open", filled("next_open"), bare).share == 0
    assert isinstance(execution_fit("next_open", None, PANEL), Absent)
    assert isinstance(execution_fit("at_will", filled("next_open"), PANEL), Absent)
    assert isinstance(infer_execution(None, PANEL), Absent)


def test_fees_are_compared_with_the_rate() -> None:
    log = canonical_trades(backtest(PRICES, rate_bps=10))

    assert fee_fit(log, rate_bps=10).share == 1
    assert fee_fit(log, rate_bps=10).total_fits
    assert fee_fit(log, rate_bps=15).share == 0
    assert not fee_fit(log, rate_bps=15).total_fits
    assert fee_fit(log, rate_bps=15).implied_bps == pytest.approx(10)
    assert infer_rate_bps(log) == pytest.approx(10)
    assert isinstance(fee_fit(log.drop(columns="fee"), rate_bps=10), Absent)
    assert infer_rate_bps(log.drop(columns="fee")) is None
    assert fee_fit(log.assign(fee=0.0), rate_bps=0).share == 1
