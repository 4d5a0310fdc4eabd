"""Grades a delivery of 500 symbols, ten years of daily prices and 50,000 fills, as a ratio to reading its files.

    .venv/bin/python benchmarks/grading.py [--symbols 500] [--years 10] [--fills 50000] [--profile]

Prints the processor time of default `pandas.read_csv` on every file, of the whole grading (load, measure, compare) and
their ratio, each in a child process of its own, with the child's peak memory. The data are seeded.
"""

import argparse
import cProfile
import json
import pstats
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
HOLDINGS = 50
CAPITAL = 10_000_000.0


def build(public: Path, *, symbols: int, years: int, fills: int) -> Path:
    """Write a delivery of weekly 12-1 momentum and return its folder."""
    from evaluator.quant.calendar import sessions  # noqa: PLC0415 -- after the path is set
    from tests.evaluator.deliveries import MESSAGES, write_session  # noqa: PLC0415

    rng = np.random.default_rng(3)
    days = sessions(f"{2019 - years}-01-02", "2018-12-31")
    names = np.array([f"S{number:04d}" for number in range(symbols)])
    close = 50 * np.exp(np.cumsum(rng.normal(0.0003, 0.015, (len(days), symbols)), axis=0))
    opened = np.vstack([close[:1], close[:-1]]) * np.exp(rng.normal(0, 0.004, close.shape))
    deliver = public / "turns" / "1" / "deliver"
    deliver.mkdir(parents=True)
    prices = pd.DataFrame({"date": np.repeat(days, symbols), "symbol": np.tile(names, len(days))})
    high, low = np.maximum(opened, close) * 1.004, np.minimum(opened, close) * 0.996
    for name, values in {"open": opened, "high": high, "low": low, "close": close, "adj_close": close}.items():
        prices[name] = np.round(values.reshape(-1), 6)
    prices["volume"] = rng.integers(100_000, 9_000_000, len(prices))
    prices.to_csv(deliver / "prices.csv", index=False)
    _book(deliver, days, names, np.round(close, 6), np.round(opened, 6), fills)
    return write_session(public, MESSAGES)


def _book(
    deliver: Path, days: pd.DatetimeIndex, names: np.ndarray, close: np.ndarray, opened: np.ndarray, fills: int
) -> None:
    weeks = days.isocalendar()["week"].to_numpy()
    ends = [row for row in range(252, len(days) - 1) if weeks[row] != weeks[row + 1]]
    count = min(HOLDINGS, len(names) // 2)
    held, cash = np.zeros(len(names)), CAPITAL
    shares, cashes = np.zeros((len(days), len(names))), np.full(len(days), CAPITAL)
    log, signals, picks, books = [], [], [], []
    pieces = max(1, round(fills / (len(ends) * count * 1.1)))
    for number, row in enumerate(ends):
        score = close[row - 21] / close[row - 252] - 1
        best = np.argsort(-score, kind="stable")[:count]
        value = cash + held @ close[row]
        wanted = np.zeros(len(names))
        wanted[best] = np.floor(value * 0.99 / count / close[row, best])
        signals.append(pd.DataFrame({"date": days[row], "symbol": names, "factor": "mom_12_1", "value": score}))
        picks.append(pd.DataFrame({"date": days[row], "symbol": names[best], "rank": range(1, count + 1)}))
        books.append(pd.DataFrame({"date": days[row], "symbol": names[best], "weight": 1 / count}))
        change = wanted - held
        for at in np.flatnonzero(change):
            price = opened[row + 1, at]
            cash -= change[at] * price + abs(change[at]) * price * 0.001
            for part in np.array_split(np.arange(int(abs(change[at]))), pieces):
                if len(part):
                    side = "BUY" if change[at] > 0 else "SELL"
                    log.append((days[row], days[row + 1], names[at], side, len(part), price, len(part) * price * 0.001))
        held = wanted
        last = ends[number + 1] if number + 1 < len(ends) else len(days) - 1
        shares[row + 1 : last + 1], cashes[row + 1 : last + 1] = held, cash
    columns = ["signal_date", "fill_date", "symbol", "side", "quantity", "price", "fee"]
    trades = pd.DataFrame(log[:fills], columns=columns).assign(reason="rebalance")
    equity = pd.DataFrame({"date": days, "equity": cashes + (shares * close).sum(axis=1), "cash": cashes})[ends[0] :]
    tables = {
        "trades": trades,
        "equity": equity,
        "signals": pd.concat(signals),
        "selections": pd.concat(picks),
        "target_weights": pd.concat(books),
    }
    for name, table in tables.items():
        table.to_csv(deliver / f"{name}.csv", index=False)
    from tests.evaluator.deliveries import _specification, figures  # noqa: PLC0415

    figures(equity, trades).to_csv(deliver / "metrics.csv", index=False)
    spec = _specification()
    spec.loc[spec["parameter"] == "n_holdings", "value"] = str(count)
    spec.loc[spec["parameter"] == "rebalance", "value"] = "weekly"
    spec.loc[spec["parameter"] == "capital", "value"] = f"{CAPITAL:.0f}"
    spec.to_csv(deliver / "specification.csv", index=False)


def read(public: Path) -> float:
    """Return the processor seconds of default read_csv on every file."""
    start = time.process_time()
    for path in sorted((public / "turns" / "1" / "deliver").glob("*.csv")):
        pd.read_csv(path)
    return time.process_time() - start


def grade(public: Path, *, profile: bool = False) -> float:
    """Return the processor seconds of loading, measuring and comparing."""
    from evaluator.compare.run import compare  # noqa: PLC0415
    from evaluator.measure.run import measure  # noqa: PLC0415
    from evaluator.package.attempt import load_delivery  # noqa: PLC0415
    from tests.evaluator.deliveries import strategy  # noqa: PLC0415

    watch = cProfile.Profile(time.process_time)
    start = time.process_time()
    if profile:
        watch.enable()
    delivery = load_delivery(public)
    loaded = time.process_time()
    measurement = measure(delivery)
    compare(delivery, measurement.spec, strategy())
    if profile:
        watch.disable()
        pstats.Stats(watch, stream=sys.stderr).sort_stats("cumulative").print_stats(60)
        print(f"load {loaded - start:.2f} s", file=sys.stderr)
    return time.process_time() - start


def _child(what: str, public: Path, *extra: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--child", what, "--public", str(public), *extra]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])


def _peak_mib() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def main() -> None:
    """Build, measure both in child processes, print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--symbols", type=int, default=500)
    parser.add_argument("--years", type=int, default=10)
    parser.add_argument("--fills", type=int, default=50_000)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--child", choices=("read", "grade"), help=argparse.SUPPRESS)
    parser.add_argument("--public", type=Path, help="a delivery built before; it is kept")
    options = parser.parse_args()
    if options.child:
        taken = read(options.public) if options.child == "read" else grade(options.public, profile=options.profile)
        print(json.dumps({"seconds": taken, "peak_mib": _peak_mib()}))
        return
    with tempfile.TemporaryDirectory() as folder:
        public = options.public or Path(folder) / "public"
        if not public.exists():
            build(public, symbols=options.symbols, years=options.years, fills=options.fills)
        files = sorted((public / "turns" / "1" / "deliver").glob("*.csv"))
        size = sum(path.stat().st_size for path in files)
        print(f"{len(files)} files, {size / 1e6:.0f} MB")
        base = _child("read", public)
        whole = _child("grade", public, *(["--profile"] if options.profile else []))
    print(f"pandas.read_csv  {base['seconds']:.2f} s, peak {base['peak_mib']:.0f} MiB")
    print(f"whole grading    {whole['seconds']:.2f} s, peak {whole['peak_mib']:.0f} MiB")
    print(f"ratio            {whole['seconds'] / base['seconds']:.1f}")


if __name__ == "__main__":
    main()
