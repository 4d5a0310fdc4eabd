"""Every option of the grammar in plain Python loops, from docs/conventions.md and the grammar's definitions alone.

Slow and obvious on purpose. Shares no code with the reference agent or the evaluator. Quadratic programmes go to the
public solver quadprog, shrinkage to scikit-learn, risk parity to bisection on its fixed point.
"""

import math
from datetime import date
from fractions import Fraction
from statistics import mean, stdev

import numpy as np
import quadprog
from sklearn.covariance import LedoitWolf

from .world import FINANCIAL, SYMBOLS, Statement, World

Scores = dict[str, float]


def returns(series: list[float], i: int, n: int) -> list[float]:
    """The n daily returns that end at session i."""
    return [series[j] / series[j - 1] - 1 for j in range(i - n + 1, i + 1)]


def usable(world: World, symbol: str, day: date) -> list[Statement]:
    """Statements announced on or before `day`, one per period, oldest period first."""
    rows = {s.period_end: s for s in world.statements if s.symbol == symbol and s.announced <= day}
    return [rows[end] for end in sorted(rows)]


def _ttm(rows: list[Statement], field: str, back: int = 0) -> float:
    last = len(rows) - back
    return sum(s.items[field] for s in rows[last - 4 : last])


def _cap(world: World, symbol: str, i: int) -> float:
    return world.close[symbol][i] * usable(world, symbol, world.sessions[i])[-1].items["shares"]


def _price_factor(world: World, name: str, symbol: str, i: int) -> float:
    p = world.adj_close[symbol]
    if name == "mom_12_1":
        return p[i - 21] / p[i - 252] - 1
    if name == "mom_6_1":
        return p[i - 21] / p[i - 126] - 1
    if name == "high_52w":
        return p[i] / max(p[i - 251 : i + 1])
    if name == "rev_21":
        return -(p[i] / p[i - 21] - 1)
    if name == "rev_5":
        return -(p[i] / p[i - 5] - 1)
    if name == "low_vol_252":
        return -stdev(returns(p, i, 252))
    if name == "low_max_21":
        return -max(returns(p, i, 21))
    if name == "low_beta_252":
        own, market = returns(p, i, 252), returns(world.spy, i, 252)
        mo, mm = mean(own), mean(market)
        cov = sum((a - mo) * (b - mm) for a, b in zip(own, market, strict=True))
        return -cov / sum((b - mm) ** 2 for b in market)
    raise KeyError(name)


def _statement_factor(world: World, name: str, symbol: str, i: int) -> float | None:
    rows = usable(world, symbol, world.sessions[i])
    now, year_ago = rows[-1].items, rows[-5].items
    if name == "earnings_yield":
        return _ttm(rows, "net_income") / _cap(world, symbol, i)
    if name == "book_to_price":
        return now["common_equity"] / _cap(world, symbol, i)
    if name == "fcf_yield":
        return (_ttm(rows, "operating_cash_flow") - _ttm(rows, "capex")) / _cap(world, symbol, i)
    if name == "roe":
        return _ttm(rows, "net_income") / ((now["common_equity"] + year_ago["common_equity"]) / 2)
    if name == "gross_profitability":
        if symbol == FINANCIAL:
            return None
        return (_ttm(rows, "revenue") - _ttm(rows, "cost_of_revenue")) / now["total_assets"]
    if name == "low_accruals":
        accruals = _ttm(rows, "net_income") - _ttm(rows, "operating_cash_flow")
        return -accruals / ((now["total_assets"] + year_ago["total_assets"]) / 2)
    if name == "revenue_growth":
        return _ttm(rows, "revenue") / _ttm(rows, "revenue", back=4) - 1
    if name == "sue":
        eps = [s.items["eps"] for s in rows]
        differences = [eps[-k] - eps[-k - 4] for k in range(8, 0, -1)]
        return differences[-1] / stdev(differences)
    if name == "small_cap":
        return -math.log(_cap(world, symbol, i))
    raise KeyError(name)


PRICE_FACTORS = (
    "mom_12_1",
    "mom_6_1",
    "high_52w",
    "rev_21",
    "rev_5",
    "low_vol_252",
    "low_max_21",
    "low_beta_252",
)
STATEMENT_FACTORS = (
    "earnings_yield",
    "book_to_price",
    "fcf_yield",
    "roe",
    "gross_profitability",
    "low_accruals",
    "revenue_growth",
    "sue",
    "small_cap",
)


def factor(world: World, name: str, i: int) -> Scores:
    """Score of every name that has one at session i."""
    if name in PRICE_FACTORS:
        return {s: _price_factor(world, name, s, i) for s in SYMBOLS}
    found = {s: _statement_factor(world, name, s, i) for s in SYMBOLS}
    return {s: v for s, v in found.items() if v is not None}


def _quantile(values: list[float], q: float) -> float:
    ordered = sorted(values)
    where = q * (len(ordered) - 1)
    low = math.floor(where)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (where - low)


def _z(scores: Scores) -> Scores:
    low, high = _quantile(list(scores.values()), 0.01), _quantile(list(scores.values()), 0.99)
    clipped = {s: min(max(v, low), high) for s, v in scores.items()}
    sd, m = stdev(clipped.values()), mean(clipped.values())
    return {s: (v - m) / sd if sd else 0.0 for s, v in clipped.items()}


def _percentile_rank(scores: Scores) -> dict[str, Fraction]:
    """Exact fractions, so that a tie is a tie."""
    values = list(scores.values())
    below = {s: sum(x < v for x in values) for s, v in scores.items()}
    same = {s: sum(x == v for x in values) for s, v in scores.items()}
    return {s: Fraction(2 * below[s] + same[s] + 1, 2 * len(values)) for s in scores}


def ranked(scores: Scores) -> list[str]:
    """Best first, ties by symbol."""
    return sorted(scores, key=lambda s: (-scores[s], s))


def combine(method: str | None, tables: list[Scores]) -> tuple[Scores | None, list[str]]:
    """Composite score (None for a screen) and candidates, best first."""
    common = [s for s in SYMBOLS if all(s in t for t in tables)]
    tables = [{s: t[s] for s in common} for t in tables]
    if method is None:
        return tables[0], ranked(tables[0])
    if method == "sequential_screen":
        left = common
        for table in tables[:-1]:
            left = ranked({s: table[s] for s in left})[: math.ceil(len(left) / 2)]
        return None, ranked({s: tables[-1][s] for s in left})
    scale = {"zscore_mean": _z, "rank_mean": _percentile_rank}[method]
    scaled = [scale(t) for t in tables]
    composite = {s: mean(t[s] for t in scaled) for s in common}
    return composite, ranked(composite)


def covariance(
    method: str, world: World, names: list[str], i: int, *, window: int = 252, halflife: int = 63
) -> list[list[float]]:
    """Daily covariance of `names` at session i."""
    rows = list(zip(*(returns(world.adj_close[s], i, window) for s in names), strict=True))
    if method == "ledoit_wolf":
        return [[float(x) for x in row] for row in LedoitWolf().fit(np.array(rows)).covariance_]
    n = len(rows)
    raw = [0.5 ** ((n - 1 - k) / halflife) for k in range(n)] if method == "ewma" else [1.0] * n
    weights = [w / sum(raw) for w in raw]
    centre = [sum(w * row[a] for w, row in zip(weights, rows, strict=True)) for a in range(len(names))]
    correction = n / (n - 1) if method == "sample" else 1.0
    return [
        [
            correction
            * sum(w * (row[a] - centre[a]) * (row[b] - centre[b]) for w, row in zip(weights, rows, strict=True))
            for b in range(len(names))
        ]
        for a in range(len(names))
    ]


def _solve(quadratic: np.ndarray, linear: np.ndarray, cap: float) -> list[float]:
    """Minimise w'Qw/2 - l'w with w >= 0, sum w = 1, w <= cap."""
    n = len(linear)
    constraints = np.hstack([np.ones((n, 1)), np.eye(n), -np.eye(n)])
    bounds = np.concatenate([[1.0], np.zeros(n), -cap * np.ones(n)])
    scale = 1.0 / np.max(np.diag(quadratic))
    return [float(x) for x in quadprog.solve_qp(quadratic * scale, linear * scale, constraints, bounds, meq=1)[0]]


def _risk_parity(cov: list[list[float]]) -> list[float]:
    """Equal risk contributions: solve w_i (Sw)_i = 1/n by cyclic exact steps, then normalise."""
    n = len(cov)
    w = [1 / math.sqrt(cov[i][i]) for i in range(n)]
    for _ in range(5000):
        before = list(w)
        for i in range(n):
            rest = sum(cov[i][j] * w[j] for j in range(n) if j != i)
            w[i] = (-rest + math.sqrt(rest * rest + 4 * cov[i][i] / n)) / (2 * cov[i][i])
        if max(abs(a - b) for a, b in zip(before, w, strict=True)) < 1e-15 * max(w):
            break
    return [x / sum(w) for x in w]


def weights(
    scheme: str,
    world: World,
    chosen: list[str],
    scores: Scores | None,
    i: int,
    *,
    cov: str = "none",
    vol_window: int = 126,
) -> Scores:
    """Target weights of the chosen names, best first."""
    n = len(chosen)
    cap = max(0.25, 1 / n)
    if scheme == "equal":
        raw = [1.0] * n
    elif scheme == "rank_weighted":
        raw = [float(n - k) for k in range(n)]
    elif scheme == "score_weighted":
        values = [scores[s] for s in chosen]
        spread = max(values) - min(values)
        raw = [v - min(values) + 0.01 * spread for v in values] if spread else [1.0] * n
    elif scheme == "inverse_vol":
        raw = [1 / stdev(returns(world.adj_close[s], i, vol_window)) for s in chosen]
    elif scheme == "cap_weighted":
        raw = [_cap(world, s, i) for s in chosen]
    else:
        matrix = covariance(cov, world, chosen, i)
        if scheme == "min_variance":
            raw = _solve(np.array(matrix), np.zeros(n), cap)
        elif scheme == "mean_variance":
            values = [scores[s] for s in chosen]
            sd = stdev(values)
            signal = [(v - mean(values)) / sd * 0.05 if sd else 0.0 for v in values]
            raw = _solve(5 * 252 * np.array(matrix), np.array(signal), cap)
        else:
            raw = _risk_parity(matrix)
    return {s: w / sum(raw) for s, w in zip(chosen, raw, strict=True)}


def gate(option: str, world: World, i: int, value: float) -> bool:
    """Whether the book is held at decision session i."""
    spy = world.spy
    if option == "always_invested":
        return True
    if option == "spy_sma":
        return spy[i] >= mean(spy[i - int(value) + 1 : i + 1])
    if option == "spy_abs_mom":
        return spy[i] / spy[i - int(value)] - 1 > 0
    if option == "vix_gate":
        return world.vix[i] < value
    if option == "breadth":
        above = [world.adj_close[s][i] >= mean(world.adj_close[s][i - 199 : i + 1]) for s in SYMBOLS]
        return sum(above) / len(above) >= value / 100
    if option == "vol_gate":
        history = [stdev(returns(spy, j, 21)) for j in range(i - 756, i)]
        return stdev(returns(spy, i, 21)) <= _quantile(history, value / 100)
    raise KeyError(option)


def vol_target_exposure(world: World, book: Scores, i: int, *, target_pct: float, window: int) -> float:
    """Gross exposure of the book at session i."""
    own = {s: returns(world.adj_close[s], i, window) for s in book}
    daily = [sum(w * own[s][k] for s, w in book.items()) for k in range(window)]
    return min(1.0, target_pct / 100 / (stdev(daily) * math.sqrt(252)))
