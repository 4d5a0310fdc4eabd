"""Whole conversations with the reference agent against the made-up data service."""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import OPENING, SIX, SIX_ANSWER, one_turn

Session = tuple[Path, list[str]]
CUT = pd.Timestamp("2016-06-30")
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

pytestmark = pytest.mark.slow  # whole sessions outside a box; tests/docker runs real ones in make test


def digest(folder: Path) -> dict[str, str]:
    names = [path for path in sorted(folder.rglob("*.csv")) if path.name != "sources.csv"]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in names}


def given(folder: Path, parameter: str) -> str:
    spec = pd.read_csv(folder / "specification.csv", keep_default_na=False)
    return str(spec[spec["parameter"] == parameter].iloc[0]["value"])


def test_opening_is_answered_with_one_question_on_each_component(session: Session) -> None:
    reply = session[1][0]
    for topic in ("Stock selection", "Market timing", "Portfolio construction", "Risk control", "Execution", "cost"):
        assert topic in reply
    assert reply.count("?") >= 6


def test_answered_questions_give_a_complete_delivery(session: Session) -> None:
    folder = session[0] / "deliver"
    for name in TABLES:
        assert (folder / f"{name}.csv").exists(), name
    assert given(folder, "weighting") == "min_variance"
    assert given(folder, "rule") == "always_invested"
    reply = session[1][1]
    assert "total return" in reply
    assert "/" + "workspace" not in reply
    text = (folder / "report.md").read_text()
    for heading in ("## Summary", "## Method", "## Results", "## Limitations"):
        assert heading in text
    assert len(text) < 11_000


def test_delivered_program_regenerates_the_same_bytes(session: Session, tmp_path: Path) -> None:
    folder = shutil.copytree(session[0] / "deliver", tmp_path / "deliver")
    before = digest(folder)
    for name in ("trades", "equity", "metrics", "signals"):
        (folder / f"{name}.csv").unlink()
    subprocess.run([sys.executable, str(folder / "backtest.py")], check=True, capture_output=True)
    assert digest(folder) == before


def test_volume_cap_that_never_binds_is_shown_in_a_stress_run(session: Session) -> None:
    folder = session[0] / "deliver"
    stress = pd.read_csv(folder / "stress" / "trades.csv")
    prices = pd.read_csv(folder / "prices.csv")
    joined = stress.merge(prices, left_on=["fill_date", "symbol"], right_on=["date", "symbol"])
    assert (joined["quantity"] <= 0.05 * joined["volume"] + 1e-6).all()
    assert (stress.groupby(["signal_date", "symbol"]).size() > 1).any()
    assert float(given(folder / "stress", "capital")) > float(given(folder, "capital"))


def test_late_word_of_the_client_changes_the_run_and_is_named(
    session: Session, service: tuple[str, Any], tmp_path: Path
) -> None:
    workspace = shutil.copytree(session[0], tmp_path / "later")
    reply = one_turn(service[0], workspace, "Charge a transaction cost of 15 bps on every trade.")
    assert "transaction cost" in reply.splitlines()[0]
    assert given(workspace / "deliver", "rate_bps") == "15"
    fills = pd.read_csv(workspace / "deliver" / "trades.csv")
    assert (fills["fee"] - 0.0015 * fills["quantity"] * fills["price"]).abs().max() < 1e-6


def test_message_that_changes_nothing_is_answered_from_the_files(
    session: Session, service: tuple[str, Any], tmp_path: Path
) -> None:
    workspace = shutil.copytree(session[0], tmp_path / "later")
    before = digest(workspace / "deliver")
    reply = one_turn(service[0], workspace, "Show me every trade with its date and price.")
    assert "trades.csv" in reply
    assert digest(workspace / "deliver") == before


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
    for path in tmp_path.rglob("*.csv"):
        table = pd.read_csv(path)
        for column in ("date", "signal_date", "fill_date", "announced", "period_end"):
            if column in table.columns:
                assert pd.to_datetime(table[column]).max() <= CUT, (path.name, column)
    assert (pd.to_datetime(trades["fill_date"]) > pd.to_datetime(trades["signal_date"])).all()
    assert (trades["quantity"] > 0).all()
    assert (equity["cash"] > -1e-6).all()
    fires = any(word in said for word in ("stop-loss", "Cut to cash", "volatility target"))
    acted = trades["reason"].isin(["stop", "target"]).any() or (tmp_path / "deliver" / "stress").exists()
    assert acted or not fires


def test_stop_without_its_number_is_asked_for_once_more(talk: Callable[..., str], tmp_path: Path) -> None:
    talk(SIX)
    reply = talk(SIX_ANSWER + " A stop-loss on each position.")
    assert "exact level" in reply
    assert not (tmp_path / "deliver").exists()


def test_refusing_service_is_told_plainly(
    talk: Callable[..., str], service: tuple[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service[1], "refuse", "HTTP 402: Restricted Endpoint")
    talk(SIX)
    reply = talk(SIX_ANSWER)
    assert "could not get the data" in reply
    assert "Traceback" not in reply
    assert not (tmp_path / "deliver" / "trades.csv").exists()


def test_null_says_hello_and_delivers_nothing(talk: Callable[..., str], tmp_path: Path) -> None:
    assert talk(SIX, program="null.py") == "Hello."
    assert list(tmp_path.iterdir()) == []
