from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.covariance import LedoitWolf

from evaluator.quant.absent import Absent
from evaluator.quant.covariance import covariance
from evaluator.quant.optimise import box_quadratic, equal_risk
from evaluator.quant.panel import price_panel
from evaluator.quant.weighting import (
    WeightInputs,
    l1_distance,
    target_weights,
    wide_weights,
    window_of,
    without_window,
)
from tests.evaluator.worlds import market


@pytest.fixture(scope="module")
def panel() -> Any:
    return price_panel(market())


CHOSEN = ["CC", "AA", "HH", "FF", "BB"]


@pytest.fixture(scope="module")
def inputs(panel: Any) -> Any:
    day = panel.sessions[[500]]
    ranks = pd.DataFrame(np.nan, index=day, columns=panel.symbols)
    composite = pd.DataFrame(0.1, index=day, columns=panel.symbols)
    caps = pd.DataFrame(1.0, index=day, columns=panel.symbols)
    for rank, name in enumerate(CHOSEN, start=1):
        ranks[name] = float(rank)
        composite[name] = 3.0 - rank * 0.5
        caps[name] = float(10 * rank)
    return WeightInputs(ranks, composite, panel, caps)


def weights(scheme: Any, inputs: Any, **extra: Any) -> Any:
    found = target_weights(scheme, inputs, **extra).iloc[0]
    assert found.sum() == pytest.approx(1)
    assert found.drop(CHOSEN).eq(0).all()
    return found[CHOSEN].to_numpy()


def window(panel: Any, length: Any) -> Any:
    return panel.returns.iloc[501 - length : 501][CHOSEN].to_numpy()


def test_closed_form_schemes_equal_hand_arithmetic(inputs: Any) -> None:
    np.testing.assert_allclose(weights("equal", inputs), 0.2)
    np.testing.assert_allclose(weights("rank_weighted", inputs), np.array([5, 4, 3, 2, 1]) / 15)
    np.testing.assert_allclose(weights("cap_weighted", inputs), np.array([10, 20, 30, 40, 50]) / 150)
    shifted = np.array([2.0, 1.5, 1.0, 0.5, 0.0]) + 0.02
    np.testing.assert_allclose(weights("score_weighted", inputs), shifted / shifted.sum())


def test_equal_scores_make_equal_weights(inputs: Any) -> None:
    flat = WeightInputs(inputs.ranks, inputs.composite * 0, inputs.panel)

    np.testing.assert_allclose(weights("score_weighted", flat), 0.2)
    np.testing.assert_allclose(
        weights("mean_variance", flat, covariance="sample"), weights("min_variance", flat, covariance="sample")
    )


@pytest.mark.parametrize("length", [63, 126, 252])
def test_inverse_volatility_uses_its_window(inputs: Any, panel: Any, length: Any) -> None:
    inverse = 1 / window(panel, length).std(axis=0, ddof=1)

    found = weights("inverse_vol", inputs, params={"vol_window": length})
    np.testing.assert_allclose(found, inverse / inverse.sum())


def test_estimators_equal_their_definitions(panel: Any) -> None:
    x = window(panel, 252)
    weight = 0.5 ** (np.arange(252)[::-1] / 63)
    weight /= weight.sum()
    expected = np.cov(x, rowvar=False, aweights=weight, ddof=0)

    np.testing.assert_allclose(covariance(x, "sample"), np.cov(x.T), rtol=1e-12)
    np.testing.assert_allclose(covariance(x, "ewma", halflife=63), expected, rtol=1e-9)
    np.testing.assert_allclose(covariance(x, "ledoit_wolf"), LedoitWolf().fit(x).covariance_, rtol=1e-12)
    with pytest.raises(ValueError, match="not one of"):
        covariance(x, "shrunk")


@pytest.mark.parametrize("seed", range(40))
def test_shrinkage_then_that_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sessions, names = int(rng.integers(2, 300)), int(rng.integers(1, 40))
    common = rng.normal(0, 0.01, (sessions, 1)) * rng.integers(0, 2)
    window = common + rng.normal(0, rng.uniform(0.001, 0.05, names), (sessions, names))

    expected = LedoitWolf().fit(window).covariance_

    np.testing.assert_allclose(covariance(window, "ledoit_wolf"), expected, rtol=1e-12, atol=1e-12 * expected.max())


def test_shrinkage_of_a_flat_window_is_zero_not_an_error() -> None:
    assert covariance(np.zeros((10, 3)), "ledoit_wolf").tolist() == np.zeros((3, 3)).tolist()


@pytest.mark.parametrize("estimator", ["sample", "ewma", "ledoit_wolf"])
def test_optimised_books_are_no_worse_than_a_public_optimiser(inputs: Any, panel: Any, estimator: Any) -> None:
    s = covariance(window(panel, 252), estimator)
    score = np.array([2.5, 2.0, 1.5, 1.0, 0.5])
    score = (score - score.mean()) / score.std(ddof=1) * 0.05
    goals = {
        "min_variance": lambda w: w @ s @ w * 1e4,
        "mean_variance": lambda w: -(score @ w - 2.5 * w @ s @ w * 252),
    }
    for scheme, goal in goals.items():
        mine = weights(scheme, inputs, covariance=estimator)
        theirs = minimize(
            goal,
            np.full(5, 0.2),
            bounds=[(0, 0.25)] * 5,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert goal(mine) <= goal(theirs.x) + 1e-9
        np.testing.assert_allclose(mine, theirs.x, atol=2e-3)
        assert mine.max() <= 0.25 + 1e-12


def test_risk_parity_spreads_risk_evenly_without_a_cap(inputs: Any, panel: Any) -> None:
    s = covariance(window(panel, 252), "sample")
    w = weights("risk_parity", inputs, covariance="sample")
    share = w * (s @ w)

    np.testing.assert_allclose(share, share.mean(), rtol=1e-8)
    calm = equal_risk(np.diag([1e-6, 1.0, 1.0]))
    assert calm[0] > 0.9


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 30), st.integers(0, 10_000), st.booleans())
def test_box_quadratic_meets_the_optimality_conditions(n: Any, seed: Any, with_goal: Any) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(260, n)) * rng.uniform(0.2, 3, n)
    m = np.cov(x, rowvar=False).reshape(n, n)
    goal = rng.normal(size=n) * (0.5 if with_goal else 0.0)
    cap = max(0.25, 1 / n)
    w = box_quadratic(m, goal, cap=cap)
    gradient = m @ w - goal
    free = (w > 1e-9) & (w < cap - 1e-9)

    assert w.sum() == pytest.approx(1)
    assert w.min() >= 0
    assert w.max() <= cap + 1e-12
    if free.any():
        level, slack = gradient[free].mean(), 1e-6 * max(1, np.abs(gradient).max())
        assert np.abs(gradient[free] - level).max() <= slack
        assert (gradient[w <= 1e-9] >= level - slack).all()
        assert (gradient[w >= cap - 1e-9] <= level + slack).all()


def test_missing_window_makes_the_row_not_computable(inputs: Any, panel: Any) -> None:
    early = pd.DataFrame(inputs.ranks.to_numpy(), index=panel.sessions[[100]], columns=panel.symbols)
    part = WeightInputs(early, None, panel)

    assert target_weights("risk_parity", part, covariance="sample").isna().all(axis=None)
    assert without_window(panel, panel.sessions[[252, 251]], 252).any(axis=1).tolist() == [False, True]


def test_missing_inputs_are_absent(inputs: Any) -> None:
    bare = WeightInputs(inputs.ranks, None, inputs.panel)

    assert isinstance(target_weights("score_weighted", bare), Absent)
    assert isinstance(target_weights("cap_weighted", bare), Absent)
    assert isinstance(target_weights("min_variance", inputs), Absent)
    assert isinstance(target_weights("kelly", inputs), Absent)
    assert window_of("equal", None, {}) == 0


def test_distance_ignores_cash_and_takes_long_or_wide() -> None:
    day = pd.Timestamp("2020-01-31")
    long = pd.DataFrame({"date": [day] * 3, "symbol": ["A", "B", "CASH"], "weight": [0.5, 0.3, 0.2]})
    wide = pd.DataFrame({"A": [0.4], "C": [0.1]}, index=pd.DatetimeIndex([day]))

    assert l1_distance(long, wide).iloc[0] == pytest.approx(0.1 + 0.3 + 0.1)
    assert l1_distance(long, long).iloc[0] == 0
    assert list(wide_weights(long).columns) == ["A", "B"]
