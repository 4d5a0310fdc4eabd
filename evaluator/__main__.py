"""Command line of the evaluator, the program of its image: `measure` and `compare`, each a pure function of its inputs."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from records.base import Record
from records.errors import GradingError
from records.grade import Measured
from records.spec import DeliveredSpec


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns 0, or 1 with one sentence on standard error when the evaluator itself failed."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.command == "compare" and arguments.questions_out is None:
        absent = [name for name in ("measured", "out", "sealed_out") if getattr(arguments, name) is None]
        if absent:
            parser.error("compare: needs " + ", ".join(f"--{name.replace('_', '-')}" for name in absent))
    try:
        if arguments.command == "measure":
            _measure(arguments.capture, arguments.out, arguments.judge)
        elif arguments.questions_out is not None:
            _ask(arguments)
        else:
            _compare(arguments)
    except GradingError as error:
        print(error, file=sys.stderr)  # noqa: T201 the command line's one sentence
        return 1
    except OSError as error:
        print(f"evaluator: reading the capture or writing the results: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evaluator", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    measure = commands.add_parser("measure", help="everything that needs no strategy")
    measure.add_argument("--capture", type=Path, required=True, help="an attempt's public/ tree")
    measure.add_argument("--out", type=Path, required=True, help="folder for spec.json, judgements.json, measured.json")
    measure.add_argument(
        "--judge",
        choices=("none", "rules", "llm"),
        default="rules",
        help="who judges meaning; llm writes questions.json for a model and leaves those dimensions open",
    )
    compare = commands.add_parser("compare", help="2.1-2.6, stated items, coverage, assumption rate")
    compare.add_argument("--capture", type=Path, required=True, help="an attempt's public/ tree")
    compare.add_argument("--strategy", type=Path, required=True, help="the sealed strategy.json")
    compare.add_argument("--measured", type=Path, help="the folder that measure wrote")
    compare.add_argument("--out", type=Path, help="folder for compared.json, scores only")
    compare.add_argument("--sealed-out", type=Path, help="folder for verdicts and quotes")
    compare.add_argument("--answers", type=Path, help="what a model judge found; without it the rules read the words")
    compare.add_argument(
        "--questions-out", type=Path, help="write the sealed questions for a model judge there, and nothing else"
    )
    return parser


def _measure(capture: Path, out: Path, judge: Literal["none", "rules", "llm"]) -> None:
    from evaluator.assess import assess  # noqa: PLC0415 pandas loads only when there is work
    from evaluator.judge.questions import build_questions  # noqa: PLC0415
    from evaluator.measure.run import measure  # noqa: PLC0415
    from evaluator.package.attempt import load_delivery  # noqa: PLC0415
    from evaluator.trajectory import trajectory  # noqa: PLC0415

    delivery = load_delivery(capture)
    result = assess(delivery, judge="rules" if judge == "rules" else "none")
    turns = trajectory(
        capture,
        [turn.turn for turn in delivery.turns],
        result.measured.judgements,
        lambda earlier: measure(earlier).measured.judgements,
    )
    out.mkdir(parents=True, exist_ok=True)
    _write(out / "spec.json", result.spec)
    _write(out / "judgements.json", Measured(judgements=result.measured.judgements))
    _write(out / "measured.json", result.measured.model_copy(update={"turns": turns}))
    if judge == "rules":
        _write(out / "findings.json", result.findings)
    if judge == "llm":
        _write(out / "questions.json", build_questions(delivery))


def _ask(arguments: argparse.Namespace) -> None:
    from evaluator.compare.questions import build_item_questions  # noqa: PLC0415
    from evaluator.compare.run import read_strategy  # noqa: PLC0415
    from evaluator.package.attempt import load_delivery  # noqa: PLC0415

    questions = build_item_questions(load_delivery(arguments.capture), read_strategy(arguments.strategy))
    arguments.questions_out.mkdir(parents=True, exist_ok=True)
    _write(arguments.questions_out / "compare-questions.json", questions)


def _compare(arguments: argparse.Namespace) -> None:
    from evaluator.compare.model_verdicts import read_findings  # noqa: PLC0415
    from evaluator.compare.run import compare, read_strategy  # noqa: PLC0415
    from evaluator.measure.case import Case  # noqa: PLC0415
    from evaluator.package.attempt import load_delivery  # noqa: PLC0415
    from evaluator.trajectory import trajectory  # noqa: PLC0415

    spec = _read_spec(arguments.measured / "spec.json")
    strategy = read_strategy(arguments.strategy)
    answers = None if arguments.answers is None else read_findings(arguments.answers)
    delivery = load_delivery(arguments.capture)
    result = compare(delivery, spec, strategy, answers=answers)
    turns = trajectory(
        arguments.capture,
        [turn.turn for turn in delivery.turns],
        result.compared.judgements,
        lambda earlier: compare(earlier, Case(earlier).spec, strategy).compared.judgements,
    )
    for folder in (arguments.out, arguments.sealed_out):
        folder.mkdir(parents=True, exist_ok=True)
    _write(arguments.out / "compared.json", result.compared.model_copy(update={"turns": turns}))
    _write(arguments.sealed_out / "compare-judgements.json", result.verdicts)
    _write(arguments.sealed_out / "compare-evidence.json", result.evidence)


def _read_spec(path: Path) -> DeliveredSpec:
    try:
        return DeliveredSpec.model_validate_json(path.read_bytes())
    except ValueError as error:
        raise GradingError(f"{path.name}: expected the record that measure writes; run measure first") from error


def _write(path: Path, record: Record) -> None:
    path.write_text(record.to_json(indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
