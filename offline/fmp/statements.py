"""Financial statements in FMP's fields. Everything is modelled and says so; fields nobody modelled are 0 as FMP has them."""

from collections.abc import Callable

from offline.fmp.query import Query, Row
from offline.fmp.store import Store

STATEMENT_ROWS = 1000
QUARTERS = ("Q1", "Q2", "Q3", "Q4")
Maker = Callable[[Row], Row]


def head(store: Store, row: Row) -> Row:
    """Return the fields that every statement begins with."""
    return {
        "date": row["date"],
        "symbol": row["symbol"],
        "reportedCurrency": "USD",
        "cik": store.companies[row["symbol"]].cik,
        "filingDate": row["accepted"][:10],
        "acceptedDate": row["accepted"],
        "fiscalYear": str(row["fiscal_year"]),
        "period": row["period"],
    }


def income_fields(row: Row) -> Row:
    """Return FMP's income statement items, dollars and shares."""
    gross, before_tax = row["grossProfit"], row["incomeBeforeTax"]
    interest = row["interestIncome"] - row["interestExpense"]
    operating = before_tax - interest
    research, selling = row["researchAndDevelopmentExpenses"], row["sellingGeneralAndAdministrativeExpenses"]
    depreciation = row["depreciationAndAmortization"]
    return {
        "revenue": row["revenue"],
        "costOfRevenue": row["costOfRevenue"],
        "grossProfit": gross,
        "researchAndDevelopmentExpenses": research,
        "generalAndAdministrativeExpenses": 0,
        "sellingAndMarketingExpenses": 0,
        "sellingGeneralAndAdministrativeExpenses": selling,
        "otherExpenses": gross - operating - research - selling,
        "operatingExpenses": gross - operating,
        "costAndExpenses": row["costOfRevenue"] + gross - operating,
        "netInterestIncome": interest,
        "interestIncome": row["interestIncome"],
        "interestExpense": row["interestExpense"],
        "depreciationAndAmortization": depreciation,
        "ebitda": operating + depreciation,
        "ebit": operating,
        "nonOperatingIncomeExcludingInterest": 0,
        "operatingIncome": operating,
        "totalOtherIncomeExpensesNet": interest,
        "incomeBeforeTax": before_tax,
        "incomeTaxExpense": row["incomeTaxExpense"],
        "netIncomeFromContinuingOperations": row["netIncome"],
        "netIncomeFromDiscontinuedOperations": 0,
        "otherAdjustmentsToNetIncome": 0,
        "netIncome": row["netIncome"],
        "netIncomeDeductions": 0,
        "bottomLineNetIncome": row["netIncome"],
        "eps": row["eps"],
        "epsDiluted": row["epsDiluted"],
        "weightedAverageShsOut": row["weightedAverageShsOut"],
        "weightedAverageShsOutDil": row["weightedAverageShsOutDil"],
    }


def _assets(row: Row) -> Row:
    cash, short, receivables = row["cashAndCashEquivalents"], row["shortTermInvestments"], row["netReceivables"]
    current = cash + short + receivables + row["inventory"] + row["otherCurrentAssets"]
    fixed = row["propertyPlantEquipmentNet"] + row["goodwill"]
    return {
        "cashAndCashEquivalents": cash,
        "shortTermInvestments": short,
        "cashAndShortTermInvestments": cash + short,
        "netReceivables": receivables,
        "accountsReceivables": receivables,
        "otherReceivables": 0,
        "inventory": row["inventory"],
        "prepaids": 0,
        "otherCurrentAssets": row["otherCurrentAssets"],
        "totalCurrentAssets": current,
        "propertyPlantEquipmentNet": row["propertyPlantEquipmentNet"],
        "goodwill": row["goodwill"],
        "intangibleAssets": 0,
        "goodwillAndIntangibleAssets": row["goodwill"],
        "longTermInvestments": 0,
        "taxAssets": 0,
        "otherNonCurrentAssets": row["totalAssets"] - current - fixed,
        "totalNonCurrentAssets": row["totalAssets"] - current,
        "otherAssets": 0,
        "totalAssets": row["totalAssets"],
    }


def balance_fields(row: Row) -> Row:
    """Return FMP's balance sheet items, dollars."""
    payables, short, equity = row["accountPayables"], row["shortTermDebt"], row["totalStockholdersEquity"]
    current = payables + short + row["otherCurrentLiabilities"]
    debt = short + row["longTermDebt"]
    zero = dict.fromkeys(("otherPayables", "accruedExpenses"), 0)
    return (
        _assets(row)
        | {"totalPayables": payables, "accountPayables": payables}
        | zero
        | {"shortTermDebt": short, "capitalLeaseObligationsCurrent": 0, "taxPayables": 0, "deferredRevenue": 0}
        | {"otherCurrentLiabilities": row["otherCurrentLiabilities"], "totalCurrentLiabilities": current}
        | {"longTermDebt": row["longTermDebt"]}
        | dict.fromkeys(
            ("capitalLeaseObligationsNonCurrent", "deferredRevenueNonCurrent", "deferredTaxLiabilitiesNonCurrent"), 0
        )
        | {"otherNonCurrentLiabilities": row["totalLiabilities"] - current - row["longTermDebt"]}
        | {"totalNonCurrentLiabilities": row["totalLiabilities"] - current, "otherLiabilities": 0}
        | {"capitalLeaseObligations": 0, "totalLiabilities": row["totalLiabilities"], "treasuryStock": 0}
        | {
            "preferredStock": 0,
            "commonStock": equity - row["retainedEarnings"],
            "retainedEarnings": row["retainedEarnings"],
        }
        | dict.fromkeys(
            ("additionalPaidInCapital", "accumulatedOtherComprehensiveIncomeLoss", "otherTotalStockholdersEquity"), 0
        )
        | {"totalStockholdersEquity": equity, "totalEquity": equity, "minorityInterest": 0}
        | {"totalLiabilitiesAndTotalEquity": row["totalAssets"], "totalInvestments": row["shortTermInvestments"]}
        | {"totalDebt": debt, "netDebt": debt - row["cashAndCashEquivalents"]}
    )


def cash_fields(row: Row) -> Row:
    """Return FMP's cash flow items, dollars; outflows are negative."""
    copied = ("netIncome", "depreciationAndAmortization")
    working = {"accountsReceivables": 0, "inventory": 0, "accountsPayables": 0}
    return (
        {name: row[name] for name in copied}
        | {"deferredIncomeTax": 0, "stockBasedCompensation": row["stockBasedCompensation"]}
        | {"changeInWorkingCapital": row["changeInWorkingCapital"]}
        | working
        | {"otherWorkingCapital": row["changeInWorkingCapital"], "otherNonCashItems": row["otherNonCashItems"]}
        | {"netCashProvidedByOperatingActivities": row["operatingCashFlow"]}
        | {"investmentsInPropertyPlantAndEquipment": row["capitalExpenditure"], "acquisitionsNet": 0}
        | {"purchasesOfInvestments": row["purchasesOfInvestments"], "salesMaturitiesOfInvestments": 0}
        | {"otherInvestingActivities": 0, "netCashProvidedByInvestingActivities": row["investing"]}
        | {"netDebtIssuance": row["netDebtIssuance"], "longTermNetDebtIssuance": row["netDebtIssuance"]}
        | {"shortTermNetDebtIssuance": 0, "netStockIssuance": row["commonStockRepurchased"]}
        | {"netCommonStockIssuance": row["commonStockRepurchased"], "commonStockIssuance": 0}
        | {"commonStockRepurchased": row["commonStockRepurchased"], "netPreferredStockIssuance": 0}
        | {"netDividendsPaid": row["commonDividendsPaid"], "commonDividendsPaid": row["commonDividendsPaid"]}
        | {"preferredDividendsPaid": 0, "otherFinancingActivities": 0}
        | {"netCashProvidedByFinancingActivities": row["financing"], "effectOfForexChangesOnCash": 0}
        | {"netChangeInCash": row["netChangeInCash"], "cashAtEndOfPeriod": row["cashAtEndOfPeriod"]}
        | {"cashAtBeginningOfPeriod": row["cashAtBeginningOfPeriod"], "operatingCashFlow": row["operatingCashFlow"]}
        | {"capitalExpenditure": row["capitalExpenditure"], "freeCashFlow": row["freeCashFlow"]}
        | {"incomeTaxesPaid": 0, "interestPaid": 0}
    )


MAKERS: dict[str, Maker] = {"income": income_fields, "balance": balance_fields, "cash": cash_fields}


def wanted_periods(query: Query) -> tuple[str, ...]:
    """Return the stored periods that `period` asks for: annual (default), quarter, or one of Q1-Q4 and FY."""
    period = query.get("period", "annual").strip().lower()
    if period in ("quarter", "quarterly"):
        return QUARTERS
    return (period.upper(),) if period.upper() in QUARTERS else ("FY",)


def select(store: Store, query: Query, table: str) -> list[Row]:
    """Return the stored rows that a request asks for, newest first."""
    periods = wanted_periods(query)
    rows = [row for row in store.statements[table].get(query.symbol(), []) if row["period"] in periods]
    return rows[: min(query.whole("limit", STATEMENT_ROWS), STATEMENT_ROWS)]


def statement(store: Store, query: Query, table: str) -> list[Row]:
    """Answer income-statement, balance-sheet-statement or cash-flow-statement."""
    return [head(store, row) | MAKERS[table](row) | {"modelled": True} for row in select(store, query, table)]


def ratio(above: float, below: float) -> float | None:
    """Return a quotient with six decimals, None over nothing."""
    return round(above / below, 6) if below else None


def key_metrics(store: Store, query: Query) -> list[Row]:
    """Answer key-metrics with what the modelled statements give; like FMP it carries no filing date."""
    balances = {(r["date"], r["period"]): r for r in store.statements["balance"].get(query.symbol(), [])}
    flows = {(r["date"], r["period"]): r for r in store.statements["cash"].get(query.symbol(), [])}
    rows = []
    for row in select(store, query, "income"):
        ends, cash = balances[row["date"], row["period"]], flows[row["date"], row["period"]]
        day = row["date"]
        bars = store.bars[row["symbol"]]
        price = next((c for d, c in zip(reversed(bars.date), reversed(bars.close), strict=True) if d <= day), None)
        cap = round(price * row["weightedAverageShsOut"]) if price else None
        rows.append(
            {"symbol": row["symbol"], "date": day, "fiscalYear": str(row["fiscal_year"]), "period": row["period"]}
            | {"reportedCurrency": "USD", "marketCap": cap}
            | {"returnOnAssets": ratio(row["netIncome"], ends["totalAssets"])}
            | {"returnOnEquity": ratio(row["netIncome"], ends["totalStockholdersEquity"])}
            | {
                "earningsYield": ratio(row["netIncome"], cap or 0),
                "freeCashFlowYield": ratio(cash["freeCashFlow"], cap or 0),
            }
            | {"incomeQuality": ratio(cash["operatingCashFlow"], row["netIncome"])}
            | {"capexToRevenue": ratio(-cash["capitalExpenditure"], row["revenue"]), "modelled": True}
        )
    return rows


def ratios(store: Store, query: Query) -> list[Row]:
    """Answer ratios with what the modelled statements give; like FMP it carries no filing date."""
    balances = {(r["date"], r["period"]): r for r in store.statements["balance"].get(query.symbol(), [])}
    rows = []
    for row in select(store, query, "income"):
        ends = balances[row["date"], row["period"]]
        debt = ends["shortTermDebt"] + ends["longTermDebt"]
        rows.append(
            {
                "symbol": row["symbol"],
                "date": row["date"],
                "fiscalYear": str(row["fiscal_year"]),
                "period": row["period"],
            }
            | {"reportedCurrency": "USD", "grossProfitMargin": ratio(row["grossProfit"], row["revenue"])}
            | {"netProfitMargin": ratio(row["netIncome"], row["revenue"])}
            | {"assetTurnover": ratio(row["revenue"], ends["totalAssets"])}
            | {"debtToEquityRatio": ratio(debt, ends["totalStockholdersEquity"])}
            | {
                "bookValuePerShare": ratio(ends["totalStockholdersEquity"], row["weightedAverageShsOut"]),
                "modelled": True,
            }
        )
    return rows
