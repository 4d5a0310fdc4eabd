"""The texts of the tool bases: specification, report and final message, written as an agent might, from the tool's figures."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

FACTOR = {
    "rev_21": "one-month reversal: minus (adjusted close of t / adjusted close 21 sessions earlier - 1)",
    "mom_12_1": "12-1 momentum: adjusted close 21 sessions before t / adjusted close 252 sessions before t - 1",
    "low_max_21": "low MAX: minus the largest daily return of the last 21 sessions",
    "high_52w": "52-week high: adjusted close of t / the highest adjusted close of the last 252 sessions",
}
WHY = {
    "rev_21": "recent losers were often sold by impatient holders and recover; it fails in lasting declines",
    "mom_12_1": "past winners keep winning for some months because news spreads slowly; it fails in sharp rebounds",
    "low_max_21": "lottery-like stocks are overpriced (Bali, Cakici and Whitelaw, 2011); it fails in speculative rallies",
    "high_52w": "investors anchor on the yearly high and react late (George and Hwang, 2004); it fails after crashes",
}
COMBINATION = {
    "none": "one characteristic: its value is the score",
    "zscore_mean": "each characteristic is clipped at its 1 % and 99 % quantiles across names, made a z-score, and averaged",
}
TIMING = {
    "always_invested": "no market filter: the book is always invested",
    "vix_gate": "VIX filter: hold the book if the VIX close of the decision day is below {threshold:g}, else cash",
    "spy_abs_mom": "index momentum: hold the book if SPY stands above its close {lookback} sessions earlier, else cash",
}
WEIGHTING = {
    "equal": "equal weight in each chosen name",
    "rank_weighted": "rank weighting: with N names the best gets N parts, the next N-1, the last 1",
    "score_weighted": "score weighting: score minus the lowest chosen score plus 1 % of the spread, made to sum to one",
}
FILL = {
    "close": ("next_close", "orders decided at the close of t fill at the close of t+1"),
    "open": ("next_open", "orders decided at the close of t fill at the open of t+1"),
}


def specification(settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the table of parameters."""
    weighting, timing = settings["weighting"], settings["timing"]
    rows: list[tuple[str, str, Any, str, str]] = [
        (
            "stock_selection",
            "factors",
            "+".join(settings["factors"]),
            "user",
            "; ".join(map(FACTOR.get, settings["factors"])),
        ),  # type: ignore[arg-type]
        ("stock_selection", "combination", settings["combination"], "user", COMBINATION[settings["combination"]]),
        ("market_timing", "rule", timing, "user", TIMING[timing].format(**settings)),
        ("portfolio_construction", "weighting", weighting, "user", WEIGHTING[weighting]),
        (
            "portfolio_construction",
            "n_holdings",
            settings["n_holdings"],
            "own choice",
            "names held after each decision",
        ),
        ("portfolio_construction", "rebalance", "monthly", "own choice", "close of the last session of each month"),
        (
            "portfolio_construction",
            "invested",
            settings.get("invested", 1.0),
            "own choice",
            "share of equity put to work",
        ),
        ("risk_control", "rule", "none", "user", "no stop and no volatility target"),
        ("execution", "rule", FILL[settings["fill"]][0], "user", FILL[settings["fill"]][1]),
        (
            "transaction_cost",
            "rate_bps",
            f"{settings['rate_bps']:g}",
            "user",
            "basis points of the traded value, every fill",
        ),
        ("general", "capital", settings["capital"], "own choice", "USD in cash before the first trade"),
        ("general", "start", settings["start"], "user", "first session whose data are used"),
        ("general", "end", settings["end"], "user", "last session"),
    ]
    rows += [
        ("market_timing", name, f"{settings[name]:g}", "own choice", meaning)
        for name, meaning in (("threshold", "index points of the VIX"), ("lookback", "sessions of SPY"))
        if name in settings
    ]
    table = pd.DataFrame(rows, columns=["component", "parameter", "value", "source", "definition"])
    chosen = "a customary value, fixed before the first run; no other value was tried"
    return table.assign(reason=["your requirement" if row == "user" else chosen for row in table["source"]])


def _pct(value: float) -> str:
    return f"{100 * value:.1f}%"


def _rules(settings: Mapping[str, Any]) -> list[str]:
    name, words = FILL[settings["fill"]]
    invested = settings.get("invested", 1.0)
    spare = f"; {_pct(invested)} of equity is put to work, the rest stays cash" if invested < 1 else ""
    return [
        "- Universe: the stocks you named, all sessions from the start date on.",
        *(f"- Signal {factor}: {FACTOR[factor]}. Reason: {WHY[factor]}." for factor in settings["factors"]),
        f"- Combination: {COMBINATION[settings['combination']]}.",
        f"- Selection: the best {settings['n_holdings']} names by score; ties go to the first in the alphabet.",
        f"- Market timing: {TIMING[settings['timing']].format(**settings)}.",
        f"- Weighting: {WEIGHTING[settings['weighting']]}{spare}.",
        "- Risk control: none, as you asked.",
        f"- Execution: {name}: {words}; never at the close that made the decision.",
        f"- Transaction cost: {settings['rate_bps']:g} bps of the traded value on every fill.",
        (
            "- Calendar: decisions at the close of the last session of each month; the first is the first month end at which "
            "every name has its whole look-back; on the last day open positions stay open and are marked."
        ),
        (
            "- Boundary cases: a name with a missing price or a short history is no candidate; a halted or delisted name would "
            "be sold at its last close; splits and dividends are inside the adjusted prices; with fewer candidates than places "
            "all are held; on a date without signal nothing is traded; when cash is short, buys are scaled down."
        ),
    ]


METRICS = (
    ("total_return", "Total return", _pct, "net, whole period"),
    ("cagr", "Annualised return (CAGR)", _pct, "net, annualised, 365.25 days a year"),
    ("volatility", "Volatility", _pct, "net, annualised with 252 periods"),
    ("sharpe", "Sharpe ratio", "{:.2f}".format, "net, annualised with 252 periods, risk-free rate 0"),
    ("max_drawdown", "Maximum drawdown", _pct, "net, daily closes"),
    ("trades", "Number of trades (fills)", "{:.0f}".format, "fills in the log"),
    ("turnover", "Turnover", "{:.2f}x".format, "one-way, per year"),
    ("exposure", "Average exposure", _pct, "share of equity invested"),
    ("total_fees", "Total fees", "{:,.0f} USD".format, "sum over all fills"),
    ("gross_total_return", "Gross total return", _pct, "fees added back, before costs"),
)


def report(
    settings: Mapping[str, Any],
    metrics: Mapping[str, float],
    facts: Mapping[str, Any],
    validation: Mapping[str, float],
    benchmark: pd.DataFrame,
    *,
    rows: int,
) -> str:
    """Return the report."""
    spec = specification(settings)
    lines = [
        f"# Backtest with {settings['tool']}: {settings['title']}",
        "",
        "## Summary",
        "",
        (
            f"From {facts['span']} the strategy returned {_pct(metrics['total_return'])} in total, {_pct(metrics['cagr'])} a year, "
            f"net of costs, with a Sharpe ratio of {metrics['sharpe']:.2f} and a maximum drawdown of "
            f"{_pct(metrics['max_drawdown'])}. Over the same dates the index returned "
            f"{_pct(benchmark.loc['total_return', 'benchmark'])}. This is one historical path of "
            f"{validation['decisions'] + 1:.0f} monthly decisions; it says nothing certain about the future."
        ),
        "",
        "## Method",
        "",
        *_rules(settings),
        "",
        "| component | parameter | value | chosen by | reason |",
        "| --- | --- | --- | --- | --- |",
        *(f"| {r.component} | {r.parameter} | {r.value} | {r.source} | {r.reason} |" for r in spec.itertuples()),
        "",
        "## Results",
        "",
        f"Period: {facts['span'].replace(' to ', ' until ')}. Capital 1,000,000 USD.",
        "",
        "| metric | value | basis |",
        "| --- | --- | --- |",
        *(f"| {label} | {show(metrics[name])} | {basis} |" for name, label, show, basis in METRICS),
        "",
        "| measure | strategy | benchmark | difference |",
        "| --- | --- | --- | --- |",
        *(
            f"| {label} | {show(one.strategy)} | {show(one.benchmark)} | {show(one.difference)} |"
            for name, label, show, _ in METRICS[:5]
            for one in [benchmark.loc[name]]
        ),
        "",
        (
            f"The benchmark is a price index without dividends. Alpha is {_pct(facts['alpha'])} a year at a beta of "
            f"{facts['beta']:.2f}; its sign says whether the strategy earned more than its market exposure alone explains."
        ),
        "",
        (
            f"Signal validation: mean rank IC {validation['mean_rank_ic']:.3f}, t-statistic {validation['t_statistic']:.2f} over "
            f"{validation['decisions']:.0f} decisions, hit rate {_pct(validation['hit_rate'])}."
        ),
        "",
        (
            f"In-sample (before {settings['split']}): {_pct(facts['in_cagr'])} a year, Sharpe {facts['in_sharpe']:.2f}. "
            f"Out-of-sample (from {settings['split']}): {_pct(facts['out_cagr'])} a year, Sharpe {facts['out_sharpe']:.2f}; "
            "the split was fixed before the first run and nothing was tuned."
        ),
        "",
        "## Limitations",
        "",
        "- Survivorship: the names were given in advance and none ends early, which flatters returns.",
        f"- Concentration: the largest target weight was {_pct(facts['largest_weight'])}.",
        f"- Loss: the worst month was {_pct(facts['worst_month'])}.",
        f"- Turnover: {metrics['turnover']:.2f}x a year; capacity was not tested beyond this capital.",
        f"- Data: one vendor, {rows} price rows, 0 missing closes, 0 duplicates; its adjusted prices were not cross-checked.",
        "- One would stop if the drawdown went well past the one above or real costs far above the assumed ones.",
        "",
    ]
    return "\n".join(lines)


def final_message(settings: Mapping[str, Any], metrics: Mapping[str, float]) -> str:
    """Return the message with the delivery."""
    mine = "; ".join(
        f"{r.component.replace('_', ' ')}: {r.parameter} {r.value} ({'yours' if r.source == 'user' else 'my assumption'})"
        for r in specification(settings).itertuples()
    )
    return (
        f"The backtest is done; I ran it with {settings['tool']}. This is what I built, please correct what differs from "
        f"what you meant: {mine}.\n\nNet of costs the total return is {_pct(metrics['total_return'])}, the Sharpe ratio "
        f"{metrics['sharpe']:.2f} and the maximum drawdown {_pct(metrics['max_drawdown'])}. Prices came from Financial "
        "Modeling Prep; part of its rows are marked as modelled, so take the figures as a demonstration. The report has "
        "the rules, results and limitations; every fill stands in the log. Next I wait for your corrections."
    )
