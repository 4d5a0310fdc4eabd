"""The stand-in as a process: it comes up on loopback, refuses on request, and never outlives whoever started it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from offline.fmp import FmpProcess, start_fmp
from tests.processes import wait_until_gone

pytestmark = pytest.mark.thorough

KEY = "process-test-key"
ROOT = Path(__file__).resolve().parents[2]

PARENT = """
import sys, time
from pathlib import Path
from offline.fmp import start_fmp
with start_fmp(Path(sys.argv[1]), "k") as fmp:
    print(fmp.process.pid, flush=True)
    time.sleep(60)
"""


@pytest.fixture(scope="module")
def fmp(tables: Path) -> Iterator[FmpProcess]:
    with start_fmp(tables, KEY, allow_faults=True) as running:
        yield running


def test_key_is_taken_from_header_or_query(fmp: FmpProcess) -> None:
    with httpx.Client(base_url=fmp.base_url) as client:
        assert client.get("quote", params={"symbol": "KO"}, headers={"apikey": KEY}).json()[0]["symbol"] == "KO"
        assert client.get("quote", params={"symbol": "KO", "apikey": KEY}).status_code == 200
        assert client.get("quote", params={"symbol": "KO"}).status_code == 401


def test_key_stands_in_no_environment_and_no_argument_of_the_process(fmp: FmpProcess) -> None:
    proc = Path(f"/proc/{fmp.process.pid}")
    assert KEY.encode() not in (proc / "environ").read_bytes()
    assert KEY.encode() not in (proc / "cmdline").read_bytes()


def test_faults_come_once_each_in_the_vendors_words(fmp: FmpProcess) -> None:
    with httpx.Client(base_url=fmp.base_url, headers={"apikey": KEY}) as client:
        client.post(fmp.base_url.replace("/stable/", "/_faults"), json=[429, 503])
        limited = client.get("quote", params={"symbol": "KO"})
        assert (limited.status_code, limited.json()["Error Message"][:11]) == (429, "Limit Reach")
        assert client.get("quote", params={"symbol": "KO"}).status_code == 503
        assert client.get("quote", params={"symbol": "KO"}).status_code == 200


def test_old_paths_and_paths_elsewhere_are_refused_as_the_vendor_does(fmp: FmpProcess) -> None:
    root = fmp.base_url.removesuffix("stable/")
    legacy = httpx.get(f"{root}api/v3/quote/AAPL")
    assert (legacy.status_code, legacy.json()["Error Message"][:15]) == (403, "Legacy Endpoint")
    assert httpx.get(f"{root}elsewhere").status_code == 404


def test_process_without_an_accepted_key_ends_with_one_sentence(tables: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "offline.fmp", "--data", str(tables), "--port-file", str(tmp_path / "port")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FINCOSMOS_OFFLINE")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "FINCOSMOS_OFFLINE_FMP_KEY" in done.stderr


def test_process_without_tables_ends_with_one_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "offline.fmp", "--data", str(tmp_path), "--port-file", str(tmp_path / "port")]
    environment = os.environ | {"FINCOSMOS_OFFLINE_FMP_KEY": "k"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "expected prepared tables" in done.stderr


def test_process_dies_with_a_killed_parent(tables: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tables)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent:
        child = int(parent.stdout.readline())
        assert Path(f"/proc/{child}").exists()
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        assert wait_until_gone(child)
