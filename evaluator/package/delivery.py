"""The delivery D as typed tables. Every dated frame has plain `datetime64` dates without time zone, oldest first.

Canonical columns (a column the delivery lacks is absent from the frame, never invented):
  prices        date symbol open high low close adj_close volume dividends stock_splits
  fundamentals  date(period_end as `period_end`) announced symbol + the statement's own numeric columns
  signals       date symbol [factor] value            one row per (decision date, symbol, factor); factor 'composite' is the combined score
  selections    date symbol [rank]                    decision date, chosen names
  weights       date symbol weight                    decision-dated target weights; cash is 1 - sum
  trades        date symbol side(+1/-1) quantity price fee signal_date reason trigger fill_id   one row per fill
  equity        date equity [cash] [return]
  metrics       name value                            full-sample, net, strategy values
  market        date symbol value                     index, VIX and other series that no one trades
  spec          key value
  sources, quality, sensitivity, out_of_sample, stress: as delivered
"""

from dataclasses import dataclass, field

import pandas as pd

from records.calls import CallRecord
from records.rerun import Rerun
from records.session import AgentEvent
from records.task import Conditions


@dataclass(frozen=True)
class Table:
    """One recognised table."""

    path: str
    """File it came from, relative to deliver/, with '#sheet' or '#key' when a file holds several."""
    role: str
    """prices, fundamentals, signals, selections, weights, trades, equity, metrics, market, spec, sources, ... or 'other'."""
    frame: pd.DataFrame
    turn: int
    group: str = "main"
    """'main' or the name of a stress / alternative run whose own fills lie in the same delivery."""
    guesses: tuple[str, ...] = ()
    """Every guess made while reading, in words."""


@dataclass(frozen=True)
class Document:
    """A delivered text: report, README, code."""

    path: str
    kind: str
    """report, code or text."""
    text: str
    turn: int


@dataclass(frozen=True)
class Message:
    """One message of the conversation, oldest first."""

    role: str
    turn: int
    text: str


@dataclass(frozen=True)
class RerunOutput:
    """What the delivered code made when the runner ran it again."""

    record: Rerun
    tables: tuple[Table, ...]
    """Files that it made or changed, read as a delivery is."""
    refused: tuple[str, ...] = ()


@dataclass(frozen=True)
class Delivery:
    """All that is graded: messages and the last version of each delivered file, plus what was refused."""

    conditions: Conditions
    messages: tuple[Message, ...]
    tables: tuple[Table, ...]
    documents: tuple[Document, ...]
    refused: tuple[str, ...] = ()
    late_workspace_files: tuple[str, ...] = field(default=())
    """Data files of the captured workspace (outside deliver/) that hold rows after t_cut."""
    calls: tuple[CallRecord, ...] = ()
    """L: the gateway's log of data and web requests, oldest first."""
    turns: tuple[AgentEvent, ...] = ()
    """The agent's turns with their times, flags and file hashes, oldest first."""
    rerun: RerunOutput | None = None
    """None when the code was not run again, and for a delivery up to a turn: code is run once, at the end."""

    def of(self, role: str, *, group: str = "main") -> tuple[Table, ...]:
        """Return the tables of one role and group, in path order."""
        return tuple(table for table in self.tables if table.role == role and table.group == group)
