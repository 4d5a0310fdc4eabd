"""Our own Python as a confined process, for grading without an engine."""

import os
import shutil
import sys
import time
from pathlib import Path

import pytest

from records.limits import MIB
from runner import confined
from runner.confined import SPARE_UID, run_confined

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces without a user of their own need root")


def _run(program: str, *, timeout_s: float = 20, memory_mib: int = 512) -> tuple[int | None, str, str]:
    result, _ = run_confined(("-c", program), timeout_s=timeout_s, memory_bytes=memory_mib * MIB)
    return result.exit_code, result.stdout.decode(), result.stderr.decode()


def test_program_then_its_exit_code_and_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FMP_API_KEY", "canary")
    program = "import os, sys; print(sorted(os.environ)); print('told', file=sys.stderr); sys.exit(4)"

    code, out, err = _run(program)

    assert (code, err) == (4, "told\n")
    assert "FMP_API_KEY" not in out
    assert "PYTHONHASHSEED" in out


def test_our_packages_then_they_can_be_imported() -> None:
    assert _run("import records.limits; print('ok')")[:2] == (0, "ok\n")


@as_root
def test_root_then_own_network_own_processes_and_no_capability() -> None:
    program = (
        "import socket, os; print([name for _, name in socket.if_nameindex()], os.getpid());"
        "print({line.split()[1] for line in open('/proc/self/status') if line.startswith('Cap')})"
    )

    result, confined_by = run_confined(("-c", program), timeout_s=20, memory_bytes=512 * MIB)

    assert result.stdout.decode().splitlines() == ["['lo'] 1", f"{{'{'0' * 16}'}}"]
    assert {"rlimits", "network", "processes", "capabilities"} <= set(confined_by)


@as_root
@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="needs a Python that every user can read")
def test_root_with_a_python_all_can_read_then_a_spare_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    monkeypatch.setattr(confined, "_may_change_user", lambda: True)

    result, confined_by = run_confined(
        ("-c", "import os; print(os.getuid(), os.getgid(), os.getgroups())"), timeout_s=20, memory_bytes=512 * MIB
    )

    assert result.stdout.decode() == f"{SPARE_UID} {SPARE_UID} []\n"
    assert "user" in confined_by


def test_python_below_a_closed_folder_then_the_user_stays(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    shutil.copy("/bin/sh", closed / "sh")
    assert confined._open_to_all(Path("/bin/sh"))

    closed.chmod(0o700)

    assert not confined._open_to_all(closed / "sh")


def test_machine_without_the_tools_then_limits_alone_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)

    result, confined_by = run_confined(("-c", "print(1)"), timeout_s=20, memory_bytes=512 * MIB)

    assert (result.stdout, confined_by) == (b"1\n", ("rlimits",))


def test_more_memory_than_allowed_then_refused_and_under_more_it_is_not() -> None:
    program = "print(len(bytearray(200 << 20)))"

    assert _run(program, memory_mib=400)[0] == 0
    code, _, err = _run(program, memory_mib=100)
    assert code == 1
    assert "MemoryError" in err


def test_time_runs_out_then_it_and_what_it_started_are_gone(tmp_path: Path) -> None:
    beat = tmp_path / "beat"
    beat.touch(mode=0o666)
    beat.chmod(0o666)
    child = f"import time\nwhile True:\n    open({str(beat)!r}, 'a').write('x'); time.sleep(0.02)"
    program = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)"

    result, _ = run_confined(("-c", program), timeout_s=1.5, memory_bytes=512 * MIB)

    assert (result.timed_out, result.exit_code) == (True, None)
    size = beat.stat().st_size
    assert size > 0
    time.sleep(0.2)
    assert beat.stat().st_size == size
