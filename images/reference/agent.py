"""The reference control agent: one turn per start, the client's message on standard input, the reply on the last line.

It sees only the conversation and the data service. State lives under the workspace, results in its `deliver` folder.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import data
import parse
import report
import say
import strategy
from fmp import DataError, Service

HERE = Path(__file__).resolve().parent
BACKTEST_LIMIT_S = 240


def workspace() -> Path:
    """Return the workspace; the variable serves runs outside a sandbox."""
    return Path(os.environ.get("REFERENCE_WORKSPACE", "/workspace"))


def event(kind: str, **fields: Any) -> None:
    """Print one event line."""
    print(json.dumps({"event": kind, **fields}), flush=True)


class State:
    """What one turn hands to the next."""

    def __init__(self, folder: Path) -> None:
        """Read the state of earlier turns."""
        self.path = folder / ".reference" / "state.json"
        kept = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}
        self.turn: int = kept.get("turn", 0)
        self.asked_again: bool = kept.get("asked_again", False)
        self.delivered: bool = kept.get("delivered", False)
        self.fetched: dict[str, Any] = kept.get("fetched", {})
        if "requirements" in kept:
            self.stated, self.scope = parse.from_json(kept["requirements"])
        else:
            self.stated, self.scope = parse.Stated(), parse.Scope()

    def save(self) -> None:
        """Write the state."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        kept = {
            "turn": self.turn,
            "asked_again": self.asked_again,
            "delivered": self.delivered,
            "fetched": self.fetched,
            "requirements": parse.to_json(self.stated, self.scope),
        }
        self.path.write_text(json.dumps(kept, indent=1, sort_keys=True), encoding="utf-8")


def answer(message: str, state: State, deliver: Path) -> str:
    """Return the reply to one message."""
    state.turn += 1
    if state.turn == 1:
        request = parse.request_of(message)
        state.scope = parse.read_scope(request)
        parse.read_message(request, state.stated)
        return say.opening_questions(state.stated)
    changed = parse.read_message(message, state.stated)
    lacking = parse.missing(state.stated)
    if not state.delivered:
        if lacking and not state.asked_again:
            state.asked_again = True
            return say.ask_again(lacking)
        return _build(state, deliver, changed=[])
    if changed:
        return _build(state, deliver, changed=say.change_names(changed))
    return say.piece_question(message) or say.nothing_new(deliver)


def _build(state: State, deliver: Path, *, changed: list[str]) -> str:
    """Fetch what is needed, run the backtest, write the report; return the message that goes with it."""
    if not state.stated.factors:
        state.asked_again = True
        return say.ask_again(["stock_selection"])
    if not state.scope.end:
        return "Up to which date may I use data? I would like a first and a last date before I run it."
    _complete_scope(state)
    deliver.mkdir(parents=True, exist_ok=True)
    _fetch(state, deliver)
    names = len(state.scope.symbols)
    spec = strategy.specification(state.stated, state.scope, names, stand_in=state.fetched["stand_in"])
    spec.to_csv(deliver / "specification.csv", index=False, lineterminator="\n")
    shutil.copyfile(HERE / "backtest.py", deliver / "backtest.py")
    shutil.rmtree(deliver / "stress", ignore_errors=True)
    event("backtest", names=names)
    _run_backtest(deliver)
    known = {"stand_in": state.fetched["stand_in"], "modelled_rows": state.fetched["modelled_rows"]}
    report.write_report(deliver, notes=state.fetched["notes"], **known)
    state.delivered = True
    return say.delivery(deliver, changed=changed, **known)


def _complete_scope(state: State) -> None:
    """Fill in a start date the client left out: ten years before the last date."""
    scope = state.scope
    if not scope.start:
        scope.start = f"{int(scope.end[:4]) - 10}{scope.end[4:]}".replace("-02-29", "-02-28")


def _fetch(state: State, deliver: Path) -> None:
    """Fetch the tables unless an earlier turn has them all."""
    scope = state.scope
    need = {
        "fundamentals": strategy.needs_fundamentals(state.stated),
        "vix": state.stated.options.get("market_timing") == "vix_gate",
    }
    if state.fetched and all(state.fetched["has"][name] or not wanted for name, wanted in need.items()):
        return
    service = Service()
    if not scope.symbols:
        service.connect()
        rows = data.pool(service, sector=scope.sector, whole_service=scope.whole_service)
        scope.symbols = [str(row["symbol"]) for row in rows]
    event("fetch", names=len(scope.symbols))
    got = data.fetch(service, scope.symbols, start=scope.start, end=scope.end, **need)
    for name, table in got.tables.items():
        table.to_csv(deliver / f"{name}.csv", index=False, date_format="%Y-%m-%d", lineterminator="\n")
    data.source_table(got.calls).to_csv(deliver / "sources.csv", index=False, lineterminator="\n")
    scope.symbols = sorted(set(got.tables["prices"]["symbol"]))
    state.fetched = {
        "has": need,
        "notes": got.notes,
        "modelled_rows": got.modelled_rows,
        "stand_in": got.stand_in,
    }


def _run_backtest(deliver: Path) -> None:
    """Run the delivered program on the delivered tables.

    Raises:
        RuntimeError: it ended with an error or took too long.

    """
    command = [sys.executable, str(deliver / "backtest.py")]
    try:
        subprocess.run(command, cwd=deliver, check=True, capture_output=True, timeout=BACKTEST_LIMIT_S)
    except subprocess.CalledProcessError as error:
        print(error.stderr.decode(errors="replace"), file=sys.stderr)
        raise RuntimeError("the backtest ended with an error") from error
    except subprocess.TimeoutExpired as error:
        raise RuntimeError("the backtest took too long") from error


def main() -> None:
    """Take one turn."""
    message = sys.stdin.buffer.read().decode("utf-8", errors="replace")
    folder = workspace()
    state = State(folder)
    try:
        reply = answer(message, state, folder / "deliver")
    except DataError as error:
        reply = (
            f"I could not get the data for your backtest: {error}. Nothing was run; I will try again when you answer."
        )
    except RuntimeError as error:
        reply = f"The run did not finish: {error}. Tell me to try again, or change a part of the strategy."
    state.save()
    print(json.dumps({"message": reply}), flush=True)


if __name__ == "__main__":
    main()
