"""Starts the gateway process, notices its death, ends it."""

import contextlib
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
from gateway.client import GatewayClient
from gateway.settings import GatewayConfig
from records.errors import PrerequisiteError, ProviderError

KEY_VARIABLE = "FMP_API_KEY"
STOP_S = 10.0
# What the gateway inherits: enough to find Python, names and trust stores; no other key of the launcher's.
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")


@dataclass(frozen=True)
class RunningGateway:
    """A started gateway."""

    client: GatewayClient
    process: subprocess.Popen[bytes]
    log_path: Path

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self.process.poll() is None

    def check_alive(self) -> None:
        """Raises ProviderError when the process has ended: the witness for a void."""
        code = self.process.poll()
        if code is not None:
            raise ProviderError(f"gateway: expected it to run, found it ended with code {code}; see {self.log_path}")


def _wait_until_ready(running: RunningGateway, control: Path, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline and running.is_alive:
        if control.is_socket():
            # Between bind and listen the file is there and nobody answers yet.
            with contextlib.suppress(ProviderError):
                running.client.health()
                return
        time.sleep(0.02)
    tail = running.log_path.read_text(encoding="utf-8", errors="replace")[-400:].strip()
    raise PrerequisiteError(
        f"gateway: expected it to answer within {timeout_s:.0f} s, found exit code {running.process.poll()} "
        f"({tail or 'nothing in its log'}); see {running.log_path}"
    )


@contextmanager
def start_gateway(config: GatewayConfig, *, key: str, log_path: Path) -> Iterator[RunningGateway]:
    """Run a gateway while the block runs; it also ends when this process dies.

    Args: key: the FMP key, given to the process in its environment and nowhere else; log_path: its stderr, keys removed.
    Raises: PrerequisiteError: it did not come up.
    """
    root = str(Path(__file__).resolve().parent.parent)
    environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
    environment |= {KEY_VARIABLE: key, "PYTHONPATH": root}
    log_path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gateway-") as folder, log_path.open("ab") as log:
        control = Path(folder) / "control.sock"
        command = [sys.executable, "-m", "gateway", "--control", str(control)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment)
        with GatewayClient(control) as client:
            try:
                if process.stdin:
                    process.stdin.write(config.to_json().encode() + b"\n")
                    process.stdin.flush()
                running = RunningGateway(client, process, log_path)
                _wait_until_ready(running, control, config.limits.gateway_start_s)
                yield running
            finally:
                stop(process, within_s=STOP_S)
