"""Claims: every option of the grammar in several wordings, in prose and configuration, with denials and retractions."""

from dataclasses import replace

import pandas as pd
import pytest

from evaluator.compare.claims import field_of, find_claim
from evaluator.compare.prose import names, reading
from evaluator.compare.quotes import Passage
from evaluator.measure.naming import plain
from evaluator.measure.specification import delivered_spec, spec_rows
from evaluator.package.delivery import Delivery, Table
from generator import offline_conditions
from records.grammar import OPTION_GROUPS, load_grammar
from records.spec import DeliveredSpec
from records.strategy import Item
from tests.evaluator.compare.spec_rows import SPEC_ROW

PROSE: dict[str, tuple[str, str]] = {
    "mom_12_1": (
        "Stocks are ranked on their 12-1 month return.",
        "Signal: momentum 12m-1m, measured at each month end.",
    ),
    "mom_6_1": (
        "Stocks are ranked on their 6-1 month return.",
        "The score is half-year momentum without the last month.",
    ),
    "high_52w": ("The score is price to 52-week high.", "We sort on the ratio to the one-year peak."),
    "rev_21": ("The book buys one-month losers.", "Score: the negative 21-day return."),
    "rev_5": ("The book buys one-week losers.", "Score: the negative 5-day return."),
    "earnings_yield": ("Names are ranked on TTM earnings to market cap.", "Value is read from the EP ratio."),
    "book_to_price": ("Names are ranked on book equity to market cap.", "Value is read from the BP ratio."),
    "fcf_yield": ("Names are ranked on FCF to market cap.", "Value is free-cash-flow to price."),
    "roe": ("Quality is net income over equity.", "We rank on return on common equity."),
    "gross_profitability": ("Quality is gross profit to total assets.", "We use Novy-Marx profitability."),
    "low_accruals": ("Quality: accruals lowest first.", "The accrual ratio ranks the names."),
    "low_vol_252": ("The names with the lowest volatility come first.", "Score = neg_vol_252."),
    "low_beta_252": ("The names with the lowest beta come first.", "Score = neg_beta_252."),
    "low_max_21": ("Score = neg_max_21.", "Names with the smallest maximum daily return come first."),
    "revenue_growth": ("Growth is YoY revenue.", "Ranked on growth of sales."),
    "sue": ("Ranked on the standardised EPS surprise.", "Score: seasonal EPS surprise."),
    "small_cap": ("The smallest market cap comes first.", "A small-company tilt ranks the names."),
    "zscore_mean": ("The composite is the mean of z-scores.", "The two are combined as averaged z-scores."),
    "rank_mean": ("The composite is the mean of ranks.", "The two are combined by the average of ranks."),
    "sequential_screen": ("A two-stage screen picks the names.", "The factors are applied as successive screens."),
    "spy_sma": ("Timing: SMA200 on SPY, else cash.", "The book follows a moving-average gate."),
    "spy_abs_mom": ("An index momentum gate decides whether we hold.", "Timing follows TSMOM on SPY."),
    "vix_gate": ("A VIX ceiling sends the book to cash.", "Timing: VIX threshold of 30."),
    "breadth": ("A market breadth rule decides.", "A breadth gate keeps the book in cash."),
    "vol_gate": ("A realised-volatility gate decides.", "Timing: a volatility percentile gate on the index."),
    "equal": ("Each name gets 1/N.", "Equal-dollar positions are held."),
    "rank_weighted": ("Linear rank weights are used.", "Weights by rank, best first."),
    "score_weighted": ("Weights proportional to the composite are held.", "Sizing uses signal weights."),
    "inverse_vol": ("Sizing: inverse standard deviation.", "Positions are 1/sigma."),
    "cap_weighted": ("Capitalisation-weighted positions are held.", "Weights by market cap."),
    "min_variance": ("We hold the global minimum variance portfolio.", "Sizing: minvar with a 25% cap."),
    "mean_variance": ("Sizing: MVO with a risk aversion of five.", "We solve a mean-variance optimisation."),
    "risk_parity": ("Every name has an equal risk budget.", "Equal risk contributions are solved for."),
    "sample": ("Risk comes from the empirical covariance.", "The sample cov of 252 sessions is used."),
    "ewma": ("Risk comes from an exponentially decayed covariance.", "An EWM covariance is used."),
    "ledoit_wolf": ("Risk comes from the LW estimator.", "A shrinkage covariance is used."),
    "drawdown_stop": ("A drawdown breaker takes the book to cash.", "Control: equity drawdown exit."),
    "position_stop": ("A per-stock stop closes single names.", "There is a stop on each name."),
    "vol_target": ("Volatility targeting scales the book.", "Control: constant volatility."),
    "next_open": ("Orders fill at the open of t+1.", "Fills: next session's open."),
    "next_close": ("Orders fill at the close of t+1.", "Fills: next session's close."),
    "staged": ("Orders are split evenly over three opens.", "Multi-day execution in equal slices."),
    "adv_cap": ("Fills are capped at a share of volume.", "A participation cap limits each fill."),
}
CONFIGURED: dict[str, tuple[str, str]] = {
    option: (option, wordings)
    for option, wordings in {
        "mom_12_1": "momentum 12m-1m",
        "mom_6_1": "6-1 month return",
        "high_52w": "price to 52-week high",
        "rev_21": "one-month losers",
        "rev_5": "one-week losers",
        "earnings_yield": "EP ratio",
        "book_to_price": "BP ratio",
        "fcf_yield": "FCF to market cap",
        "roe": "return on common equity",
        "gross_profitability": "gross profit to total assets",
        "low_accruals": "Sloan accruals",
        "low_vol_252": "lowest volatility",
        "low_beta_252": "lowest beta",
        "low_max_21": "smallest maximum daily return",
        "revenue_growth": "YoY revenue",
        "sue": "EPS surprise",
        "small_cap": "smallest market cap",
        "zscore_mean": "mean of z-scores",
        "rank_mean": "mean of ranks",
        "sequential_screen": "two-stage screen",
        "spy_sma": "SMA200",
        "spy_abs_mom": "index momentum gate",
        "vix_gate": "VIX ceiling",
        "breadth": "breadth gate",
        "vol_gate": "volatility percentile gate",
        "equal": "Equal weights",
        "rank_weighted": "weights by rank",
        "score_weighted": "score weights",
        "inverse_vol": "1/sigma",
        "cap_weighted": "weights by market cap",
        "min_variance": "global minimum variance",
        "mean_variance": "MVO",
        "risk_parity": "equal risk budget",
        "sample": "sample covariance matrix",
        "ewma": "EWM covariance",
        "ledoit_wolf": "LedoitWolf",
        "drawdown_stop": "drawdown breaker",
        "position_stop": "per-stock stop",
        "vol_target": "volatility targeting",
        "next_open": "next session's open",
        "next_close": "close of t+1",
        "staged": "equal slices",
        "adv_cap": "participation cap",
    }.items()
}
VALUES = {
    "drawdown_stop": ("threshold", 20.0, "percent"),
    "position_stop": ("threshold", 10.0, "percent"),
    "vol_target": ("target", 12.0, "percent"),
    "fixed_rate": ("rate_bps", 10.0, "bps"),
}
VALUE_PROSE = {
    "drawdown_stop": ("All positions go to cash once the drawdown reaches {}.", "Drawdown stop: {} below the peak."),
    "position_stop": ("Any position {} below its entry price is sold.", "The stop-loss sits at {}."),
    "vol_target": ("Exposure is scaled to a volatility target of {}.", "Target volatility: {} a year."),
    "fixed_rate": ("Every fill is charged {}.", "Transaction cost: {} one-way."),
}
VALUE_WORDS = {
    ("percent", 20.0): ("20%", "20 percent", "twenty percent", "20.0 %"),
    ("percent", 10.0): ("10%", "10 per cent", "ten percent", "10.0%"),
    ("percent", 12.0): ("12%", "12 pct", "twelve percent", "12.0%"),
    ("bps", 10.0): ("10 bps", "0.10%", "ten basis points", "10bp"),
}


def group(option: str) -> str:
    if any(factor.id == option for factor in load_grammar().factors):
        return "factors"
    return next(name for name in OPTION_GROUPS if any(o.id == option for o in load_grammar().group(name)))


def item(option: str) -> Item:
    component = SPEC_ROW[group(option)][0]
    return Item(id=f"{component}/{option}", component=component, option=option, text=option)  # type: ignore[arg-type]


def value_item(option: str) -> Item:
    param, value, unit = VALUES[option]
    component = SPEC_ROW[group(option)][0]
    return Item(
        id=f"{component}/{option}/{param}",
        component=component,  # type: ignore[arg-type]
        option=option,
        param=param,
        text=option,
        value=value,
        unit=unit,
    )


def said(*texts: str, turn: int = 2) -> list[Passage]:
    return [Passage("report.md", turn, text) for text in texts]


def in_prose(wanted: Item, *passages: Passage) -> str:
    return find_claim(wanted, DeliveredSpec(), [], list(passages)).claim


def configured(wanted: Item, *rows: tuple[str, str, str]) -> str:
    frame = pd.DataFrame(rows, columns=["component", "key", "value"])
    delivery = Delivery(offline_conditions(), (), (Table("spec.csv", "spec", frame, 2),), ())
    found = find_claim(wanted, delivered_spec(delivery), spec_rows(delivery), [])
    assert found.quotes or found.claim != "present", "a claim without a quote is none"
    return found.claim


def others(option: str) -> list[str]:
    return [other for other in PROSE if group(other) == group(option) and other != option]


def test_every_voiced_option_has_wordings() -> None:
    grammar = load_grammar()
    every = {f.id for f in grammar.factors} | {
        o.id for name in OPTION_GROUPS for o in grammar.group(name) if not o.null
    }

    assert set(PROSE) == set(CONFIGURED) == every - {"fixed_rate"}


def test_wordings_are_not_all_copied_from_the_grammar() -> None:
    grammar = load_grammar()
    own = {o.id: o for name in OPTION_GROUPS for o in grammar.group(name)} | {f.id: f for f in grammar.factors}
    known = {option: [plain(name) for name in (own[option].label, *own[option].aliases)] for option in PROSE}
    copied = {
        option for option, texts in PROSE.items() if all(any(name in plain(t) for name in known[option]) for t in texts)
    }

    assert copied <= {"breadth"}, "breadth has one name only"


@pytest.mark.parametrize("option", PROSE)
def test_option_in_prose_is_claimed_in_every_wording(option: str) -> None:
    for wording in PROSE[option]:
        assert in_prose(item(option), *said(wording)) == "present", wording


@pytest.mark.parametrize("option", PROSE)
def test_wording_of_another_option_claims_it_not(option: str) -> None:
    for other in others(option):
        for wording in PROSE[other]:
            expected = "missing" if group(option) == "factors" else "contradicted"
            assert in_prose(item(option), *said(wording)) == expected, wording


@pytest.mark.parametrize("option", CONFIGURED)
def test_option_in_a_configuration_is_claimed_and_another_contradicts(option: str) -> None:
    component, key = SPEC_ROW[group(option)]
    pair = [("stock_selection", "factors", "roe+mom_12_1")] if group(option) == "combination" else []
    for value in CONFIGURED[option]:
        assert configured(item(option), *pair, (component, key, value)) == "present", value
    for other in others(option):
        for value in CONFIGURED[other]:
            assert configured(item(option), *pair, (component, key, value)) == "contradicted", value


@pytest.mark.parametrize("option", VALUES)
def test_value_in_prose_is_claimed_in_every_unit_and_another_number_contradicts(option: str) -> None:
    _, value, unit = VALUES[option]
    wrong = "17%" if unit == "percent" else "25 bps"
    for wording in VALUE_PROSE[option]:
        for number in VALUE_WORDS[unit, value]:
            assert in_prose(value_item(option), *said(wording.format(number))) == "present", (wording, number)
        assert in_prose(value_item(option), *said(wording.format(wrong))) == "contradicted", wording


@pytest.mark.parametrize("option", VALUES)
def test_value_in_a_configuration_is_claimed_and_another_number_contradicts(option: str) -> None:
    param, value, unit = VALUES[option]
    component = SPEC_ROW[group(option)][0]
    rule = [] if option == "fixed_rate" else [(component, "rule", option)]
    written = (
        [f"{value:g}", f"{value:g}%", f"{value / 100:g}"] if unit == "percent" else ["10", "10 bps", "0.1%", "0.001"]
    )
    for text in written:
        assert configured(value_item(option), *rule, (component, param, text)) == "present", text
    assert configured(value_item(option), *rule, (component, param, "17")) == "contradicted"


@pytest.mark.parametrize("option", [name for name in PROSE if group(name) != "factors"])
def test_configuration_outranks_prose(option: str) -> None:
    component, key = SPEC_ROW[group(option)]
    pair = [("stock_selection", "factors", "roe+mom_12_1")] if group(option) == "combination" else []
    frame = pd.DataFrame([*pair, (component, key, others(option)[0])], columns=["component", "key", "value"])
    delivery = Delivery(offline_conditions(), (), (Table("spec.csv", "spec", frame, 1),), ())

    found = find_claim(item(option), delivered_spec(delivery), spec_rows(delivery), said(*PROSE[option]))

    assert found.claim == "contradicted"
    assert found.quotes


@pytest.mark.parametrize("option", PROSE)
def test_later_retraction_cancels_an_earlier_claim(option: str) -> None:
    name = names(option)[0]
    first = Passage("message:2", 2, PROSE[option][0])
    for words in (
        f"We no longer use {name}.",
        f"I dropped the {name}.",
        f"The {name} was removed.",
        f"Without {name}.",
    ):
        assert in_prose(item(option), first, Passage("message:3", 3, words)) == "missing", words
        again = Passage("message:4", 4, PROSE[option][1])
        assert in_prose(item(option), first, Passage("message:3", 3, words), again) == "present", words


@pytest.mark.parametrize("option", [name for name in PROSE if group(name) != "factors"])
def test_later_switch_to_another_option_contradicts(option: str) -> None:
    first = Passage("message:2", 2, PROSE[option][0])
    other = names(others(option)[0])[0]

    assert in_prose(item(option), first, Passage("message:3", 3, f"I switched to {other}.")) == "contradicted"
    assert in_prose(item(option), first, Passage("message:2", 2, f"It now uses {other}.")) == "contradicted"


@pytest.mark.parametrize("option", PROSE)
@pytest.mark.parametrize(
    "frame",
    [
        "Would you like {}?",
        "Do you want {} or something else?",
        "We could also use {}.",
        "There is no {} in this run.",
        "The sensitivity table has a variant with {}.",
        "An alternative is {}.",
    ],
)
def test_question_offer_or_denial_is_no_claim(option: str, frame: str) -> None:
    assert in_prose(item(option), *said(frame.format(names(option)[0]))) == "missing"


def test_negation_reaches_only_the_name_behind_it() -> None:
    text = "weights are equal-weighted instead of risk parity, not inverse vol"

    assert reading(text, "equal") == "affirmed"
    assert reading(text, "risk_parity") == "retracted"
    assert reading(text, "inverse_vol") == "denied"


def test_results_are_no_levels_of_a_rule() -> None:
    wanted = value_item("drawdown_stop")
    lines = said("The maximum drawdown was 20.0%.", "Worst drawdown: -20%.", "Return 20%, drawdown 12%.")

    assert in_prose(wanted, *lines) == "missing"


def test_other_levels_that_were_only_tried_change_nothing() -> None:
    wanted = value_item("drawdown_stop")
    lines = said("The book goes to cash at a 20% drawdown.", "Sensitivity: a drawdown stop at 10% or 15% costs return.")

    assert in_prose(wanted, *lines) == "present"


def test_later_number_replaces_an_earlier_one() -> None:
    wanted = value_item("fixed_rate")
    first = Passage("message:2", 2, "I charge 10 bps a trade.")
    second = Passage("message:3", 3, "The cost is 25 bps on every trade.")

    assert in_prose(wanted, first, second) == "contradicted"
    assert in_prose(wanted, second, replace(first, turn=4)) == "present"


def test_out_of_sample_is_no_covariance() -> None:
    assert (
        in_prose(item("sample"), *said("The out-of-sample part starts in 2019.", "Full sample: 2013-2021."))
        == "missing"
    )


def test_no_costs_in_prose_contradicts_a_rate_option() -> None:
    assert in_prose(item("spy_sma"), *said("The book is always invested.")) == "contradicted"


def test_field_of_an_item_is_its_part_of_the_specification() -> None:
    assert {option: field_of(item(option)) for option in ("roe", "rank_mean", "ewma", "equal", "staged")} == {
        "roe": "factors",
        "rank_mean": "combination",
        "ewma": "covariance",
        "equal": "weighting",
        "staged": "execution",
    }
