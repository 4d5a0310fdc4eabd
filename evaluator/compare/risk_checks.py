"""Risk control: every breach is followed by an exit, and some delivered run shows the control at work."""

from dataclasses import dataclass

import pandas as pd

from evaluator.compare.context import Context, Result
from evaluator.measure.case import rebuild_run
from evaluator.measure.naming import values_of
from evaluator.measure.runs import Run
from evaluator.measure.specification import delivered_spec
from evaluator.quant.absent import Absent
from evaluator.quant.accounting import Rebuild
from evaluator.quant.calendar import decision_dates
from evaluator.quant.risk import Breach, changed_because_of, drawdown_breaches, position_breaches, vol_target_exposure
from records.grammar import load_grammar
from records.spec import DeliveredSpec
from records.strategy import Item

_EXIT_SESSIONS = 3
_CARRY = 5
_TOLERATED = 0.05
_EXPOSURE = 0.05
_REBALANCES = 0.80
_EARLY = 0.01
_CASH = 0.02


@dataclass(frozen=True)
class Evidence:
    """Breaches of one run and what followed them."""

    run: str
    breaches: int
    exits: int
    failures: tuple[str, ...]

    @property
    def text(self) -> str:
        """The evidence in words."""
        return f"{self.run}: {self.breaches} breaches, {self.exits} followed by an exit" + (
            f", first failure {self.failures[0]}" if self.failures else ""
        )


def risk_control(context: Context, item: Item) -> Result:
    """Return the verdict on the option or the value of the risk control."""
    if item.option == "vol_target":
        return _vol_target(context, item)
    threshold = context.voiced.get(f"{item.option}.threshold")
    if item.param is None:
        threshold = values_of(context.spec).get(f"{item.option}.threshold", threshold)
    if threshold is None:
        return "unconfirmed", "no threshold is known"
    main = _stop_evidence(context, context.case.main, context.spec, item.option, threshold)
    if isinstance(main, Absent):
        return "unconfirmed", main.reason
    wrong = _wrong(context, item, main, threshold)
    if wrong is not None:
        return "contradicted", wrong
    shown = [main] if main.exits else [main, *_stress_evidence(context, item.option)]
    works = any(found.exits and not found.failures for found in shown)
    return ("confirmed" if works else "unconfirmed"), "; ".join(found.text for found in shown)


def _wrong(context: Context, item: Item, main: Evidence, threshold: float) -> str | None:
    """Return what speaks against the control in the main run; None when nothing does."""
    if len(main.failures) > _TOLERATED * max(main.breaches, 1):
        return main.text
    return _early_exit(context, item.option, threshold) if item.param else None


def acted(context: Context) -> bool:
    """Whether the main run, else a stress run, has positions that change because of the control."""
    option = context.wanted.risk_control
    if option in (None, "none"):
        return True
    if option == "vol_target":
        return any(_scaled_down(context, run) for run in (context.case.main, *context.case.others))
    threshold = values_of(context.spec).get(f"{option}.threshold", context.voiced.get(f"{option}.threshold"))
    if threshold is None or option is None:
        return False
    main = _stop_evidence(context, context.case.main, context.spec, option, threshold)
    found = [] if isinstance(main, Absent) else [main]
    return any(evidence.exits for evidence in (*found, *_stress_evidence(context, option)))


def _stress_evidence(context: Context, option: str) -> list[Evidence]:
    """Return the evidence of the delivered stress runs, each under its own stated threshold."""
    found = []
    for run in context.case.others:
        spec = delivered_spec(context.case.delivery, run.group)
        threshold = values_of(spec).get(f"{option}.threshold", values_of(context.spec).get(f"{option}.threshold"))
        if threshold is None:
            continue
        spec = spec if spec.execution else spec.model_copy(update={"execution": context.spec.execution})
        evidence = _stop_evidence(context, run, spec, option, threshold)
        if not isinstance(evidence, Absent):
            found.append(evidence)
    return found


def _stop_evidence(context: Context, run: Run, spec: DeliveredSpec, option: str, threshold: float) -> Evidence | Absent:
    book = context.case.rebuilt if run.group == "main" else rebuild_run(run, spec)
    if isinstance(book, Absent):
        return book
    decisions = _decisions(context, run)
    limit = threshold / 100
    breaches: tuple[Breach, ...]
    if option == "drawdown_stop":
        cooldown = int(
            values_of(spec).get("drawdown_stop.cooldown", values_of(context.spec).get("drawdown_stop.cooldown", 21))
        )
        breaches = drawdown_breaches(book, threshold=limit, decisions=decisions, cooldown=cooldown)
    else:
        breaches = position_breaches(book, run.trades, threshold=limit, decisions=decisions)
    judged = [breach for breach in breaches if not breach.open_end]
    room = _room(spec)
    failures = tuple(text for breach in judged if (text := _failure(breach, run, book, spec, room)) is not None)
    caused = changed_because_of(run.trades, decisions, window=room)
    exits = sum(_left_because_of(breach, caused, room) for breach in judged)
    return Evidence(run.group, len(judged), exits, failures)


def _left_because_of(breach: Breach, caused: pd.DataFrame, room: int) -> bool:
    """Whether the exit came in time and is a sale off the calendar, or one that names the stop."""
    if breach.exit_date is None or breach.exit_sessions is None or breach.exit_sessions > room or not len(caused):
        return False
    sales = caused[(caused["side"] < 0) & (caused["date"] > breach.date) & (caused["date"] <= breach.exit_date)]
    return bool(len(sales) if breach.symbol is None else (sales["symbol"] == breach.symbol).any())


def _decisions(context: Context, run: Run) -> pd.DatetimeIndex:
    days = run.signal_days
    if len(days) or isinstance(run.panel, Absent) or context.spec.rebalance is None:
        return days
    return decision_dates(run.panel.sessions, context.spec.rebalance)


def _room(spec: DeliveredSpec) -> int:
    """Return the sessions an exit may take: three, or the execution window of staged and volume-capped orders."""
    if spec.execution == "staged":
        return max(_EXIT_SESSIONS, int(values_of(spec).get("staged.days", 5)))
    return _CARRY if spec.execution == "adv_cap" else _EXIT_SESSIONS


def _failure(breach: Breach, run: Run, book: Rebuild, spec: DeliveredSpec, room: int) -> str | None:
    """Return what went wrong after a breach; None when the exit came in time and nothing was bought back too soon."""
    who = breach.symbol or "the portfolio"
    if breach.exit_sessions is None or breach.exit_sessions > room:
        if spec.execution in ("staged", "adv_cap") and _selling(breach, run, book, spec, room):
            return None
        return f"{who} on {breach.date.date()} at {breach.level:.2%} is not sold within {room} sessions"
    if breach.rebought is not None:
        return f"{who} sold after {breach.date.date()} is bought back on {breach.rebought.date()}"
    return None


def _selling(breach: Breach, run: Run, book: Rebuild, spec: DeliveredSpec, room: int) -> bool:
    """Whether a sale over several sessions began in time and went on until done, capped away or decided anew.

    A decision taken while the sale runs cancels what is open and orders what it wants instead, so the sale may end later
    or, where the name is chosen again, not at all.
    """
    if run.trades is None:
        return False
    days = pd.DatetimeIndex(book.equity.index)
    after = days[days > breach.date]
    if not len(after):
        return True
    fills = run.trades[run.trades["date"] > breach.date]
    mine = fills if breach.symbol is None else fills[fills["symbol"] == breach.symbol]
    sales = mine[mine["side"] < 0]
    if not len(sales) or sales["date"].iloc[0] > after[0]:
        return False
    if spec.execution == "adv_cap":
        return True
    anew = run.signal_days[(run.signal_days > breach.date) & (run.signal_days < after[min(room, len(after)) - 1])]
    if not len(anew):
        return False
    targets = run.targets
    chosen = (
        targets is not None and breach.symbol in targets.columns and float(targets[breach.symbol].get(anew[0], 0.0)) > 0
    )
    last = after[min(3 * room, len(after)) - 1]
    return chosen or (breach.exit_date is not None and breach.exit_date <= last)


def _early_exit(context: Context, option: str, threshold: float) -> str | None:
    """Return a stop that fired well before the belief's level; None when there is none."""
    trades = context.case.main.trades
    if trades is None or not {"reason", "trigger"} <= set(trades.columns):
        return None
    word = "drawdown" if option == "drawdown_stop" else "return_from_entry"
    stops = trades[trades["reason"].astype(str).str.lower() == "stop"]
    levels = stops["trigger"].astype(str).str.extract(rf"{word}\s*[=:]\s*(-?\d+(?:\.\d+)?)", expand=False).astype(float)
    early = levels[levels > -(threshold / 100) + _EARLY]
    return f"{len(early)} stops fired at {early.max():.2%}, the level is {threshold:g}%" if len(early) else None


def _vol_target(context: Context, item: Item) -> Result:
    book, panel = _book(context.case.main), context.case.main.panel
    if book is None or isinstance(panel, Absent) or item.value is None:
        return "unconfirmed", "no target weights or prices were delivered"
    unscaled, total = book
    shares = {}
    for target in sorted({item.value, *_targets()}):
        fits = []
        for params in context.choices("risk_control", "vol_target"):
            own = vol_target_exposure(unscaled, panel, params={**params, "target": target})
            if not isinstance(own, Absent) and own.notna().any():
                known = own.dropna()
                fits.append(float(((total.reindex(known.index) - known).abs() <= _EXPOSURE).mean()))
        shares[target] = max(fits, default=0.0)
    detail = ", ".join(f"target {target:g}% on {share:.1%} of rebalances" for target, share in shares.items())
    mine = shares[item.value]
    others = max(share for target, share in shares.items() if target != item.value)
    if mine >= _REBALANCES:
        return ("confirmed" if mine >= others - _TOLERATED else "unconfirmed"), detail
    never_scaled = bool((total >= 1 - _CASH).all())
    if mine < 0.5 and (never_scaled or others >= _REBALANCES):
        return "contradicted", f"{detail}; the book is never scaled" if never_scaled else detail
    return "unconfirmed", detail


def _targets() -> list[float]:
    """Return the volatility targets a belief can have, in percent."""
    params = load_grammar().option("risk_control", "vol_target").params
    return [float(choice) for param in params if param.name == "target" for choice in param.choices]


def _scaled_down(context: Context, run: Run) -> bool:
    """Whether some decision holds a smaller book, as small as the run's own target asks for, and was traded."""
    spec = context.spec if run.group == "main" else delivered_spec(context.case.delivery, run.group)
    stated = values_of(spec).get("vol_target.target", context.voiced.get("vol_target.target"))
    book = _book(run)
    if stated is None or book is None or isinstance(run.panel, Absent):
        return False
    unscaled, total = book
    for params in context.choices("risk_control", "vol_target"):
        own = vol_target_exposure(unscaled, run.panel, params={**params, "target": stated})
        if isinstance(own, Absent):
            continue
        bound = own[(own < 1 - _EXPOSURE) & ((total.reindex(own.index) - own).abs() <= _EXPOSURE)]
        if len(bound) and _traded_after(run, pd.DatetimeIndex(bound.index)):
            return True
    return False


def _traded_after(run: Run, decisions: pd.DatetimeIndex) -> bool:
    """Whether a fill serves one of the decisions; a log of weights alone is its own proof."""
    if run.trades is None:
        return True
    if "signal_date" in run.trades.columns and run.trades["signal_date"].notna().any():
        return bool(run.trades["signal_date"].isin(decisions).any())
    days = pd.DatetimeIndex(run.trades["date"])
    return any(((days > day) & (days <= day + pd.Timedelta(days=7))).any() for day in decisions)


def _book(run: Run) -> tuple[pd.DataFrame, "pd.Series[float]"] | None:
    """Return the target weights scaled to one and their sums, of the decisions that hold something."""
    if run.targets is None:
        return None
    total = run.targets.sum(axis=1)
    total = total[total > _CASH]
    return (run.targets.loc[total.index].div(total, axis=0), total) if len(total) else None
