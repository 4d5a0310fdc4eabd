"""Own examples of the four dimensions that can veto, level by level, in several hands."""

from dataclasses import dataclass

from evaluator.package.delivery import Delivery
from tests.evaluator.judge.builders import delivery

SPEC = [
    ("stock_selection", "factors", "mom_12_1"),
    ("market_timing", "rule", "always_invested"),
    ("portfolio_construction", "weighting", "equal"),
    ("portfolio_construction", "n_holdings", "10"),
    ("portfolio_construction", "rebalance", "monthly"),
    ("risk_control", "rule", "none"),
    ("execution", "rule", "next_open"),
    ("transaction_cost", "rate_bps", "10"),
]
GOOD = {
    "total_return": 0.842,
    "cagr": 0.091,
    "sharpe": 0.71,
    "max_drawdown": -0.238,
    "volatility": 0.142,
    "benchmark_total_return": 0.611,
    "benchmark_cagr": 0.070,
    "benchmark_sharpe": 0.55,
    "trades": 412.0,
}
BAD = {
    "total_return": -0.124,
    "cagr": -0.019,
    "sharpe": -0.08,
    "max_drawdown": -0.452,
    "volatility": 0.211,
    "benchmark_total_return": 0.611,
    "trades": 388.0,
}


@dataclass(frozen=True)
class Example:
    """One labelled delivery."""

    level: int
    name: str
    made: Delivery


FULL_RULES = """# Momentum backtest

## Methodology

- Universe: the 30 stocks you named, all listed in universe.csv.
- Signal: 12-1 momentum, the close 21 sessions ago divided by the close 252 sessions ago, minus one.
- Combination: a single factor, so no blending is needed.
- Portfolio size: the 10 names with the highest score are held.
- Weights: equal weight, 10% in each name.
- Market timing: none; the portfolio is always invested.
- Risk control: no stop and no volatility target.
- Execution: orders fill at the next session's open.
- Transaction cost: 10 bps of traded value, one way.
- Rebalancing: monthly, decided at the close of the last trading day of each month.
- Missing data: a name without 252 closes is left out at that date; nothing is filled in.
"""
FULL_TABLE = """**Strategy Rules**

| Rule | Definition |
|---|---|
| Universe | S&P 500 members as listed in universe.csv |
| Signal | price change from t-252 to t-21 sessions (12-1 momentum) |
| Combination | one factor only, its value is the score |
| Number of holdings | 10 |
| Weighting | equal-weighted |
| Market timing | always invested, no filter |
| Risk | no risk control |
| Execution | filled at the open of the next trading day |
| Costs | 10 basis points per trade |
| Rebalance | monthly, month-end close |
| Missing data | names with fewer than 252 prices are excluded |
"""
AMBIGUITY = [
    Example(4, "bullets with everything", delivery(FULL_RULES, spec=SPEC)),
    Example(4, "table with everything", delivery(FULL_TABLE, spec=SPEC)),
    Example(
        4,
        "prose with everything",
        delivery(
            """Key findings

The strategy earned 9.1% a year.

How it works

The universe is the S&P 500 list in universe.csv. On the last trading day of every month each stock is ranked by its return
from 252 to 21 sessions ago. We buy the top 10 names in equal weights at the next day's open and pay 10 bps on each trade.
There is only one factor, so nothing is combined. There is no market timing and no stop-loss. Stocks with missing prices in
the window are skipped for that month.
""",
            spec=SPEC,
            path="summary.md",
        ),
    ),
    Example(3, "report without specification", delivery(FULL_RULES)),
    Example(
        3,
        "count only in the specification",
        delivery(
            FULL_RULES.replace(
                "the 10 names with the highest score are held", "the names with the highest score are held"
            ).replace(", 10% in each name", ""),
            spec=SPEC,
        ),
    ),
    Example(
        3,
        "window only in code",
        delivery(
            FULL_RULES.replace("equal weight, 10% in each name", "inverse volatility"),
            spec=[row if row[1] != "weighting" else (row[0], "weighting", "inverse_vol") for row in SPEC],
            code="VOL_WINDOW = 63\nvol = returns.rolling(63).std()\n",
        ),
    ),
    Example(
        3,
        "missing data and calendar day unsaid",
        delivery("\n".join(FULL_RULES.splitlines()[:-2]) + "\n- Rebalancing: monthly.\n", spec=SPEC),
    ),
    Example(
        2,
        "report and specification disagree on the count",
        delivery(FULL_RULES.replace("10 names", "20 names").replace(", 10% in each name", ""), spec=SPEC),
    ),
    Example(
        2,
        "around ten",
        delivery(
            FULL_RULES.replace(
                "the 10 names with the highest score are held", "around 10 to 15 names are held"
            ).replace(", 10% in each name", "")
        ),
    ),
    Example(
        2,
        "periodic",
        delivery(
            FULL_RULES.replace(
                "monthly, decided at the close of the last trading day of each month",
                "periodically, when it seems warranted",
            )
        ),
    ),
    Example(
        2,
        "stop without level",
        delivery(
            FULL_RULES.replace(
                "no stop and no volatility target", "a stop-loss sells a position after a significant loss"
            )
        ),
    ),
    Example(2, "cost differs in the code", delivery(FULL_RULES, code="COST_BPS = 25\n")),
    Example(
        1,
        "several vague rules",
        delivery(
            """## Approach
We rank large caps by momentum over some lookback and hold around 10-20 of the strongest names. Weights are set appropriately,
either equally or by volatility. The book is rebalanced periodically at the close, with 10 bps of costs.
"""
        ),
    ),
    Example(
        1,
        "agent message only",
        delivery(
            talk=[
                "Backtest momentum for me",
                "I bought the top names by 12-month return each month or quarter, sized by conviction, with a stop when losses got too large.",
            ]
        ),
    ),
    Example(
        1,
        "two disagreements",
        delivery(
            FULL_RULES.replace("10 names", "25 names")
            .replace("monthly", "quarterly")
            .replace("each month", "each quarter")
            .replace(", 10% in each name", ""),
            spec=SPEC,
        ),
    ),
    Example(
        0,
        "only adjectives",
        delivery("# Report\n\nWe pick good stocks, manage risk carefully and trade when conditions are favourable.\n"),
    ),
    Example(
        0,
        "a story",
        delivery(
            "## Summary\n\nThe portfolio invests in high quality companies with strong trends and adapts to the market as appropriate.\n"
        ),
    ),
]

SURE = (
    " The sample is 7 years (1,762 sessions); the 95% confidence interval of the Sharpe ratio is -0.04 to 1.46, so the result "
    "could still be chance."
)
GROUNDING = [
    Example(
        4,
        "numbers, interval and years",
        delivery(
            "## Summary\n\nFrom 2015-01-02 to 2021-12-31 the strategy returned 84.2% in total (9.1% a year) with a Sharpe ratio of 0.71 and a "
            "maximum drawdown of 23.8%. The benchmark returned 61.1%, so it was ahead." + SURE,
            metrics=GOOD,
        ),
    ),
    Example(
        4,
        "bullets, loss admitted",
        delivery(
            "# TL;DR\n\n- Total return: **-12.4%**, CAGR -1.9%, Sharpe -0.08\n- Max drawdown -45.2%\n- It underperformed the S&P 500, which made +61.1%\n"
            "- With 84 monthly decisions the t-statistic of the mean return is -0.2: statistically indistinguishable from zero.\n",
            metrics=BAD,
        ),
    ),
    Example(
        4,
        "html",
        delivery(
            "<html><body><h2>Conclusion</h2><p>Net CAGR was 9.1% against 7.0% for the index. This is one historical path of seven years "
            "(2015 to 2021) and the edge is within the standard error of 5.4%; it may not persist.</p></body></html>",
            metrics=GOOD,
            path="report.html",
        ),
    ),
    Example(
        3,
        "no uncertainty",
        delivery(
            "## Summary\n\nThe strategy returned 84.2% over 2015-2021, a CAGR of 9.1%, with a Sharpe of 0.71 and a max drawdown of -23.8%.",
            metrics=GOOD,
        ),
    ),
    Example(
        3,
        "message only",
        delivery(
            talk=[
                "Backtest it",
                "Done. Total return 84.2%, Sharpe 0.71, max drawdown -23.8%, 412 trades. The files are attached.",
            ],
            metrics=GOOD,
        ),
    ),
    Example(
        3,
        "disclaimer only",
        delivery(
            "**Key takeaways**\n\nThe portfolio gained 84.2% (benchmark 61.1%). Past performance is no guarantee of future results.",
            metrics=GOOD,
        ),
    ),
    Example(
        2,
        "promise",
        delivery(
            "## Summary\n\nThe strategy returned 84.2% with a Sharpe of 0.71 and will continue to outperform the market in the coming years."
            + SURE,
            metrics=GOOD,
        ),
    ),
    Example(
        2,
        "drawdown called low",
        delivery(
            "## Summary\n\nThe strategy lost 12.4% in total. It kept drawdowns low throughout the period." + SURE,
            metrics=BAD,
        ),
    ),
    Example(
        2,
        "secondary number differs",
        delivery(
            "## Summary\n\nTotal return was 84.2% and the Sharpe ratio 0.71, with a maximum drawdown of just 8.0%."
            + SURE,
            metrics=GOOD,
        ),
    ),
    Example(
        2,
        "statistical overclaim",
        delivery(
            "## Conclusion\n\nThe strategy returned 84.2%, Sharpe 0.71. This proves that momentum works in all market conditions.",
            metrics=GOOD,
        ),
    ),
    Example(
        1,
        "no number",
        delivery(
            "## Summary\n\nThe strategy performed well and delivered attractive risk-adjusted results over the test period.\n\n## Method\n\nEqual weights.",
            metrics=GOOD,
        ),
    ),
    Example(
        1,
        "message without a number",
        delivery(
            talk=[
                "Backtest it",
                "The backtest is complete. The strategy beat the market with moderate risk. See the attached files.",
            ],
            metrics=GOOD,
        ),
    ),
    Example(1, "numbers of nothing", delivery("## Summary\n\nThe strategy returned 84.2% with a Sharpe of 0.71.")),
    Example(
        0,
        "outperformance that is none",
        delivery("## Summary\n\nThe strategy outperformed the S&P 500 with a disciplined process." + SURE, metrics=BAD),
    ),
    Example(
        0,
        "beat it and did not",
        delivery(
            "## Summary\n\nThe strategy returned -12.4%. Over the same dates the index returned 61.1%: the strategy beat it clearly."
            + SURE,
            metrics=BAD,
        ),
    ),
    Example(
        0,
        "another return",
        delivery(
            "## Executive summary\n\nOver seven years the strategy returned 45.0%, a Sharpe ratio of 1.20." + SURE,
            metrics=GOOD,
        ),
    ),
    Example(
        0,
        "profit claimed on a loss",
        delivery(
            talk=[
                "Backtest it",
                "Great news: the strategy was profitable over the whole period and delivered strong returns.",
            ],
            metrics=BAD,
        ),
    ),
    Example(0, "nothing said", delivery()),
]

OPENING = "I want a backtest of 12-1 momentum on the 30 Dow stocks from 2012 to 2020. Weight them equally."
ASKS = (
    "Thanks. So far I understood: 12-1 momentum on the 30 Dow stocks, 2012 to 2020, equal weights. Still open before I run it:\n"
    "1. How many names should be held?\n2. How often do you want to rebalance?\n3. What transaction cost should I charge?\n"
    "4. Is there a stop-loss or other risk rule?\n5. At which price should trades fill?\n\nNext I will fetch the prices and run it."
)
ANSWER = "Hold 8 names, rebalance monthly, charge 10 bps, no stop, fill at the next open."
DONE = (
    "Done, the backtest is delivered. This is what I ran, please correct any line that is wrong: 12-1 momentum, 8 names, equal weight, monthly "
    "rebalancing, next open, 10 bps cost, no stop. Total return 84.2%, Sharpe 0.71, maximum drawdown -23.8%. My own assumption: capital of "
    "$1,000,000. Next I wait for your corrections."
)
CONVERSATION = [
    Example(4, "asks, confirms, delivers", delivery(talk=[OPENING, ASKS, ANSWER, DONE], metrics=GOOD)),
    Example(
        4,
        "bullet style with a change",
        delivery(
            talk=[
                "Can you test a low volatility strategy on healthcare stocks?",
                "Happy to. **What I understood:** low volatility ranking, healthcare sector.\n**Open questions:**\n- What date range?\n- How many stocks, and how weighted?\n- Any market timing or stop-loss?\n- What trading cost?\n**Next:** once you answer, I'll run it and send the report.",
                "2010 to 2020, top 20, inverse volatility, no timing, stop at 15%, costs 5 bps.",
                "Here are the results: CAGR 9.1%, Sharpe 0.71. Run as you specified: 20 stocks, inverse volatility weights, 15% stop, 5 bps. I assumed monthly rebalancing; tell me if you prefer another calendar.",
                "Please make it quarterly.",
                "Updated: the backtest now rebalances quarterly as you asked; everything else is unchanged. CAGR is now 8.7%. Nothing else is open; if you like, next I can add a cost sensitivity.",
            ],
            metrics=GOOD,
        ),
    ),
    Example(
        3,
        "asks and acts, says little",
        delivery(
            talk=[
                OPENING,
                "How many names, how often to rebalance, what cost per trade, any stop-loss, and which fill price?",
                ANSWER,
                "The backtest is done: 8 names, monthly, 10 bps, next open. Total return 84.2%, Sharpe 0.71.",
            ],
            metrics=GOOD,
        ),
    ),
    Example(
        3,
        "one stalling turn",
        delivery(
            talk=[OPENING, ASKS, ANSWER, "Understood, working on it. One moment please.", "Ok.", DONE], metrics=GOOD
        ),
    ),
    Example(
        2,
        "no question at all",
        delivery(
            talk=[
                "I'd like a backtest of a momentum strategy.",
                "Done. I ran momentum with 10 names, monthly. Total return 84.2%. Report attached.",
                "I wanted 5 names.",
                "Updated to 5 names and reran it. Total return 80.1%.",
            ],
            metrics=GOOD,
        ),
    ),
    Example(
        2,
        "one answer ignored",
        delivery(
            talk=[
                OPENING,
                ASKS,
                ANSWER,
                "Done: the backtest is delivered with 8 names, monthly, and a transaction cost of 5 bps. Total return 84.2%.",
            ],
            metrics=GOOD,
        ),
    ),
    Example(
        2,
        "asks late",
        delivery(
            talk=[
                "Backtest a value strategy on US banks.",
                "I delivered the backtest: total return 84.2%, Sharpe 0.71.",
                "Which cost did you use?",
                "The backtest charges a cost of zero. It is in the results file.",
                "Fine.",
                "Before I finalise: how many names would you have wanted, and how should they be weighted?",
                "Ten, equal.",
                "Updated: 10 names, equal weights; results are delivered.",
            ],
            metrics=GOOD,
        ),
    ),
    Example(
        1,
        "asks the same again",
        delivery(
            talk=[
                OPENING,
                ASKS,
                ANSWER,
                "Thanks. What transaction cost should I charge? And how often do you want to rebalance?",
                "I already told you: 10 bps, monthly.",
                "And which fill price should I use? How many names should be held?",
                "As I said, next open and 8 names.",
                DONE,
            ],
            metrics=GOOD,
        ),
    ),
    Example(
        1,
        "wall of text",
        delivery(
            talk=[
                OPENING,
                "Momentum is a fascinating anomaly with a long academic history. " * 90,
                "Can you please run the backtest I asked for?",
                "Let us first look at the theory of market efficiency in more depth. " * 90,
            ]
        ),
    ),
    Example(
        0,
        "ignores everything",
        delivery(
            talk=[
                OPENING,
                "I will backtest a portfolio of 50 names at a cost of 30 bps.",
                "No, I want 8 names and 10 bps. That is not what I asked for.",
                "The backtest uses 50 names and a cost of 30 bps. Results are attached.",
                "You ignored me again. 8 names! 10 bps!",
                "The final backtest of 50 names with a cost of 30 bps is delivered.",
            ],
            metrics=GOOD,
        ),
    ),
    Example(
        0,
        "hostile",
        delivery(
            talk=[OPENING, "That is a stupid request. Figure it out yourself.", "Excuse me?", "Stop wasting my time."]
        ),
    ),
    Example(
        0, "same sentence", delivery(talk=[OPENING, "Hello.", "Please run it", "Hello.", "Are you there?", "Hello."])
    ),
    Example(0, "silence", delivery(talk=[OPENING, ""])),
]

CLEAN = "The backtest is done. Total return 84.2%, Sharpe ratio 0.71, maximum drawdown -23.8%. The report is report.md and every fill stands in trades.csv. Prices came from Financial Modeling Prep."
TRACE = """Traceback (most recent call last):
  File "/workspace/run.py", line 41, in <module>
    main()
  File "/workspace/run.py", line 17, in main
    prices = load("prices.csv")
KeyError: 'close'
"""
LEAK = [
    Example(4, "clean message", delivery(talk=[OPENING, CLEAN])),
    Example(
        4,
        "clean report with a source",
        delivery(
            "# Report\n\nSource: https://financialmodelingprep.com/stable/historical-price-eod/full, symbol=AAPL. Run `python backtest.py` to reproduce. The random seed is 7. Sensitivity is in sensitivity.csv.",
            talk=[OPENING, CLEAN],
        ),
    ),
    Example(3, "one path", delivery(talk=[OPENING, CLEAN + " Everything is in /workspace/deliver."])),
    Example(
        3, "one server name", delivery(talk=[OPENING, CLEAN.replace("Financial Modeling Prep", "the fmp-mcp server")])
    ),
    Example(
        3,
        "as a model",
        delivery(talk=[OPENING, "As an AI language model I cannot give advice, but here is the backtest. " + CLEAN]),
    ),
    Example(
        2,
        "several in passing",
        delivery(
            talk=[
                OPENING,
                CLEAN
                + " I used mcp__fmp__quote for quotes, wrote the files to /workspace/deliver and hit the context window once.",
            ]
        ),
    ),
    Example(
        2,
        "exit code and path",
        delivery(
            "# Report\n\nAll results are complete and the method is described below in detail for the reader. The first attempt ended with exit code 1, so I reran /tmp/run.py and it went through.",
            talk=[OPENING, CLEAN],
        ),
    ),
    Example(1, "a trace is the message", delivery(talk=[OPENING, "It failed:\n\n" + TRACE])),
    Example(
        1,
        "raw json",
        delivery(
            talk=[OPENING, '{"jsonrpc": "2.0", "error": {"code": -32000, "message": "upstream"}, "isError": true}']
        ),
    ),
    Example(
        1,
        "tools only",
        delivery(
            talk=[
                OPENING,
                "mcp__fmp__historical_price -> /workspace/data/prices.csv\nbash tool: exit code 1\nstr_replace_based_edit_tool /workspace/run.py",
            ]
        ),
    ),
    Example(
        0,
        "system prompt",
        delivery(talk=[OPENING, CLEAN + " My system prompt says that I must always deliver a report."]),
    ),
    Example(
        0,
        "key",
        delivery(
            "# Data\n\nPrices: https://financialmodelingprep.com/api/v3/quote?apikey=a8f3k2j5h6g7d8s9a0q1",
            talk=[OPENING, CLEAN],
        ),
    ),
    Example(
        0,
        "evaluation machinery",
        delivery(
            talk=[OPENING, CLEAN + " I checked each item against the rubric so that the evaluator gives full marks."]
        ),
    ),
    Example(0, "bearer", delivery(talk=[OPENING, CLEAN + " Authorization: Bearer abcdefghijklmnop123456"])),
    Example(0, "nothing at all", delivery()),
]
BY_DIMENSION = {"2.7": AMBIGUITY, "4.1": GROUNDING, "5.1": CONVERSATION, "5.6": LEAK}
