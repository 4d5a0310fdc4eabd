"""Each option of the grammar: a delivery whose tables confirm it and one whose tables contradict it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from records.grammar import load_grammar
from tests.evaluator.compare.made import Held, Made, belief, held, made

pytestmark = pytest.mark.thorough

Hold = Callable[[Made], Held]
FACTORS = tuple(factor.id for factor in load_grammar().factors)
COMBINATIONS = ("zscore_mean", "rank_mean", "sequential_screen")
PLAIN = ("equal", "rank_weighted", "score_weighted", "inverse_vol", "cap_weighted")
OPTIMISED = ("min_variance", "mean_variance", "risk_parity")
ESTIMATORS = ("sample", "ewma", "ledoit_wolf")
GATES = {"spy_sma": "window", "spy_abs_mom": "lookback", "vix_gate": "threshold", "breadth": "threshold"}
GATES["vol_gate"] = "percentile"
USUAL = {"window": 200, "lookback": 252, "threshold": 30, "percentile": 80}
SLOW = {"staged": {"days": 3.0}, "adv_cap": {"cap": 5.0}, "next_close": {}}
STOPS = {"drawdown_stop": {"threshold": 10.0, "cooldown": 21.0}, "position_stop": {"threshold": 8.0}}
TRIPLE = ("mom_6_1", "roe", "low_vol_252")


@pytest.fixture
def hold(tmp_path: Path) -> Hold:
    """Return a function that loads a delivery."""
    count = iter(range(100))
    return lambda delivered: held(delivered, tmp_path / str(next(count)))


def of(params: dict[str, dict[str, float]]) -> tuple[tuple[str, float], ...]:
    return tuple((f"{option}.{name}", value) for option, given in params.items() for name, value in given.items())


def with_factor(name: str) -> Made:
    return made((("factors", (name,)),), rebalance="quarterly")


@pytest.mark.parametrize("name", FACTORS)
def test_factor_is_confirmed_by_its_scores_and_contradicted_by_the_opposite(hold: Hold, name: str) -> None:
    right, sealed = with_factor(name), belief(factors=(name,))
    signals = right.tables["signals"]
    opposite = Made({**right.tables, "signals": signals.assign(value=-signals["value"])}, right.rows)

    assert hold(right).check(name, sealed)[0] == "confirmed"
    assert hold(opposite).check(name, sealed)[0] == "contradicted"


def test_factor_that_is_another_factor_under_a_false_name_is_contradicted(hold: Hold) -> None:
    right = with_factor("roe")
    renamed = right.tables["signals"].replace({"factor": {"roe": "rev_5"}})
    false = Made({**right.tables, "signals": renamed}, right.rows).saying(factors="rev_5")

    check, detail = hold(false).check("rev_5", belief(factors=("rev_5",)))

    assert (check, "it is roe" in detail) == ("contradicted", True)


@pytest.mark.parametrize("name", COMBINATIONS)
def test_combination_is_confirmed_by_its_choice_and_contradicted_by_another(hold: Hold, name: str) -> None:
    def delivery(method: str) -> Made:
        return made((("factors", TRIPLE), ("combination", method)), n_holdings=3)

    sealed = belief(factors=TRIPLE, combination=name)
    others = [hold(delivery(other)).check(name, sealed)[0] for other in COMBINATIONS if other != name]

    assert hold(delivery(name)).check(name, sealed)[0] == "confirmed"
    assert "contradicted" in others
    assert "confirmed" not in others


@pytest.mark.parametrize("name", GATES)
def test_gate_is_confirmed_by_cash_and_contradicted_by_a_book_that_stays_invested(hold: Hold, name: str) -> None:
    value = 50.0 if name == "breadth" else float(USUAL[GATES[name]])
    params = of({name: {GATES[name]: value}})
    sealed = belief(market_timing=name)
    gated = made((("market_timing", name),), params, rebalance="weekly")
    stated = ("market_timing", GATES[name], f"{value:g}")
    invested = made(rebalance="weekly").saying(also=(stated,), market_timing=name)

    assert hold(gated).check(name, sealed)[0] == "confirmed"
    assert hold(invested).check(name, sealed)[0] == "contradicted"


def test_gate_is_confirmed_where_fills_lie_on_their_signal_day(hold: Hold) -> None:
    gated = made((("market_timing", "spy_sma"),), of({"spy_sma": {"window": 200.0}}), rebalance="monthly")
    trades = gated.tables["trades"]
    early = Made({**gated.tables, "trades": trades.assign(fill_date=trades["signal_date"])}, gated.rows)

    assert hold(early).check("spy_sma", belief(market_timing="spy_sma"))[0] == "confirmed"


@pytest.mark.parametrize("name", [*PLAIN, *OPTIMISED])
def test_weighting_is_confirmed_by_its_weights_and_contradicted_by_others(hold: Hold, name: str) -> None:
    estimator = "sample" if name in OPTIMISED else "none"
    mine = made((("weighting", name), ("covariance", estimator)), n_holdings=6)
    other = made((("weighting", "rank_weighted" if name == "equal" else "equal"),), n_holdings=6)
    sealed = belief(weighting=name, covariance=estimator)

    assert hold(mine).check(name, sealed)[0] == "confirmed"
    assert hold(other).check(name, sealed)[0] == "contradicted"


@pytest.mark.parametrize(
    "scheme",
    [
        "risk_parity",
        pytest.param("min_variance", marks=pytest.mark.slow),
        pytest.param("mean_variance", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_covariance_is_confirmed_when_nearest_and_left_open_when_another_is(hold: Hold, scheme: str, name: str) -> None:
    sealed = belief(weighting=scheme, covariance=name)
    for used in ESTIMATORS:
        check = hold(made((("weighting", scheme), ("covariance", used)), n_holdings=6)).check(name, sealed)[0]
        assert check == ("confirmed" if used == name else "unconfirmed"), used


@pytest.mark.parametrize("name", STOPS)
def test_stop_is_confirmed_by_exits_and_contradicted_by_a_breach_without_one(hold: Hold, name: str) -> None:
    params, level = of({name: STOPS[name]}), {f"{name}.threshold": STOPS[name]["threshold"]}
    stopped, loose = hold(made((("risk_control", name),), params)), hold(made())
    sealed = belief(level, risk_control=name)

    for value in (False, True):
        assert stopped.check(name, sealed, value=value)[0] == "confirmed"
        assert loose.check(name, sealed, value=value)[0] == "contradicted"
    assert stopped.acted(sealed)
    assert not loose.acted(sealed)


@pytest.mark.parametrize("name", STOPS)
def test_stop_at_another_level_contradicts_the_value(hold: Hold, name: str) -> None:
    late = hold(made((("risk_control", name),), of({name: {**STOPS[name], "threshold": 20.0}})))
    early = hold(made((("risk_control", name),), of({name: STOPS[name]})))

    assert late.check(name, belief({f"{name}.threshold": 8.0}, risk_control=name), value=True)[0] == "contradicted"
    assert early.check(name, belief({f"{name}.threshold": 20.0}, risk_control=name), value=True)[0] == "contradicted"


def test_volatility_target_is_confirmed_by_exposure_and_contradicted_by_another_or_none(hold: Hold) -> None:
    def delivery(target: float) -> Held:
        return hold(made((("risk_control", "vol_target"),), of({"vol_target": {"target": target, "vol_window": 63.0}})))

    sealed = belief({"vol_target.target": 8.0}, risk_control="vol_target")
    right, never = delivery(8.0), hold(made())

    assert right.check("vol_target", sealed, value=True)[0] == "confirmed"
    assert right.acted(sealed)
    assert delivery(15.0).check("vol_target", sealed, value=True)[0] == "contradicted"
    assert never.check("vol_target", sealed, value=True)[0] == "contradicted"
    assert not never.acted(sealed)


def test_cash_that_no_volatility_target_asks_for_is_no_control_at_work(hold: Hold) -> None:
    plain = made()
    weights = plain.tables["target_weights"].copy()
    weights.loc[weights["symbol"] != "CASH", "weight"] *= 0.9
    idle = Made({**plain.tables, "target_weights": weights}, plain.rows)
    sealed = belief({"vol_target.target": 8.0}, risk_control="vol_target")

    assert not hold(idle).acted(sealed)


@pytest.mark.parametrize("name", [*STOPS, "vol_target"])
def test_control_that_never_fired_is_shown_at_work_by_a_stress_run_alone(hold: Hold, name: str) -> None:
    key, quiet, tight = ("target", 90.0, 8.0) if name == "vol_target" else ("threshold", 60.0, 8.0)
    given = {"vol_window": 63.0} if name == "vol_target" else {"cooldown": 21.0} if name == "drawdown_stop" else {}
    params = of({name: {key: quiet, **given}})
    sealed = belief({f"{name}.{key}": quiet}, risk_control=name)

    assert not hold(made((("risk_control", name),), params)).acted(sealed)
    assert hold(made((("risk_control", name),), params, stress=tight)).acted(sealed)


@pytest.mark.parametrize("name", SLOW)
def test_execution_is_confirmed_by_its_fills(hold: Hold, name: str) -> None:
    fills = made((("execution", name),), of({name: SLOW[name]}), capital=100_000.0)

    assert hold(fills).check(name, belief(execution=name))[0] == "confirmed"


@pytest.mark.parametrize("name", SLOW)
def test_execution_is_contradicted_by_fills_of_another_kind(hold: Hold, name: str) -> None:
    other = made((("execution", "next_open"),), capital=1_000_000_000.0)

    assert hold(other).check(name, belief(execution=name))[0] == "contradicted"


def test_cap_that_never_bound_is_left_open(hold: Hold) -> None:
    small = made((("execution", "adv_cap"),), of({"adv_cap": {"cap": 10.0}}), capital=2_000.0)

    assert hold(small).check("adv_cap", belief(execution="adv_cap"))[0] == "unconfirmed"


def test_unequal_parts_of_an_order_are_not_staged(hold: Hold) -> None:
    staged = made((("execution", "staged"),), of({"staged": {"days": 3.0}}))
    trades = staged.tables["trades"].copy()
    order = [trades["signal_date"], trades["symbol"], trades["side"]]
    place, total = trades.groupby(order).cumcount(), trades.groupby(order)["quantity"].transform("sum")
    trades["quantity"] = (total * place.map({0: 0.8, 1: 0.15, 2: 0.05})).round()
    uneven = Made({**staged.tables, "trades": trades[trades["quantity"] > 0]}, staged.rows)

    assert hold(uneven).check("staged", belief(execution="staged"))[0] != "confirmed"


@pytest.mark.parametrize("rate", [5.0, 10.0, 15.0, 20.0])
def test_rate_is_confirmed_by_fees_and_contradicted_by_others(hold: Hold, rate: float) -> None:
    sealed = belief({"fixed_rate.rate_bps": rate})

    assert hold(made(params=(("fixed_rate.rate_bps", rate),))).check("fixed_rate", sealed, value=True)[0] == "confirmed"
    for other in (0.0, rate + 5):
        wrong = hold(made(params=(("fixed_rate.rate_bps", other),)))
        assert wrong.check("fixed_rate", sealed, value=True)[0] == "contradicted"


@pytest.mark.parametrize("rebalance", ["weekly", "quarterly"])
def test_rate_in_a_log_whose_equity_leaves_the_fees_out_is_contradicted(hold: Hold, rebalance: str) -> None:
    right = made(params=(("fixed_rate.rate_bps", 10.0),), rebalance=rebalance)
    trades, equity = right.tables["trades"], right.tables["equity"]
    paid = trades.groupby("fill_date")["fee"].sum().reindex(pd.DatetimeIndex(equity["date"]), fill_value=0.0).cumsum()
    gross = equity.assign(equity=equity["equity"] + paid.to_numpy(), cash=equity["cash"] + paid.to_numpy())
    sealed = belief({"fixed_rate.rate_bps": 10.0})

    check, detail = hold(Made({**right.tables, "equity": gross}, right.rows)).check("fixed_rate", sealed, value=True)

    assert (check, "leaves these fees out" in detail) == ("contradicted", True)
    assert hold(right).check("fixed_rate", sealed, value=True)[0] == "confirmed"


@pytest.mark.parametrize("name", ["vix_gate", "spy_sma", "breadth"])
def test_gate_of_unsaid_limit_that_every_choice_shuts_is_contradicted_by_an_invested_book(
    hold: Hold, name: str
) -> None:
    sealed = belief(market_timing=name)
    said = made(rebalance="weekly").saying(market_timing=name)
    market = said.tables["market"]
    fear = market["symbol"].astype(str).str.contains("VIX")
    shaken = market.assign(close=market["close"].mask(fear, market["close"] * 40.0 / market["close"][fear].max()))
    invested = hold(Made({**said.tables, "market": shaken}, said.rows))

    assert invested.check(name, sealed)[0] == "contradicted"


def test_gate_of_unsaid_limit_that_no_choice_shuts_is_left_open(hold: Hold) -> None:
    said = made(rebalance="weekly").saying(market_timing="vix_gate")
    market = said.tables["market"]
    calm = market.assign(close=market["close"].where(~market["symbol"].astype(str).str.contains("VIX"), 9.0))
    quiet = Made({**said.tables, "market": calm}, said.rows)

    assert hold(quiet).check("vix_gate", belief(market_timing="vix_gate"))[0] == "unconfirmed"


def test_next_open_has_no_item_of_its_own() -> None:
    assert all(item.component != "execution" for item in belief(execution="next_open").belief.items)


def test_every_voiced_option_is_tested_here() -> None:
    tested: set[Any] = {*FACTORS, *COMBINATIONS, *GATES, *PLAIN, *OPTIMISED, *ESTIMATORS, *STOPS, *SLOW, "vol_target"}
    grammar = load_grammar()
    groups = ("combination", "market_timing", "weighting", "covariance", "risk_control", "execution")
    every = {o.id for name in groups for o in grammar.group(name) if o.voiced} | {f.id for f in grammar.factors}

    assert tested == every
