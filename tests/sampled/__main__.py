"""`python -m tests.sampled --seeds 10-209 --jobs 2`: hold, grade and print sampled sessions; what is cached is not held again."""

import argparse
import json
import logging
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import structlog

from evaluator.version import evaluator_version
from tests.sampled.cache import folder, session
from tests.sampled.grading import grade


def main() -> int:
    """Return 0 when at least the wanted share of the sessions is good."""
    options = _arguments()
    out = folder() / f"graded-{evaluator_version()}"
    out.mkdir(parents=True, exist_ok=True)
    begin, lines = time.monotonic(), []
    with ProcessPoolExecutor(max_workers=options.jobs) as pool:
        work = {pool.submit(_one, seed, options.shape, out): seed for seed in options.seeds}
        for done in as_completed(work):
            line = done.result()
            lines.append(line)
            _say(line)
    good = sum(line["good"] for line in lines)
    full = sum(not line["troubles"] for line in lines)
    judged = all(line["judged"] for line in lines)
    word = "accepted" if judged else "pass every program veto, the judge's are not run"
    sys.stdout.write(
        f"{good} of {len(lines)} {word}; {full} with full marks on every program check; "
        f"evaluator {evaluator_version()}, {time.monotonic() - begin:.0f} s\n"
    )
    return 0 if good >= options.least * len(lines) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.sampled", description=__doc__)
    parser.add_argument("--seeds", type=lambda text: list(_seeds(text)), default=list(range(10, 210)))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--shape", choices=["flat", "grouped"], default="flat", help="how the data tools are offered")
    parser.add_argument("--least", type=float, default=0.99, help="share of sessions that must be good")
    return parser.parse_args()


def _seeds(text: str) -> Iterator[int]:
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def _one(seed: int, shape: str, out: Path) -> dict[str, object]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    kept = out / f"{shape}-{seed}.json"
    if kept.exists():
        line: dict[str, object] = json.loads(kept.read_text(encoding="utf-8"))
        return line
    try:
        graded = grade(session(seed, shape=shape))
    except Exception as error:  # noqa: BLE001 one broken session must not end the others
        return {"seed": seed, "good": False, "judged": True, "troubles": [f"{type(error).__name__}: {error}"]}
    line = {"seed": seed, "good": graded.good, "judged": graded.judged, "troubles": graded.troubles()}
    kept.write_text(json.dumps(line, indent=1), encoding="utf-8")
    return line


def _say(line: dict[str, object]) -> None:
    troubles = line["troubles"]
    assert isinstance(troubles, list)
    word = ("accepted" if line["judged"] else "good") if line["good"] else "FAILS"
    sys.stdout.write(f"seed {line['seed']}: {word}{', full marks' if not troubles else ''}\n")
    for trouble in troubles:
        sys.stdout.write(f"    {trouble}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
