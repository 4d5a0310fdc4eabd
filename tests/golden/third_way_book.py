"""A whole backtest in plain loops: orders, fills, stops, cash and equity by docs/conventions.md. Slow and obvious on purpose."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from .third_way import Scores
from .world import SYMBOLS, World

CARRY_SESSIONS = 5


@dataclass(frozen=True)
class Rules:
    """Execution, cost and stops of one case; percent and basis points as in the grammar."""

    execution: str = "next_open"
    days: int = 3
    cap_pct: float = 5
    rate_bps: float = 0.0
    drawdown_pct: float | None = None
    cooldown: int = 21
    position_pct: float | None = None
    capital: float = 1_000_000.0


@dataclass(frozen=True)
class Fill:
    """One fill; sessions as indices."""

    signal: int
    session: int
    symbol: str
    side: int
    quantity: int
    price: float
    fee: float
    reason: str


@dataclass
class Order:
    """An open order; `parts` are the whole shares due at each coming session, None for volume-capped."""

    signal: int
    symbol: str
    side: int
    left: int
    reason: str
    parts: list[int] | None
    age: int = 0


@dataclass
class Book:
    """The state of the account and everything that happened."""

    cash: float
    shares: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SYMBOLS, 0))
    entry: dict[str, float] = field(default_factory=dict)
    orders: list[Order] = field(default_factory=list)
    fills: list[Fill] = field(default_factory=list)
    equity: dict[int, float] = field(default_factory=dict)
    cash_by_session: dict[int, float] = field(default_factory=dict)
    stops: list[int] = field(default_factory=list)
    targets: dict[int, Scores] = field(default_factory=dict)


def _new_order(rules: Rules, signal: int, symbol: str, difference: int, reason: str) -> Order:
    side, left = (1, difference) if difference > 0 else (-1, -difference)
    if rules.execution == "adv_cap":
        parts = None
    elif rules.execution == "staged":
        parts = [left // rules.days] * (rules.days - 1)
        parts.append(left - sum(parts))
    else:
        parts = [left]
    return Order(signal, symbol, side, left, reason, parts)


def _due(order: Order, rules: Rules, world: World, i: int) -> int:
    if order.parts is not None:
        return order.parts[order.age] if order.age < len(order.parts) else 0
    return min(order.left, math.floor(rules.cap_pct / 100 * world.volume[order.symbol][i]))


def _trade(book: Book, order: Order, quantity: int, price: float, i: int, rules: Rules) -> None:
    if quantity == 0:
        return
    fee = rules.rate_bps / 10_000 * quantity * price
    held = book.shares[order.symbol]
    if order.side > 0:
        paid = book.entry.get(order.symbol, 0.0) * held + quantity * price
        book.entry[order.symbol] = paid / (held + quantity)
    book.shares[order.symbol] = held + order.side * quantity
    if book.shares[order.symbol] == 0:
        book.entry.pop(order.symbol, None)
    book.cash -= order.side * quantity * price + fee
    order.left -= quantity
    book.fills.append(Fill(order.signal, i, order.symbol, order.side, quantity, price, fee, order.reason))


def _fill_session(book: Book, world: World, i: int, rules: Rules) -> None:
    prices = world.close if rules.execution in ("next_close", "adv_cap") else world.open
    due = {id(o): _due(o, rules, world, i) for o in book.orders}
    for order in [o for o in book.orders if o.side < 0]:
        _trade(book, order, due[id(order)], prices[order.symbol][i], i, rules)
    buys = [o for o in book.orders if o.side > 0]
    cost = sum(due[id(o)] * prices[o.symbol][i] * (1 + rules.rate_bps / 10_000) for o in buys)
    scale = min(1.0, book.cash / cost) if cost > 0 else 1.0
    for order in buys:
        wanted = due[id(order)]
        _trade(book, order, wanted if scale == 1.0 else math.floor(wanted * scale), prices[order.symbol][i], i, rules)
    for order in book.orders:
        order.age += 1
    last = CARRY_SESSIONS if rules.execution == "adv_cap" else rules.days if rules.execution == "staged" else 1
    book.orders = [o for o in book.orders if o.left > 0 and o.age < last]


def _replace(book: Book, rules: Rules, i: int, wanted: dict[str, int], reason: str, names: tuple[str, ...]) -> None:
    book.orders = [o for o in book.orders if o.symbol not in names]
    for symbol in sorted(names):
        difference = wanted.get(symbol, 0) - book.shares[symbol]
        if difference:
            book.orders.append(_new_order(rules, i, symbol, difference, reason))


def run(
    world: World,
    decisions: list[int],
    target: Callable[[int, set[str]], tuple[Scores, str]],
    rules: Rules,
    *,
    last: int,
) -> Book:
    """Run from the first decision to session `last`. `target(i, stopped)` gives weights and the reason for orders."""
    book = Book(cash=rules.capital)
    peak, out_since = rules.capital, None
    for i in range(decisions[0], last + 1):
        if i > decisions[0]:
            book.cash += sum(q * world.dividends[s][i] for s, q in book.shares.items())
            _fill_session(book, world, i, rules)
        value = book.cash + sum(q * world.close[s][i] for s, q in book.shares.items())
        book.equity[i], book.cash_by_session[i] = value, book.cash
        peak = max(peak, value)
        stopped: set[str] = set()
        if rules.position_pct is not None:
            stopped = {s for s, e in book.entry.items() if world.close[s][i] <= e * (1 - rules.position_pct / 100)}
            _replace(book, rules, i, {}, "stop", tuple(sorted(stopped)))
        if rules.drawdown_pct is not None and out_since is None and value / peak - 1 <= -rules.drawdown_pct / 100:
            out_since = i
            book.stops.append(i)
            _replace(book, rules, i, {}, "stop", SYMBOLS)
        if i not in decisions:
            continue
        if out_since is not None:
            if i - out_since < rules.cooldown:
                book.targets[i] = {}
                continue
            out_since, peak = None, value
        weights, reason = target(i, stopped)
        book.targets[i] = weights
        wanted = {s: math.floor(w * value / world.close[s][i]) for s, w in weights.items()}
        _replace(book, rules, i, wanted, reason, tuple(s for s in SYMBOLS if s not in stopped))
    return book
