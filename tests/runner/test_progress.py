import io
from pathlib import Path

from rich.console import Console

from records.session import EndReason
from runner.engines.outcome import CellOutcome
from runner.plan import Cell
from runner.progress import Watch, line

CELL = Cell("null", 6, 1)


def outcome(**changes: object) -> CellOutcome:
    values: dict[str, object] = {
        "cell": CELL, "reason": EndReason.SATISFIED, "detail": "", "attempts": 1, "voids": 0, "folder": Path(),
    }  # fmt: skip
    return CellOutcome(**(values | changes))  # type: ignore[arg-type]


def test_log_gets_one_line_per_session_and_no_bar() -> None:
    out = io.StringIO()
    watch = Watch(Console(file=out, width=100), 1)
    with watch.shown():
        watch.cell_started(CELL, 1)
        watch.cell_ended(outcome())

    assert out.getvalue() == "null seed 6 repeat 1: satisfied\n"


def test_terminal_gets_a_bar_with_what_runs() -> None:
    out = io.StringIO()
    watch = Watch(Console(file=out, width=120, force_terminal=True), 2)
    with watch.shown():
        watch.cell_started(CELL, 1)

    assert "0/2" in out.getvalue()
    assert "null seed 6 repeat 1" in out.getvalue()


def test_line_tells_voids_and_a_missing_grade() -> None:
    told = line(outcome(detail="x", voids=1, ungraded="evaluator failed"))

    assert told == "null seed 6 repeat 1: satisfied · x · 1 void · not graded: evaluator failed"


def test_agents_words_cannot_drive_the_terminal() -> None:
    out = io.StringIO()
    Watch(Console(file=out, width=100), 1).say("\x1b[2J[red]boo[/red]")

    assert out.getvalue() == "[2J[red]boo[/red]\n"
