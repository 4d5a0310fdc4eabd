from typing import Any

import numpy as np
import pandas as pd
import pytest

from evaluator.quant.absent import Absent
from evaluator.quant.calendar import decision_dates, sessions
from evaluator.quant.factors import FACTORS, FactorInputs, factor_scores, lookback, market_cap, needs_statements
from evaluator.quant.panel import price_panel, spy_series, vix_series
from evaluator.quant.statements import statements
from tests.evaluator.worlds import NAMES, market


@pytest.fixture(scope="module")
def prices() -> Any:
    return market()


@pytest.fixture(scope="module")
def panel(prices: Any) -> Any:
    return price_panel(prices)


@pytest.fixture(scope="module")
def adjusted(prices: Any) -> Any:
    return prices.pivot_table(index="date", columns="symbol", values="adj_close")


ROW = 400


def one(factor: Any, panel: Any, **extra: Any) -> Any:
    return factor_scores(factor, FactorInputs(panel, **extra), panel.sessions[[ROW]]).iloc[0]


def test_seventeen_factors_are_known() -> None:
    assert len(FACTORS) == 17


def test_price_factors_equal_hand_arithmetic(panel: Any, adjusted: Any) -> None:
    p = adjusted[list(panel.symbols)].to_numpy()
    r = p[1:] / p[:-1] - 1
    last = r[ROW - 252 : ROW]
    expected = {
        "mom_12_1": p[ROW - 21] / p[ROW - 252] - 1,
        "mom_6_1": p[ROW - 21] / p[ROW - 126] - 1,
        "high_52w": p[ROW] / p[ROW - 251 : ROW + 1].max(axis=0),
        "rev_21": -(p[ROW] / p[ROW - 21] - 1),
        "rev_5": -(p[ROW] / p[ROW - 5] - 1),
        "low_vol_252": -np.sqrt(((last - last.mean(0)) ** 2).sum(0) / 251),
        "low_max_21": -r[ROW - 21 : ROW].max(axis=0),
    }
    for factor, values in expected.items():
        np.testing.assert_allclose(one(factor, panel), values, rtol=1e-10, err_msg=factor)


def test_beta_is_the_regression_slope(panel: Any, adjusted: Any) -> None:
    spy = adjusted.mean(axis=1)
    found = one("low_beta_252", panel, spy=spy)
    x = (spy / spy.shift(1) - 1).to_numpy()[ROW - 251 : ROW + 1]
    y = (adjusted["CC"] / adjusted["CC"].shift(1) - 1).to_numpy()[ROW - 251 : ROW + 1]

    assert found["CC"] == pytest.approx(-np.polyfit(x, y, 1)[0], rel=1e-9)


def test_beta_needs_two_hundred_common_observations(panel: Any, adjusted: Any) -> None:
    spy = adjusted.mean(axis=1)
    short = spy.iloc[ROW - 199 :]
    enough = spy.iloc[ROW - 200 :]

    assert one("low_beta_252", panel, spy=short).isna().all()
    assert one("low_beta_252", panel, spy=enough).notna().all()


def test_history_one_session_short_gives_no_value(panel: Any) -> None:
    for factor in FACTORS:
        if needs_statements(factor) or factor == "low_beta_252":
            continue
        need = lookback(factor)
        found = factor_scores(factor, FactorInputs(panel), panel.sessions[[need - 2, need - 1]])
        assert found.iloc[0].isna().all(), factor
        assert found.iloc[1].notna().all(), factor


def test_scores_do_not_change_when_later_prices_are_removed(prices: Any, panel: Any) -> None:
    cut = panel.sessions[ROW]
    short = price_panel(prices[prices["date"] <= cut])
    for factor in FACTORS:
        if not needs_statements(factor) and factor != "low_beta_252":
            pd.testing.assert_series_equal(one(factor, panel), one(factor, short), check_freq=False)


def test_missing_inputs_are_named_and_nothing_raises(panel: Any) -> None:
    days = panel.sessions[[ROW]]
    assert "SPY" in factor_scores("low_beta_252", FactorInputs(panel), days).reason
    for factor in FACTORS:
        if needs_statements(factor):
            assert isinstance(factor_scores(factor, FactorInputs(panel), days), Absent)
    assert not factor_scores("magic", FactorInputs(panel), days)
    assert isinstance(price_panel(None), Absent)
    assert isinstance(price_panel(pd.DataFrame({"date": [], "symbol": []})), Absent)


QUARTERS = pd.date_range("2016-03-31", periods=14, freq="QE")


def fundamentals(**changes: Any) -> Any:
    """One name, numbers growing by one a quarter; announced 40 days after the period."""
    k = np.arange(len(QUARTERS), dtype=float)
    frame = pd.DataFrame(
        {
            "symbol": "AA",
            "period_end": QUARTERS.as_unit("us"),
            "announced": (QUARTERS + pd.Timedelta(days=40)).as_unit("us"),
            "revenue": 100 + k,
            "cost_of_revenue": 60 + k / 2,
            "net_income": 10 + k,
            "eps": 1 + k**2 / 10,
            "operating_cash_flow": 12 + k,
            "capex": 3.0,
            "total_assets": 400 + 10 * k,
            "common_equity": 200 + 5 * k,
            "shares": 50.0,
        }
    )
    return frame.assign(**changes)


def scores(factor: Any, panel: Any, table: Any, day: Any) -> Any:
    known = statements(table)
    found = factor_scores(factor, FactorInputs(panel, statements=known), pd.DatetimeIndex([day]))
    return found["AA"].iloc[0]


def test_statement_factors_equal_hand_arithmetic(panel: Any) -> None:
    day = pd.Timestamp("2019-06-28")
    table = fundamentals()
    q = 12  # 2019-03-31, announced 2019-05-10, is the latest; fourteen quarters are delivered
    assert table["announced"].iloc[q] <= day < table["announced"].iloc[q + 1]
    close = panel.fields["close"].loc[day, "AA"]
    cap = close * 50

    def ttm(name: Any, end: Any = q) -> Any:
        return table[name].iloc[end - 3 : end + 1].sum()

    differences = [table["eps"].iloc[q - i] - table["eps"].iloc[q - i - 4] for i in range(8)]
    expected = {
        "earnings_yield": ttm("net_income") / cap,
        "book_to_price": (200 + 5 * q) / cap,
        "fcf_yield": (ttm("operating_cash_flow") - 12) / cap,
        "roe": ttm("net_income") / ((200 + 5 * q + 200 + 5 * (q - 4)) / 2),
        "gross_profitability": (ttm("revenue") - ttm("cost_of_revenue")) / (400 + 10 * q),
        "low_accruals": -(ttm("net_income") - ttm("operating_cash_flow")) / (400 + 10 * q - 20),
        "revenue_growth": ttm("revenue") / ttm("revenue", q - 4) - 1,
        "sue": differences[0] / np.std(differences, ddof=1),
        "small_cap": -np.log(cap),
    }
    for factor, value in expected.items():
        assert scores(factor, panel, table, day) == pytest.approx(value, rel=1e-12), factor


def test_statement_counts_from_its_announcement_on(panel: Any) -> None:
    table = fundamentals()
    announced = table["announced"].iloc[12]
    before = scores("roe", panel, table, announced - pd.Timedelta(days=1))
    after = scores("roe", panel, table, announced)

    assert before != after
    assert before == scores("roe", panel, table.iloc[:12], announced)


def test_restatement_counts_from_its_own_announcement(panel: Any) -> None:
    table = fundamentals()
    restated = table.iloc[[11]].assign(announced=pd.Timestamp("2019-06-10"), net_income=1000.0)
    both = pd.concat([table, restated], ignore_index=True)

    assert scores("roe", panel, both, pd.Timestamp("2019-06-07")) == scores(
        "roe", panel, table, pd.Timestamp("2019-06-07")
    )
    assert scores("roe", panel, both, pd.Timestamp("2019-06-10")) > 1


def test_hole_in_the_quarters_leaves_the_name_out(panel: Any) -> None:
    table = fundamentals().drop(index=[10])

    assert np.isnan(scores("earnings_yield", panel, table, pd.Timestamp("2019-06-28")))
    assert not np.isnan(scores("book_to_price", panel, table, pd.Timestamp("2019-06-28")))


def test_negative_equity_is_left_out_and_capex_sign_does_not_matter(panel: Any) -> None:
    day = pd.Timestamp("2019-06-28")

    assert np.isnan(scores("book_to_price", panel, fundamentals(common_equity=-5.0), day))
    assert np.isnan(scores("roe", panel, fundamentals(common_equity=-5.0), day))
    assert scores("fcf_yield", panel, fundamentals(capex=-3.0), day) == scores("fcf_yield", panel, fundamentals(), day)


def test_financials_are_left_out_of_gross_profitability(panel: Any) -> None:
    inputs = FactorInputs(panel, statements=statements(fundamentals()), financials=frozenset({"AA"}))

    assert factor_scores("gross_profitability", inputs, pd.DatetimeIndex(["2019-06-28"]))["AA"].isna().all()


def test_row_order_and_annual_rows_do_not_matter(panel: Any) -> None:
    table = fundamentals(period=[f"Q{i % 4 + 1}" for i in range(14)])
    annual = table.iloc[[11]].assign(period="FY", net_income=9999.0)
    mixed = pd.concat([annual, table.sample(frac=1, random_state=1)])
    day = pd.Timestamp("2019-06-28")

    assert scores("sue", panel, mixed, day) == scores("sue", panel, table, day)
    assert scores("roe", panel, mixed, day) == scores("roe", panel, table, day)


def test_statements_in_three_tables_are_one(panel: Any) -> None:
    table = fundamentals()
    keys = ["symbol", "period_end", "announced"]
    parts = [table[[*keys, "net_income", "eps"]], table[[*keys, "common_equity", "total_assets", "shares"]]]
    day = pd.Timestamp("2019-06-28")

    assert scores("roe", panel, pd.concat(parts), day) == scores("roe", panel, table, day)


def test_market_cap_without_shares_is_absent(panel: Any) -> None:
    table = fundamentals().drop(columns="shares")

    assert isinstance(market_cap(FactorInputs(panel, statements=statements(table)), panel.sessions[[ROW]]), Absent)


def test_index_series_are_no_candidates(prices: Any) -> None:
    spy = prices[prices["symbol"] == "AA"].assign(symbol="SPY")
    panel = price_panel(pd.concat([prices, spy]))

    assert "SPY" not in panel.symbols
    assert len(panel.symbols) == len(NAMES)
    np.testing.assert_array_equal(spy_series(None, panel), panel.adjusted["AA"])
    assert "SPY" in price_panel(pd.concat([prices, spy]), traded={"SPY"}).symbols
    assert isinstance(vix_series(None), Absent)


def test_panel_takes_any_row_order_and_drops_closed_days(prices: Any) -> None:
    weekend = prices.iloc[:10].assign(date=pd.Timestamp("2018-01-06"))
    shuffled = pd.concat([prices, weekend]).sample(frac=1, random_state=3)
    panel = price_panel(shuffled)

    pd.testing.assert_frame_equal(panel.fields["close"], price_panel(prices).fields["close"])
    assert "closed days" in panel.notes[0]


def test_many_dates_in_one_pass_equal_single_dates(panel: Any) -> None:
    days = decision_dates(sessions(panel.sessions[0], panel.sessions[-1]), "monthly")
    whole = factor_scores("low_vol_252", FactorInputs(panel), days)
    single = pd.concat([factor_scores("low_vol_252", FactorInputs(panel), days[[i]]) for i in range(len(days))])

    pd.testing.assert_frame_equal(whole, single, check_freq=False)
