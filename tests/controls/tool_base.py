"""Clean deliveries made by bt, backtrader and vectorbt: the tool's own script, its table layouts, and texts beside them."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from tests.controls.attempts import Attempt, copied
from tests.controls.places import HERE, digest, made_once
from tests.controls.sessions import recorded
from tests.controls.write_up import final_message, report, specification

SCRIPTS = HERE / "scripts"
SCRIPT = "strategy.py"


@dataclass(frozen=True)
class Tool:
    """One base: whose session it takes over and how its tool is told."""

    seed: int
    settings: dict[str, Any]


TOOLS = {
    "bt": Tool(
        1208,
        {
            "title": "reversal",
            "factors": ["rev_21"],
            "combination": "none",
            "timing": "always_invested",
            "weighting": "rank_weighted",
            "fill": "close",
            "rate_bps": 5.0,
            "n_holdings": 8,
        },
    ),
    "backtrader": Tool(
        2107,
        {
            "title": "momentum",
            "factors": ["mom_12_1", "low_max_21"],
            "combination": "zscore_mean",
            "timing": "spy_abs_mom",
            "lookback": 126,
            "weighting": "equal",
            "fill": "open",
            "rate_bps": 15.0,
            "n_holdings": 6,
            "invested": 0.95,
        },
    ),
    "vectorbt": Tool(
        1315,
        {
            "title": "near-high",
            "factors": ["high_52w"],
            "combination": "none",
            "timing": "vix_gate",
            "threshold": 30.0,
            "weighting": "score_weighted",
            "fill": "close",
            "rate_bps": 20.0,
            "n_holdings": 6,
        },
    ),
}
COMMON = {"capital": 1_000_000, "split": "2019-01-01", "start": "2013-01-02", "end": "2021-12-31"}


def tool_base(name: str) -> Path:
    """Return the attempt of one tool, made when it is not there."""
    tool = TOOLS[name]
    session = recorded(tool.seed)
    own = [*SCRIPTS.glob("*.txt"), HERE / "write_up.py", HERE / "tool_base.py"]
    return made_once(name, digest(own, session.name), lambda place: _make(name, session, place))


def _make(name: str, session: Path, place: Path) -> None:
    place.rmdir()
    attempt = copied(session, place)
    deliver = attempt.deliver
    prices, market, sources = attempt.typed("prices"), attempt.typed("market"), attempt.table("sources")
    shutil.rmtree(deliver)
    deliver.mkdir()
    _inputs(deliver, prices, market)
    used = sources[sources["rows"].astype(int) > 0]
    used.rename(columns={"series": "Series", "endpoint": "API call"}).to_csv(deliver / "data_sources.csv", index=False)
    settings = {"tool": name, **TOOLS[name].settings, **COMMON}
    (deliver / "settings.json").write_text(json.dumps(settings, indent=1), encoding="utf-8")
    parts = ("shared", f"{name}_book", "ending")
    code = "".join((SCRIPTS / f"{part}.py.txt").read_text(encoding="utf-8") for part in parts)
    (deliver / SCRIPT).write_text(code, encoding="utf-8")
    regenerate(attempt)


def _inputs(deliver: Path, prices: pd.DataFrame, market: pd.DataFrame) -> None:
    """Write prices adjusted for splits and dividends throughout, as the tools need them, and the index series."""
    scale = prices["adj_close"] / prices["close"]
    table = pd.DataFrame({"Date": prices["date"], "Ticker": prices["symbol"]})
    for column in ("open", "high", "low", "close"):
        table[column.title()] = prices[column] * scale
    # Rounding of the product may put a close a hair outside its bar.
    table["High"] = table[["Open", "High", "Low", "Close"]].max(axis=1)
    table["Low"] = table[["Open", "High", "Low", "Close"]].min(axis=1)
    table["Volume"] = prices["volume"]
    table.to_csv(deliver / "prices.csv", index=False)
    market = market.rename(columns={"date": "Date", "symbol": "Ticker", "close": "Close"})
    market.to_csv(deliver / "index.csv", index=False)


def regenerate(attempt: Attempt) -> None:
    """Run the delivered script and write the texts again from what it wrote.

    Raises: RuntimeError: the script failed.
    """
    deliver = attempt.deliver
    env = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", SCRIPT], cwd=deliver, env=env, capture_output=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{SCRIPT}: {done.stderr.decode()[-900:]}")
    (deliver / "facts.json").replace(attempt.paths.root / "facts.json")
    texts(attempt)


def texts(attempt: Attempt) -> None:
    """Write specification, report and last message from the tables as they now stand."""
    deliver = attempt.deliver
    settings = json.loads((deliver / "settings.json").read_text(encoding="utf-8"))
    facts = json.loads((attempt.paths.root / "facts.json").read_text(encoding="utf-8"))
    metrics = attempt.typed("metrics").set_index("metric")["value"].to_dict()
    specification(settings).to_csv(deliver / "strategy_spec.csv", index=False)
    quality = len(attempt.typed("prices"))
    validation = attempt.typed("signal_validation").set_index("diagnostic")["value"].to_dict()
    benchmark = attempt.typed("benchmark").set_index("measure")
    (deliver / "report.md").write_text(
        report(settings, metrics, facts, validation, benchmark, rows=quality), encoding="utf-8"
    )
    attempt.reply(lambda _: final_message(settings, metrics))
    attempt.refresh()
