"""What the client reads: questions, the confirmation table and the answers; no inner workings."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from catalogue import COMBINATIONS, COVARIANCES, EXECUTIONS, FACTORS, RISKS, TIMINGS, WEIGHTINGS
from parse import Stated, topic_of
from report import Tables, pct

TOPICS = {
    "combination": "how the characteristics are combined",
    "market_timing": "market timing",
    "weighting": "weighting",
    "covariance": "covariance estimator",
    "risk_control": "risk control",
    "execution": "execution",
    "cost": "transaction cost",
}
QUESTIONS = (
    "Stock selection: which characteristics should rank the stocks, and how exactly is each one measured?",
    "Combination: if there are several characteristics, how should I combine them into one ranking?",
    "Market timing: is there a market filter that moves the portfolio to cash, and by which rule?",
    "Portfolio construction: how should the positions be weighted?",
    "Covariance: if the weighting needs a covariance matrix, which estimator should I use?",
    "Risk control: is there a risk rule, and at what exact level does it act?",
    "Execution: how and when should trades be filled after a decision?",
    "Transaction cost: what cost in basis points should I charge per trade?",
)
ASKED_ON = (
    *("stock_selection", "combination", "market_timing", "weighting"),
    *("covariance", "risk_control", "execution", "cost"),
)
SETTLED_BY_NAME = ("combination", "weighting", "covariance")
"""Topics without a number of their own: once named, there is nothing left to ask."""
AGAIN = {
    "stock_selection": QUESTIONS[0],
    "combination": "You named several characteristics: how should I combine them into one ranking?",
    "covariance": "Your weighting needs a covariance matrix: which covariance estimator should I use?",
    "risk_control value": "Risk control: at what exact level, in percent, should your risk rule act?",
    "cost value": "Transaction cost: how many basis points per trade exactly?",
}
PIECES = {
    "stock": QUESTIONS[0],
    "selection": QUESTIONS[0],
    "factor": QUESTIONS[0],
    "combin": QUESTIONS[1],
    "blend": QUESTIONS[1],
    "timing": QUESTIONS[2],
    "sizing": QUESTIONS[3],
    "weight": QUESTIONS[3],
    "portfolio construction": QUESTIONS[3],
    "covariance": QUESTIONS[4],
    "risk": QUESTIONS[5],
    "stop": QUESTIONS[5],
    "execution": QUESTIONS[6],
    "fill": QUESTIONS[6],
    "cost": QUESTIONS[7],
    "fee": QUESTIONS[7],
}


def opening_questions(stated: Stated) -> str:
    """Return the first reply: what was understood, what is open, what comes next."""
    heard = [f"- characteristic: {FACTORS[name].label}" for name in stated.factors]
    heard += [f"- {TOPICS[topic]}: {_short(topic, option)}" for topic, option in stated.options.items()]
    understood = "So far I understood:\n" + "\n".join(heard) + "\n\n" if heard else ""
    asked = [question for topic, question in zip(ASKED_ON, QUESTIONS, strict=True) if not _settled(topic, stated)]
    numbered = "\n".join(f"{count}. {question}" for count, question in enumerate(asked, start=1))
    return (
        f"Thank you, I have your request, the pool of stocks and the dates. {understood}"
        f"Before I run anything I would like your word on the parts that are open:\n\n{numbered}\n\n"
        "Where you have no preference, say so; I will then take a usual value and mark it as mine. Next I will fetch the "
        "data, run the backtest and hand over the files with a report."
    )


def _settled(topic: str, stated: Stated) -> bool:
    """Whether the client has said all there is to say on a topic."""
    return topic in SETTLED_BY_NAME and topic in stated.options


def _short(topic: str, option: str) -> str:
    """Return an option in a few words."""
    texts = {"combination": COMBINATIONS, "weighting": WEIGHTINGS, "covariance": COVARIANCES}
    rules = {"market_timing": TIMINGS, "risk_control": RISKS, "execution": EXECUTIONS}
    if topic in texts:
        return texts[topic][option].split(":", maxsplit=1)[0].lower()
    return rules[topic][option].definition.split(":", maxsplit=1)[0] if topic in rules else "a rate per trade"


def ask_again(lacking: list[str]) -> str:
    """Return a short second question on what is still open."""
    asked = "\n".join(f"- {AGAIN[topic]}" for topic in lacking if topic in AGAIN)
    return f"Thank you, that settles most of it. One thing is still open before I run it:\n\n{asked}"


def piece_question(message: str) -> str | None:
    """Return the question on the part of the strategy the client objects to, or None."""
    lowered = message.lower()
    if not any(word in lowered for word in ("isn't what", "not what", "deviates", "off-protocol", "wrong", "differs")):
        return None
    for piece, question in PIECES.items():
        if piece in lowered:
            return question
    return None


def confirmation(spec: pd.DataFrame, symbols: list[str]) -> str:
    """Return every requirement in one table, the client's and mine apart."""
    pool = ", ".join(symbols) if len(symbols) <= 30 else f"{len(symbols)} names, listed in universe.csv"
    lines = ["| part | rule | value | whose |", "| --- | --- | --- | --- |", f"| universe | stocks | {pool} | yours |"]
    for row in spec.itertuples():
        whose = "yours" if row.source == "user" else "my assumption"
        if row.component != "general" or row.parameter in ("capital", "start", "end"):
            lines.append(f"| {row.component.replace('_', ' ')} | {row.parameter} | {row.value} | {whose} |")
    return "\n".join(lines)


def delivery(folder: Path, *, changed: list[str], stand_in: str, modelled_rows: int) -> str:
    """Return the message that goes with a delivery."""
    tables = Tables(folder)
    metrics, spec = tables.metrics(), tables.get("specification")
    symbols = [str(symbol) for symbol in tables.get("universe")["symbol"]]
    versus = tables.get("benchmark_comparison")
    total = versus[versus["measure"] == "total_return"] if not versus.empty else versus
    other = f" The benchmark returned {pct(total.iloc[0]['benchmark'])} over the same dates." if not total.empty else ""
    first = (
        f"I changed the run for what you just said ({', '.join(changed)}) and made every table and the report anew."
        if changed
        else "The backtest is done; all files and the report are delivered."
    )
    data = "Prices, dividends, company data and statements came from Financial Modeling Prep."
    if stand_in:
        data += f" Its SPY series is the index {stand_in} standing in."
    if modelled_rows:
        data += " Part of its rows are marked as modelled, so take the figures as a demonstration."
    return (
        f"{first}\n\nThis is what I ran; please correct any line that differs from what you meant:\n\n{confirmation(spec, symbols)}\n\n"
        f"Result, net: total return {pct(metrics['total_return'])} ({pct(metrics['cagr'])} a year), Sharpe ratio "
        f"{metrics['sharpe']:.2f}, maximum drawdown {pct(metrics['max_drawdown'])}, {metrics['trades']:.0f} trades.{other} "
        f"{data} The report (report.md) has summary, method, results and limitations and lists the files; trades.csv has "
        "every fill with its dates and price. Next I wait for your corrections."
    )


def nothing_new(folder: Path) -> str:
    """Return the answer to a message that changes nothing."""
    metrics = Tables(folder).metrics()
    return (
        "Everything for this is in the files: trades.csv has every fill with signal date, fill date and price, prices.csv the "
        "prices behind it, metrics.csv the metrics with their basis, sources.csv the data sources and report.md the summary, "
        f"method, results and limitations. The result stands at a total return of {pct(metrics['total_return'])}, a Sharpe "
        f"ratio of {metrics['sharpe']:.2f}, a maximum drawdown of {pct(metrics['max_drawdown'])} and "
        f"{metrics['trades']:.0f} trades. Tell me which part you would like changed."
    )


def change_names(keys: list[str]) -> list[str]:
    """Return changed topics in the client's words."""
    out = []
    for key in keys:
        if key in FACTORS:
            name = FACTORS[key].label
        elif ":" in key:
            component, option, _ = key.split(":")
            name = TOPICS.get(topic_of(component, option), component)
        else:
            name = TOPICS.get(key, key)
        if name not in out:
            out.append(name)
    return out
