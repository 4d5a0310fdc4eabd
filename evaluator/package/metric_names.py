"""Metric labels as tools and agents write them, to canonical names."""

import re

from evaluator.package.headers import normalised

_NAMES: dict[str, tuple[str, ...]] = {
    "total_return": (
        "total_return",
        "cumulative_return",
        "cumulative_returns",
        "return",
        "net_return",
        "total_net_return",
        "net_total_return",
    ),
    "cagr": (
        *("cagr", "annual_return", "annualised_return", "annualized_return", "annualised_net_return", "return_ann"),
        *("compound_annual_growth_rate", "annualized_net_return", "ann_return", "cagr_%"),
        *("compounding_annual_return", "annual_returns"),
    ),
    "volatility": (
        *("volatility", "annual_volatility", "annualised_volatility", "annualized_volatility", "vol", "ann_vol"),
        *("volatility_ann", "annual_vol", "daily_vol", "volatility_annualised", "volatility_annualized"),
    ),
    "sharpe": ("sharpe", "sharpe_ratio", "sharperatio", "annualised_sharpe", "annualized_sharpe", "daily_sharpe"),
    "sortino": ("sortino", "sortino_ratio", "daily_sortino"),
    "calmar": ("calmar", "calmar_ratio"),
    "information_ratio": ("information_ratio", "ir"),
    "max_drawdown": ("max_drawdown", "maximum_drawdown", "mdd", "maxdd", "max_dd", "max_drawdown_pct", "drawdown"),
    "win_rate": ("win_rate", "hit_rate", "winning_trades", "win_ratio", "round_trip_win_rate"),
    "win_rate_days": ("win_rate_days", "win_days", "positive_days", "daily_win_rate", "share_of_positive_days"),
    "turnover": ("turnover", "annual_turnover", "annualised_turnover", "annualized_turnover", "turnover_per_year"),
    "exposure": ("exposure", "average_exposure", "mean_exposure", "time_in_market", "exposure_time", "avg_exposure"),
    "trades": (
        *("trades", "trade_count", "number_of_trades", "num_trades", "n_trades", "#_trades", "total_trades", "fills"),
        *("total_orders", "number_of_fills", "n_fills", "fill_count", "no_of_trades", "num_fills", "total_fills"),
    ),
    "final_equity": (
        *("final_equity", "final_value", "ending_value", "end_value", "equity_final", "final_nav", "ending_equity"),
        *("final_portfolio_value", "end_equity", "final_capital", "end_portfolio_value"),
    ),
    "capital": (
        *("capital", "initial_capital", "start_capital", "starting_capital", "start_value", "initial_equity"),
        *("initial_cash", "start_equity", "starting_equity"),
    ),
    "total_fees": ("total_fees", "fees", "total_costs", "total_cost", "total_commission", "transaction_costs", "costs"),
    "start": ("start", "start_date", "backtest_start", "from", "first_date", "period_start"),
    "end": ("end", "end_date", "backtest_end", "to", "last_date", "period_end"),
    "periods_per_year": ("periods_per_year", "annualisation_factor", "annualization_factor", "trading_days"),
    "risk_free": ("risk_free", "risk_free_rate", "rf", "riskfree"),
    "best_day": ("best_day", "best_daily_return", "max_daily_return"),
    "worst_day": ("worst_day", "worst_daily_return", "min_daily_return"),
    "years": ("years", "n_years"),
    "annual_return_mean": ("annual_return_mean", "daily_mean"),
    "rank_ic": ("rank_ic", "mean_rank_ic", "mean_ic", "ic", "ic_mean"),
    "rank_ic_t": ("rank_ic_t", "ic_t", "ic_t_stat", "rank_ic_t_stat", "t_stat", "ic_tstat"),
    "quantile_spread": ("quantile_spread", "quintile_spread", "decile_spread", "top_minus_bottom"),
    "alpha": ("alpha", "excess_return", "annualised_excess_return", "excess_cagr"),
    "beta": ("beta", "market_beta"),
}
_BY_ALIAS = {alias: name for name, aliases in _NAMES.items() for alias in (name, *aliases)}
FRACTIONS = frozenset(
    {
        *("total_return", "cagr", "volatility", "max_drawdown", "win_rate", "win_rate_days", "exposure", "best_day"),
        *("worst_day", "alpha", "quantile_spread", "risk_free"),
    }
)
"""Metrics that are fractions of one and may be printed in percent."""
_VARIANTS = (
    ("benchmark", re.compile(r"(^|_)(benchmark|spy|index|buy_(and|&)_hold|bench|market)(_|$)")),
    ("gross", re.compile(r"(^|_)(gross|before_costs?)(_|$)")),
    ("oos", re.compile(r"(^|_)(out_of_sample|oos|test|holdout)(_|$)")),
    ("is", re.compile(r"(^|_)(in_sample|train|insample)(_|$)")),
)
_DROPPED = re.compile(r"(^|_)(net|strategy|portfolio|full_sample|after_costs?|backtest|overall)(?=_|$)")
_NOT_VARIANT = frozenset({"market_beta", "time_in_market"})


def variant_of(text: str) -> str | None:
    """Return benchmark, gross, oos or is when a label or basis says so; None for the net full-sample strategy."""
    name = normalised(text)
    if name in _NOT_VARIANT:
        return None
    for variant, pattern in _VARIANTS:
        if pattern.search(name) and not re.search(r"net_of|gross_of_tax", name):
            return variant
    return None


def canonical_metric(label: str) -> str | None:
    """Return the canonical name of a metric label, 'benchmark_', 'gross_', 'oos_' or 'is_' in front where it says so."""
    name = normalised(label).replace("max._", "max_").replace("%", "").strip("_")
    if name in _BY_ALIAS:
        return _BY_ALIAS[name]
    variant = variant_of(label)
    if variant is not None:
        name = dict(_VARIANTS)[variant].sub("_", name).strip("_")
    name = re.sub(r"_+", "_", _DROPPED.sub("", name)).strip("_")
    for suffix in ("", "_pct", "_percent", "_ratio"):
        base = name.removesuffix(suffix) if suffix else name
        if base in _BY_ALIAS:
            found = _BY_ALIAS[base]
            return found if variant is None else f"{variant}_{found}"
    return None
