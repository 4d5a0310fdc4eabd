"""Delivered code that misbehaves in its rerun ends as data within its caps, and the delivery stays as it was."""

import hashlib
import json
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.measure.case import Case
from evaluator.measure.reproducibility import judge
from evaluator.package.attempt import load_delivery
from records.limits import DEFAULT_LIMITS, MIB
from records.paths import AttemptPaths
from records.rerun import Rerun
from runner.rerun import Rerunner
from runner.rerun_box import rerun_limits
from sandbox.engine.engine import Engine
from sandbox.engine.images import reference
from sandbox.protocol import SandboxSpec
from tests.evaluator.deliveries import MESSAGES, write_session

pytestmark = pytest.mark.docker

SMALL = DEFAULT_LIMITS.model_copy(
    update={
        "pids": 64,
        "rerun_s": 8.0,
        "rerun_memory_bytes": 256 * MIB,
        "workspace_bytes": 64 * MIB,
        "workspace_inodes": 2_000,
        "deliver_bytes": 16 * MIB,
        "deliver_files": 50,
        "stop_grace_s": 1.0,
    }
)
DATA = "date,symbol,close\n2015-01-02,AAA,1\n"

Run = Callable[[dict[str, str]], tuple[Rerun, AttemptPaths]]


@pytest.fixture
def run(engine: Engine, tmp_path: Path) -> Run:
    """Return a function that delivers files, runs them again and gives back the record."""

    def again(files: dict[str, str]) -> tuple[Rerun, AttemptPaths]:
        paths = AttemptPaths(tmp_path / "attempt-1")
        write_session(paths.public, [(MESSAGES[0][0], "Done.")])
        for name, text in files.items():
            path = paths.deliver(1) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        spec = SandboxSpec(
            image=reference("base"),
            run="test-rerun",
            session="rerun",
            attempt=1,
            gateway_dir=Path(),
            lifetime_s=120,
            limits=rerun_limits(SMALL),
        )
        rerunner = Rerunner(lambda folder: engine.sandbox(replace(spec, gateway_dir=folder)), SMALL)
        before = hashes(paths.deliver(1))
        record = rerunner.rerun(paths)
        assert hashes(paths.deliver(1)) == before
        assert Rerun.model_validate_json(paths.rerun.read_bytes()) == record
        assert not (paths.root / ".rerun.part").exists()
        listed = engine.client.api.containers(all=True, filters={"label": "fincosmos.run=test-rerun"})
        assert listed == []
        return record, paths

    return again


def hashes(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file()
    }


def score(paths: AttemptPaths) -> int | None:
    return judge(Case(load_delivery(paths.public))).score


def test_code_that_works_then_its_files_are_kept_with_their_hashes(run: Run) -> None:
    script = """
    import csv, os, sys
    print(os.getcwd(), os.environ["PYTHONHASHSEED"], os.path.exists("trades.csv"))
    rows = open("prices.csv").read()
    open("trades.csv", "w").write("again")
    os.makedirs("/workspace/out"); open("/workspace/out/more.csv", "w").write(rows)
    """
    record, paths = run({"bt.py": _dedent(script), "prices.csv": DATA, "trades.csv": "delivered"})

    assert (record.end, record.exit_code, record.entry) == ("exited", 0, "bt.py")
    assert record.stdout == "/workspace/deliver 0 False\n"
    assert record.withheld == ("trades.csv",)
    assert hashes(paths.rerun_files) == {entry.path: entry.sha256 for entry in record.files}
    assert (paths.rerun_files / "deliver" / "trades.csv").read_text(encoding="utf-8") == "again"
    assert set(hashes(paths.rerun_files)) == {"deliver/trades.csv", "out/more.csv"}
    assert score(paths) == 2


def test_network_and_host_then_nothing_is_reached(run: Run) -> None:
    script = """
    import os, socket, urllib.request
    def tried(what, act):
        try:
            act()
            print(what, "worked")
        except OSError as error:
            print(what, "failed")
    tried("web", lambda: urllib.request.urlopen("http://1.1.1.1/", timeout=3))
    tried("name", lambda: socket.getaddrinfo("deb.debian.org", 80))
    tried("gateway", lambda: urllib.request.urlopen("http://127.0.0.1:8801/mcp", timeout=3))
    tried("outside", lambda: open("/etc/new", "w"))
    tried("root", lambda: os.listdir("/root"))
    print(sorted(os.listdir("/sys/class/net")), os.getuid())
    """
    record, _ = run({"bt.py": _dedent(script)})

    assert record.exit_code == 0
    assert record.stdout.splitlines() == [
        "web failed", "name failed", "gateway failed", "outside failed", "root failed", "['lo'] 1000",
    ]  # fmt: skip


def test_never_ending_code_with_children_then_killed_in_time(run: Run) -> None:
    script = """
    import os, signal, subprocess, time
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    subprocess.Popen(["setsid", "sleep", "600"])
    print("begun", flush=True)
    while True:
        time.sleep(1)
    """
    record, paths = run({"bt.py": _dedent(script)})

    assert (record.end, record.exit_code, record.stdout) == ("timed_out", None, "begun\n")
    assert record.duration_s < 60
    assert score(paths) == 1


def test_fork_bomb_then_it_ends_as_data(run: Run) -> None:
    script = """
    import os, time
    made = 0
    try:
        while made < 5000:
            if os.fork() == 0:
                time.sleep(600)
            made += 1
    except OSError:
        print("refused", flush=True)
    os._exit(3)
    """
    record, paths = run({"bt.py": _dedent(script)})

    assert (record.end, record.exit_code, record.stdout) == ("exited", 3, "refused\n")
    assert any("still ran after the end" in note for note in record.notes)
    assert score(paths) == 1


def test_full_disk_then_the_box_is_full_and_the_host_keeps_what_its_caps_allow(run: Run) -> None:
    script = """
    written = 0
    with open("big.bin", "wb") as file:
        try:
            while True:
                written += file.write(b"x" * 1_000_000)
        except OSError as error:
            print(error.errno, written < 80_000_000, flush=True)
    for n in range(500):
        open(f"n{n}", "w").close()
    """
    record, paths = run({"bt.py": _dedent(script)})

    assert record.stdout == "28 True\n"
    assert record.truncated
    kept = list(hashes(paths.rerun_files))
    assert len(kept) <= SMALL.deliver_files
    assert sum(path.stat().st_size for path in paths.rerun_files.rglob("*") if path.is_file()) <= SMALL.deliver_bytes


def test_flood_of_output_then_head_and_tail_alone(run: Run) -> None:
    script = """
    import sys
    print("first")
    for _ in range(1000):
        sys.stdout.write("y" * 1_000_000)
    print("last")
    """
    record, _ = run({"bt.py": _dedent(script)})

    assert record.stdout.startswith("first\n")
    assert len(record.stdout) < SMALL.rerun_output_bytes + 1000
    assert record.stdout_missing > 900_000_000 or record.end == "timed_out"


def test_memory_beyond_the_cap_then_killed_as_data(run: Run) -> None:
    record, paths = run({"bt.py": "block = bytearray(1 << 30)\nprint(len(block))\n"})

    assert record.end in ("exited", "box_ended")
    assert record.exit_code != 0
    assert any("memory" in note for note in record.notes)
    assert score(paths) == 1


def test_inputs_deleted_and_links_left_then_the_delivery_stays_and_links_are_refused(run: Run) -> None:
    script = """
    import os, shutil
    os.remove("prices.csv")
    os.symlink("/etc/passwd", "trades.csv")
    os.symlink("/", "equity.csv")
    os.mkfifo("metrics.csv")
    """
    record, paths = run({"bt.py": _dedent(script), "prices.csv": DATA})

    assert (record.exit_code, record.files) == (0, ())
    assert len([note for note in record.notes if "not kept" in note]) == 3
    assert not paths.rerun_files.exists()
    assert score(paths) == 2


def test_code_that_does_not_parse_or_brings_the_parser_down_then_0(run: Run) -> None:
    record, paths = run({"bt.py": "def broken(:\n", "deep.py": "x = " + "-" * 200_000 + "1\n"})

    assert record.entry in ("", "bt.py")
    assert set(record.not_parsed) == {"bt.py", "deep.py"}
    assert score(paths) == 0


def test_notebook_then_its_cells_run_in_order(run: Run) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# head"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "x = 41\n", "!pip install nothing"]},
        {"cell_type": "code", "source": "print(x + 1)"},
    ]
    record, _ = run({"nb.ipynb": json.dumps({"cells": cells})})

    assert (record.kind, record.exit_code, record.stdout) == ("notebook", 0, "42\n")
    assert "no nbconvert" in record.why


def test_make_target_then_its_recipe_runs_without_make(run: Run) -> None:
    makefile = "PYTHON = python3\nrun: data\n\t@$(PYTHON) bt.py --fast\ndata:\n\techo data\n"
    record, _ = run(
        {"Makefile": makefile, "bt.py": "import sys; print(sys.argv[1])\n", "other.py": "raise SystemExit(9)\n"}
    )

    assert (record.kind, record.exit_code, record.stdout) == ("makefile", 0, "data\n--fast\n")


def test_code_that_reads_its_own_results_then_run_again_with_them_and_nothing_counts_as_made(run: Run) -> None:
    script = 'text = open("trades.csv").read(); open("trades.csv", "w").write(text)'
    record, paths = run({"bt.py": script, "trades.csv": "delivered"})

    assert (record.given_back, record.exit_code, record.files) == (True, 0, ())
    assert score(paths) == 2


def test_large_delivery_then_it_arrives_whole(run: Run) -> None:
    script = """
    import hashlib
    print(hashlib.sha256(open("sub/prices.txt", "rb").read()).hexdigest())
    """
    text = "0123456789abcdef" * (20 * MIB // 16)
    record, _ = run({"bt.py": _dedent(script), "sub/prices.txt": text})

    assert record.stdout.strip() == hashlib.sha256(text.encode()).hexdigest()


def _dedent(text: str) -> str:
    return textwrap.dedent(text).lstrip()
