"""Turns what the client said into the specification table: every rule with one definition, its value and who chose it."""

from __future__ import annotations

import pandas as pd
from catalogue import COMBINATIONS, COVARIANCES, EXECUTIONS, FACTORS, RISKS, TIMINGS, WEIGHTINGS
from parse import Scope, Stated

CAPITAL = 1_000_000
USUAL = {
    "market_timing:spy_sma:window": 200,
    "market_timing:spy_abs_mom:lookback": 252,
    "market_timing:vix_gate:threshold": 30,
    "market_timing:breadth:threshold": 50,
    "market_timing:vol_gate:percentile": 80,
    "portfolio_construction:inverse_vol:vol_window": 126,
    "risk_control:drawdown_stop:threshold": 20,
    "risk_control:drawdown_stop:cooldown": 21,
    "risk_control:position_stop:threshold": 10,
    "risk_control:vol_target:target": 12,
    "risk_control:vol_target:vol_window": 63,
    "execution:staged:days": 3,
    "execution:adv_cap:cap": 5,
}
"""Values taken when the client gives none."""

PARAMETERS = {
    "window": "sessions of the moving average, the decision session included",
    "lookback": "sessions between the two index levels compared",
    "percentile": "percent; position in the trailing 756 sessions, linear interpolation",
    "cooldown": "sessions to stay in cash at least",
    "target": "percent a year",
    "vol_window": "sessions of daily returns up to the decision session",
    "days": "sessions over which an order is spread",
    "cap": "percent of the session's volume per name",
}
WHY = {
    "n_holdings": "enough names to spread single-stock risk, few enough to keep the ranking meaningful; see sensitivity.csv",
    "rebalance": "matches how long the signal stays fresh against the cost of trading; see sensitivity.csv",
    "window": "the usual 200 sessions (about ten months); see sensitivity.csv",
    "lookback": "one year of sessions, the usual horizon; see sensitivity.csv",
    "threshold": "a customary level; see sensitivity.csv",
    "percentile": "a customary level; see sensitivity.csv",
    "cooldown": "one month, so that a fall is not bought back within days",
    "vol_window": "a common window: long enough to be steady, short enough to follow the market",
    "cov_window": "one year of daily returns, several times the number of names",
    "halflife": "one quarter, a common choice for equities",
    "days": "a customary spread",
    "cap": "a customary limit in transaction-cost studies",
    "combination": "each characteristic counts the same; one extreme value cannot dominate",
    "factors": "you left it open",
}
DAILY_SIGNALS = ("rev_5",)


def needs_fundamentals(stated: Stated) -> bool:
    """Return whether a characteristic or the weighting reads statements."""
    return (
        any(FACTORS[name].fundamental for name in stated.factors) or stated.options.get("weighting") == "cap_weighted"
    )


def holdings(stated: Stated, scope: Scope, names: int) -> int:
    """Return how many names to hold: ten of twenty or more candidates, else five, within the client's limit."""
    candidates = names
    if stated.options.get("combination") == "sequential_screen":
        for _ in stated.factors[1:]:
            candidates = (candidates + 1) // 2
    count = 20 if candidates >= 100 else 10 if candidates >= 20 else 5
    return min(count, scope.limit or count, candidates)


def specification(stated: Stated, scope: Scope, names: int, *, stand_in: str = "") -> pd.DataFrame:
    """Return the specification table; `stand_in` names the price index that the data service gives for SPY, if any."""
    rows = _selection_rows(stated)
    rows += _timing_rows(stated)
    rows += _construction_rows(stated, scope, names)
    rows += _risk_rows(stated)
    rows += _execution_rows(stated)
    rows += _general_rows(scope, stand_in)
    return pd.DataFrame(rows, columns=["component", "parameter", "value", "source", "definition", "reason"])


Row = tuple[str, str, str, str, str, str]


def _who(*, given: bool) -> str:
    """Return who chose a value."""
    return "user" if given else "own choice"


def _reason(parameter: str, *, given: bool) -> str:
    """Return why a value was taken."""
    return (
        "your requirement" if given else WHY.get(parameter, "the plain case: nothing is added that you did not ask for")
    )


def _row(component: str, parameter: str, value: object, definition: str, *, given: bool) -> Row:
    """Return one line of the table."""
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    return component, parameter, shown, _who(given=given), definition, _reason(parameter, given=given)


def _parameter(stated: Stated, component: str, option: str, name: str, definition: str | None = None) -> Row:
    """Return the line of one number, the client's where there is one."""
    key = f"{component}:{option}:{name}"
    given = key in stated.numbers
    value = float(stated.numbers.get(key, USUAL[key]))
    return _row(component, name, value, definition or PARAMETERS[name], given=given)


def _selection_rows(stated: Stated) -> list[Row]:
    """Return the characteristics and how they are combined."""
    texts = "; ".join(f"{FACTORS[name].label}: {FACTORS[name].definition}" for name in stated.factors)
    rows = [_row("stock_selection", "factors", "+".join(stated.factors), texts, given=True)]
    if len(stated.factors) > 1:
        method = stated.options.get("combination", "zscore_mean")
        definition = COMBINATIONS[method]
        if method == "sequential_screen":
            *first, last = [FACTORS[name].label for name in stated.factors]
            definition += f" Here: top half on {', then on '.join(first)}; then ranked on {last}."
        rows.append(_row("stock_selection", "combination", method, definition, given="combination" in stated.options))
    else:
        definition = "one characteristic: its value is the score"
        rows.append(_row("stock_selection", "combination", "none", definition, given=True))
    return rows


def _timing_rows(stated: Stated) -> list[Row]:
    """Return the market rule and its numbers."""
    rule = stated.options.get("market_timing", "always_invested")
    rows = [_row("market_timing", "rule", rule, TIMINGS[rule].definition, given="market_timing" in stated.options)]
    units = {
        "vix_gate": "index points; below it the book is held",
        "breadth": "percent of the names with 200 closes; at or above it the book is held",
    }
    return rows + [
        _parameter(stated, "market_timing", rule, name, units.get(rule)) for name in TIMINGS[rule].parameters
    ]


def _construction_rows(stated: Stated, scope: Scope, names: int) -> list[Row]:
    """Return weighting, covariance, number of holdings and calendar."""
    book = "portfolio_construction"
    scheme = stated.options.get("weighting", "equal")
    rows = [_row(book, "weighting", scheme, WEIGHTINGS[scheme], given="weighting" in stated.options)]
    if scheme in ("min_variance", "mean_variance", "risk_parity"):
        method = stated.options.get("covariance", "sample")
        rows.append(_row(book, "covariance", method, COVARIANCES[method], given="covariance" in stated.options))
        definition = "sessions of daily returns up to the decision session, that session included"
        rows.append(_row(book, "cov_window", 252, definition, given=False))
        if method == "ewma":
            rows.append(_row(book, "halflife", 63, "sessions after which a return counts half", given=False))
    else:
        rows.append(_row(book, "covariance", "none", "not needed by this weighting", given=False))
    if scheme == "inverse_vol":
        rows.append(_parameter(stated, book, scheme, "vol_window"))
    rebalance = "weekly" if set(stated.factors) & set(DAILY_SIGNALS) else "monthly"
    limit = f" (you hold at most {scope.limit})" if scope.limit else ""
    count = f"names held; all candidates when there are fewer{limit}"
    rows.append(_row(book, "n_holdings", holdings(stated, scope, names), count, given=False))
    calendar = {"weekly": "last session of each ISO week", "monthly": "last session of each calendar month"}[rebalance]
    rows.append(_row(book, "rebalance", rebalance, f"decisions at the close of the {calendar}", given=False))
    return rows


def _risk_rows(stated: Stated) -> list[Row]:
    """Return the control and its numbers."""
    rule = stated.options.get("risk_control", "none")
    rows = [_row("risk_control", "rule", rule, RISKS[rule].definition, given="risk_control" in stated.options)]
    units = {
        "drawdown_stop": {"threshold": "percent below the peak equity"},
        "position_stop": {"threshold": "percent below the average entry price"},
    }
    return rows + [
        _parameter(stated, "risk_control", rule, name, units.get(rule, {}).get(name)) for name in RISKS[rule].parameters
    ]


def _execution_rows(stated: Stated) -> list[Row]:
    """Return how orders fill and what they cost."""
    rule = stated.options.get("execution", "next_open")
    rows = [_row("execution", "rule", rule, EXECUTIONS[rule].definition, given="execution" in stated.options)]
    rows += [_parameter(stated, "execution", rule, name) for name in EXECUTIONS[rule].parameters]
    key = "transaction_cost:fixed_rate:rate_bps"
    rate = float(stated.numbers.get(key, 0.0))
    definition = "basis points one way; fee = rate x |quantity x fill price| on every fill"
    if rate == 0:
        definition = (
            "no transaction cost: the fee of every fill is zero; sensitivity.csv shows 5, 10 and 20 basis points"
        )
    given = key in stated.numbers or stated.options.get("cost") == "none"
    rows.append(_row("transaction_cost", "rate_bps", rate, definition, given=given))
    return rows


def _general_rows(scope: Scope, stand_in: str) -> list[Row]:
    """Return capital, window and the split date, all fixed before the first run."""
    index = f"{stand_in} price index in place of SPY" if stand_in else "SPY adjusted close"
    dividends = "without dividends" if stand_in else "dividends reinvested"
    first, last = pd.Timestamp(scope.start), pd.Timestamp(scope.end)
    split = pd.Timestamp(year=(first + (last - first) * 2 / 3).year + 1, month=1, day=1)
    split_text = "first day of the out-of-sample part; set before the first run at about two thirds of the window"
    rows = [
        _row("general", "capital", CAPITAL, "USD in cash at the close of the first decision session", given=False),
        _row("general", "start", scope.start, "first session whose data are used", given=True),
        _row("general", "end", scope.end, "last session; open positions stay open and are marked", given=True),
        _row("general", "benchmark", f"{index} ({dividends})", "same sessions as the equity, bought once", given=False),
        _row("general", "out_of_sample_start", str(split.date()), split_text, given=False),
    ]
    reasons = {
        "benchmark": "the usual yardstick of large US stocks",
        "capital": "a round amount at which the orders are small against the market",
        "out_of_sample_start": "leaves both parts several years; no value was tuned on either",
    }
    return [(*row[:5], reasons.get(row[1], row[5])) for row in rows]
