"""Own examples of the other fifteen dimensions, one delivery or more per level."""

from datetime import UTC, datetime

import pandas as pd

from evaluator.package.delivery import Delivery
from records.calls import CallRecord
from tests.evaluator.judge.builders import ASKED, delivery
from tests.evaluator.judge.veto_examples import ASKS, DONE, GOOD, OPENING, SPEC

PRICES = pd.DataFrame(
    {
        "date": pd.to_datetime(["2015-01-02", "2015-01-05"]),
        "symbol": ["AAA", "AAA"],
        "open": [1.0, 1.0],
        "close": [1.0, 1.1],
        "adj_close": [1.0, 1.1],
    }
)
PRICE_TABLE = ("prices", "prices.csv", PRICES)
CALL = "https://financialmodelingprep.com/stable/historical-price-eod/full"
SOURCE_ROW = {
    "series": "split-adjusted daily bars (prices.csv)",
    "symbols": "AAA BBB CCC",
    "endpoint": CALL,
    "query_parameters": "symbol=AAA|BBB|CCC&from=2015-01-02&to=2021-12-31",
    "retrieved_at": "2026-01-01T10:00:00Z",
}


def _sources(**changes: str) -> tuple[str, str, pd.DataFrame]:
    return ("sources", "sources.csv", pd.DataFrame([SOURCE_ROW | changes]))


TRACEABILITY = {
    0: [delivery("# Report\n\nThe prices are accurate.", tables=[PRICE_TABLE])],
    1: [delivery("# Report\n\nData are from Yahoo Finance.", tables=[PRICE_TABLE])],
    2: [
        delivery(
            "# Report\n\nPrices are from a vendor. The VIX index comes from https://fred.stlouisfed.org/series/VIXCLS.",
            tables=[PRICE_TABLE],
        )
    ],
    3: [delivery(f"# Report\n\nPrices: {CALL}, downloaded once.", tables=[PRICE_TABLE])],
    4: [
        delivery("# Report\n\nSources stand in sources.csv.", tables=[PRICE_TABLE, _sources()]),
        delivery(
            f"# Data sources\n\nPrices come from {CALL}?symbol=AAA,BBB&from=2015-01-02&to=2021-12-31 (split-adjusted), retrieved 2026-01-01 10:00.",
            tables=[PRICE_TABLE],
        ),
    ],
}
DIVERSITY = {
    0: [delivery("# Report\n\nWe used good data.")],
    1: [delivery("# Report\n\nPrices come from Yahoo Finance.")],
    2: [delivery("# Report\n\nPrices come from Yahoo Finance. The VIX comes from FRED.")],
    3: [delivery("# Report\n\nPrices come from Yahoo Finance and were cross-checked against Stooq.")],
    4: [
        delivery(
            "# Report\n\nPrices come from Yahoo Finance. They were cross-checked against Stooq: 99.2% of closes agree within 0.1%, and the 41 rows that disagree were traced to unadjusted splits and dropped."
        )
    ],
}
GRADES = {
    0: [
        delivery("# Report\n\nThe returns are strong."),
        delivery("# Report\n\nNo vendor was reached, so simulated prices were used. Source: https://example.org/x."),
    ],
    1: [delivery("# Report\n\nSource: Yahoo Finance. Prices before 2014 are quoted from memory.")],
    2: [delivery("# Report\n\nPrices come from Yahoo Finance. Studies show that momentum always works.")],
    3: [delivery("# Report\n\nPrices come from Yahoo Finance. In this sample momentum returned 9.1% a year.")],
    4: [
        delivery(
            "# Report\n\n## Grade of the evidence\n\n- Net income: SEC filing, highest grade.\n- Prices: vendor API (Yahoo Finance), second grade.\n- Factor rationale: published paper, third grade.\n- Capital and dates: own assumption, lowest grade.\n"
        )
    ],
}
SELF_CHECK = {
    0: [delivery("# Report\n\nThe strategy returned 9%.")],
    1: [delivery("# Report\n\nThe data were cleaned.")],
    2: [delivery("# Report\n\n## Data quality\n\nWe checked for missing values. We also checked for duplicate rows.")],
    3: [
        delivery(
            "# Report\n\n## Data quality\n\n- Missing values: 12 rows checked and found.\n- Duplicates: 0 found.\n"
        )
    ],
    4: [
        delivery(
            "# Report\n\n## Data quality\n\n- Missing values: 12 rows, left out of the ranking.\n- Session gaps: 3 found, not filled.\n- Duplicates: 2 rows, dropped.\n"
            "- Outliers: 5 daily moves above 40% were found, kept after review against news.\n- Survivorship: 2 of 30 names end early and are kept until delisting.\n- Adjustment: 100% of closes are split-adjusted, dividends are credited as cash.\n"
        )
    ],
}
RATIONALE = {
    0: [delivery("# Report\n\nThe momentum signal ranks stocks. Momentum is the 12-1 return.", spec=SPEC)],
    1: [
        delivery("# Report\n\nThe approach works because markets are not perfectly efficient at all times.", spec=SPEC)
    ],
    2: [
        delivery(
            "# Report\n\nMomentum works because investors underreact to news.\n\nThe value factor uses book-to-price.",
            spec=[("stock_selection", "factors", "mom_12_1+book_to_price")],
        )
    ],
    3: [
        delivery(
            "# Report\n\nMomentum works because investors underreact to news (Jegadeesh and Titman 1993).", spec=SPEC
        )
    ],
    4: [
        delivery(
            "# Report\n\n- Momentum: investors underreact to news, so winners keep winning for some months (Jegadeesh and Titman 1993). It fails when markets turn sharply, as in 2009. It fits these stocks because they are liquid and cheap to trade.\n",
            spec=SPEC,
        )
    ],
}
_TABLE = "# Rules\n\n| parameter | value | chosen by | reason |\n|---|---|---|---|\n"
PARAMETERS = {
    0: [delivery("# Report\n\nThe strategy did well.")],
    1: [delivery("# Report\n\n- Lookback window: 252\n- Number of holdings: 10\n- Stop threshold: 15\n")],
    2: [
        delivery(
            _TABLE
            + "| weighting | equal | user | |\n| cost | 10 bps | user | |\n| holdings | 10 | own choice | |\n| rebalance | monthly | own choice | |\n"
        )
    ],
    3: [
        delivery(
            _TABLE
            + "| weighting | equal | user | your requirement |\n| holdings | 10 | own choice | enough names to spread single-stock risk |\n| rebalance | monthly | own choice | a usual balance of freshness against the cost of trading |\n"
        )
    ],
    4: [
        delivery(
            _TABLE
            + "| weighting | equal | user | your requirement |\n| holdings | 10 | own choice | keeps the ranking meaningful; sensitivity: Sharpe 0.55 to 0.71 for 5 to 20 |\n| rebalance | monthly | own choice | usual since Jegadeesh and Titman (1993) used monthly formation |\n"
        )
    ],
}
_CASES = [
    "- Missing data: a name with a missing close is left out of the ranking.",
    "- Delisted name: it is sold at its last close.",
    "- Dividends are credited as cash on the ex-date.",
    "- Fewer candidates than holdings: all candidates are held and the rest stays in cash.",
    "- Ties in rank are broken by symbol order.",
    "- No signal on a date: the portfolio stays in cash.",
    "- Insufficient cash: buys are scaled down together.",
    "- First day: trading starts once the look-back is complete.",
    "- Re-entry after a stop is allowed only at the next rebalance.",
]
BOUNDARY = {
    0: [delivery("# Report\n\nThe strategy did well.")],
    1: [delivery("# Report\n\n" + "\n".join(_CASES[:2]))],
    2: [delivery("# Report\n\n" + "\n".join(_CASES[:4]))],
    3: [delivery("# Report\n\n" + "\n".join(_CASES[:6]))],
    4: [delivery("# Report\n\n" + "\n".join(_CASES))],
}
BENCHMARK = {
    0: [delivery("# Report\n\nThe strategy returned 9.1% a year.")],
    1: [delivery("# Report\n\nThe benchmark is the S&P 500.")],
    2: [delivery("# Report\n\nOver the same dates the S&P 500 returned 61.1%.")],
    3: [delivery("# Report\n\nOver the same dates the S&P 500 (total return, dividends reinvested) returned 61.1%.")],
    4: [
        delivery(
            "# Report\n\nOver the same dates, with dividends reinvested:\n\n| metric | strategy | S&P 500 |\n|---|---|---|\n| Total return | 84.2% | 61.1% |\n| Max drawdown | -23.8% | -33.9% |\n\n"
            "The excess return over the index is 23.1%; it is positive because the strategy held cash in March 2020."
        )
    ],
}
RISKS = {
    0: [delivery("# Report\n\nThe strategy returned 9.1%.")],
    1: [delivery("# Report\n\nPast performance is no guarantee of future results.")],
    2: [
        delivery(
            "# Report\n\n## Limitations\n\n- Survivorship: failed companies are missing from the list, which flatters returns.\n- Concentration: few names are held, so a single stock can hurt.\n"
        )
    ],
    3: [
        delivery(
            "# Report\n\n## Risks\n\n- Survivorship: failed companies are missing from the list, which flatters returns.\n- Concentration: few names are held, so a single stock can hurt.\n- Loss: the worst month was -14.2% and could be worse next time.\n"
        )
    ],
    4: [
        delivery(
            "# Report\n\n## Risks\n\n- Survivorship: 2 of 30 firms end early, failed companies are missing, which flatters returns.\n- Concentration: the largest weight was 22%, a single stock can hurt.\n- Loss: the worst month was -14.2% and could be worse next time.\n"
            "- Turnover is 3.1x a year, so costs above 20 bps would eat the edge.\n- Stop using it if the drawdown exceeds 35% or the Sharpe ratio stays below zero for three years.\n"
        )
    ],
}
_GRID = pd.DataFrame(
    {
        "parameter": ["n_holdings"] * 3 + ["rate_bps"] * 3,
        "setting": ["5", "10", "20", "5", "10", "20"],
        "chosen": ["no", "yes", "no", "no", "yes", "no"],
        "sharpe": [0.6, 0.71, 0.68, 0.75, 0.71, 0.64],
    }
)
_NO_COST = _GRID.assign(parameter=["n_holdings"] * 3 + ["lookback"] * 3)
SENSITIVITY = {
    0: [delivery("# Report\n\nThe strategy returned 9.1%.")],
    1: [delivery("# Report\n\nA sensitivity analysis was carried out.")],
    2: [
        delivery(
            "# Report\n\n## Sensitivity\n\n| holdings | Sharpe |\n|---|---|\n| 5 | 0.60 |\n| 10 | 0.71 |\n| 20 | 0.68 |\n"
        )
    ],
    3: [
        delivery(
            "# Report\n\n## Sensitivity\n\nSee sensitivity.csv.", tables=[("sensitivity", "sensitivity.csv", _NO_COST)]
        )
    ],
    4: [
        delivery(
            "# Report\n\n## Sensitivity\n\nReading: the Sharpe ratio falls from 0.75 to 0.64 as costs rise and depends little on the number of names.",
            tables=[("sensitivity", "sensitivity.csv", _GRID)],
            spec=SPEC,
        )
    ],
}
_SPLIT = pd.DataFrame(
    {
        "sample": ["in-sample", "out-of-sample"],
        "start": ["2012-01-03", "2018-01-02"],
        "end": ["2017-12-29", "2021-12-31"],
        "sharpe": [0.8, 0.5],
    }
)
_SPLIT_TABLE = ("out_of_sample", "out_of_sample.csv", _SPLIT)
SAMPLES = {
    0: [delivery("# Report\n\nThe strategy returned 9.1%.")],
    1: [delivery("# Report\n\nThe result was confirmed out of sample.")],
    2: [
        delivery(
            "# Report\n\nOut-of-sample test: 2012-01-03 to 2017-12-29 and 2018-01-02 to 2021-12-31; the lookback was chosen over the full period.",
            tables=[_SPLIT_TABLE],
        )
    ],
    3: [
        delivery(
            "# Report\n\nOut-of-sample: the split was fixed before the first run; see out_of_sample.csv.",
            tables=[_SPLIT_TABLE],
        )
    ],
    4: [
        delivery(
            "# Report\n\n## Out of sample\n\nThe parameters were fixed before looking at the later part. In-sample (2012 to 2017) the Sharpe ratio was 0.80, out-of-sample (2018 to 2021) 0.50: lower, as the market's own Sharpe ratio fell too.",
            tables=[_SPLIT_TABLE],
        )
    ],
}
_FILES = "\n\nFiles: trades.csv (fills), prices.csv (inputs), metrics.csv (figures), backtest.py (program).\n"
_PARTS = {
    "Summary": "The strategy returned 9.1% a year against 7.0% for the index, net of costs.",
    "Methodology": "Stocks are ranked by 12-1 momentum and the best ten are bought in equal weights.",
    "Results": "CAGR 9.1%, Sharpe ratio 0.71, maximum drawdown -23.8%, 412 trades in seven years.",
    "Caveats": "The list of names is today's, so there is survivorship bias in these results.",
}


def _report(*names: str) -> str:
    return "\n\n".join(f"## {name}\n\n{_PARTS[name]}" for name in names)


STRUCTURE = {
    0: [delivery(talk=[ASKED, "Done."])],
    1: [delivery("The strategy returned 9.1%.")],
    2: [delivery(_report("Summary", "Results"))],
    3: [delivery(_report(*_PARTS))],
    4: [delivery(_report("Summary") + _FILES + _report("Methodology", "Results", "Caveats"))],
}
PROFESSIONAL = {
    0: [
        delivery(
            "# Report\n\nThis amazing strategy will crush the market!! Returns skyrocket. TODO. Mind-blowing gains."
        )
    ],
    1: [delivery("# Report\n\nThe return was 84 and the drawdown 23. The volatility is 14.")],
    2: [
        delivery(
            "# Report\n\nFrom 2015-01-02 to 2021-12-31 the total return was 84.2% net, annualised with 252 days. The amazing part is the drawdown of 23.8%."
        )
    ],
    3: [
        delivery(
            "# Report\n\nFrom 2015-01-02 to 2021-12-31 the total return was 84.2% net of costs, annualised with 252 days to 9.1%. The drawdown was 23.8%."
        )
    ],
    4: [
        delivery(
            "# Report\n\nFrom 2015-01-02 to 2021-12-31 the total return was 84.2% net of costs, 9.1% annualised. The drawdown was 23.8%.\n\n## Definitions\n\n- Volatility is the standard deviation of daily returns, annualised with 252 sessions.\n"
            "- The Sharpe ratio is computed from daily returns with a risk-free rate of 0.\n- Drawdown is the largest fall from a previous high.\n- Turnover means half of buys and sells over average equity.\n"
        )
    ],
}
_TABLE_BACK = (
    "Done. This is what I ran; please correct any line that is wrong.\n\n| part | value | whose |\n|---|---|---|\n| signal | 12-1 momentum | yours |\n| universe: Dow stocks | 30 | yours |\n| period | 2012 to 2020 | yours |\n| weighting | equal | yours |\n"
    "| holdings | 8 names | yours |\n| rebalance | monthly | yours |\n| cost | 10 bps | yours |\n| risk: stop | none | yours |\n| execution | next open | yours |\n| capital | $1,000,000 | my assumption |\n"
)
_ANSWER = "Hold 8 names, rebalance monthly, charge 10 bps, no stop, fill at the next open."
CONFIRMATION = {
    0: [delivery(talk=[OPENING, "Hello.", "Please run it.", "The files are there."])],
    1: [
        delivery(
            talk=[
                OPENING,
                ASKS,
                _ANSWER,
                "As you asked I ran 12-1 momentum with 20 names held, equal weights, monthly rebalancing and a cost of 30 bps.",
            ]
        )
    ],
    2: [delivery(talk=[OPENING, "Understood, you want momentum. I will run it.", _ANSWER, "It is finished."])],
    3: [
        delivery(
            talk=[
                OPENING,
                ASKS,
                _ANSWER,
                DONE.replace("My own assumption: capital of $1,000,000. ", "").replace(
                    ", please correct any line that is wrong", ""
                ),
            ]
        )
    ],
    4: [delivery(talk=[OPENING, ASKS, _ANSWER, _TABLE_BACK])],
}
_LAY = "I'm new to investing. Please test buying companies that went up the most over the past year, drug companies only, and sell anything that falls ten percent."
_JARGON = "The Sharpe was 0.71, CAGR 9.1%, alpha 2.1%, beta 0.9, IC 0.03, t-stat 1.2, turnover 3.1, Sortino 0.9, Calmar 0.4, Newey-West covariance, z-score exposure, slippage in bps, volatility and drawdown per survivorship."
_PLAIN = "I tested buying the drug companies that went up the most over the past year and selling anything that falls ten percent below its price."
AUDIENCE = {
    0: [delivery(talk=[_LAY, "See file."])],
    1: [delivery(talk=[_LAY, _JARGON])],
    2: [
        delivery(
            talk=[
                _LAY,
                _PLAIN
                + " The Sharpe was 0.71, CAGR 9.1%, alpha 2.1%, beta 0.9, turnover 3.1, and the volatility 14%, drawdown 24%.",
            ]
        )
    ],
    3: [delivery(talk=[_LAY, _PLAIN + " Investing made 9.1% a year. The Sharpe ratio was 0.71 and the turnover 3.1."])],
    4: [
        delivery(
            talk=[
                _LAY,
                _PLAIN
                + " For someone new to investing: it made 9.1% a year. The worst drawdown (the largest fall from an earlier high) was 24%.",
            ]
        )
    ],
}
BY_DIMENSION: dict[str, dict[int, list[Delivery]]] = {
    "1.2": TRACEABILITY,
    "1.3": DIVERSITY,
    "1.5": GRADES,
    "1.6": SELF_CHECK,
    "2.8a": RATIONALE,
    "2.9": PARAMETERS,
    "2.10": BOUNDARY,
    "3.4": BENCHMARK,
    "4.4": RISKS,
    "4.5": SENSITIVITY,
    "4.6": SAMPLES,
    "5.2": STRUCTURE,
    "5.3": PROFESSIONAL,
    "5.4": CONFIRMATION,
    "5.5": AUDIENCE,
}


def call(target: str) -> CallRecord:
    """Return one request that went out."""
    return CallRecord(
        at=datetime(2026, 1, 1, tzinfo=UTC), session="s", route="fmp", tool="quote", target=target, status=200
    )


NEVER_CALLED = delivery("# Report", tables=[PRICE_TABLE, _sources()], calls=[call("stable/quote")])
WAS_CALLED = delivery("# Report", tables=[PRICE_TABLE, _sources()], calls=[call("/stable/historical-price-eod/full")])
METRICS = GOOD
