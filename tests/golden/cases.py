"""The cases both implementations are held against: dates, options and parameters, and the third way's answers."""

from functools import cache

from .third_way import Scores, combine, factor
from .third_way_book import Book, Rules, run
from .world import World, make_world

FACTOR_SESSIONS = (520, 700, 899)
PAIRS = (("mom_12_1", "roe"), ("low_vol_252", "book_to_price"))
TRIPLE = ("rev_21", "gross_profitability", "high_52w")
COMBINATIONS = ("zscore_mean", "rank_mean", "sequential_screen")
GATES = (
    ("spy_sma", "window", (100, 150, 200)),
    ("spy_abs_mom", "lookback", (126, 252)),
    ("vix_gate", "threshold", (25, 30, 35)),
    ("breadth", "threshold", (40, 50, 60)),
    ("vol_gate", "percentile", (70, 80, 90)),
)
WEIGHT_SESSION = 850
SIMPLE_SCHEMES = ("equal", "rank_weighted", "score_weighted", "inverse_vol", "cap_weighted")
OPTIMISED_SCHEMES = ("min_variance", "mean_variance", "risk_parity")
COVARIANCES = ("sample", "ewma", "ledoit_wolf")
LAST = 899
BOOK_RULES = {
    "next_open": Rules(),
    "next_close": Rules("next_close"),
    "staged_3": Rules("staged", days=3),
    "staged_5": Rules("staged", days=5),
    "adv_cap_1": Rules("adv_cap", cap_pct=1),
    "adv_cap_5": Rules("adv_cap", cap_pct=5),
    "adv_cap_10": Rules("adv_cap", cap_pct=10),
    "fixed_rate": Rules(rate_bps=15),
    "drawdown_stop": Rules(drawdown_pct=10),
    "drawdown_stop_staged_with_cost": Rules("staged", days=3, drawdown_pct=10, cooldown=10, rate_bps=5),
    "position_stop": Rules(position_pct=8),
    "position_stop_next_close": Rules("next_close", position_pct=10, rate_bps=20),
}


@cache
def world() -> World:
    """The one golden market."""
    return make_world()


@cache
def decisions(first: int, last: int = LAST) -> tuple[int, ...]:
    """Last session of each month from `first` on; the session after `last` is not looked at."""
    days = world().sessions
    ends = [i for i in range(first, last) if days[i].month != days[i + 1].month]
    return (*ends, last) if last < len(days) - 1 and days[last].month != days[last + 1].month else tuple(ends)


def golden_target(i: int, stopped: set[str]) -> tuple[Scores, str]:
    """Equal weights in the three best one-week losers."""
    scores = {s: v for s, v in factor(world(), "rev_5", i).items() if s not in stopped}
    _, best = combine(None, [scores])
    return dict.fromkeys(best[:3], 1 / 3), "rebalance"


FIRST_DECISION = 19
"""2015-01-30, the first month end with six closes."""


@cache
def book(name: str) -> Book:
    """The whole backtest of one rule set: rev_5, three names, equal weights, monthly."""
    return run(world(), list(decisions(FIRST_DECISION)), golden_target, BOOK_RULES[name], last=LAST)


__all__ = [name for name in dir() if not name.startswith("_") and name not in ("cache", "ranked")]
