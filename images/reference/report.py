"""Writes the report and the rule book from the delivered tables; every figure is a cell of one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from catalogue import FACTORS

PERCENT_METRICS = ("total_return", "cagr", "volatility", "max_drawdown", "exposure", "gross_total_return")
LABELS = {
    "total_return": "Total return",
    "cagr": "Annualised return (CAGR)",
    "volatility": "Volatility",
    "sharpe": "Sharpe ratio",
    "max_drawdown": "Maximum drawdown",
    "trades": "Number of trades (fills)",
    "turnover": "Turnover per year",
    "exposure": "Average exposure",
    "total_fees": "Total fees",
    "initial_capital": "Initial capital",
    "final_equity": "Final equity",
    "periods_per_year": "Periods per year",
    "gross_total_return": "Gross total return",
}
FILES = {
    "report.md": "this report",
    "rules.md": "every rule in full, boundary cases, reasons for signals and parameters",
    "specification.csv": "every parameter, its value, who chose it and why",
    "trades.csv": "every fill with signal date, fill date, price, fee, reason and trigger",
    "equity.csv": "equity and cash at every close",
    "metrics.csv": "the metrics with their basis",
    "prices.csv, market.csv, universe.csv": "input data",
    "fundamentals.csv": "quarterly statements with the date each was known",
    "signals.csv, selections.csv, target_weights.csv": "what was decided at each decision",
    "benchmark_comparison.csv": "strategy beside the benchmark",
    "signal_validation.csv": "rank correlation of each signal with the return that followed",
    "sensitivity.csv, out_of_sample.csv, risks.csv": "robustness",
    "data_quality.csv, sources.csv": "checks of the data and where they came from",
    "stress/": "a stress run in which a control that stayed idle acts",
    "backtest.py": "the whole backtest; runs again offline from these files",
}


class Tables:
    """Delivered tables, read when asked."""

    def __init__(self, folder: Path) -> None:
        """Take the folder of the delivery."""
        self.folder = folder

    def get(self, name: str) -> pd.DataFrame:
        """Return one table, empty when it is not there."""
        path = self.folder / f"{name}.csv"
        return pd.read_csv(path, keep_default_na=False, na_values=[""]) if path.exists() else pd.DataFrame()

    def metrics(self, name: str = "metrics") -> dict[str, float]:
        """Return metrics by name."""
        table = self.get(name)
        return {} if table.empty else dict(zip(table["metric"], table["value"].astype(float), strict=True))


def pct(value: Any, digits: int = 1) -> str:
    """Return a fraction as percent."""
    return f"{100 * float(value):.{digits}f}%"


def shown(name: str, value: float) -> str:
    """Return a metric as printed in the report."""
    if name in PERCENT_METRICS:
        return pct(value)
    if name in ("trades", "periods_per_year"):
        return f"{value:.0f}"
    if name in ("total_fees", "initial_capital", "final_equity"):
        return f"{value:,.0f} USD"
    return f"{value:.2f}" + ("x" if name == "turnover" else "")


def write_report(folder: Path, *, stand_in: str, modelled_rows: int, notes: list[str]) -> None:
    """Write report.md and rules.md into the delivery."""
    tables = Tables(folder)
    sections = ["# Backtest report", _summary(tables), _method(tables), _results(tables)]
    limitations = _limitations(tables, stand_in=stand_in, modelled_rows=modelled_rows, notes=notes)
    # Whoever looks at beginning and end of a long report finds the results in the one and the limitations in the other.
    sections += [_terms("\n".join([*sections, limitations])), limitations]
    (folder / "report.md").write_text("\n\n".join(sections) + "\n", encoding="utf-8")
    (folder / "rules.md").write_text(_rules(tables), encoding="utf-8")


def _row(table: pd.DataFrame, column: str, value: str) -> pd.Series | None:
    """Return the first row with a value, or None."""
    found = table[table[column] == value] if column in table.columns else table
    return None if found.empty else found.iloc[0]


def _summary(tables: Tables) -> str:
    """Return the summary: what was found, against what, how sure."""
    metrics, equity = tables.metrics(), tables.get("equity")
    versus = tables.get("benchmark_comparison")
    first, last = equity["date"].iloc[0], equity["date"].iloc[-1]
    text = (
        f"From {first} to {last} the strategy returned {pct(metrics['total_return'])} in total, "
        f"{pct(metrics['cagr'])} a year, net of the stated costs, with a volatility of {pct(metrics['volatility'])}, a "
        f"Sharpe ratio of {metrics['sharpe']:.2f} (risk-free rate 0) and a maximum drawdown of "
        f"{pct(metrics['max_drawdown'])}, in {metrics['trades']:.0f} trades (fills)."
    )
    total = _row(versus, "measure", "total_return")
    if total is not None:
        ahead = "ahead of" if total["difference"] > 0 else "behind"
        text += (
            f" Over the same dates {_index_name(tables)} returned {pct(total['benchmark'])}: the strategy ended "
            f"{ahead} it by {pct(abs(total['difference']))}."
        )
    text += " " + _certainty(metrics["sharpe"], equity)
    return "## Summary\n\n" + text + "\n\n" + _index(tables)


def _certainty(sharpe: float, equity: pd.DataFrame) -> str:
    """Return how sure the Sharpe ratio is, by its standard error over the years of daily returns."""
    sessions = len(equity) - 1
    years = sessions / 252
    error = ((1 + sharpe**2 / 2 / 252) / years) ** 0.5
    low, high = sharpe - 1.96 * error, sharpe + 1.96 * error
    apart = "is not distinguishable from zero" if low <= 0 <= high else "differs from zero"
    return (
        f"How sure this is: the sample has {sessions} sessions ({years:.1f} years), so the standard error of the Sharpe "
        f"ratio is {error:.2f} and its 95% confidence interval runs from {low:.2f} to {high:.2f}: statistically it {apart}. "
        "This is one historical path; it says nothing certain about the future."
    )


def _index_name(tables: Tables) -> str:
    """Return what the benchmark is, with its basis."""
    return str(_row(tables.get("specification"), "parameter", "benchmark")["value"])


def _index(tables: Tables) -> str:
    """Return the list of files that exist."""
    lines = []
    for names, what in FILES.items():
        first = names.split(",")[0].rstrip("/")
        if first in ("report.md", "rules.md") or (tables.folder / first).exists():
            lines.append(f"- {names}: {what}")
    return "Files:\n" + "\n".join(lines)


def _method(tables: Tables) -> str:
    """Return the method: the specification with who chose what."""
    spec = tables.get("specification")
    lines = ["| component | parameter | value | chosen by |", "| --- | --- | --- | --- |"]
    lines += [f"| {row.component} | {row.parameter} | {row.value} | {row.source} |" for row in spec.itertuples()]
    factors = str(_row(spec, "parameter", "factors")["value"]).split("+")
    signals = "\n".join(f"- {FACTORS[name].label}: {FACTORS[name].definition}." for name in factors)
    rules = [
        ("market_timing", "rule", "Market timing"),
        ("portfolio_construction", "weighting", "Weighting"),
        ("portfolio_construction", "covariance", "Covariance"),
        ("risk_control", "rule", "Risk control"),
        ("execution", "rule", "Execution"),
        ("transaction_cost", "rate_bps", "Transaction cost"),
    ]
    lines_of = []
    for component, parameter, title in rules:
        row = spec[(spec["component"] == component) & (spec["parameter"] == parameter)].iloc[0]
        if row["value"] != "none" or parameter != "covariance":
            lines_of.append(f"- {title}: {row['definition']}.".replace("..", "."))
    combination = spec[spec["parameter"] == "combination"].iloc[0]["definition"]
    return (
        "## Method\n\n"
        "Decisions use data up to the close of the decision session; trades fill strictly later. Signals use adjusted "
        "closes; fills and marks use split-adjusted prices, dividends arrive as cash on the ex-date, cash earns nothing. "
        "All definitions, boundary cases and reasons stand in rules.md.\n\n"
        f"Signals:\n{signals}\n- Score: {combination}\n\n"
        "Rules:\n" + "\n".join(lines_of) + "\n\n" + "\n".join(lines)
    )


def _results(tables: Tables) -> str:
    """Return results: metrics with basis, benchmark, signals, robustness."""
    table = tables.get("metrics")
    lines = ["| metric | value | basis |", "| --- | --- | --- |"]
    first_basis = str(table["basis"].iloc[0])
    span = first_basis.split(";", maxsplit=1)[0]
    for row in table.itertuples():
        basis = str(row.basis).replace(f"{span}; ", "").replace("daily closes; ", "")
        lines.append(f"| {LABELS.get(row.metric, row.metric)} | {shown(row.metric, float(row.value))} | {basis} |")
    parts = [f"## Results\n\nPeriod of every figure unless stated: {span}.\n\n" + "\n".join(lines)]
    parts += [_benchmark(tables), _signals(tables), _samples(tables), _variants(tables), _stress(tables)]
    return "\n\n".join(part for part in parts if part)


def _benchmark(tables: Tables) -> str:
    """Return the comparison with the index."""
    table = tables.get("benchmark_comparison")
    if table.empty:
        return ""
    lines = [f"Against {_index_name(tables)}, over the same dates:", ""]
    lines += ["| measure | strategy | benchmark | difference |", "| --- | --- | --- | --- |"]
    for name in ("total_return", "cagr", "volatility", "sharpe", "max_drawdown"):
        row = _row(table, "measure", name)
        cells = [shown(name, float(row[column])) for column in ("strategy", "benchmark", "difference")]
        lines.append(f"| {LABELS[name]} | {' | '.join(cells)} |")
    alpha, beta = _row(table, "measure", "alpha_per_year"), _row(table, "measure", "beta")
    sign = "positive" if alpha["strategy"] > 0 else "negative"
    meaning = "more" if alpha["strategy"] > 0 else "less"
    return "\n".join(lines) + (
        f"\n\nAlpha is {pct(alpha['strategy'])} a year at a beta of {beta['strategy']:.2f}; it is {sign}: the strategy earned "
        f"{meaning} than its market exposure alone explains (risk-free rate 0, annualised, net)."
    )


def _signals(tables: Tables) -> str:
    """Return the validation of the signals."""
    table = tables.get("signal_validation")
    lines = []
    for row in table.itertuples():
        if pd.isna(row.mean_rank_ic):
            continue
        lines.append(
            f"- {row.factor}: mean rank IC {row.mean_rank_ic:.3f}, t-statistic {row.t_statistic:.2f} over {row.decisions} "
            f"decisions, hit rate {pct(row.hit_rate)}, top minus bottom third {pct(row.top_minus_bottom_third, 2)} a period"
        )
    return "Signals against the return from one fill to the next:\n" + "\n".join(lines) if lines else ""


def _samples(tables: Tables) -> str:
    """Return both samples and the gap."""
    table = tables.get("out_of_sample")
    early, late = _row(table, "sample", "in-sample"), _row(table, "sample", "out-of-sample")
    if early is None or late is None:
        return ""
    rises = late["sharpe"] > early["sharpe"]
    same = rises == (late["benchmark_sharpe"] > early["benchmark_sharpe"])
    market = (
        "moved the same way, so part of the gap is its"
        if same
        else "moved the other way, so the gap is not the market's"
    )
    word = "higher" if rises else "lower"
    return (
        f"Out of sample: the split was fixed before the first run and nothing was tuned. In-sample ({early['start']} to "
        f"{early['end']}): {pct(early['cagr'])} a year, Sharpe {early['sharpe']:.2f}, drawdown "
        f"{pct(early['max_drawdown'])}. Out-of-sample ({late['start']} to {late['end']}): {pct(late['cagr'])} a year, Sharpe "
        f"{late['sharpe']:.2f}, drawdown {pct(late['max_drawdown'])}. The Sharpe ratio is {word} in the later part; the "
        f"benchmark's ({early['benchmark_sharpe']:.2f} and {late['benchmark_sharpe']:.2f}) {market}."
    )


def _variants(tables: Tables) -> str:
    """Return the range of each varied parameter."""
    table = tables.get("sensitivity")
    if table.empty:
        return ""
    lines = []
    for parameter, part in table.groupby("parameter", sort=False):
        settings = ", ".join(str(value) for value in part["setting"])
        low, high = part["sharpe"].min(), part["sharpe"].max()
        lines.append(f"- {parameter} ({settings}): Sharpe from {low:.2f} to {high:.2f}")
    worst = table.loc[table["sharpe"].idxmin()]
    reading = (
        f"Reading: the weakest variant is {worst['parameter']} = {worst['setting']} with a Sharpe ratio of "
        f"{worst['sharpe']:.2f}; no value was picked because of this table."
    )
    return "Sensitivity, one parameter at a time, costs among them:\n" + "\n".join(lines) + "\n\n" + reading


def _stress(tables: Tables) -> str:
    """Return what the stress run changed and showed."""
    spec = tables.get("stress/specification")
    if spec.empty:
        return ""
    changed = spec[spec["source"] == "stress run"]
    what = ", ".join(f"{row.parameter} {row.value}" for row in changed.itertuples())
    trades = tables.get("stress/trades")
    return (
        "Stress run (folder stress): in the main run a control never had to act, so the same code and prices were run with "
        f"{what}; its {len(trades)} fills show the control at work."
    )


def _limitations(tables: Tables, *, stand_in: str, modelled_rows: int, notes: list[str]) -> str:
    """Return data limits, risks with figures and what would make one stop."""
    risks = tables.get("risks").set_index("risk")
    figure = risks["figure"].astype(float)
    quality = tables.get("data_quality").set_index("check")
    metrics, names = tables.metrics(), int(figure["names in the universe"])
    ended = int(quality["found"]["names that end before the last session"])
    lines = [
        (
            f"- Survivorship: {names} names given in advance, {ended} of them end early; firms that failed are under-represented, "
            "which flatters returns."
        ),
        (
            f"- Concentration: the largest target weight was {pct(figure['largest target weight'])}, with "
            f"{figure['average number of names held']:.1f} names held on average."
        ),
        (
            f"- Loss: the worst month was {pct(figure['worst month'])}, the worst day {pct(figure['worst day'])}; the longest time "
            f"below a previous high was {figure['longest time below a previous high']:.0f} sessions."
        ),
        (
            f"- Turnover and capacity: {metrics['turnover']:.2f}x a year; the largest fill was "
            f"{pct(figure['largest fill as share of the day' + chr(39) + 's volume'], 2)} of the day's volume at this capital."
        ),
        (
            f"- Data: {int(quality['found']['missing values'])} rows with missing values, "
            f"{int(quality['found']['session gaps'])} session gaps, {int(quality['found']['duplicates'])} duplicates in "
            f"{int(quality['found']['rows'] or quality['checked']['rows'])} price rows; one vendor, cross-checked only between its "
            "own dividend list and its adjusted closes."
        ),
        "- Statements are the vendor's latest version, known at their first acceptance date; later restatements may differ.",
    ]
    if stand_in:
        lines.append(
            f"- The series called SPY is the index {stand_in} standing in for it: a price index, so dividends are missing."
        )
    if modelled_rows:
        lines.append(
            "- The data service marks many of its rows as modelled; where it does, figures are not market history."
        )
    lines += [f"- Data: {note}." for note in notes]
    lines.append(
        "- One would stop if the drawdown went well past the one above, if out-of-sample results fell far short of the "
        "in-sample ones, or if real costs exceeded the range tested."
    )
    return "## Limitations\n\n" + "\n".join(lines)


TERMS = {
    "total return": "what the whole period earned, as a share of the initial capital",
    "CAGR": "the steady yearly rate that would give the same total return",
    "volatility": "the standard deviation of daily returns, scaled to a year",
    "Sharpe ratio": "yearly average return divided by volatility; higher is more return for the same swings",
    "standard error": "how far an estimate strays by chance alone",
    "drawdown": "the fall from the highest equity so far; the maximum is the deepest one",
    "turnover": "value traded in a year, buys and sells halved, as a multiple of the average equity",
    "exposure": "the share of equity that is in stocks, the rest is cash",
    "benchmark": "what the strategy is compared with",
    "beta": "how much the strategy moves when the benchmark moves by one percent",
    "alpha": "the yearly return that beta does not explain",
    "rank IC": "the correlation of a signal's order with the order of the returns that followed",
    "t-statistic": "an average divided by its standard error; beyond 2 chance is unlikely",
    "in-sample": "the earlier part of the dates, as opposed to the later one",
    "out-of-sample": "the later part of the dates, left aside when the rules were fixed",
    "rebalance": "to bring the holdings to the newly decided weights",
    "covariance": "how the returns of two names move together",
    "z-score": "distance from the average, counted in standard deviations",
    "survivorship": "the bias that comes from looking only at firms that still exist",
    "bps": "basis points, hundredths of a percent",
}


def _terms(text: str) -> str:
    """Return one line on each term that the report uses."""
    lowered = text.lower()
    return "## Terms\n\n" + "\n".join(
        f"- {term}: {meaning}." for term, meaning in TERMS.items() if term.lower() in lowered
    )


def _rules(tables: Tables) -> str:
    """Return the rule book."""
    spec = tables.get("specification")
    lines = ["# Rules in full", "", "## Parameters", "", "| parameter | value | chosen by | definition | reason |"]
    lines.append("| --- | --- | --- | --- | --- |")
    tested = _tested(tables.get("sensitivity"))
    for row in spec.itertuples():
        name = f"{row.component} / {row.parameter}"
        shown_by = "" if row.source == "user" else tested.get(row.parameter, "")
        lines.append(f"| {name} | {row.value} | {row.source} | {row.definition} | {row.reason}{shown_by} |")
    factors = str(_row(spec, "parameter", "factors")["value"]).split("+")
    lines += ["", "## Signals: reason and failure", ""]
    for name in factors:
        factor = FACTORS[name]
        lines.append(
            f"- {factor.label}: {factor.definition}. Reason: {factor.why}. Weak in: {factor.fails}. It fits this universe of "
            "liquid US stocks because the data it needs exist for every name; with few names its ranking is coarse."
        )
    lines += ["", BOUNDARY, "", EVIDENCE, ""]
    return "\n".join(lines)


def _tested(table: pd.DataFrame) -> dict[str, str]:
    """Return what the sensitivity table says about each parameter it varies."""
    if table.empty:
        return {}
    return {
        str(
            parameter
        ): f"; sensitivity: Sharpe ratio {part['sharpe'].min():.2f} to {part['sharpe'].max():.2f} over {', '.join(map(str, part['setting']))}"
        for parameter, part in table.groupby("parameter", sort=False)
        if len(part) > 1
    }


BOUNDARY = """## Boundary cases

| case | rule |
| --- | --- |
| missing data | nothing is filled in; a name whose score or window is incomplete is left out at that decision |
| halted or delisted name | an order waits for the next bar, at most five sessions; a name whose prices end is sold at its last close |
| split or dividend | prices and share counts are split-adjusted; dividends are cash on the ex-date for shares held the close before |
| fewer candidates than holdings | all candidates are held |
| tie in rank | alphabetical order of the symbol |
| date without a signal | no candidate: all in cash until the next decision |
| insufficient cash | sells fill first; buys are scaled down together, fees included, to whole shares |
| first and last day | the first decision is the first with the longest look-back complete; open positions are marked at the last close |
| re-entry after a stop | never before the next decision; after a portfolio stop only once the cooldown is over |"""

EVIDENCE = """## Grade of the evidence

Prices, dividends, index levels and statements: vendor data (second grade, below filings). Reasons for signals: published
research, quoted from memory of the literature. Capital, dates and split: own choices. Results: computed from the files."""
