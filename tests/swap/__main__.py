"""`python -m tests.swap --seeds 0-9,10-29`: every delivery of the reference against every belief that differs in one option."""

import argparse
import logging
import sys
from collections import Counter
from collections.abc import Iterator

import structlog

from evaluator.compare.run import read_strategy
from evaluator.package.attempt import load_delivery
from tests.sampled.cache import session
from tests.swap.beliefs import swaps
from tests.swap.grading import Outcome, outcomes

COLUMNS = ("caught", "all", "share")


def main() -> int:
    """Return 0 when at least the wanted share of swapped options falls below 2."""
    options = _arguments()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    found: list[tuple[int, Outcome]] = []
    for seed in options.seeds:
        paths = session(seed)
        mine = list(
            outcomes(load_delivery(paths.public), swaps(read_strategy(paths.strategy)), prose_only=options.prose)
        )
        found += [(seed, outcome) for outcome in mine]
        if options.verbose:
            sys.stdout.write(f"seed {seed}: {sum(o.is_caught for o in mine)} of {len(mine)}\n")
            sys.stdout.flush()
    return _print(found, options.least, verbose=options.verbose)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.swap", description=__doc__)
    parser.add_argument("--seeds", type=lambda text: list(_seeds(text)), default=list(range(30)))
    parser.add_argument("--prose", action="store_true", help="without the specification tables")
    parser.add_argument("--least", type=float, default=0.95)
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()


def _seeds(text: str) -> Iterator[int]:
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def _print(found: list[tuple[int, Outcome]], least: float, *, verbose: bool) -> int:
    void = [outcome for _, outcome in found if outcome.unsaid]
    caught: Counter[tuple[str, str]] = Counter()
    every: Counter[tuple[str, str]] = Counter()
    seen: Counter[tuple[str, str]] = Counter()
    for _, outcome in found:
        key = (outcome.swap.component, outcome.swap.kind)
        every[key] += 1
        caught[key] += outcome.is_caught
        seen[key] += any(verdict.check == "contradicted" for verdict in outcome.verdicts)
    sys.stdout.write(f"{'component':24}{'kind':8}{'swapped':>8}{'below 2':>9}{'share':>8}{'by tables':>11}\n")
    for component, kind in sorted(every):
        key = (component, kind)
        share = caught[key] / every[key]
        sys.stdout.write(f"{component:24}{kind:8}{every[key]:8}{caught[key]:9}{share:8.1%}{seen[key]:11}\n")
    total = sum(caught.values()) / max(sum(every.values()), 1)
    seeds = len({seed for seed, _ in found})
    sys.stdout.write(f"{sum(caught.values())} of {sum(every.values())} ({total:.1%}) below 2, {seeds} deliveries\n")
    if void:
        sys.stdout.write(f"void, the rewritten words state too little: {len(void)}, first {void[0].unsaid}\n")
    exceptions = Counter(
        (o.swap.component, o.swap.was, o.swap.now, o.score, _why(o)) for _, o in found if not o.is_caught
    )
    for (component, was, now, score, why), count in sorted(exceptions.items(), key=str):
        sys.stdout.write(f"exception: {component}: {was} -> {now}, score {score}, {count} x: {why}\n")
    return 0 if total >= least and not void else 1


def _why(outcome: Outcome) -> str:
    return "; ".join(f"{v.item} claim {v.claim}, check {v.check}, {v.detail}" for v in outcome.verdicts)[:300]


if __name__ == "__main__":
    sys.exit(main())
