"""Conversations and deliveries made in memory and on a temporary folder."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest

from generator import generate, offline_conditions
from records.capture import FileEntry
from records.decision import DecisionRecord, View
from records.session import AgentEvent, UserEvent
from simulator import UserSimulator, build_view

AT = datetime(2022, 12, 28, tzinfo=UTC)

SIX_QUESTIONS = """Before I build anything I need your decisions on six points:

1. Stock selection: which factors do you want, how exactly is each one defined, and how should I combine them?
2. Market timing: when should the portfolio be in the market and when in cash?
3. Portfolio construction: how should positions be weighted, and how should the covariance be estimated?
4. Risk control: which rule do you use, and at what exact threshold?
5. Execution: when and how should orders be filled?
6. Transaction cost: what rate per trade should I charge, in bps?
"""

REPORT = """# Backtest report

## Summary
The total return is 84.1%, the Sharpe ratio 0.55, the maximum drawdown -22.0%, the number of trades 512.

## Method
As agreed with the client. Prices come from Financial Modeling Prep.

## Results
See metrics.csv and equity.csv.

## Limitations
One historical path.
"""

CLEAN_DELIVERY = {
    "report.md": REPORT,
    "metrics.csv": "metric,value,basis\ntotal_return,0.841,net\nsharpe,0.55,\nmax_drawdown,-0.22,\ntrades,512,\n",
    "trades.csv": "fill_id,signal_date,fill_date,symbol,side,quantity,price,fee,reason,trigger\n1,2014-01-31,2014-02-03,KO,BUY,100,38.1,3.8,rebalance,selected=1\n",
    "prices.csv": "date,symbol,open,high,low,close,adj_close,volume,dividends,stock_splits\n2013-01-02,KO,37.1,37.6,36.9,37.6,30.1,100,0,0\n",
    "sources.csv": "series,symbols,endpoint\nprices,KO,https://financialmodelingprep.com/api/v3/historical-price-full\n",
    "equity.csv": "date,equity,cash\n2014-02-03,1000000,12\n",
}


class Talk:
    """One session against the embedded user: says agent messages, keeps the user's records."""

    def __init__(self, folder: Path, seed: int, *, reply: UserSimulator | None = None) -> None:
        self.task, self.strategy = generate(seed, conditions=offline_conditions())
        self.user = reply or UserSimulator(self.task, self.strategy)
        self.folder = folder
        self.files: dict[str, bytes] = {}
        self.events: list[UserEvent | AgentEvent] = [UserEvent(turn=0, at=AT, text=self.task.opening)]
        self.records: list[DecisionRecord] = []

    def turn(self) -> int:
        return len(self.records) + 1

    def deliver(self, turn: int) -> Path:
        return self.folder / str(turn) / "deliver"

    def hear(self, text: str, files: dict[str, str | bytes] | None = None, *, cut: bool = False) -> View:
        """Put an agent turn with new or changed files on disk and return the view after it."""
        self.files |= {path: body.encode() if isinstance(body, str) else body for path, body in (files or {}).items()}
        for path, body in self.files.items():
            target = self.deliver(self.turn()) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(body)
        entries = tuple(
            FileEntry(path=path, size=len(body), sha256=sha256(body).hexdigest()) for path, body in self.files.items()
        )
        self.events.append(AgentEvent(turn=self.turn(), started_at=AT, ended_at=AT, text=text, files=entries, cut=cut))
        return build_view(self.events, deliver=self.deliver)

    def say(self, text: str, files: dict[str, str | bytes] | None = None, *, cut: bool = False) -> DecisionRecord:
        record = self.user.reply(self.hear(text, files, cut=cut))
        self.events.append(UserEvent(turn=self.turn(), at=AT, text=record.decision.message))
        self.records.append(record)
        return record

    @property
    def items(self) -> set[str]:
        return {item.id for item in self.strategy.belief.items}


@pytest.fixture
def talk(tmp_path: Path) -> Callable[[int], Talk]:
    return lambda seed: Talk(tmp_path / f"seed-{seed}", seed)


def options_of(strategies: Iterable[int]) -> dict[int, set[str]]:
    """Return, per seed, the option ids of its belief."""
    return {
        seed: {item.option for item in generate(seed, conditions=offline_conditions())[1].belief.items}
        for seed in strategies
    }
