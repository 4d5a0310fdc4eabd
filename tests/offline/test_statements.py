"""Modelled statements hold together and can be used point in time."""

from pathlib import Path

import pandas as pd
import pytest

from offline.data.facts import load_facts
from offline.data.standins import FROZEN_TODAY
from offline.data.statements import statements


@pytest.fixture(scope="session")
def books(tables: Path) -> dict[str, pd.DataFrame]:
    return {name: pd.read_parquet(tables / f"{name}.parquet") for name in ("income", "balance", "cash")}


def test_statements_are_the_same_every_time(books: dict[str, pd.DataFrame]) -> None:
    again = statements()
    for name, table in books.items():
        pd.testing.assert_frame_equal(again[name], table, check_dtype=False)


def test_quarters_run_from_fiscal_2009_without_a_gap(books: dict[str, pd.DataFrame]) -> None:
    for symbol, rows in books["income"][books["income"]["period"] != "FY"].groupby("symbol"):
        ends = pd.to_datetime(rows["date"]).sort_values()
        assert rows["fiscal_year"].min() == 2009, symbol
        assert ends.diff().dropna().dt.days.between(89, 93).all(), symbol
        assert ends.max() >= pd.Timestamp("2022-09-30"), symbol


def test_everything_was_accepted_20_to_45_days_after_the_period_and_before_today(
    books: dict[str, pd.DataFrame],
) -> None:
    for table in books.values():
        accepted = pd.to_datetime(table["accepted"])
        lag = (accepted.dt.normalize() - pd.to_datetime(table["date"])).dt.days
        assert lag.between(20, 45).all()
        assert (accepted.dt.day_of_week < 5).all()
        assert (accepted.dt.strftime("%Y-%m-%d") <= FROZEN_TODAY).all()
        late = (accepted.dt.hour >= 16).mean()
        assert 0.2 < late < 0.5


def test_the_three_statements_of_a_period_share_one_acceptance(books: dict[str, pd.DataFrame]) -> None:
    keys = ["symbol", "date", "period"]
    accepted = [table.set_index(keys)["accepted"].sort_index() for table in books.values()]
    assert accepted[0].equals(accepted[1])
    assert accepted[0].equals(accepted[2])


def test_identities_hold_to_the_dollar(books: dict[str, pd.DataFrame]) -> None:
    income, balance, cash = books["income"], books["balance"], books["cash"]
    assert (income["grossProfit"] == income["revenue"] - income["costOfRevenue"]).all()
    assert (income["netIncome"] == income["incomeBeforeTax"] - income["incomeTaxExpense"]).all()
    assert (balance["totalAssets"] == balance["totalLiabilities"] + balance["totalStockholdersEquity"]).all()
    assert (cash["freeCashFlow"] == cash["operatingCashFlow"] + cash["capitalExpenditure"]).all()
    change = cash["operatingCashFlow"] + cash["investing"] + cash["financing"]
    assert (cash["netChangeInCash"] == change).all()
    assert (cash["cashAtEndOfPeriod"] == cash["cashAtBeginningOfPeriod"] + cash["netChangeInCash"]).all()
    assert (cash["capitalExpenditure"] < 0).all()


def test_years_are_the_sum_of_their_quarters(books: dict[str, pd.DataFrame]) -> None:
    income = books["income"]
    quarters = income[income["period"] != "FY"].groupby(["symbol", "fiscal_year"])["revenue"].agg(["sum", "count"])
    years = income[income["period"] == "FY"].set_index(["symbol", "fiscal_year"])["revenue"]
    complete = quarters[quarters["count"] == 4]["sum"]
    assert complete.equals(years.rename("sum"))


def test_eps_is_net_income_per_share(books: dict[str, pd.DataFrame]) -> None:
    income = books["income"]
    assert ((income["netIncome"] / income["weightedAverageShsOut"] - income["eps"]).abs() <= 5.1e-5).all()


def test_market_caps_and_yields_are_plausible(books: dict[str, pd.DataFrame], prices: pd.DataFrame) -> None:
    last = prices.groupby("symbol")["close"].last()
    income = books["income"][books["income"]["period"] != "FY"]
    for symbol, rows in income.groupby("symbol"):
        ordered = rows.sort_values("date")
        cap = last[symbol] * ordered["weightedAverageShsOut"].iloc[-1]
        assert 2e9 < cap < 3e12, symbol
        earned = ordered["netIncome"].tail(4).sum() / cap
        assert -0.3 < earned < 0.3, (symbol, earned)


def test_banks_have_no_cost_of_revenue_and_others_do(books: dict[str, pd.DataFrame]) -> None:
    for symbol, facts in load_facts().items():
        cost = books["income"].loc[books["income"]["symbol"] == symbol, "costOfRevenue"]
        assert (cost == 0).all() == facts.is_financial, symbol
    assert {symbol for symbol, facts in load_facts().items() if facts.is_financial} == {"BAC", "JPM"}


def test_some_names_lose_money_in_some_quarters_and_most_do_not(books: dict[str, pd.DataFrame]) -> None:
    losses = books["income"][books["income"]["netIncome"] < 0].groupby("symbol").size()
    assert {"AMD", "RRC"} <= set(losses.index)
    assert "KO" not in losses.index
