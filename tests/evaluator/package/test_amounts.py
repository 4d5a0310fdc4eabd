"""A column `amount` may hold shares or money; where nothing tells, the audit says so."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from tests.evaluator.deliveries import Delivered, clean


def with_amounts(make: Callable[[pd.DataFrame], pd.Series], *, notional: bool = False) -> Delivered:
    """Return the clean delivery with `amount` for its quantities, and with the notional where wanted."""
    delivered = clean()
    trades = delivered.tables["trades"]
    amount = make(trades)
    renamed = trades.drop(columns="quantity").assign(amount=amount)
    if notional:
        renamed["notional"] = trades["quantity"] * trades["price"]
    delivered.tables["trades"] = renamed
    return delivered


@pytest.mark.parametrize(
    ("make", "notional"),
    [
        (lambda t: t["quantity"].round() + 0.0, False),
        (lambda t: t["quantity"], True),
    ],
    ids=["whole shares", "beside a notional"],
)
def test_amount_that_is_shown_to_be_shares_parses(graded: Callable[..., Any], make: Any, notional: bool) -> None:
    assert "A01" not in graded(with_amounts(make, notional=notional)).failing()


def test_amount_that_gives_whole_shares_is_money(graded: Callable[..., Any]) -> None:
    result = graded(with_amounts(lambda t: (t["quantity"].round() + 0.0) * t["price"]))

    assert "A01" not in result.failing()


def test_amount_of_parts_of_shares_or_odd_money_is_ambiguous(graded: Callable[..., Any]) -> None:
    result = graded(with_amounts(lambda t: t["quantity"] * 1.0137 + 0.377))

    assert "A01" in result.failing()
    assert "amount: ambiguous" in result.evidence("3.7")
