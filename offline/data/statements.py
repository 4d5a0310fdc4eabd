"""Quarterly and annual statements, modelled and coherent: every total is the sum of its parts, in whole dollars.

Levels come from `facts.json`; paths are growth, season and AR(1) noise. Work is in integer millions so that identities are
exact: assets = liabilities + equity, cash at end = cash at beginning + net change, gross profit = revenue - cost of revenue,
free cash flow = operating cash flow + capital expenditure (negative), EPS = net income / weighted average shares.
"""

import numpy as np
import pandas as pd

from offline.data.facts import Facts, autoregressive, generator, load_facts
from offline.data.periods import Quarter, fiscal_quarters

MILLION = 1_000_000
LEVEL_YEAR = 2022.6
TAX_RATE = 0.21
PER_SHARE_DIGITS = 4


def whole(values: np.ndarray) -> np.ndarray:
    """Return the values rounded to integer millions."""
    return np.asarray(np.rint(values), dtype=np.int64)


def income(facts: Facts, quarters: list[Quarter]) -> pd.DataFrame:
    """Return the income statement of each quarter in integer millions, with `trend` (annual revenue without season or noise)."""
    n = len(quarters)
    random = generator(facts.symbol, "income")
    years = np.array([q.fiscal_year + q.quarter / 4 for q in quarters]) - LEVEL_YEAR
    season = np.array([facts.seasonality[q.quarter - 1] for q in quarters]) * 4 / sum(facts.seasonality)
    noise = autoregressive(random, n, rho=0.9, sd=0.03 + min(0.06 * facts.margin_noise, 0.12))
    table = pd.DataFrame({"trend": facts.revenue_m * np.exp(facts.growth * years + noise)})
    table["revenue"] = whole(table["trend"].to_numpy() / 4 * season)
    revenue = table["revenue"].to_numpy()
    margin = np.clip(facts.gross_margin + autoregressive(random, n, rho=0.85, sd=0.012), 0.02, 0.98)
    table["costOfRevenue"] = 0 if facts.is_financial else whole(revenue * (1 - margin))
    table["grossProfit"] = table["revenue"] - table["costOfRevenue"]
    deviation = autoregressive(random, n, rho=0.6, sd=facts.margin_noise)
    table["netIncome"] = whole(revenue * facts.net_margin * (1 + deviation))
    table["usualIncome"] = whole(revenue * facts.net_margin)
    profit = table["netIncome"].to_numpy()
    table["incomeBeforeTax"] = whole(np.where(profit > 0, profit / (1 - TAX_RATE), profit / (1 - TAX_RATE / 2)))
    table["incomeTaxExpense"] = table["incomeBeforeTax"] - table["netIncome"]
    table["researchAndDevelopmentExpenses"] = whole(revenue * facts.rd_to_revenue)
    table["sellingGeneralAndAdministrativeExpenses"] = whole(revenue * facts.sga_to_revenue)
    table["interestIncome"] = whole(revenue * (0.85 if facts.is_financial else 0.004))
    table["interestExpense"] = whole(revenue * (0.14 if facts.is_financial else 0.012))
    table["depreciationAndAmortization"] = whole(revenue * facts.depreciation_to_revenue)
    shares = facts.shares_m * np.exp(facts.share_growth * years)
    table["weightedAverageShsOut"] = np.rint(shares * MILLION).astype(np.int64)
    table["weightedAverageShsOutDil"] = np.rint(shares * MILLION * 1.008).astype(np.int64)
    return table


def balance(facts: Facts, flows: pd.DataFrame) -> pd.DataFrame:
    """Return the balance sheet at each quarter's end in integer millions."""
    n = len(flows)
    random = generator(facts.symbol, "balance")
    trend = flows["trend"].to_numpy()
    assets = trend * facts.assets_to_revenue * np.exp(autoregressive(random, n, rho=0.95, sd=0.03))
    table = pd.DataFrame({"totalAssets": whole(assets)})
    assets = table["totalAssets"].to_numpy()
    ratio = np.clip(facts.equity_to_assets * np.exp(autoregressive(random, n, rho=0.95, sd=0.06)), 0.03, 0.92)
    table["totalStockholdersEquity"] = whole(assets * ratio)
    table["totalLiabilities"] = table["totalAssets"] - table["totalStockholdersEquity"]
    table["cashAndCashEquivalents"] = whole(assets * 0.07 * np.exp(autoregressive(random, n, rho=0.7, sd=0.15)))
    table["shortTermInvestments"] = whole(assets * 0.05)
    table["netReceivables"] = whole(np.minimum(flows["revenue"].to_numpy() * 0.45, assets * 0.2))
    table["inventory"] = whole(np.minimum(flows["costOfRevenue"].to_numpy() * 0.4, assets * 0.25))
    table["otherCurrentAssets"] = whole(assets * 0.02)
    table["propertyPlantEquipmentNet"] = whole(assets * (0.01 if facts.is_financial else 0.24))
    table["goodwill"] = whole(assets * (0.02 if facts.is_financial else 0.11))
    liabilities = table["totalLiabilities"].to_numpy()
    table["accountPayables"] = whole(liabilities * 0.16)
    table["shortTermDebt"] = whole(liabilities * 0.04)
    table["otherCurrentLiabilities"] = whole(liabilities * 0.18)
    table["longTermDebt"] = whole(liabilities * (0.1 if facts.is_financial else 0.38))
    table["retainedEarnings"] = whole(table["totalStockholdersEquity"].to_numpy() * 0.72)
    return table


def cash_flow(facts: Facts, flows: pd.DataFrame, ends: pd.DataFrame) -> pd.DataFrame:
    """Return the cash flow statement of each quarter in integer millions; the first quarter begins with its own cash."""
    random = generator(facts.symbol, "cash")
    revenue = flows["revenue"].to_numpy()
    table = pd.DataFrame({"netIncome": flows["netIncome"]})
    table["depreciationAndAmortization"] = flows["depreciationAndAmortization"]
    table["stockBasedCompensation"] = whole(revenue * (0.04 if facts.rd_to_revenue > 0.1 else 0.008))
    table["changeInWorkingCapital"] = whole(revenue * 0.02 * random.standard_normal(len(flows)))
    # Unusual losses are mostly write-downs and unusual gains mostly paper: cash is steadier than income.
    table["otherNonCashItems"] = whole(0.6 * (flows["usualIncome"] - flows["netIncome"]).to_numpy())
    parts = ["netIncome", "depreciationAndAmortization", "stockBasedCompensation", "changeInWorkingCapital"]
    table["operatingCashFlow"] = table[[*parts, "otherNonCashItems"]].sum(axis=1)
    table["capitalExpenditure"] = -whole(
        revenue * facts.capex_to_revenue * np.exp(autoregressive(random, len(flows), rho=0.7, sd=0.12))
    )
    table["freeCashFlow"] = table["operatingCashFlow"] + table["capitalExpenditure"]
    table["purchasesOfInvestments"] = -whole(np.maximum(table["operatingCashFlow"].to_numpy(), 0) * 0.1)
    table["investing"] = table["capitalExpenditure"] + table["purchasesOfInvestments"]
    table["cashAtEndOfPeriod"] = ends["cashAndCashEquivalents"]
    table["cashAtBeginningOfPeriod"] = ends["cashAndCashEquivalents"].shift(1).bfill().astype(np.int64)
    table["netChangeInCash"] = table["cashAtEndOfPeriod"] - table["cashAtBeginningOfPeriod"]
    table["financing"] = table["netChangeInCash"] - table["operatingCashFlow"] - table["investing"]
    payout = 0.35 if facts.dividend_yield else 0.0
    table["commonDividendsPaid"] = -whole(np.maximum(flows["usualIncome"].to_numpy(), 0) * payout)
    table["commonStockRepurchased"] = -whole(
        np.maximum(table["freeCashFlow"].to_numpy(), 0) * (0.4 if facts.share_growth < 0 else 0.05)
    )
    table["netDebtIssuance"] = table["financing"] - table["commonDividendsPaid"] - table["commonStockRepurchased"]
    return table


def _keys(facts: Facts, quarters: list[Quarter]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "symbol": facts.symbol,
            "date": [q.end.isoformat() for q in quarters],
            "accepted": [q.accepted.isoformat(sep=" ") for q in quarters],
            "fiscal_year": [q.fiscal_year for q in quarters],
            "period": [f"Q{q.quarter}" for q in quarters],
        }
    )


def _annual(keys: pd.DataFrame, values: pd.DataFrame, rules: dict[str, str]) -> pd.DataFrame:
    """Return one FY row per complete fiscal year: flows summed unless `rules` names another aggregation."""
    joined = keys.join(values)
    years = joined.groupby("fiscal_year").filter(lambda group: len(group) == 4)
    how = {name: rules.get(name, "sum") for name in map(str, values)}
    annual = years.groupby("fiscal_year").agg(dict.fromkeys(("symbol", "date", "accepted"), "last") | how)
    return annual.reset_index().assign(period="FY")[[*keys, *values]]


def _finish(keys: pd.DataFrame, values: pd.DataFrame, rules: dict[str, str]) -> pd.DataFrame:
    table = pd.concat([keys.join(values), _annual(keys, values, rules)], ignore_index=True)
    money = [name for name in map(str, values) if not name.startswith("weightedAverage")]
    table[money] = table[money].astype(np.int64) * MILLION
    return table


def statements() -> dict[str, pd.DataFrame]:
    """Return the tables `income`, `balance` and `cash` of all names, in dollars and shares; period is Q1-Q4 or FY."""
    made: dict[str, list[pd.DataFrame]] = {"income": [], "balance": [], "cash": []}
    for _, facts in sorted(load_facts().items()):
        quarters = fiscal_quarters(facts)
        keys, flows = _keys(facts, quarters), income(facts, quarters)
        ends = balance(facts, flows)
        cash = cash_flow(facts, flows, ends)
        shares = {"weightedAverageShsOut": "mean", "weightedAverageShsOutDil": "mean"}
        table = _finish(keys, flows.drop(columns=["trend", "usualIncome"]), shares)
        for name in shares:
            table[name] = table[name].round().astype(np.int64)
        table["eps"] = (table["netIncome"] / table["weightedAverageShsOut"]).round(PER_SHARE_DIGITS)
        table["epsDiluted"] = (table["netIncome"] / table["weightedAverageShsOutDil"]).round(PER_SHARE_DIGITS)
        made["income"].append(table)
        made["balance"].append(_finish(keys, ends, dict.fromkeys(map(str, ends), "last")))
        rules = {"cashAtEndOfPeriod": "last", "cashAtBeginningOfPeriod": "first"}
        made["cash"].append(_finish(keys, cash, rules))
    return {name: pd.concat(tables, ignore_index=True) for name, tables in made.items()}
