"""Whole conversations with the reference agent against the made-up data service."""

import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

OPENING = (
    "I would like a backtest of stocks with {factors} drawn from AAPL, AMD, AMZN, BAC, BBY, CVX, GE, GOOG, HD, JNJ, JPM, KO, "
    "LLY, META, MRK, MSFT, NFLX, NVDA, PEP, PFE and PG{extras}, using data from January 2, 2013 to December 29, 2017. "
    "At most 10 may be held at a time."
)
SIX = OPENING.format(
    factors="12-month momentum that leaves out the latest month", extras=", with minimum variance weights"
)
SIX_ANSWER = (
    "Estimate it with the plain sample covariance. A volume cap: never more than a small share of daily volume."
)
CUT = pd.Timestamp("2017-12-29")
TABLES = ("prices", "market", "signals", "selections", "target_weights", "trades", "equity", "metrics", "specification")
TABLES += (
    "sources",
    "data_quality",
    "sensitivity",
    "out_of_sample",
    "signal_validation",
    "benchmark_comparison",
    "risks",
)


def digest(folder: Path) -> dict[str, str]:
    names = [path for path in sorted(folder.rglob("*.csv")) if path.name != "sources.csv"]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in names}


def given(folder: Path, parameter: str) -> str:
    spec = pd.read_csv(folder / "specification.csv", keep_default_na=False)
    return str(spec[spec["parameter"] == parameter].iloc[0]["value"])


def test_opening_is_answered_with_one_question_on_each_component(talk: Callable[..., str], tmp_path: Path) -> None:
    reply = talk(SIX)
    for topic in ("Stock selection", "Market timing", "Portfolio construction", "Risk control", "Execution", "cost"):
        assert topic in reply
    assert reply.count("?") >= 6
    assert not (tmp_path / "deliver").exists()


def test_answered_questions_give_a_complete_delivery(talk: Callable[..., str], tmp_path: Path) -> None:
    talk(SIX)
    reply = talk(SIX_ANSWER)
    folder = tmp_path / "deliver"
    for name in TABLES:
        assert (folder / f"{name}.csv").exists(), name
    assert given(folder, "weighting") == "min_variance"
    assert given(folder, "rule") == "always_invested"
    assert "total return" in reply
    assert "/" + "workspace" not in reply
    text = (folder / "report.md").read_text()
    for heading in ("## Summary", "## Method", "## Results", "## Limitations"):
        assert heading in text
    assert len(text) < 8_000


def test_no_delivered_or_kept_row_lies_after_the_last_permitted_date(talk: Callable[..., str], tmp_path: Path) -> None:
    talk(OPENING.format(factors="a high return on equity", extras=""))
    talk("Equal weight in each name.")
    for path in tmp_path.rglob("*.csv"):
        table = pd.read_csv(path)
        for column in ("date", "signal_date", "fill_date", "announced", "period_end"):
            if column in table.columns:
                assert pd.to_datetime(table[column]).max() <= CUT, (path.name, column)


def test_delivered_program_regenerates_the_same_bytes(talk: Callable[..., str], tmp_path: Path) -> None:
    talk(SIX)
    talk(SIX_ANSWER)
    folder = tmp_path / "deliver"
    before = digest(folder)
    for name in ("trades", "equity", "metrics", "signals"):
        (folder / f"{name}.csv").unlink()
    subprocess.run([sys.executable, str(folder / "backtest.py")], check=True, capture_output=True)
    assert digest(folder) == before


def test_volume_cap_that_never_binds_is_shown_in_a_stress_run(talk: Callable[..., str], tmp_path: Path) -> None:
    talk(SIX)
    talk(SIX_ANSWER)
    folder = tmp_path / "deliver"
    stress = pd.read_csv(folder / "stress" / "trades.csv")
    prices = pd.read_csv(folder / "prices.csv")
    joined = stress.merge(prices, left_on=["fill_date", "symbol"], right_on=["date", "symbol"])
    assert (joined["quantity"] <= 0.05 * joined["volume"] + 1e-6).all()
    assert (stress.groupby(["signal_date", "symbol"]).size() > 1).any()
    assert float(given(folder / "stress", "capital")) > float(given(folder, "capital"))


CASES = [
    (
        "1-week reversal (past week losers) and a high earnings yield",
        (
            "Blend the factors by the average rank of each name. "
            "Mean-variance optimised weights. Estimate it with a Ledoit-Wolf shrinkage covariance. Charge a transaction cost of 10 bps "
            "on every trade. Scale exposure to a volatility target of 8% a year, the rest in cash."
        ),
        "",
    ),
    (
        "1-month reversal (last month's losers) and a low max daily return",
        (
            "Use a sequential screen: keep the top half on 1-month "
            "reversal, rank the rest on max daily return. Staged orders: each trade spread over several days. A stop-loss on each "
            "position at 8% below entry. Cap-weighted positions: bigger companies get more."
        ),
        ", with an absolute momentum check on the index",
    ),
    (
        "a big positive earnings surprise",
        (
            "Use a VIX filter: step aside into cash when the VIX is too high. Inverse volatility "
            "sizing: calmer names get more. Cut to cash if the drawdown reaches 10%. Trade at the next day close."
        ),
        "",
    ),
    (
        "high gross profitability, low beta and small cap size",
        (
            "Blend the factors by the average z-score of each name. Risk parity "
            "weights: every name adds the same amount of risk. Estimate it with an exponentially weighted covariance (EWMA). Use "
            "market breadth: be in only when enough of the stocks are above their 200-session average."
        ),
        "",
    ),
]


@pytest.mark.parametrize(("factors", "said", "extras"), CASES)
def test_every_trade_is_later_than_its_signal_and_cash_never_negative(
    factors: str, said: str, extras: str, talk: Callable[..., str], tmp_path: Path
) -> None:
    talk(OPENING.format(factors=factors, extras=extras))
    talk(said)
    trades = pd.read_csv(tmp_path / "deliver" / "trades.csv")
    equity = pd.read_csv(tmp_path / "deliver" / "equity.csv")
    assert len(trades) > 20
    assert (pd.to_datetime(trades["fill_date"]) > pd.to_datetime(trades["signal_date"])).all()
    assert (trades["quantity"] > 0).all()
    assert (equity["cash"] > -1e-6).all()
    fires = any(word in said for word in ("stop-loss", "Cut to cash", "volatility target"))
    acted = trades["reason"].isin(["stop", "target"]).any() or (tmp_path / "deliver" / "stress").exists()
    assert acted or not fires


def test_late_word_of_the_client_changes_the_run_and_is_named(talk: Callable[..., str], tmp_path: Path) -> None:
    talk(SIX)
    talk(SIX_ANSWER)
    reply = talk("Charge a transaction cost of 15 bps on every trade.")
    assert "transaction cost" in reply.splitlines()[0]
    assert given(tmp_path / "deliver", "rate_bps") == "15"
    fees = pd.read_csv(tmp_path / "deliver" / "trades.csv")
    assert (fees["fee"] - 0.0015 * fees["quantity"] * fees["price"]).abs().max() < 1e-6


def test_stop_without_its_number_is_asked_for_once_more(talk: Callable[..., str], tmp_path: Path) -> None:
    talk(SIX)
    reply = talk(SIX_ANSWER + " A stop-loss on each position.")
    assert "exact level" in reply
    assert not (tmp_path / "deliver").exists()
    talk("A stop-loss on each position at 15% below entry.")
    assert given(tmp_path / "deliver", "threshold") == "15"


def test_refusing_service_is_told_plainly(talk: Callable[..., str], service: tuple[str, Any], tmp_path: Path) -> None:
    service[1].refuse = "HTTP 402: Restricted Endpoint"
    talk(SIX)
    reply = talk(SIX_ANSWER)
    assert "could not get the data" in reply
    assert "Traceback" not in reply
    assert not (tmp_path / "deliver" / "trades.csv").exists()


def test_null_says_hello_and_delivers_nothing(talk: Callable[..., str], tmp_path: Path) -> None:
    assert talk(SIX, program="null.py") == "Hello."
    assert list(tmp_path.iterdir()) == []
