"""Stock selection: do the delivered scores and choices follow from the belief's factors and combination."""

import pandas as pd

from evaluator.compare.context import Context, Result
from evaluator.measure.naming import option_id
from evaluator.measure.recompute import COMPOSITE
from evaluator.quant.absent import Absent
from evaluator.quant.combination import COMBINATIONS
from evaluator.quant.inference import spearman
from evaluator.quant.selection import set_agreement
from records.grammar import load_grammar
from records.strategy import Item

_CONFIRMS = 0.95
_OPPOSES = -0.5
_ANOTHER = 0.99
_UNLIKE = 0.80
_TOP = 0.8
_BOTTOM = 0.4
_SAME_SET = 0.95
_SAME_DATES = 0.90
_OTHER_DATES = 0.80
_ALL_DATES = 0.99
_CLEARLY = 0.02


def factor(context: Context, item: Item) -> Result:
    """Compare delivered scores with own ones by rank; without scores, look at what was bought."""
    scores = context.own.factor(item.option)
    if isinstance(scores, Absent):
        return "unconfirmed", scores.reason
    medians = {name: _median(table, scores) for name, table in context.own.delivered_signals.items()}
    fits = {name: fit for name, fit in medians.items() if fit is not None}
    if not fits:
        return _by_purchases(context, scores)
    named = [name for name in fits if option_id("factors", name) == item.option]
    several = len(context.strategy.belief.options.factors) > 1
    name = named[0] if named else _closest(fits, several=several)
    fit = fits[name]
    detail = f"median rank correlation of delivered '{name}' with own {item.option}: {fit:.3f}"
    if fit >= _CONFIRMS:
        return "confirmed", detail
    if fit <= _OPPOSES and (named or not several):
        return "contradicted", detail
    shown = _another(context, item.option, [name] if named else list(fits)) if fit < _UNLIKE else None
    return ("contradicted", f"{detail}; it is {shown}") if shown else ("unconfirmed", detail)


def _another(context: Context, option: str, names: list[str]) -> str | None:
    """Return the other factors of the grammar that the named tables reproduce; None unless each is one."""
    tables = context.own.delivered_signals
    names = [name for name in names if name.lower() != COMPOSITE] or names
    found = []
    for name in names:
        for factor in load_grammar().factors:
            scores = context.own.factor(factor.id)
            fit = None if factor.id == option or isinstance(scores, Absent) else _median(tables[name], scores)
            if fit is not None and fit >= _ANOTHER:
                found.append(factor.id)
                break
        else:
            return None
    return ", ".join(found)


def _median(table: pd.DataFrame, scores: pd.DataFrame) -> float | None:
    fit = spearman(table, scores).dropna()
    return float(fit.median()) if len(fit) else None


def _closest(fits: dict[str, float], *, several: bool) -> str:
    """Return the table that stands for a factor under a name of its own; the composite only with a single factor."""
    tables = [name for name in fits if name.lower() != COMPOSITE or not several] or list(fits)
    return (
        max(tables, key=lambda name: (fits[name], name))
        if several
        else min(tables, key=lambda name: (-abs(fits[name]), name))
    )


def _by_purchases(context: Context, scores: pd.DataFrame) -> Result:
    fills = context.case.main.dated_fills
    if not len(fills):
        return "unconfirmed", "neither scores nor dated fills were delivered"
    percentiles = scores.rank(axis=1, pct=True)
    buys = fills[(fills["side"] > 0) & fills["signal_date"].notna()]
    rows = percentiles.index.get_indexer(pd.DatetimeIndex(buys["signal_date"]))
    columns = percentiles.columns.get_indexer(pd.Index(buys["symbol"]))
    known_cells = (rows >= 0) & (columns >= 0)
    values = percentiles.to_numpy(dtype=float)[rows[known_cells], columns[known_cells]]
    known = pd.Series(values, dtype=float).dropna()
    if not len(known):
        return "unconfirmed", "no bought name has an own score on its decision date"
    mean = float(known.mean())
    detail = f"bought names stand at percentile {mean:.2f} of the own score"
    single = len(context.strategy.belief.options.factors) == 1
    if mean >= _TOP:
        return "confirmed", detail
    return ("contradicted" if mean < _BOTTOM and single else "unconfirmed"), detail


def combination(context: Context, item: Item) -> Result:
    """Compare the delivered choice with the best n of each combination."""
    selections, n = context.case.main.selections, context.spec.n_holdings
    if selections is None or n is None:
        return "unconfirmed", "no selections, or their number is not known"
    shares = {}
    for method in COMBINATIONS:
        chosen = context.own.chosen_as(method, n)
        if not isinstance(chosen, Absent):
            agreement = set_agreement(selections, chosen)
            if len(agreement):
                shares[method] = float((agreement >= _SAME_SET).mean())
    mine = shares.get(item.option)
    if mine is None:
        return "unconfirmed", "the belief's factors cannot be computed on the delivered data"
    detail = ", ".join(f"{method} on {share:.1%} of dates" for method, share in shares.items())
    best = max((share for method, share in shares.items() if method != item.option), default=0.0)
    if mine >= _SAME_DATES and not (best >= _ALL_DATES and mine < best - _CLEARLY):
        return "confirmed", detail
    if mine < _OTHER_DATES and best >= _CONFIRMS:
        return "contradicted", detail
    return "unconfirmed", detail
