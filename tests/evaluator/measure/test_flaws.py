"""One flaw each: the named dimensions fall, every other dimension keeps its level."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from tests.evaluator.deliveries import Delivered, clean, figures, refigure
from tests.evaluator.measure.test_clean_delivery import BUILT

pytestmark = pytest.mark.thorough


def fallen(result: Any) -> dict[str, int]:
    """Return the dimensions below 4 with their score."""
    return {dimension: result.scores[dimension] for dimension in BUILT if result.scores[dimension] != 4}


def same_close_fills(delivered: Delivered) -> None:
    """Fill at the close that made the signal; equity and metrics follow from the changed fills."""
    trades, prices = delivered.tables["trades"], delivered.tables["prices"]
    close = prices.set_index(["date", "symbol"])["close"]
    trades["fill_date"] = trades["signal_date"]
    trades["price"] = [close[day, name] for day, name in zip(trades["fill_date"], trades["symbol"], strict=True)]
    trades["fee"] = trades["quantity"] * trades["price"] * 0.001
    rebuild(delivered)


def rebuild(delivered: Delivered) -> None:
    """Make equity and metrics follow from the fills again, by plain addition."""
    trades, prices, equity = (delivered.tables[name] for name in ("trades", "prices", "equity"))
    close = prices.pivot_table(index="date", columns="symbol", values="close")
    sign = trades["side"].map({"BUY": 1, "SELL": -1})
    flow = (-sign * trades["quantity"] * trades["price"] - trades["fee"]).groupby(trades["fill_date"]).sum()
    signed = trades.assign(moved=sign * trades["quantity"])
    moved = signed.pivot_table(index="fill_date", columns="symbol", values="moved", aggfunc="sum", fill_value=0)
    days = pd.DatetimeIndex(equity["date"])
    cash = 1_000_000 + flow.reindex(days, fill_value=0.0).cumsum()
    shares = moved.reindex(days, fill_value=0).cumsum()
    equity["cash"] = cash.to_numpy()
    equity["equity"] = (cash + (shares * close.reindex(days)[shares.columns]).sum(axis=1)).to_numpy()
    refigure(delivered)


def test_fill_at_the_signal_close_fails_point_in_time_and_the_audit(graded: Callable[..., Any]) -> None:
    delivered = clean()
    same_close_fills(delivered)
    result = graded(delivered)

    assert result.scores["3.1"] == 0
    assert result.scores["3.2"] == 4
    assert result.failing() == ["A05"]


def test_signal_close_relabelled_as_next_day_is_seen(graded: Callable[..., Any]) -> None:
    delivered = clean()
    dates = delivered.tables["trades"]["fill_date"].copy()
    same_close_fills(delivered)
    delivered.tables["trades"]["fill_date"] = dates
    rebuild(delivered)
    result = graded(delivered)

    assert result.scores["3.1"] == 0
    assert "signal session's close" in result.evidence("3.1")


@pytest.mark.parametrize(("rows", "score"), [(1, 1), (5, 1), (6, 0)])
def test_late_price_rows_fail_strictness_alone(graded: Callable[..., Any], rows: int, score: int) -> None:
    delivered = clean()
    late = delivered.tables["prices"].tail(rows).copy()
    late["date"] = pd.Timestamp("2019-01-02")
    late["symbol"] = [f"AA{letter}" for letter in "ABCDEF"[:rows]] if rows > 1 else "AAA"
    late["symbol"] = delivered.tables["prices"]["symbol"].unique()[:rows]
    delivered.tables["prices"] = pd.concat([delivered.tables["prices"], late], ignore_index=True)
    result = graded(delivered)

    assert fallen(result) == {"1.1": score}
    assert "prices.csv" in result.evidence("1.1")


def test_late_equity_row_is_worse_than_a_late_price_row(graded: Callable[..., Any]) -> None:
    delivered = clean()
    late = delivered.tables["equity"].tail(1).assign(date=pd.Timestamp("2019-01-02"))
    delivered.tables["equity"] = pd.concat([delivered.tables["equity"], late], ignore_index=True)

    assert graded(delivered).scores["1.1"] == 0


def test_missing_log_fails_what_needs_fills(graded: Callable[..., Any]) -> None:
    delivered = clean()
    del delivered.tables["trades"]
    result = graded(delivered)

    assert result.scores["3.7"] == 0
    assert result.scores["3.8"] == 2
    assert result.scores["3.2"] in (1, 2, 3)
    assert result.scores["1.1"] == 4
    assert result.scores["3.1"] == 2


def test_missing_prices_fail_recomputation(graded: Callable[..., Any]) -> None:
    delivered = clean()
    del delivered.tables["prices"]
    result = graded(delivered)

    assert result.scores["3.2"] == 0
    assert result.scores["1.4"] == 0


def test_fills_that_miss_their_targets_fail_a14_and_l4(graded: Callable[..., Any]) -> None:
    delivered = clean()
    weights = delivered.tables["target_weights"]
    first = weights.groupby("date").cumcount() == 0
    second = weights.groupby("date").cumcount() == 1
    weights.loc[first, "weight"] = 0.45
    weights.loc[second, "weight"] = 0.05
    result = graded(delivered)

    assert result.failing() == ["A14"]
    assert result.scores["3.8"] == 3
    assert "L3 differs" in result.evidence("3.8")
    assert "L4 differs" in result.evidence("3.8")
    assert result.scores["2.3"] == 3


def test_fees_of_another_rate_fail_the_cost_model_and_a10(graded: Callable[..., Any]) -> None:
    delivered = clean()
    delivered.tables["trades"]["fee"] *= 0.5
    rebuild(delivered)
    result = graded(delivered)

    assert result.scores["3.5"] == 1
    assert result.failing() == ["A10"]
    assert result.scores["2.6"] < 2
    assert result.scores["3.2"] == 4


def test_fees_in_the_log_that_never_reach_the_equity_make_no_cost_model(graded: Callable[..., Any]) -> None:
    delivered = clean()
    fees = delivered.tables["trades"]["fee"].copy()
    delivered.tables["trades"]["fee"] = 0.0
    rebuild(delivered)
    delivered.tables["trades"]["fee"] = fees
    result = graded(delivered)

    assert result.scores["3.5"] == 0
    assert "A11" in result.failing()


def test_open_fees_are_no_proof_of_a_backtest_free_of_cost(graded: Callable[..., Any]) -> None:
    delivered = clean()
    spec = delivered.tables["specification"]
    spec.loc[spec["component"] == "transaction_cost", ["parameter", "value"]] = ["rule", "none"]
    trades = delivered.tables["trades"]
    trades["fee"] = 0.0
    rebuild(delivered)
    trades.loc[trades.index[-3:], "fee"] = None
    result = graded(delivered)

    assert result.scores["3.5"] == 1
    assert "leave the fee open" in result.evidence("3.5")


def test_metrics_that_nothing_can_be_held_against_are_no_pass(graded: Callable[..., Any]) -> None:
    delivered = clean()
    metrics = delivered.tables["metrics"]
    delivered.tables["metrics"] = metrics[metrics["metric"].isin(["trades", "number_of_trades"])]
    delivered.report = ""
    result = graded(delivered)

    assert "A12 unverified" in result.evidence("3.7")
    assert "L6 unverified" in result.evidence("3.8")


def test_late_position_row_is_a_late_backtest_row(graded: Callable[..., Any]) -> None:
    delivered = clean()
    delivered.tables["positions"] = pd.DataFrame(
        {"date": pd.to_datetime(["2018-12-31", "2019-01-02"]), "symbol": ["AAA", "AAA"], "shares": [10.0, 10.0]}
    )

    assert graded(delivered).scores["1.1"] == 0


def test_duplicated_fill_fails_a02(graded: Callable[..., Any]) -> None:
    delivered = clean()
    trades = delivered.tables["trades"]
    delivered.tables["trades"] = pd.concat([trades, trades.iloc[[5]]], ignore_index=True)
    result = graded(delivered)

    assert "A02" in result.failing()


def test_wrong_sharpe_fails_recomputation_and_a12(graded: Callable[..., Any]) -> None:
    delivered = clean()
    metrics = delivered.tables["metrics"]
    metrics.loc[metrics["metric"] == "sharpe", "value"] += 0.8
    delivered.report = ""
    result = graded(delivered)

    assert result.scores["3.2"] == 2
    assert result.failing() == ["A12"]
    assert "L6 differs" in result.evidence("3.8")


def test_wrong_total_return_leaves_one_point_of_recomputation(graded: Callable[..., Any]) -> None:
    delivered = clean()
    metrics = delivered.tables["metrics"]
    metrics.loc[metrics["metric"] == "total_return", "value"] += 0.05

    assert graded(delivered).scores["3.2"] == 1


def test_equity_without_costs_fails_a11(graded: Callable[..., Any]) -> None:
    delivered = clean()
    equity = delivered.tables["equity"]
    growth = 1 + 0.01 * equity.index / len(equity)
    equity["equity"] *= growth
    delivered.tables["metrics"] = figures(equity, delivered.tables["trades"])
    result = graded(delivered)

    assert result.failing() == ["A11"]
    assert "L5 differs" in result.evidence("3.8")


def test_fill_outside_the_range_fails_a04(graded: Callable[..., Any]) -> None:
    delivered = clean()
    trades = delivered.tables["trades"]
    trades.loc[10, "price"] *= 1.2
    trades.loc[10, "fee"] *= 1.2
    rebuild(delivered)

    assert "A04" in graded(delivered).failing()


def test_fill_on_a_closed_day_fails_a03(graded: Callable[..., Any]) -> None:
    delivered = clean()
    delivered.tables["trades"].loc[20, "fill_date"] = pd.Timestamp("2018-12-05")

    assert "A03" in graded(delivered).failing()


def test_bought_name_off_the_list_fails_a15(graded: Callable[..., Any]) -> None:
    delivered = clean()
    selections = delivered.tables["selections"]
    delivered.tables["selections"] = selections[selections["rank"] != 1]

    assert "A15" in graded(delivered).failing()


def test_signals_of_a_later_day_fail_point_in_time(graded: Callable[..., Any]) -> None:
    delivered = clean()
    prices = delivered.tables["prices"].pivot_table(index="date", columns="symbol", values="close")
    future = (prices.shift(21) / prices.shift(252) - 1).shift(-30)
    signals = delivered.tables["signals"]
    signals["value"] = [future[name][day] for day, name in zip(signals["date"], signals["symbol"], strict=True)]

    assert graded(delivered).scores["3.1"] == 0


def test_fills_without_signal_date_are_followed_through_the_weights(graded: Callable[..., Any]) -> None:
    delivered = clean()
    del delivered.tables["trades"]["signal_date"]
    result = graded(delivered)

    assert result.scores["3.1"] == 3
    assert "inferred" in result.evidence("3.1")


def test_missing_reasons_lower_explainability_alone(graded: Callable[..., Any]) -> None:
    delivered = clean()
    delivered.tables["trades"] = delivered.tables["trades"].drop(columns=["reason", "trigger"])

    assert fallen(graded(delivered)) == {"2.12": 0}


def test_untrue_trigger_lowers_explainability_by_one(graded: Callable[..., Any]) -> None:
    delivered = clean()
    trades = delivered.tables["trades"]
    trades["trigger"] = trades["trigger"].str.replace("target_weight=0.25", "target_weight=0.35")

    assert fallen(graded(delivered)) == {"2.12": 3}


def test_invented_numbers_in_the_report_are_not_traced(graded: Callable[..., Any]) -> None:
    delivered = clean()
    claims = "\n".join(f"The return was {number}.37% in one window." for number in range(201, 240))
    delivered.report = f"# Report\n\n## Results\n\n{claims}\n"

    assert fallen(graded(delivered)) == {"3.5": 3, "4.2": 0} or graded(delivered).scores["4.2"] == 0


def test_gap_in_the_prices_lowers_data_quality(graded: Callable[..., Any]) -> None:
    delivered = clean()
    prices = delivered.tables["prices"]
    delivered.tables["prices"] = prices.drop(prices.index[100:400:2])
    result = graded(delivered)

    assert result.scores["1.4"] in (2, 3)
    assert "gaps" in result.evidence("1.4")


def test_fees_without_a_total_or_a_rate_leave_a10_unverified(graded: Callable[..., Any]) -> None:
    delivered = clean()
    spec = delivered.tables["specification"]
    delivered.tables["specification"] = spec[spec["component"] != "transaction_cost"]
    delivered.tables["trades"]["fee"] = 7.0 + (delivered.tables["trades"].index % 5)
    rebuild(delivered)
    metrics = delivered.tables["metrics"]
    delivered.tables["metrics"] = metrics[metrics["metric"] != "total_fees"]

    assert "A10 unverified" in graded(delivered).evidence("3.7")


def test_positions_without_log_or_weights_are_still_rebuilt(graded: Callable[..., Any]) -> None:
    delivered = clean()
    trades = delivered.tables.pop("trades")
    del delivered.tables["target_weights"]
    signed = trades.assign(moved=trades["quantity"] * trades["side"].map({"BUY": 1, "SELL": -1}))
    moved = signed.pivot_table(index="fill_date", columns="symbol", values="moved", aggfunc="sum", fill_value=0)
    days = pd.DatetimeIndex(delivered.tables["equity"]["date"])
    held = moved.reindex(days, fill_value=0).cumsum().rename_axis("date")
    delivered.tables["positions"] = held.reset_index().melt("date", var_name="symbol", value_name="quantity")
    result = graded(delivered)

    assert 1 <= result.scores["3.2"] <= 3
    assert "rebuilt from positions" in result.evidence("3.2")
    assert result.scores["3.7"] == 0


@pytest.mark.parametrize("name", ["price_sources", "data_quality", "sensitivity"])
def test_late_prices_under_another_name_fail_strictness(graded: Callable[..., Any], name: str) -> None:
    delivered = clean()
    late = delivered.tables["prices"].tail(50).assign(date=pd.Timestamp("2020-01-02"), endpoint="historical-price")
    delivered.tables[name] = late

    assert graded(delivered).scores["1.1"] == 0


def test_clock_of_a_quality_log_is_no_observation_but_a_late_news_date_is(graded: Callable[..., Any]) -> None:
    delivered = clean()
    delivered.tables["data_quality"] = pd.DataFrame({"timestamp": ["2026-01-01T10:00:00"], "step": ["download"]})
    assert graded(delivered).scores["1.1"] == 4

    delivered.tables["news"] = pd.DataFrame({"published": ["2019-03-01"], "title": ["Merger closes"]})
    assert graded(delivered).scores["1.1"] == 2


def test_retrieval_dates_of_sources_are_no_observation_dates(graded: Callable[..., Any]) -> None:
    delivered = clean()
    delivered.tables["sources"] = pd.DataFrame(
        {"endpoint": ["historical-price-eod/full"], "query_parameters": ["symbol=AAA"], "date": ["2022-12-28"]}
    )

    assert graded(delivered).scores["1.1"] == 4


def test_trigger_of_the_wrong_kind_is_untrue_and_stops_no_verdict(graded: Callable[..., Any]) -> None:
    delivered = clean()
    delivered.tables["trades"]["reason"], delivered.tables["trades"]["trigger"] = "rebalance", "rank=on"

    assert graded(delivered).scores["2.12"] == 3


def test_clock_of_a_step_log_is_no_observation_date(graded: Callable[..., Any]) -> None:
    delivered = clean()
    delivered.tables["steps"] = pd.DataFrame({"timestamp": ["2026-01-01T10:00:00"], "step": ["download"]})
    assert graded(delivered).scores["1.1"] == 4


def test_factor_outside_the_grammar_bounds_point_in_time(graded: Callable[..., Any]) -> None:
    delivered = clean()
    delivered.tables["signals"]["factor"] = "my_secret_alpha"
    spec = delivered.tables["specification"]
    spec.loc[spec["parameter"] == "factors", "value"] = "my_secret_alpha"
    result = graded(delivered)
    assert result.scores["3.1"] == 2
    judged = {found.dimension: found for found in result.measurement.measured.judgements}
    assert not judged["3.1"].complete


def test_faults_of_a_small_price_table_weigh_by_its_rows(graded: Callable[..., Any]) -> None:
    delivered = clean()
    small = delivered.tables["prices"].tail(20).assign(symbol="ZZ", close=float("nan"))
    small["date"] = pd.bdate_range("2015-01-05", periods=20)
    delivered.tables["zz_prices"] = small
    result = graded(delivered)
    assert "zz_prices.csv: 20 rows, missing 100" in result.evidence("1.4")
    assert result.scores["1.4"] >= 3
