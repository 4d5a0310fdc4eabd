"""Combination, selection and timing."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from evaluator.quant.absent import Absent
from evaluator.quant.combination import combine
from evaluator.quant.factors import FactorInputs
from evaluator.quant.panel import price_panel
from evaluator.quant.selection import jaccard, select, selected_sets, set_agreement
from evaluator.quant.timing import gate, gate_lookback
from tests.evaluator.worlds import market

DAY = pd.DatetimeIndex(["2020-01-31"])


def row(**values: Any) -> Any:
    return pd.DataFrame([values], index=DAY, dtype=float)


def ranks(combined: Any) -> Any:
    found = combined.ranks.iloc[0].dropna().sort_values()
    return list(found.index)


def test_single_factor_keeps_its_values_and_breaks_ties_by_symbol() -> None:
    combined = combine({"mom": row(CC=1, BB=2, AA=1, DD=np.nan)}, None)

    assert ranks(combined) == ["BB", "AA", "CC"]
    assert combined.composite["BB"].iloc[0] == 2


def test_zscore_mean_equals_hand_arithmetic() -> None:
    a, b = [1.0, 2.0, 3.0, 10.0], [4.0, 3.0, 2.0, 1.0]

    def z(values: Any) -> Any:
        v = np.array(values)
        v = np.clip(v, np.percentile(v, 1), np.percentile(v, 99))
        return (v - v.mean()) / v.std(ddof=1)

    combined = combine(
        {"x": row(**dict(zip("ABCD", a, strict=True))), "y": row(**dict(zip("ABCD", b, strict=True)))}, "zscore_mean"
    )

    np.testing.assert_allclose(combined.composite.iloc[0], (z(a) + z(b)) / 2, atol=1e-11)


def test_factor_without_spread_counts_as_zero() -> None:
    combined = combine({"x": row(A=1, B=1, C=1), "y": row(A=1, B=3, C=2)}, "zscore_mean")

    assert ranks(combined) == ["B", "C", "A"]


def test_rank_mean_ties_by_symbol_not_by_rounding() -> None:
    combined = combine({"x": row(A=1, B=2, C=3), "y": row(A=3, B=2, C=1)}, "rank_mean")

    assert ranks(combined) == ["A", "B", "C"]
    np.testing.assert_allclose(combined.composite.iloc[0], 2 / 3)


def test_sequential_screen_keeps_the_upper_half_each_time() -> None:
    x = row(A=9, B=8, C=7, D=6, E=5, F=1, G=0)
    y = row(A=1, B=2, C=3, D=4, E=9, F=9, G=9)
    z = row(A=1, B=5, C=2, D=3, E=9, F=9, G=9)

    two = combine({"x": x, "y": y}, "sequential_screen")
    assert ranks(two) == ["D", "C", "B", "A"]  # ceil(7/2) = 4 survive
    assert two.composite is None
    three = combine({"x": x, "y": y, "z": z}, "sequential_screen")
    assert ranks(three) == ["D", "C"]  # ceil(4/2) = 2 survive


def test_name_with_a_missing_factor_is_left_out_before_scoring() -> None:
    with_hole = combine({"x": row(A=1, B=2, C=3, D=99), "y": row(A=1, B=2, C=3, D=np.nan)}, "zscore_mean")
    without = combine({"x": row(A=1, B=2, C=3), "y": row(A=1, B=2, C=3)}, "zscore_mean")

    np.testing.assert_allclose(with_hole.composite[["A", "B", "C"]], without.composite)
    assert "D" not in ranks(with_hole)


def test_excluded_names_are_no_candidates() -> None:
    out = pd.DataFrame({"B": [True]}, index=DAY)

    assert ranks(combine({"x": row(A=1, B=2, C=3)}, None, excluded=out)) == ["C", "A"]


def test_selection_takes_all_when_fewer_than_n() -> None:
    combined = combine({"x": row(A=1, B=2, C=3)}, None)

    assert select(combined, 2).iloc[0].dropna().to_dict() == {"B": 2.0, "C": 1.0}
    assert selected_sets(select(combined, 10))[DAY[0]] == {"A", "B", "C"}


def test_agreement_is_the_jaccard_index_per_common_date() -> None:
    own = select(combine({"x": row(A=1, B=2, C=3)}, None), 2)
    theirs = pd.DataFrame({"date": [DAY[0]] * 2, "symbol": ["B", "A"]})

    assert set_agreement(theirs, own).tolist() == [pytest.approx(1 / 3)]
    assert jaccard(frozenset(), frozenset()) == 1


def test_unknown_combination_is_absent() -> None:
    assert isinstance(combine({"x": row(A=1), "y": row(A=1)}, "vote"), Absent)
    assert isinstance(combine({}, None), Absent)


@pytest.fixture(scope="module")
def panel() -> Any:
    return price_panel(market(start="2016-01-04"))


@pytest.fixture(scope="module")
def inputs(panel: Any) -> Any:
    return FactorInputs(panel, spy=panel.adjusted.mean(axis=1))


def test_always_invested_is_on(inputs: Any, panel: Any) -> None:
    assert gate("always_invested", inputs, panel.sessions[:3]).eq(1).all()


def test_moving_average_gate_includes_t(inputs: Any, panel: Any) -> None:
    spy = inputs.spy.to_numpy()
    days = panel.sessions[[98, 99, 500, 700]]
    found = gate("spy_sma", inputs, days, params={"window": 100})

    assert np.isnan(found.iloc[0])
    for day, at in zip(days[1:], (99, 500, 700), strict=True):
        assert found[day] == float(spy[at] >= spy[at - 99 : at + 1].mean())


def test_flat_series_is_at_its_average(panel: Any) -> None:
    flat = pd.Series(100.1, index=panel.sessions)

    assert gate("spy_sma", FactorInputs(panel, spy=flat), panel.sessions[[300]]).iloc[0] == 1
    assert gate("spy_abs_mom", FactorInputs(panel, spy=flat), panel.sessions[[300]]).iloc[0] == 0


def test_absolute_momentum_looks_back_the_given_sessions(inputs: Any, panel: Any) -> None:
    spy = inputs.spy.to_numpy()
    found = gate("spy_abs_mom", inputs, panel.sessions[[125, 126, 600]], params={"lookback": 126})

    assert np.isnan(found.iloc[0])
    assert found.iloc[1] == float(spy[126] > spy[0])
    assert found.iloc[2] == float(spy[600] > spy[600 - 126])


def test_vix_gate_is_strict_and_takes_the_close_of_t(inputs: Any, panel: Any) -> None:
    vix = pd.Series([29.9, 30.0, 31.0], index=panel.sessions[10:13])

    assert gate("vix_gate", inputs, panel.sessions[10:13], vix=vix).tolist() == [1.0, 0.0, 0.0]
    assert gate("vix_gate", inputs, panel.sessions[[9]], vix=vix).isna().all()
    assert gate("vix_gate", inputs, panel.sessions[[40]], vix=vix).isna().all()
    assert isinstance(gate("vix_gate", inputs, panel.sessions[[9]]), Absent)


def test_breadth_counts_names_with_two_hundred_closes(panel: Any, inputs: Any) -> None:
    p = panel.adjusted.to_numpy()
    for threshold in (40, 50, 60):
        found = gate("breadth", inputs, panel.sessions[[198, 400, 900]], params={"threshold": threshold})
        assert np.isnan(found.iloc[0])
        for value, at in zip(found.iloc[1:], (400, 900), strict=True):
            assert value == float((p[at] >= p[at - 199 : at + 1].mean(axis=0)).mean() >= threshold / 100)


def test_volatility_gate_compares_with_the_sessions_before_t(inputs: Any, panel: Any) -> None:
    r = inputs.spy.pct_change()
    v = r.rolling(21).std(ddof=1).to_numpy()
    first = gate_lookback("vol_gate", {}) - 1
    found = gate("vol_gate", inputs, panel.sessions[[first - 1, first, first + 100]], params={"percentile": 70})

    assert np.isnan(found.iloc[0])
    for value, at in zip(found.iloc[1:], (first, first + 100), strict=True):
        assert value == float(v[at] <= np.percentile(v[at - 756 : at], 70))
    assert first == 777


def test_gates_without_series_are_absent(panel: Any) -> None:
    for rule in ("spy_sma", "spy_abs_mom", "vol_gate"):
        assert isinstance(gate(rule, FactorInputs(panel), panel.sessions[[300]]), Absent)
    assert isinstance(gate("moon_phase", FactorInputs(panel), panel.sessions[[300]]), Absent)


def test_names_tied_at_the_cut_are_interchangeable() -> None:
    combined = combine({"x": row(A=3, B=2, C=2, D=1)}, None)
    own = select(combined, 2)
    tied = pd.DataFrame({"date": [DAY[0]] * 2, "symbol": ["A", "C"]})
    worse = pd.DataFrame({"date": [DAY[0]] * 2, "symbol": ["A", "D"]})

    assert set_agreement(tied, own).iloc[0] < 1
    assert set_agreement(tied, own, composite=combined.composite).iloc[0] == 1
    assert set_agreement(worse, own, composite=combined.composite).iloc[0] == pytest.approx(1 / 3)
