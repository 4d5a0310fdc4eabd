"""Runs controls over two processes and prints the matrix: expected against observed, counts, vetoes that fail alone."""

import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

from tests.controls.control import CONTROLS, Control
from tests.controls.grading import SCORED, VETOES
from tests.controls.observe import Line, line

WORKERS = int(os.environ.get("WORKERS", "2"))
CANNOT_FAIL_ALONE = {"3.2": "it fails only without log or prices, which leaves audit and process without their input"}
"""Veto -> why another one always fails with it."""

DUE = (
    *("1.1", "1.4", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.8b", "2.12"),
    *("3.1", "3.2", "3.3", "3.5", "3.6", "3.7", "3.8", "4.2"),
)
"""The dimensions that a program decides; each must be moved by two mutants."""
TOOLS = ("bt", "backtrader", "vectorbt")
LEAST_MUTANTS, LEAST_CLEAN, LEAST_OF_TOOLS = 90, 40, 10
ABOUT_HALF = (0.4, 0.6)


@dataclass(frozen=True)
class Broken:
    """A control that could not be made or graded."""

    name: str
    error: str


def run(controls: Sequence[Control]) -> tuple[list[Line], list[Broken]]:
    """Return the lines in the order of the controls, and what broke."""
    lines: dict[str, Line] = {}
    broken: list[Broken] = []
    with ProcessPoolExecutor(WORKERS) as pool:
        waiting = {pool.submit(_named, control.name): control.name for control in controls}
        for done in as_completed(waiting):
            name = waiting[done]
            try:
                found = done.result()
            except Exception as error:  # noqa: BLE001 one broken control must not hide the others
                broken.append(Broken(name, f"{type(error).__name__}: {error}"))
            else:
                lines[name] = Line(CONTROLS[name], found[0], found[1])  # type: ignore[arg-type]
                print(_progress(lines[name]), flush=True)  # noqa: T201 the matrix is a program that prints
    return [lines[control.name] for control in controls if control.name in lines], broken


def _progress(one: Line) -> str:
    if one.is_equal:
        return f"ok   {one.control.name}"
    reasons = "".join(
        f"\n       {key} {one.observed.changes[key]}: {text[:300]}" for key, text in one.observed.reasons.items()
    )
    return f"DIFF {table([one])}{reasons}"


def _named(name: str) -> tuple[object, object]:
    import tests.controls.every  # noqa: F401, PLC0415 a fresh process has no controls yet

    found = line(CONTROLS[name])
    return found.expected, found.observed


def table(lines: Sequence[Line]) -> str:
    """Return the matrix, changed cells only: 'dimension old>new', with what was expected where it differs."""
    width = max((len(one.control.name) for one in lines), default=10)
    rows = []
    for one in lines:
        mark = "=" if one.is_equal else "!"
        cells = " ".join(_cell(one, name) for name in SCORED if name in {*one.observed.changes, *one.expected.changes})
        vetoes = ",".join(one.observed.fails) or "-"
        if one.observed.fails != one.expected.fails:
            vetoes += f" (expected {','.join(one.expected.fails) or '-'})"
        rows.append(
            f"{mark} {one.control.name:<{width}} {one.control.base:<10} {one.control.kind:<7} | {cells or '-'} | {vetoes}"
        )
    return "\n".join(rows)


def _cell(one: Line, name: str) -> str:
    was = one.observed.before[name]
    observed = one.observed.changes.get(name, was)
    expected = one.expected.changes.get(name, was)
    text = f"{name} {_shown(was)}>{_shown(observed)}"
    return text if observed == expected else f"[{text}, expected {_shown(expected)}]"


def _shown(score: int | None) -> str:
    return "n" if score is None else str(score)


def lacking(lines: Sequence[Line]) -> list[str]:
    """Return what the whole matrix must have and these runs do not."""
    mutants = [one for one in lines if one.control.kind != "clean"]
    moved = Counter(name for one in mutants for name in one.observed.changes)
    failed = Counter(name for one in mutants for name in one.observed.fails)
    alone = {one.observed.fails[0] for one in mutants if len(one.observed.fails) == 1}
    share = sum(one.control.kind == "process" for one in mutants) / max(len(mutants), 1)
    sizes = {
        "mutants": (len(mutants), LEAST_MUTANTS),
        "clean variants": (len(lines) - len(mutants), LEAST_CLEAN),
        "mutants of a tool's delivery": (sum(one.control.base in TOOLS for one in mutants), LEAST_OF_TOOLS),
    }
    return [
        *(f"{name}: moved by {moved[name]} mutants, expected 2" for name in DUE if moved[name] < 2),
        *(f"veto {name}: fails in {failed[name]} mutants, expected 2" for name in VETOES if failed[name] < 2),
        *(f"veto {name}: never fails alone" for name in VETOES if name not in alone and name not in CANNOT_FAIL_ALONE),
        *(f"{name}: {count}, expected {least}" for name, (count, least) in sizes.items() if count < least),
        *([] if ABOUT_HALF[0] <= share <= ABOUT_HALF[1] else [f"process mutants: {share:.0%}, expected about half"]),
    ]


def counts(lines: Sequence[Line]) -> str:
    """Return how many runs there are, by kind, by dimension that changes, and by veto that fails."""
    mutants = [one for one in lines if one.control.kind != "clean"]
    clean = [one for one in lines if one.control.kind == "clean"]
    kinds = Counter(one.control.kind for one in mutants)
    tools = sum(one.control.base in TOOLS for one in mutants)
    moved = Counter(name for one in mutants for name in one.observed.changes)
    failed = Counter(name for one in mutants for name in one.observed.fails)
    alone = {name: [one.control.name for one in mutants if one.observed.fails == (name,)] for name in VETOES}
    unrun = sorted({name for one in lines for name in one.observed.unrun})
    out = [
        f"mutants {len(mutants)} ({', '.join(f'{kind} {count}' for kind, count in sorted(kinds.items()))}; from a tool {tools})",
        f"clean variants {len(clean)}, accepted {sum(one.observed.accepted for one in clean)}",
        f"lines equal {sum(one.is_equal for one in lines)} of {len(lines)}",
        "mutants by dimension: " + ", ".join(f"{name} {moved[name]}" for name in SCORED if moved[name]),
        "mutants by veto: " + ", ".join(f"{name} {failed[name]}" for name in VETOES),
        "vetoes failing alone:",
        *(f"  {name}: {_alone(name, names)}" for name, names in alone.items()),
        "swap test: printed by the fidelity tests",
    ]
    if unrun:
        out.append(f"vetoes no judge decided: {', '.join(unrun)}")
    return "\n".join(out)


def _alone(name: str, names: Sequence[str]) -> str:
    if names:
        return f"{len(names)}, such as {names[0]}"
    return f"cannot: {CANNOT_FAIL_ALONE[name]}" if name in CANNOT_FAIL_ALONE else "NONE"
