"""One strategy, its opening items, persona and scope kind from one seeded stream (evaluator.md 1.3).

The order of the picks is part of the released benchmark: a pick moved or added gives every seed another strategy.
What a scope contains comes from a second stream (`generator.scope`).
"""

from dataclasses import dataclass
from typing import cast

from generator.coherence import NEEDS_COVARIANCE, is_coherent
from generator.stream import Stream
from records.errors import GeneratorError
from records.grammar import Factor, Grammar, Option, OptionGroup
from records.strategy import Component, Options
from records.task import Persona, ScopeKind

NEEDS_EARNINGS = frozenset({"earnings_yield", "roe", "sue", "fcf_yield", "low_accruals"})
"""Rule S1: a biotech investor's companies mostly have no earnings or cash flow to rank on."""

OPENING_WEIGHTS: dict[Component, float] = {
    "market_timing": 4.0,
    "risk_control": 4.0,
    "portfolio_construction": 2.0,
    "execution": 0.5,
    "stock_selection": 0.5,
    "transaction_cost": 0.5,
}
"""An investor opens with a market view, a protection or a sizing habit before plumbing."""

MAX_DRAWS = 10_000
"""More than any seed needs (about 1 draw in 3 is coherent); only a grammar without a coherent strategy reaches it."""


@dataclass(frozen=True)
class ItemKey:
    """Which conviction: an option, or one parameter of it."""

    component: Component
    option: str
    param: str | None = None

    @property
    def id(self) -> str:
        """component/option[/param]."""
        return "/".join(part for part in (self.component, self.option, self.param) if part)


@dataclass(frozen=True)
class Draw:
    """What one seed gives before any wording."""

    options: Options
    values: dict[str, float]
    items: tuple[ItemKey, ...]
    opening: tuple[ItemKey, ...]
    difficulty: int
    persona: Persona
    scope: ScopeKind


def draw(grammar: Grammar, *, salt: str, seed: int) -> Draw:
    """Return the draw of one seed; a draw that voices fewer than `min_items` items is drawn again.

    Raises: GeneratorError: the grammar has no coherent strategy with enough items.
    """
    stream = Stream(f"{salt}:{seed}")
    for _ in range(MAX_DRAWS):
        parts = _coherent_parts(grammar, stream)
        if parts is None:
            continue
        found = _with_values(grammar, stream, parts)
        if len(found.items) >= grammar.min_items:
            return found
    raise GeneratorError(
        f"seed {seed}: expected a coherent strategy with at least {grammar.min_items} items within {MAX_DRAWS} draws, "
        "found none; check the coherence rules and weights of the grammar"
    )


@dataclass(frozen=True)
class _Parts:
    factors: tuple[Factor, ...]
    combination: Option | None
    rest: dict[OptionGroup, Option]

    def components(self) -> list[tuple[Component, Factor | Option]]:
        selection: list[tuple[Component, Factor | Option]] = [("stock_selection", factor) for factor in self.factors]
        if self.combination is not None:
            selection.append(("stock_selection", self.combination))
        rest = self.rest
        return [
            *selection,
            ("market_timing", rest["market_timing"]),
            ("portfolio_construction", rest["weighting"]),
            ("portfolio_construction", rest["covariance"]),
            ("risk_control", rest["risk_control"]),
            ("execution", rest["execution"]),
            ("transaction_cost", rest["transaction_cost"]),
        ]


def _coherent_parts(grammar: Grammar, stream: Stream) -> _Parts | None:
    """Draw each part once; None when the combination is incoherent."""
    factors = _factors(grammar, stream)
    combination = _option(grammar, stream, "combination") if len(factors) > 1 else None
    timing = _option(grammar, stream, "market_timing")
    weighting = _option(grammar, stream, "weighting")
    if weighting.id in NEEDS_COVARIANCE:
        covariance = _option(grammar, stream, "covariance")
    else:
        covariance = grammar.option("covariance", "none")
    risk = _option(grammar, stream, "risk_control")
    execution = _option(grammar, stream, "execution")
    cost = _option(grammar, stream, "transaction_cost")
    if not is_coherent(
        [factor.id for factor in factors],
        combination=combination.id if combination else None,
        market_timing=timing.id,
        weighting=weighting.id,
        covariance=covariance.id,
        risk_control=risk.id,
        execution=execution.id,
    ):
        return None
    rest: dict[OptionGroup, Option] = {
        "market_timing": timing,
        "weighting": weighting,
        "covariance": covariance,
        "risk_control": risk,
        "execution": execution,
        "transaction_cost": cost,
    }
    return _Parts(factors, combination, rest)


def _factors(grammar: Grammar, stream: Stream) -> tuple[Factor, ...]:
    counts = grammar.n_factor_weights
    size = int(stream.pick(list(counts), list(counts.values())))
    families = sorted({factor.family for factor in grammar.factors})
    chosen = []
    for _ in range(size):
        family = stream.pick(families)
        families.remove(family)
        chosen.append(stream.pick([factor for factor in grammar.factors if factor.family == family]))
    return tuple(chosen)


def _option(grammar: Grammar, stream: Stream, group: OptionGroup) -> Option:
    options = grammar.group(group)
    return stream.pick(options, [option.weight for option in options])


def _with_values(grammar: Grammar, stream: Stream, parts: _Parts) -> Draw:
    values: dict[str, float] = {}
    items: list[ItemKey] = []
    for component, option in parts.components():
        if option.voiced and not getattr(option, "value_only", False):
            items.append(ItemKey(component, option.id))
        for param in option.params:
            values[f"{option.id}.{param.name}"] = float(stream.pick(param.choices))
            if param.voiced:
                items.append(ItemKey(component, option.id, param.name))
    opening = _opening(stream, items, {factor.id for factor in parts.factors})
    persona = _persona(grammar, stream, parts)
    return Draw(
        options=_options(parts),
        values=values,
        items=tuple(items),
        opening=tuple(opening),
        difficulty=sum(option.difficulty for _, option in parts.components()),
        persona=persona,
        scope=_scope(grammar, stream, parts, persona),
    )


def _opening(stream: Stream, items: list[ItemKey], factors: set[str]) -> list[ItemKey]:
    """Every factor, one further option, a second one when seven or more items are voiced; two items stay back."""
    told = [item for item in items if item.component == "stock_selection" and item.option in factors]
    covariances = {"sample", "ewma", "ledoit_wolf"}
    others = [item for item in items if item not in told and item.param is None and item.option not in covariances]
    for _ in range(2 if len(items) >= 7 else 1):
        if others and len(told) < len(items) - 2:
            extra = stream.pick(others, [OPENING_WEIGHTS[item.component] for item in others])
            others.remove(extra)
            told.append(extra)
    return told


def _persona(grammar: Grammar, stream: Stream, parts: _Parts) -> Persona:
    earns = any(factor.id in NEEDS_EARNINGS for factor in parts.factors)
    return cast("Persona", stream.pick([p for p in grammar.personas if p != "biotech_specialist" or not earns]))


def _scope(grammar: Grammar, stream: Stream, parts: _Parts, persona: Persona) -> ScopeKind:
    """Draw the scope kind under rules S2 (small_cap has no named basket) and S3 (biotech never the whole market)."""
    small = any(factor.id == "small_cap" for factor in parts.factors)
    kinds = [
        scope.id
        for scope in grammar.scopes
        if not (scope.id == "basket" and small) and not (scope.id == "market" and persona == "biotech_specialist")
    ]
    return cast("ScopeKind", stream.pick(kinds))


def _options(parts: _Parts) -> Options:
    return Options(
        factors=tuple(factor.id for factor in parts.factors),
        combination=parts.combination.id if parts.combination else None,
        **{name: option.id for name, option in parts.rest.items()},
    )
