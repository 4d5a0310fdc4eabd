"""What the evaluator itself gets for a specification on the delivered data: signals, choice, weights, gate, exposure.

Every step takes what the delivery made of the step before, so that one wrong link does not condemn the next.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from evaluator.measure.case import Run
from evaluator.measure.naming import values_of
from evaluator.quant.absent import Absent
from evaluator.quant.combination import Combined, combine
from evaluator.quant.factors import factor_scores, lookback, market_cap
from evaluator.quant.risk import vol_target_exposure
from evaluator.quant.selection import select
from evaluator.quant.timing import gate, gate_lookback
from evaluator.quant.weighting import NEEDS_COVARIANCE, WeightInputs, target_weights, window_of, without_window
from records.spec import DeliveredSpec

COMPOSITE = "composite"


def params_of(spec: DeliveredSpec, *options: str | None) -> dict[str, float]:
    """Return the parameters of the named options by their bare names."""
    found = {}
    for key, value in values_of(spec).items():
        option, _, name = key.partition(".")
        if option in options:
            found[name] = value
    return found


@dataclass(frozen=True)
class Recomputed:
    """Own values for one run and specification at the run's decision dates."""

    run: Run
    spec: DeliveredSpec
    dates: pd.DatetimeIndex

    @cached_property
    def delivered_signals(self) -> dict[str, pd.DataFrame]:
        """Delivered signal values, factor name -> dates x symbols; a table without names is the composite."""
        frame = self.run.signals
        if frame is None:
            return {}
        names = frame["factor"].astype(str) if "factor" in frame.columns else pd.Series(COMPOSITE, index=frame.index)
        found = {}
        for name, rows in frame.groupby(names.to_numpy(), sort=True):
            clean = rows.dropna(subset=["date", "symbol"])
            found[str(name)] = clean.pivot_table(index="date", columns="symbol", values="value", aggfunc="last")
        return found

    def factor(self, name: str) -> pd.DataFrame | Absent:
        """Return own scores of one factor at the decision dates."""
        inputs = self.run.inputs
        return inputs if isinstance(inputs, Absent) else factor_scores(name, inputs, self.dates)

    @cached_property
    def own_factors(self) -> dict[str, pd.DataFrame]:
        """Own scores of the specified factors that can be computed."""
        found = {name: self.factor(name) for name in self.spec.factors}
        return {name: scores for name, scores in found.items() if not isinstance(scores, Absent)}

    @cached_property
    def base_factors(self) -> dict[str, pd.DataFrame]:
        """Delivered scores of the specified factors where all are delivered, else own ones."""
        delivered = {name: self.delivered_signals.get(name) for name in self.spec.factors}
        usable = {name: frame for name, frame in delivered.items() if frame is not None}
        if usable and len(usable) == len(self.spec.factors):
            return {name: frame.reindex(self.dates) for name, frame in usable.items()}
        if len(self.spec.factors) == 1 and COMPOSITE in self.delivered_signals:
            return {self.spec.factors[0]: self.delivered_signals[COMPOSITE].reindex(self.dates)}
        return self.own_factors if len(self.own_factors) == len(self.spec.factors) else {}

    @cached_property
    def excluded(self) -> pd.DataFrame | None:
        """Names that are no candidates on a date: without a full window, or stopped out at that close."""
        panel = self.run.panel
        if isinstance(panel, Absent):
            return None
        window = window_of(self.spec.weighting or "", self.spec.covariance, self.weight_params)
        out = without_window(panel, self.dates, window) if window else None
        stops = self._stopped_at_decisions()
        if stops is None:
            return out
        return stops if out is None else (out | stops.reindex_like(out).fillna(value=False).astype(bool))

    def _stopped_at_decisions(self) -> pd.DataFrame | None:
        trades, panel = self.run.trades, self.run.panel
        if self.spec.risk_control != "position_stop" or trades is None or isinstance(panel, Absent):
            return None
        if not {"reason", "signal_date"} <= set(trades.columns):
            return None
        stops = trades[(trades["reason"].astype(str).str.lower() == "stop") & (trades["side"] < 0)]
        out = pd.DataFrame(data=False, index=self.dates, columns=panel.symbols)
        for day, symbol in zip(stops["signal_date"], stops["symbol"], strict=True):
            if day in out.index and symbol in out.columns:
                out.loc[day, symbol] = True
        return out

    @cached_property
    def weight_params(self) -> dict[str, float]:
        """Parameters of weighting and covariance."""
        return params_of(self.spec, self.spec.weighting, self.spec.covariance)

    @cached_property
    def combined(self) -> Combined | Absent:
        """Own order of the candidates, from the delivered factor values where there are any."""
        if not self.base_factors:
            return Absent("the specified factors were neither delivered nor computable")
        return self.combined_as(self.spec.combination)

    def combined_as(self, combination: str | None) -> Combined | Absent:
        """Return the order another combination would give."""
        if not self.base_factors:
            return Absent("the specified factors were neither delivered nor computable")
        return combine(self.base_factors, combination, excluded=self.excluded)

    def chosen_as(self, combination: str | None, n: int) -> pd.DataFrame | Absent:
        """Return ranks 1..n of the names that a combination would choose."""
        combined = self.combined_as(combination)
        return combined if isinstance(combined, Absent) else select(combined, n)

    @cached_property
    def delivered_ranks(self) -> pd.DataFrame | Absent:
        """Ranks 1..N of the delivered selections, by the delivered rank column, else by own order."""
        frame = self.run.selections
        if frame is None:
            return Absent("no selections were delivered")
        rows = frame.dropna(subset=["date", "symbol"])
        if "rank" in rows.columns and rows["rank"].notna().all():
            return rows.pivot_table(index="date", columns="symbol", values="rank", aggfunc="last")
        marked = rows.assign(chosen=1.0).pivot_table(index="date", columns="symbol", values="chosen", aggfunc="last")
        combined = self.combined
        if isinstance(combined, Absent):
            return combined
        order = combined.ranks.reindex(index=marked.index, columns=marked.columns).where(marked.notna())
        return order.rank(axis=1, method="first")

    @cached_property
    def composite(self) -> pd.DataFrame | None:
        """The score behind the ranks: own combination, else the delivered composite."""
        combined = self.combined
        if not isinstance(combined, Absent) and combined.composite is not None:
            return combined.composite
        return self.delivered_signals.get(COMPOSITE)

    def weights_as(self, scheme: str, covariance: str | None, params: Mapping[str, float]) -> pd.DataFrame | Absent:
        """Return the weights of a scheme over the delivered names, before timing and risk control."""
        ranks, inputs = self.delivered_ranks, self.run.inputs
        if isinstance(ranks, Absent):
            return ranks
        if isinstance(inputs, Absent):
            return inputs
        days = pd.DatetimeIndex(ranks.index)
        caps = market_cap(inputs, days) if scheme == "cap_weighted" else None
        return target_weights(
            scheme,
            WeightInputs(ranks, self.composite, inputs.panel, None if isinstance(caps, Absent) else caps),
            covariance=covariance if scheme in NEEDS_COVARIANCE else None,
            params=params,
        )

    @cached_property
    def weights(self) -> pd.DataFrame | Absent:
        """The specified scheme's weights before timing and risk control."""
        if self.spec.weighting is None:
            return Absent("no weighting scheme is stated or found")
        return self.weights_as(self.spec.weighting, self.spec.covariance, self.weight_params)

    def gate_as(self, rule: str, params: Mapping[str, float]) -> "pd.Series[Any] | Absent":
        """Return a gate's state at the decision dates."""
        inputs = self.run.inputs
        return inputs if isinstance(inputs, Absent) else gate(rule, inputs, self.dates, params=params, vix=self.run.vix)

    @cached_property
    def gate(self) -> "pd.Series[Any] | Absent":
        """The specified gate; always on where no rule is stated."""
        rule = self.spec.market_timing or "always_invested"
        return self.gate_as(rule, params_of(self.spec, rule))

    @cached_property
    def exposure(self) -> "pd.Series[Any] | Absent":
        """Own exposure of a volatility target at the decision dates; 1 where the control is another one."""
        if self.spec.risk_control != "vol_target":
            return pd.Series(1.0, index=self.dates)
        return self.exposure_for(params_of(self.spec, "vol_target"))

    def exposure_for(self, params: Mapping[str, float]) -> "pd.Series[Any] | Absent":
        """Return min(1, target / vol) of the unscaled book."""
        panel, weights = self.run.panel, self.weights
        if isinstance(panel, Absent):
            return panel
        return weights if isinstance(weights, Absent) else vol_target_exposure(weights, panel, params=params)

    @cached_property
    def targets(self) -> pd.DataFrame | Absent:
        """Own target weights after timing and volatility target, dates x symbols."""
        weights, state, exposure = self.weights, self.gate, self.exposure
        if isinstance(weights, Absent):
            return weights
        if isinstance(state, Absent):
            return state
        if isinstance(exposure, Absent):
            return exposure
        # A book that is empty or without a full window has no volatility; its weights are 0 or missing anyway.
        scale = state.reindex(weights.index) * exposure.reindex(weights.index).fillna(1.0)
        return weights.mul(scale, axis=0)

    @cached_property
    def lookback(self) -> int:
        """Closes of a name, t included, that a decision needs before the name may be bought."""
        needs = [lookback(name) for name in self.spec.factors]
        window = window_of(self.spec.weighting or "", self.spec.covariance, self.weight_params)
        needs.append(window + 1 if window else 0)
        if self.spec.risk_control == "vol_target":
            needs.append(int(params_of(self.spec, "vol_target").get("vol_window", 63)) + 1)
        return max(needs)

    @cached_property
    def gate_lookback(self) -> int:
        """Sessions of the market series, t included, that the first decision needs."""
        rule = self.spec.market_timing or "always_invested"
        return gate_lookback(rule, params_of(self.spec, rule))
