"""In which cells a figure of a report can stand."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from tests.evaluator.deliveries import Delivered, clean


def middle(delivered: Delivered, name: str) -> pd.Series:
    """Return a row of a log that is neither its first nor its last, nor an extreme."""
    table = delivered.tables[name]
    numbers = table.select_dtypes("number")
    ranks = numbers.drop(columns=["quantity", "fee"], errors="ignore").rank(pct=True)
    inner = ((ranks > 0.2) & (ranks < 0.8)).all(axis=1)
    return table[inner].iloc[len(table[inner]) // 2]


def reported(delivered: Delivered, *lines: str) -> Delivered:
    delivered.report = "# Report\n\n## Results\n\n" + "\n".join(lines) + "\n"
    return delivered


@pytest.mark.parametrize("name", ["trades", "equity", "prices"])
def test_figure_found_by_chance_in_a_long_log_is_not_traced(graded: Callable[..., Any], name: str) -> None:
    delivered = clean()
    row = middle(delivered, name)
    figures = [row[column] for column in row.index if isinstance(row[column], float) and row[column] > 10]
    lines = [f"The return in dollars is {figure:.2f}." for figure in figures]
    assert lines

    assert graded(reported(delivered, *lines)).scores["4.2"] == 0


def test_figure_of_a_row_whose_day_and_symbol_are_named_is_traced(graded: Callable[..., Any]) -> None:
    delivered = clean()
    fill, day = middle(delivered, "trades"), middle(delivered, "equity")
    lines = (
        f"On {fill['fill_date']:%Y-%m-%d} the trade in {fill['symbol']} was filled at ${fill['price']:.4f}.",
        f"Equity at {day['date']:%Y-%m-%d} was ${day['equity']:,.2f}.",
    )

    assert graded(reported(delivered, *lines)).scores["4.2"] == 4


def test_ends_extremes_and_counts_of_a_log_are_traced(graded: Callable[..., Any]) -> None:
    delivered = clean()
    equity, trades = delivered.tables["equity"], delivered.tables["trades"]
    lines = (
        f"Equity ended at ${equity['equity'].iloc[-1]:,.0f} and was at most ${equity['equity'].max():,.0f}.",
        f"There were {len(trades)} trades; the curve has {len(equity)} days of return.",
    )

    assert graded(reported(delivered, *lines)).scores["4.2"] == 4


def test_figure_is_held_at_its_printed_precision(graded: Callable[..., Any]) -> None:
    delivered = clean()
    true = delivered.tables["metrics"].set_index("metric")["value"]["sharpe"]

    assert graded(reported(clean(), f"The Sharpe ratio is {true:.3f}.")).scores["4.2"] == 4
    assert graded(reported(clean(), f"The Sharpe ratio is {true + 0.002:.3f}.")).scores["4.2"] == 0


def test_difference_of_two_traced_figures_of_a_line_is_traced_and_another_is_not(graded: Callable[..., Any]) -> None:
    value = clean().tables["metrics"].set_index("metric")["value"]
    one, two = round(100 * value["total_return"], 1), round(100 * value["max_drawdown"], 1)
    right = f"| Return | {one:.1f}% | {two:.1f}% | {one - two:.1f}% |"
    wrong = f"| Return | {one:.1f}% | {two:.1f}% | {one - two + 777.7:.1f}% |"

    assert graded(reported(clean(), right)).scores["4.2"] == 4
    assert graded(reported(clean(), wrong)).scores["4.2"] == 2
