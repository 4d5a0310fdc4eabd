"""Confirmations, corrections, refusals and questions about results: which of them state an item."""

import pytest

from evaluator.compare.statements import read_statements
from evaluator.package.delivery import Message
from tests.evaluator.compare.labelled import item_of

VALUES = {
    "risk_control/position_stop/threshold": 0.15,
    "risk_control/drawdown_stop/threshold": 0.2,
    "transaction_cost/fixed_rate/rate_bps": 10.0,
}
STATED = [
    (
        "You wrote rank weights; I put the same money in each.",
        ("portfolio_construction/equal", "portfolio_construction/rank_weighted"),
        ("portfolio_construction/equal",),
    ),
    (
        "A 15% stop on each name looks odd to me.",
        ("risk_control/position_stop", "risk_control/position_stop/threshold"),
        (),
    ),
    (
        "You put a 15% stop in. There is none in my rules.",
        ("risk_control/position_stop", "risk_control/position_stop/threshold"),
        (),
    ),
    (
        "15% under its purchase price and the name is gone.",
        ("risk_control/position_stop", "risk_control/position_stop/threshold"),
        ("risk_control/position_stop", "risk_control/position_stop/threshold"),
    ),
    (
        "Your plan assumes 10 bps. Fine by me.",
        ("transaction_cost/fixed_rate/rate_bps",),
        ("transaction_cost/fixed_rate/rate_bps",),
    ),
    ("Your plan assumes 10 bps. Not what I pay.", ("transaction_cost/fixed_rate/rate_bps",), ()),
    ("Did you use next-day closing prices?", ("execution/next_close",), ()),
    ("I would never go all in at once, ease in over a few mornings.", ("execution/staged",), ("execution/staged",)),
    ("No volatility filter, thanks.", ("market_timing/vol_gate",), ()),
    ("Forget the VIX.", ("market_timing/vix_gate",), ()),
    ("Don't bother with a moving average on the index.", ("market_timing/spy_sma",), ()),
    ("What do you mean by sleepy charts?", ("stock_selection/low_vol_252",), ()),
    (
        "The stuff that did best over the last twelve months, ignoring the latest month.",
        ("stock_selection/mom_12_1",),
        ("stock_selection/mom_12_1",),
    ),
    ("Which names had the highest volume?", ("execution/adv_cap",), ()),
    ("The report mentions rank weights, and I don't want those.", ("portfolio_construction/rank_weighted",), ()),
    (
        "Yes to the rank weights, no to the stop.",
        ("portfolio_construction/rank_weighted", "risk_control/position_stop"),
        ("portfolio_construction/rank_weighted",),
    ),
    (
        "You proposed shrinkage: correct.",
        ("portfolio_construction/ledoit_wolf",),
        ("portfolio_construction/ledoit_wolf",),
    ),
    (
        "Sample covariance as you said? No, shrink it.",
        ("portfolio_construction/ledoit_wolf", "portfolio_construction/sample"),
        ("portfolio_construction/ledoit_wolf",),
    ),
    (
        "Why did the account drop 20% and then sell everything?",
        ("risk_control/drawdown_stop", "risk_control/drawdown_stop/threshold"),
        (),
    ),
    (
        "When the account is a fifth off its high I go to cash.",
        ("risk_control/drawdown_stop", "risk_control/drawdown_stop/threshold"),
        ("risk_control/drawdown_stop", "risk_control/drawdown_stop/threshold"),
    ),
    (
        "Thanks, the equity curve looks smooth. How volatile was it?",
        ("portfolio_construction/min_variance", "portfolio_construction/inverse_vol", "stock_selection/low_vol_252"),
        (),
    ),
    (
        "Please show the drawdown chart and the best stocks of last year.",
        ("stock_selection/mom_12_1", "risk_control/drawdown_stop"),
        (),
    ),
    ("How many names did you end up with in the first cut?", ("stock_selection/sequential_screen",), ()),
    ("Did the returns come mostly from small companies?", ("stock_selection/small_cap",), ()),
    ("I can't read the file; send the trades over again.", ("execution/staged", "execution/adv_cap"), ()),
    ("Run it over the next few years of data.", ("execution/staged",), ()),
    ("Please compare it with the S&P over the same years.", ("market_timing/spy_abs_mom", "market_timing/spy_sma"), ()),
    ("The price went up, great.", ("stock_selection/mom_12_1",), ()),
    (
        "Performance looks good against the market in 2020.",
        ("market_timing/spy_abs_mom", "market_timing/vol_gate", "market_timing/spy_sma"),
        (),
    ),
    (
        "Add up the positions on each list and go with the best average.",
        ("stock_selection/rank_mean",),
        ("stock_selection/rank_mean",),
    ),
    (
        "Looks fine, keep going.",
        ("portfolio_construction/equal", "stock_selection/zscore_mean", "stock_selection/book_to_price"),
        (),
    ),
    ("How do you handle missing data?", ("stock_selection/zscore_mean", "stock_selection/book_to_price"), ()),
    (
        "The stop cost us 3% in March.",
        ("risk_control/position_stop", "risk_control/position_stop/threshold", "risk_control/drawdown_stop"),
        (),
    ),
    ("You used last year's winners, and that's not it.", ("stock_selection/mom_12_1",), ()),
    (
        "I don't follow what the matrix is for, just keep it plain.",
        ("portfolio_construction/sample",),
        ("portfolio_construction/sample",),
    ),
]


@pytest.mark.parametrize(("message", "belief", "expected"), STATED, ids=[case[0][:40] for case in STATED])
def test_only_what_the_user_stands_by_is_stated(
    message: str, belief: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    items = tuple(item_of(name, VALUES) for name in belief)

    assert read_statements((Message("user", 0, message),), items).stated == set(expected)
