"""spec.json: what the delivery says it implements, read from its specification table, else inferred from its tables."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pandas as pd

from evaluator.measure.inferred import infer_missing
from evaluator.measure.naming import factor_ids, number_in, option_id, param_of, plain
from evaluator.measure.runs import Run
from evaluator.package.delivery import Delivery
from records.grammar import OptionGroup
from records.spec import DeliveredSpec, Origin

_RULE_KEYS = ("rule", "option", "method", "control", "filter", "model", "type", "name", "scheme", "gate")
_KEYS: dict[str, tuple[str, ...]] = {
    "factors": ("factors", "factor", "ranking_factor", "ranking_factors", "signals", "stock_selection"),
    "combination": ("combination", "combination_method", "factor_combination", "blend", "combine"),
    "market_timing": ("market_timing", "timing_rule", "timing", "market_filter"),
    "weighting": ("weighting", "weighting_scheme", "weights", "position_sizing", "sizing", "portfolio_construction"),
    "covariance": ("covariance", "covariance_estimator", "cov_estimator"),
    "risk_control": ("risk_control", "risk_rule", "risk_overlay"),
    "execution": ("execution", "execution_rule", "fill_rule", "fill"),
    "transaction_cost": ("transaction_cost", "cost_model", "transaction_costs"),
    "n_holdings": ("n_holdings", "holdings", "n", "top_n", "number_of_holdings", "n_names", "max_holdings"),
    "rebalance": ("rebalance", "rebalancing", "rebalance_frequency", "frequency", "rebalance_calendar"),
    "capital": ("capital", "initial_capital", "start_capital", "starting_capital", "initial_cash"),
    "start": ("start", "start_date", "backtest_start", "from"),
    "end": ("end", "end_date", "backtest_end", "to"),
}
_COMPONENT_OF: dict[str, str] = {
    "market_timing": "timing",
    "risk_control": "risk",
    "execution": "execution",
    "transaction_cost": "cost",
}
_GROUPS: tuple[OptionGroup, ...] = (
    "combination",
    "market_timing",
    "weighting",
    "covariance",
    "risk_control",
    "execution",
    "transaction_cost",
)
_PARAMS: dict[OptionGroup, tuple[str, ...]] = {
    "market_timing": ("window", "lookback", "threshold", "percentile"),
    "weighting": ("vol_window",),
    "covariance": ("cov_window", "halflife"),
    "risk_control": ("threshold", "cooldown", "target", "vol_window"),
    "execution": ("days", "cap"),
    "transaction_cost": ("rate_bps",),
}
_PARAM_ALIASES: dict[str, tuple[str, ...]] = {
    "rate_bps": ("rate_bps", "rate", "cost_bps", "bps", "commission_bps", "one_way_bps", "transaction_cost_bps"),
    "window": ("window", "sma_window", "ma_window"),
    "halflife": ("halflife", "half_life"),
    "days": ("days", "stage_days", "staged_days"),
    "cap": ("cap", "volume_cap", "adv_cap", "participation"),
    "target": ("target", "vol_target", "target_vol", "target_volatility"),
    "threshold": ("threshold", "stop", "stop_level", "drawdown", "drawdown_threshold", "level"),
}
_SECTIONS: dict[OptionGroup, str] = {
    "market_timing": "timing",
    "weighting": "portfolio",
    "covariance": "portfolio",
    "risk_control": "risk",
    "execution": "execution",
    "transaction_cost": "cost",
}


@dataclass(frozen=True)
class Row:
    """One line of a specification table."""

    component: str
    key: str
    value: str
    path: str

    @property
    def quote(self) -> str:
        """The line as it may be quoted."""
        return f"{self.component}/{self.key} = {self.value}".lstrip("/")


@dataclass
class _Draft:
    """What has been learnt so far."""

    learnt: dict[str, Any] = field(default_factory=dict)
    params: dict[str, float] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)
    evidence: list[str] = field(default_factory=list)

    def learn(self, name: str, value: Any, origin: Origin, why: str) -> None:
        self.learnt[name] = value
        self.origins[name] = origin
        self.evidence.append(f"{name}: {origin}, {why}")


def spec_rows(delivery: Delivery, group: str = "main") -> list[Row]:
    """Return the lines of the run's specification tables, as delivered."""
    rows = []
    for table in delivery.of("spec", group=group):
        frame = table.frame
        if not {"key", "value"} <= set(frame.columns):
            continue
        components = frame["component"] if "component" in frame.columns else [""] * len(frame)
        for component, key, value in zip(components, frame["key"], frame["value"], strict=True):
            rows.append(Row(_text(component), _text(key), _text(value), table.path))
    return [row for row in rows if row.key and row.value]


def delivered_spec(delivery: Delivery, group: str = "main") -> DeliveredSpec:
    """Return the specification of one run of the delivery."""
    draft = _drafted(spec_rows(delivery, group))
    if group == "main":
        for name, value, why in infer_missing(Run(delivery), dict(draft.learnt)):
            if name.startswith("param:"):
                draft.params[name.removeprefix("param:")] = float(value)
            else:
                draft.learn(name, value, "inferred", why)
    return _finished(draft)


def stated_spec(rows: list[Row]) -> DeliveredSpec:
    """Return what lines of a specification state; nothing is inferred from tables."""
    return _finished(_drafted(rows))


def _drafted(rows: list[Row]) -> _Draft:
    draft = _Draft()
    _read_options(draft, rows)
    _read_plain(draft, rows)
    _read_params(draft, rows)
    return draft


def _finished(draft: _Draft) -> DeliveredSpec:
    _add_defaults(draft)
    names = DeliveredSpec.model_fields.keys() - {"schema_version", "values", "origins", "evidence"}
    origins: dict[str, Origin] = {name: draft.origins.get(name, "absent") for name in sorted(names)}
    return DeliveredSpec(
        **{name: draft.learnt[name] for name in sorted(names) if name in draft.learnt},
        values=dict(sorted(draft.params.items())),
        origins=origins,
        evidence=tuple(draft.evidence),
    )


def _read_options(draft: _Draft, rows: list[Row]) -> None:
    for row in _matching(rows, "factors"):
        factors = factor_ids(row.value)
        if factors:
            draft.learn("factors", factors, "stated", _where(row))
    for group in _GROUPS:
        for row in _matching(rows, group):
            found = option_id(group, row.value)
            if found is not None:
                draft.learn(group, found, "stated", _where(row))
    if "transaction_cost" not in draft.learnt:
        for row in rows:
            if plain(row.key) in _PARAM_ALIASES["rate_bps"]:
                rate = number_in(row.value, "bps")
                if rate is not None:
                    draft.learn("transaction_cost", "fixed_rate" if rate > 0 else "none", "stated", _where(row))


def _read_plain(draft: _Draft, rows: list[Row]) -> None:
    for row in _matching(rows, "n_holdings"):
        count = number_in(row.value, "names")
        if count is not None and 1 <= count <= 10_000:
            draft.learn("n_holdings", int(count), "stated", _where(row))
    for row in _matching(rows, "rebalance"):
        named = [name for name in ("weekly", "monthly", "quarterly") if name[:-2] in row.value.lower()]
        if named:
            draft.learn("rebalance", named[0], "stated", _where(row))
    for row in _matching(rows, "capital"):
        capital = number_in(row.value, "currency")
        if capital:
            draft.learn("capital", capital, "stated", _where(row))
    for name in ("start", "end"):
        days = [(day, row) for row in _matching(rows, name) if (day := _day(row.value)) is not None]
        if days:
            draft.learn(name, days[-1][0], "stated", _where(days[-1][1]))


def _read_params(draft: _Draft, rows: list[Row]) -> None:
    for group, names in _PARAMS.items():
        option = draft.learnt.get(group)
        if not isinstance(option, str):
            continue
        for name in names:
            param = param_of(group, option, name)
            if param is None:
                continue
            keys = (name, f"{option}_{name}", *_PARAM_ALIASES.get(name, ()))
            for row in rows:
                if plain(row.key) in keys and (_SECTIONS[group] in plain(row.component) or not row.component):
                    value = number_in(row.value, param.unit)
                    if value is not None:
                        draft.params[f"{option}.{name}"] = value


def _add_defaults(draft: _Draft) -> None:
    """A null option that the table need not name: a single factor has no combination."""
    if len(draft.learnt.get("factors", ())) == 1 and "combination" in draft.learnt:
        del draft.learnt["combination"]
        draft.origins.pop("combination", None)


def _matching(rows: list[Row], name: str) -> Iterator[Row]:
    """Yield the lines that speak of one field, oldest first: the last one learnt counts."""
    section = _COMPONENT_OF.get(name)
    for row in rows:
        key, component = plain(row.key), plain(row.component)
        by_key = key in _KEYS[name] and key != "stock_selection"
        by_section = section is not None and section in component and (key in _RULE_KEYS or not key)
        bare = (
            not component and name in ("factors", "weighting") and key in ("stock_selection", "portfolio_construction")
        )
        if by_key or by_section or bare:
            yield row


def _where(row: Row) -> str:
    return f"{row.path}: {row.quote}"


def _text(value: Any) -> str:
    return "" if value is None or pd.isna(value) else str(value).strip()


def _day(text: str) -> date | None:
    hit = re.search(r"\d{4}-\d{2}-\d{2}", text)
    try:
        return None if hit is None else date.fromisoformat(hit.group())
    except ValueError:
        return None
