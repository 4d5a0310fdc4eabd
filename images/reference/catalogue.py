"""Every option with its exact definition, its number names and, for characteristics, why it may work and when it fails."""

from __future__ import annotations

from typing import NamedTuple


class Factor(NamedTuple):
    """One characteristic."""

    label: str
    definition: str
    why: str
    fails: str
    fundamental: bool = False


class Rule(NamedTuple):
    """One option with the names of its numbers."""

    definition: str
    parameters: tuple[str, ...] = ()


FACTORS = {
    "mom_12_1": Factor(
        "12-1 month momentum",
        "P[t-21]/P[t-252]-1, the twelve-month return leaving out the latest 21 sessions; P is the adjusted close",
        "investors under-react to news, so relative winners tend to keep winning (Jegadeesh and Titman 1993)",
        "sharp market rebounds after a fall, when past losers jump (Daniel and Moskowitz 2016)",
    ),
    "mom_6_1": Factor(
        "6-1 month momentum",
        "P[t-21]/P[t-126]-1, the six-month return leaving out the latest 21 sessions; P is the adjusted close",
        "investors under-react to news over intermediate horizons (Jegadeesh and Titman 1993)",
        "trend reversals and sharp rebounds; it turns over faster than the twelve-month version",
    ),
    "high_52w": Factor(
        "52-week-high proximity",
        "P[t]/max(P[t-251..t]); P is the adjusted close",
        "investors anchor on the high and hesitate to bid through it (George and Hwang 2004)",
        "market bottoms, when every name is far from its high and the ranking picks the defensive ones",
    ),
    "rev_21": Factor(
        "1-month short-term reversal",
        "-(P[t]/P[t-21]-1): last month's losers rank first; P is the adjusted close",
        "liquidity suppliers are paid for buying what others must sell (Jegadeesh 1990; Nagel 2012)",
        "falls that carry lasting bad news; high turnover eats it when trading is costly",
    ),
    "rev_5": Factor(
        "1-week reversal",
        "-(P[t]/P[t-5]-1): the past week's losers rank first; P is the adjusted close",
        "short-lived price pressure fades within days (Lehmann 1990)",
        "news-driven moves; very high turnover makes it sensitive to costs",
    ),
    "earnings_yield": Factor(
        "earnings yield",
        "net income of the four latest announced quarters / market cap (close x shares)",
        "low prices against earnings carry a premium for risk or over-pessimism (Basu 1977)",
        "value traps and long growth-led markets",
        fundamental=True,
    ),
    "book_to_price": Factor(
        "book-to-price",
        "common equity of the latest announced quarter / market cap (close x shares); negative equity left out",
        "cheap assets earn a premium for distress risk or over-reaction (Fama and French 1992)",
        "firms whose value is intangible; long growth-led markets",
        fundamental=True,
    ),
    "fcf_yield": Factor(
        "free-cash-flow yield",
        "(operating cash flow - capital expenditure, four latest announced quarters) / market cap (close x shares)",
        "cash is harder to dress up than earnings (Lakonishok, Shleifer and Vishny 1994)",
        "years of heavy investment, and banks, for which the figure means little",
        fundamental=True,
    ),
    "roe": Factor(
        "return on equity",
        "net income of the four latest announced quarters / mean common equity of the latest and the year-ago quarter; "
        "equity at or below zero left out",
        "profitable firms earn more than their prices expect (Haugen and Baker 1996; Hou, Xue and Zhang 2015)",
        "leverage and buybacks that shrink equity; junk rallies",
        fundamental=True,
    ),
    "gross_profitability": Factor(
        "gross profitability",
        "(revenue - cost of goods sold, four latest announced quarters) / total assets of the latest; financials left out",
        "gross profit is the cleanest measure of productive assets (Novy-Marx 2013)",
        "deep value rebounds; asset-heavy sectors are never chosen",
        fundamental=True,
    ),
    "low_accruals": Factor(
        "low accruals",
        "-(net income - operating cash flow, four latest announced quarters) / mean total assets of the latest and the "
        "year-ago quarter",
        "earnings backed by cash persist, accruals reverse (Sloan 1996)",
        "the effect has weakened since it became known; growing firms look bad on it",
        fundamental=True,
    ),
    "low_vol_252": Factor(
        "low volatility",
        "-standard deviation of the last 252 daily returns, calmer first",
        "investors overpay for lottery-like risk (Ang, Hodrick, Xing and Zhang 2006; Blitz and van Vliet 2007)",
        "strong bull markets, and rising rates against bond-like names",
    ),
    "low_beta_252": Factor(
        "low beta",
        "-slope of daily returns on SPY returns over the last 252 sessions, at least 200 common observations",
        "investors who cannot borrow bid up high beta (Frazzini and Pedersen 2014)",
        "strong bull markets; crowded defensive names",
    ),
    "low_max_21": Factor(
        "low maximum daily return",
        "-largest daily return of the last 21 sessions: no lottery stocks",
        "lottery-like names are overpriced (Bali, Cakici and Whitelaw 2011)",
        "rallies led by jumpy names",
    ),
    "revenue_growth": Factor(
        "year-over-year revenue growth",
        "revenue of the four latest announced quarters / revenue of the four quarters before - 1",
        "growth news is priced in slowly (Jegadeesh and Livnat 2006)",
        "growth bought through acquisitions; growth already in the price (Lakonishok, Shleifer and Vishny 1994)",
        fundamental=True,
    ),
    "sue": Factor(
        "standardised earnings surprise",
        "(EPS - EPS of the year-ago quarter) / standard deviation of the last eight such differences, latest announced",
        "prices drift after surprises (Bernard and Thomas 1989)",
        "one-off items in reported EPS; large names whose news is priced at once",
        fundamental=True,
    ),
    "small_cap": Factor(
        "small size",
        "-ln(market cap), smaller companies of the universe first",
        "smaller firms carry more risk and less attention (Banz 1981; Fama and French 1992)",
        "flights to quality, and universes in which every name is large",
        fundamental=True,
    ),
}
COMBINATIONS = {
    "zscore_mean": "Equal-weight average of z-scores: clip each characteristic at its 1 % and 99 % quantiles across names, "
    "subtract the mean, divide by the standard deviation, average; a name with any one missing is left out.",
    "rank_mean": "Average percentile rank: ascending average rank / number of names on each characteristic, averaged; a "
    "name with any one missing is left out.",
    "sequential_screen": "Sequential screen: keep the best half (rounded up) on the first, then rank what is left on the "
    "last; there is no combined score.",
}
TIMINGS = {
    "always_invested": Rule("always invested: no market filter"),
    "spy_sma": Rule(
        "trend filter: at the decision close hold the book if SPY adjusted close >= its moving average, else cash",
        ("window",),
    ),
    "spy_abs_mom": Rule(
        "absolute momentum: hold the book if SPY total return over the lookback is above zero, else cash", ("lookback",)
    ),
    "vix_gate": Rule("VIX filter: hold the book if the VIX close is below the threshold, else cash", ("threshold",)),
    "breadth": Rule(
        "market breadth: hold the book if the share of names at or above their own 200-session average reaches the "
        "threshold, else cash",
        ("threshold",),
    ),
    "vol_gate": Rule(
        "volatility regime: hold the book if SPY realised volatility (standard deviation of 21 daily returns) is at or "
        "below its percentile over the 756 sessions before, else cash",
        ("percentile",),
    ),
}
WEIGHTINGS = {
    "equal": "equal weight: 1/N",
    "rank_weighted": "rank weight: proportional to N + 1 - rank, the better the rank, the bigger the weight",
    "score_weighted": "score weight: proportional to score - lowest score + 1 % of the range; equal if all scores agree",
    "inverse_vol": "inverse volatility: proportional to 1 / standard deviation of daily returns",
    "cap_weighted": "market-cap weight: proportional to close x shares of the latest announced quarter",
    "min_variance": "minimum variance: smallest w'Sw with w >= 0, sum 1 and w <= max(25 %, 1/N)",
    "mean_variance": "mean-variance: largest s'w - 2.5 w'Sw with w >= 0, sum 1 and w <= max(25 %, 1/N); s is the score, "
    "mean 0 and standard deviation 5 % a year across the chosen names; S the daily covariance x 252; risk aversion 5",
    "risk_parity": "risk parity: every name adds the same amount of risk, w_i (Sw)_i equal for all, w >= 0, sum 1",
}
COVARIANCES = {
    "sample": "sample covariance of daily returns (n - 1)",
    "ewma": "exponentially weighted covariance (EWMA) of the last 252 daily returns, weights 0.5^(age / half-life) "
    "normalised to one, demeaned by the weighted mean",
    "ledoit_wolf": "Ledoit-Wolf shrinkage of the covariance of daily returns towards a multiple of the identity",
}
RISKS = {
    "none": Rule("no risk overlay"),
    "drawdown_stop": Rule(
        "portfolio drawdown stop: when equity closes at or below the threshold under its peak, cut to cash in the next "
        "execution window and stay there until the first decision after the cooldown; the peak starts again at re-entry",
        ("threshold", "cooldown"),
    ),
    "position_stop": Rule(
        "stop-loss on each position: when a close is at or below the entry price by the threshold, that position is sold in "
        "the next execution window and not bought back before the next decision; entry is the average fill price",
        ("threshold",),
    ),
    "vol_target": Rule(
        "volatility target: exposure = min(1, target / volatility of the unscaled book), set at each decision; the rest "
        "in cash",
        ("target", "vol_window"),
    ),
}
EXECUTIONS = {
    "next_open": Rule("next-day open: orders decided at the close of t fill at the open of t+1"),
    "next_close": Rule("next-day close: orders decided at the close of t fill at the close of t+1"),
    "staged": Rule(
        "staged orders: spread over several days, equal whole parts at the opens of t+1 and after, the rest in the last",
        ("days",),
    ),
    "adv_cap": Rule(
        "volume cap: fills at the closes from t+1 on, never more than the stated share of the session's volume per name; "
        "the rest is carried, five sessions in all, then cancelled",
        ("cap",),
    ),
}
