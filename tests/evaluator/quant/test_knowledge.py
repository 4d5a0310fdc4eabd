"""Point-in-time facts, causality and what is inferred about the specification."""

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evaluator.quant.absent import Absent
from evaluator.quant.calendar import decision_dates
from evaluator.quant.causality import offset_test, residual_test
from evaluator.quant.combination import combine
from evaluator.quant.entry import (
    late_fills,
    late_rows,
    outside_range,
    relabelled_share,
    signal_dates,
    survivorship,
    too_early,
)
from evaluator.quant.factors import FactorInputs, factor_scores
from evaluator.quant.inference import (
    infer_combination,
    infer_factors,
    infer_n,
    infer_weighting,
    spearman,
    wide_signals,
)
from evaluator.quant.panel import price_panel
from evaluator.quant.selection import select
from evaluator.quant.weighting import WeightInputs, target_weights
from tests.evaluator.worlds import backtest, canonical_trades, market

PRICES = market(tuple(f"S{i:02d}" for i in range(16)), start="2016-01-04")
PANEL = price_panel(PRICES)
INPUTS = FactorInputs(PANEL)
DATES = decision_dates(PANEL.sessions, "monthly")[14:]


def shifted(factor: Any, k: Any) -> Any:
    rows = np.minimum(PANEL.rows(DATES) + k, len(PANEL.sessions) - 1)
    found = factor_scores(factor, INPUTS, PANEL.sessions[rows])
    return found.set_axis(DATES)


@pytest.mark.parametrize("factor", ["rev_5", "rev_21", "high_52w", "low_vol_252", "low_max_21"])
def test_signal_of_a_later_session_is_a_violation(factor: Any) -> None:
    result = offset_test(shifted(factor, 3), factor, INPUTS)

    assert result.violation
    assert result.offset == 3


@pytest.mark.parametrize("factor", ["mom_12_1", "mom_6_1", "rev_21", "low_vol_252"])
def test_honest_stale_and_noisy_signals_are_none(factor: Any) -> None:
    own = shifted(factor, 0)
    noise = np.random.default_rng(1).normal(0, 0.3, own.shape) * own.std(axis=1).to_numpy()[:, None]
    for delivered in (own, shifted(factor, -2), own + noise):
        assert not offset_test(delivered, factor, INPUTS).violation
        assert not residual_test(delivered, own, PANEL).violation


def test_offset_within_the_skip_is_a_matter_of_definition() -> None:
    assert not offset_test(shifted("mom_12_1", 1), "mom_12_1", INPUTS).violation
    assert offset_test(shifted("mom_12_1", 25), "mom_12_1", INPUTS).violation


def test_signal_mixed_with_the_next_return_is_found_by_its_residual() -> None:
    own = shifted("mom_12_1", 0)
    rows = PANEL.rows(DATES)
    ahead = PANEL.adjusted.to_numpy()
    last = len(ahead) - 1
    future = ahead[np.minimum(rows + 1, last)] / ahead[rows] - 1
    delivered = own + 5 * future

    assert residual_test(delivered, own, PANEL).violation


def test_volatility_part_of_an_honest_signal_is_no_look_ahead() -> None:
    """Volatile names stay volatile: a signal that holds volatility foretells the size of returns, honestly."""
    rng = np.random.default_rng(5)
    table = PRICES.copy()
    level = dict(zip(PANEL.symbols, rng.uniform(0.3, 4, 16), strict=True))
    for column in ("close", "adj_close"):
        base = table.groupby("symbol")[column].transform("first")
        table[column] = base * (table[column] / base) ** table["symbol"].map(level)
    panel = price_panel(table)
    own = factor_scores("mom_12_1", FactorInputs(panel), DATES)
    calm = factor_scores("low_vol_252", FactorInputs(panel), DATES)
    noise = rng.normal(0, 0.3, own.shape)

    assert not residual_test(own.rank(axis=1) + calm.rank(axis=1) + noise, own, panel).violation
    rows = panel.rows(DATES)
    closes = panel.adjusted.to_numpy()
    ahead = np.abs(closes[np.minimum(rows + 5, len(closes) - 1)] / closes[rows] - 1)
    assert residual_test(
        own.rank(axis=1) - pd.DataFrame(ahead, DATES, panel.symbols).rank(axis=1), own, panel
    ).violation


def test_too_few_dates_are_absent() -> None:
    few = shifted("rev_21", 0).iloc[:10]

    assert isinstance(offset_test(few, "rev_21", INPUTS), Absent)
    assert isinstance(residual_test(few, few, PANEL), Absent)
    assert isinstance(offset_test(shifted("rev_21", 0), "roe", INPUTS), Absent)


RUN = backtest(market())
LOG = canonical_trades(RUN)
SMALL = price_panel(market())


def test_fill_on_its_signal_session_is_late_in_sessions_not_in_days() -> None:
    same = LOG.assign(signal_date=LOG["date"])
    weekend = LOG.assign(signal_date=LOG["date"] + pd.Timedelta(days=1))

    assert len(late_fills(signal_dates(LOG))) == 0
    assert len(late_fills(signal_dates(same))) == len(LOG)
    assert len(late_fills(signal_dates(weekend))) == len(LOG)


def test_signal_date_is_inferred_from_the_weights_before_the_fill() -> None:
    found = signal_dates(LOG.drop(columns="signal_date"), RUN.weights)

    assert set(found["signal_origin"]) == {"inferred"}
    stated = LOG.sort_values("date", kind="stable")["signal_date"].to_numpy()
    assert (found["signal_date"].to_numpy() == stated).all()
    same = RUN.weights.assign(date=RUN.weights["date"].map(dict(zip(LOG["signal_date"], LOG["date"], strict=True))))
    assert len(late_fills(signal_dates(LOG.drop(columns="signal_date"), same))) == len(LOG)
    assert signal_dates(LOG)["signal_origin"].eq("stated").all()
    assert signal_dates(LOG.drop(columns="signal_date"))["signal_origin"].isna().all()
    assert len(signal_dates(None)) == 0


def test_fills_at_the_close_of_the_signal_are_relabelled() -> None:
    then = SMALL.fields["close"]
    relabelled = LOG.assign(price=[then.loc[key] for key in zip(LOG["signal_date"], LOG["symbol"], strict=True)])

    assert relabelled_share(signal_dates(relabelled), SMALL) == 1
    assert relabelled_share(signal_dates(LOG), SMALL) < 0.1
    assert isinstance(relabelled_share(signal_dates(None), SMALL), Absent)


def test_price_outside_the_day_is_found() -> None:
    assert len(outside_range(LOG, SMALL)) == 0
    assert len(outside_range(LOG.assign(price=LOG["price"] * 1.06), SMALL)) > 0.9 * len(LOG)
    close_only = price_panel(market()[["date", "symbol", "close"]])
    assert len(outside_range(LOG.assign(price=LOG["price"] * 1.06), close_only)) < 0.2 * len(LOG)
    assert isinstance(outside_range(None, SMALL), Absent)


def test_trade_before_the_lookback_is_too_early() -> None:
    assert len(too_early(signal_dates(LOG), SMALL, lookback=127)) == 0
    assert len(too_early(signal_dates(LOG), SMALL, lookback=400)) > 0
    late_listing = market()
    late_listing = late_listing[(late_listing["symbol"] != "CC") | (late_listing["date"] > "2020-06-30")]
    assert set(too_early(signal_dates(LOG), price_panel(late_listing), lookback=0)["symbol"]) <= {"CC"}


def test_large_universe_in_which_nobody_dies_is_flagged() -> None:
    names = tuple(f"N{i:03d}" for i in range(51))
    long = market(names, start="2013-01-02", end="2018-12-31")

    assert survivorship(price_panel(long))
    assert not survivorship(price_panel(long[(long["symbol"] != "N003") | (long["date"] < "2016-01-01")]))
    assert not survivorship(SMALL)


def test_only_observation_dates_after_the_cut_are_late() -> None:
    frame = pd.DataFrame(
        {
            "date": pd.to_datetime(["2021-12-31", "2022-01-03"]),
            "retrieved_at": pd.to_datetime(["2026-01-01", "2026-01-01"]),
            "text": ["2022-05-05", "x"],
        }
    )
    found = late_rows(frame, dt.date(2021, 12, 31))

    assert found[["column", "row"]].to_numpy().tolist() == [["date", 1]]
    assert late_rows(frame, dt.date(2022, 1, 3)).empty


@pytest.mark.parametrize("factor", ["mom_12_1", "mom_6_1", "rev_21", "low_vol_252", "high_52w"])
def test_factor_is_inferred_from_its_values(factor: Any) -> None:
    own = shifted(factor, 0)
    long = own.rename_axis("date").reset_index().melt(id_vars="date", var_name="symbol", value_name="value")
    found = infer_factors(long.assign(factor="my signal"), INPUTS)["my signal"]

    assert found.option == factor
    assert found.accepted
    assert found.runner_up != factor


def test_unknown_signal_is_not_accepted() -> None:
    noise = pd.DataFrame(np.random.default_rng(0).normal(size=(len(DATES), 16)), index=DATES, columns=PANEL.symbols)
    long = noise.rename_axis("date").reset_index().melt(id_vars="date", var_name="symbol", value_name="value")

    assert not infer_factors(long, INPUTS)[""].accepted
    assert infer_factors(None, INPUTS) == {}


def test_rank_correlation_equals_pandas() -> None:
    a, b = shifted("mom_12_1", 0), shifted("high_52w", 0)
    expected = [a.loc[day].corr(b.loc[day], method="spearman") for day in DATES]

    np.testing.assert_allclose(spearman(a, b), expected, atol=1e-12)


SCORES = {"mom_6_1": shifted("mom_6_1", 0), "low_vol_252": shifted("low_vol_252", 0)}


@pytest.mark.parametrize("method", ["zscore_mean", "rank_mean", "sequential_screen"])
def test_combination_and_count_are_inferred_from_the_chosen_names(method: Any) -> None:
    chosen = select(combine(SCORES, method), 5)
    long = chosen.rename_axis("date").reset_index().melt(id_vars="date", var_name="symbol", value_name="rank").dropna()

    assert infer_n(long) == 5
    found = infer_combination(long, SCORES, 5)
    assert found.option == method
    assert found.accepted
    if method == "sequential_screen":
        assert found.order == tuple(SCORES)


@pytest.mark.parametrize(
    ("scheme", "estimator"),
    [("equal", None), ("rank_weighted", None), ("score_weighted", None), ("inverse_vol", None)]
    + [(s, e) for s in ("min_variance", "mean_variance", "risk_parity") for e in ("sample", "ewma")],
)
def test_weighting_is_inferred_even_when_scaled(scheme: Any, estimator: Any) -> None:
    combined = combine(SCORES, "zscore_mean")
    inputs = WeightInputs(select(combined, 6), combined.composite, PANEL)
    own = target_weights(scheme, inputs, covariance=estimator)
    found = infer_weighting(own * 0.7, inputs)

    assert found.option == (scheme if estimator is None else f"{scheme}/{estimator}")
    assert found.accepted
    assert found.score < 1e-9


def test_inference_without_tables_is_absent() -> None:
    assert infer_n(None) is None
    assert isinstance(infer_combination(None, SCORES, 5), Absent)
    assert isinstance(infer_weighting(None, WeightInputs(select(combine(SCORES, "rank_mean"), 5), None, PANEL)), Absent)


def test_signals_without_a_factor_column_are_one_table() -> None:
    assert list(wide_signals(RUN.signals)) == ["mom_6_1"]
    assert list(wide_signals(RUN.signals.drop(columns="factor"))) == [""]
