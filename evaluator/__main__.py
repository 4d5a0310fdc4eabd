"""Command line of the evaluator, the program of its image: `measure` and `compare`, each a pure function of its inputs."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from records.base import Record
from records.errors import GradingError
from records.grade import Measured
from records.spec import DeliveredSpec


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns 0, or 1 with one sentence on standard error when the evaluator itself failed."""
    arguments = _parser().parse_args(argv)
    try:
        if arguments.command == "measure":
            _measure(arguments.capture, arguments.out)
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
    compare = commands.add_parser("compare", help="2.1-2.6, stated items, coverage, assumption rate")
    compare.add_argument("--capture", type=Path, required=True, help="an attempt's public/ tree")
    compare.add_argument("--measured", type=Path, required=True, help="the folder that measure wrote")
    compare.add_argument("--strategy", type=Path, required=True, help="the sealed strategy.json")
    compare.add_argument("--out", type=Path, required=True, help="folder for compared.json, scores only")
    compare.add_argument("--sealed-out", type=Path, required=True, help="folder for verdicts and quotes")
    return parser


def _measure(capture: Path, out: Path) -> None:
    from evaluator.assess import assess  # noqa: PLC0415 pandas loads only when there is work
    from evaluator.package.attempt import load_delivery  # noqa: PLC0415

    result = assess(load_delivery(capture))
    out.mkdir(parents=True, exist_ok=True)
    _write(out / "spec.json", result.spec)
    _write(out / "judgements.json", Measured(judgements=result.measured.judgements))
    _write(out / "measured.json", result.measured)
    _write(out / "findings.json", result.findings)


def _compare(arguments: argparse.Namespace) -> None:
    from evaluator.compare.run import compare, read_strategy  # noqa: PLC0415
    from evaluator.package.attempt import load_delivery  # noqa: PLC0415

    spec = _read_spec(arguments.measured / "spec.json")
    strategy = read_strategy(arguments.strategy)
    result = compare(load_delivery(arguments.capture), spec, strategy)
    for folder in (arguments.out, arguments.sealed_out):
        folder.mkdir(parents=True, exist_ok=True)
    _write(arguments.out / "compared.json", result.compared)
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
