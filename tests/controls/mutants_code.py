"""Mutants of the delivered code (3.6), of the figures on the signals (2.8b), and of what a rebuild needs (3.2)."""

import re

from tests.controls.again import patched, retold
from tests.controls.attempts import Attempt
from tests.controls.control import edited, process
from tests.outside_box import run_alone

PROGRAM = "strategy.py"


# ------------------------------------------------------------------------------------------------------ 3.6 code


@edited("code-does-not-parse", "bt", "a delivered script that was cut off")
def _(it: Attempt) -> None:
    it.rewrite(PROGRAM, lambda text: text + "\nfor now, then in zip(\n")
    run_alone(it.paths)


@edited("code-stops", "bt", "a script that needs a file nobody else has")
def _(it: Attempt) -> None:
    it.replace(PROGRAM, "LAG = 1\n", 'LAG = 1\nopen("/home/analyst/notes.txt").close()\n')
    run_alone(it.paths)


@edited("code-of-another-run", "bt", "the script was changed after the delivered run")
def _(it: Attempt) -> None:
    it.replace(PROGRAM, 'N = SET["n_holdings"]', 'N = SET["n_holdings"] + 3')
    run_alone(it.paths)


@edited("reference-code-of-another-run", "volume", "the program was changed after the delivered run")
def _(it: Attempt) -> None:
    it.replace(
        "backtest.py",
        "        return window[:, -22] / window[:, 0] - 1.0",
        "        return window[:, -22] / window[:, -130] - 1.0",
    )
    run_alone(it.paths)


@edited("code-left-out", "bt", "results without the code that made them")
def _(it: Attempt) -> None:
    (it.deliver / PROGRAM).unlink()
    run_alone(it.paths)


# ------------------------------------------------------------------------------------------- 2.8b signals


@edited("coefficient-of-030", "bt", "a rank correlation that the signals do not have, in table and report")
def _(it: Attempt) -> None:
    it.edit(
        "signal_validation",
        lambda table: table.assign(value=table["value"].where(table["diagnostic"] != "mean_rank_ic", 0.3)),
    )
    retold(it)


@edited("validation-left-out", "vectorbt", "no figure on the signals")
def _(it: Attempt) -> None:
    (it.deliver / "signal_validation.csv").unlink()
    it.rewrite("report.md", lambda text: re.sub(r"Signal validation: .*\n\n", "", text))


@process("validated-on-the-past", "momentum", "the signal is held against the month before it")
def _(it: Attempt) -> None:
    patched(
        it,
        "            ahead = levels[starts[row + 1]] / levels[starts[row]] - 1.0",
        "            ahead = levels[starts[row]] / levels[starts[row] - 63] - 1.0",
    )


@process("bt-validated-on-the-past", "bt", "the signal is held against the month before it, with a tool")
def _(it: Attempt) -> None:
    patched(
        it,
        "gain = price.iloc[then + 1] / price.iloc[now + 1] - 1",
        "gain = price.iloc[now + 1] / price.iloc[now - 20] - 1",
    )


# ------------------------------------------------------------------------------------------- 3.2 rebuild


@edited("log-and-weights-left-out", "bt", "neither fills nor weights: nothing to rebuild the book from")
def _(it: Attempt) -> None:
    for name in ("transactions", "targets"):
        (it.deliver / f"{name}.csv").unlink()


@edited("prices-left-out", "vectorbt", "no prices: nothing to value the book with")
def _(it: Attempt) -> None:
    (it.deliver / "prices.csv").unlink()
