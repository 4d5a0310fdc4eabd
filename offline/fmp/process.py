"""Starts the stand-in as a process of its own and stops it again."""

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from children.process import stop
from records.errors import PrerequisiteError

DIGEST_VARIABLE = "FINCOSMOS_OFFLINE_FMP_KEY_SHA256"
START_S = 60.0
STOP_S = 5.0


@dataclass(frozen=True)
class FmpProcess:
    """A running stand-in. `base_url` ends in /stable/."""

    base_url: str
    process: subprocess.Popen[bytes]

    @property
    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self.process.poll() is None


def _wait_for_port(process: subprocess.Popen[bytes], port_file: Path) -> int:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if port_file.exists():
            return int(port_file.read_text(encoding="utf-8"))
        if process.poll() is not None:
            break
        time.sleep(0.02)
    raise PrerequisiteError(
        f"offline FMP: expected it to answer within {START_S:.0f} s, found exit code {process.poll()}; "
        "remove the offline data in the cache folder and run the same command again"
    )


@contextmanager
def start_fmp(data: Path, key: str, *, allow_faults: bool = False) -> Iterator[FmpProcess]:
    """Run the stand-in on a free loopback port while the block runs; it also ends when this process dies.

    Args: data: what `offline.data.ensure` returned; key: the one key it accepts, of which its environment holds only the hash; allow_faults: POST /_faults for tests.
    Raises: PrerequisiteError: it did not come up.
    """
    root = str(Path(__file__).resolve().parent.parent.parent)
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TZ") if name in os.environ}
    environment |= {DIGEST_VARIABLE: hashlib.sha256(key.encode()).hexdigest(), "PYTHONPATH": root}
    with tempfile.TemporaryDirectory(prefix="offline-fmp-") as scratch:
        port_file = Path(scratch) / "port"
        command = [sys.executable, "-m", "offline.fmp", "--data", str(data), "--port-file", str(port_file)]
        command += ["--faults"] if allow_faults else []
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
        try:
            port = _wait_for_port(process, port_file)
            yield FmpProcess(f"http://127.0.0.1:{port}/stable/", process)
        finally:
            process.terminate()
            stop(process, within_s=STOP_S)
