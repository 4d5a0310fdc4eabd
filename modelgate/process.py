"""Starts the model process, notices its death, ends it; and keeps its key out of every other environment."""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from children.process import stop
from modelgate.client import SLACK_S, Client
from modelgate.settings import KEY_VARIABLES, PROCESS_KEY_VARIABLE, PUBLIC_URL, URL_VARIABLE, ModelConfig
from records.errors import ModelError, PrerequisiteError
from records.limits import DEFAULT_LIMITS, Limits

STOP_S = 10.0
# What the process inherits: enough to find Python, names, trust stores and a proxy; no other key of the launcher's.
INHERITED = (
    *("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "all_proxy", "no_proxy"),
)


@dataclass(frozen=True)
class Access:
    """Where the model service is and the key for it."""

    key: str
    key_variable: str
    base_url: str


def find_access(environ: Mapping[str, str]) -> Access:
    """Return key and address as the operator set them. Raises: PrerequisiteError: there is no key."""
    for name in KEY_VARIABLES:
        if key := environ.get(name, "").strip():
            return Access(key, name, environ.get(URL_VARIABLE, "").strip() or PUBLIC_URL)
    first, second = KEY_VARIABLES
    raise PrerequisiteError(
        f"key of the model service: expected it in {second} or {first}, found neither; user `llm` and judge `llm` need "
        f"it, run: export {second}=..., or choose `rules`"
    )


@contextmanager
def without_keys(environ: MutableMapping[str, str]) -> Iterator[None]:
    """Take key and address out of an environment while the block runs, so that no child started in it gets them."""
    taken = {name: environ.pop(name) for name in (*KEY_VARIABLES, URL_VARIABLE) if name in environ}
    try:
        yield
    finally:
        environ.update(taken)


@dataclass(frozen=True)
class RunningModels:
    """A started model process."""

    client: Client
    process: subprocess.Popen[bytes]
    log_path: Path

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self.process.poll() is None

    def end(self) -> None:
        """End the process at once, from any thread; calls that wait for it raise ModelError."""
        with contextlib.suppress(ProcessLookupError):
            self.process.terminate()


@contextmanager
def open_models(access: Access, *, log_to: Path | None, limits: Limits = DEFAULT_LIMITS) -> Iterator[RunningModels]:
    """Run a model process while the block runs; it also ends when this process dies.

    Args: log_to: its stderr, when it had any and the folder above the log's own is there by the end (sealed side, 0600);
        None: not kept.
    Raises: PrerequisiteError: it did not come up.
    """
    root = str(Path(__file__).resolve().parent.parent)
    environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
    environment |= {PROCESS_KEY_VARIABLE: access.key, "PYTHONPATH": root}
    config = ModelConfig(base_url=access.base_url, key_variable=access.key_variable, limits=limits)
    # A temporary folder has mode 0700: nobody else can reach the socket, and no box or evaluator is given the folder.
    with tempfile.TemporaryDirectory(prefix="model-") as folder:
        path, said = Path(folder) / "m.sock", Path(folder) / "log"
        with said.open("ab") as log:
            command = [sys.executable, "-m", "modelgate", "--socket", str(path)]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment)
        running = RunningModels(Client(path, answer_s=limits.model_total_s + SLACK_S), process, said)
        try:
            if process.stdin:
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.write(config.to_json().encode() + b"\n")
                    process.stdin.flush()
            _wait_until_ready(running, limits.model_start_s)
            yield running
        finally:
            stop(process, within_s=STOP_S)
            _keep_log(said, log_to)


def _wait_until_ready(running: RunningModels, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline and running.is_alive:
        if running.client.path.is_socket():
            # Between bind and listen the file is there and nobody answers yet.
            with contextlib.suppress(ModelError):
                running.client.health()
                return
        time.sleep(0.02)
    said = running.log_path.read_text(encoding="utf-8", errors="replace")[-400:].strip()
    raise PrerequisiteError(
        f"model process: expected it to answer within {timeout_s:.0f} s, found exit code {running.process.poll()} "
        f"({said or 'nothing in its log'}); run again"
    )


def _keep_log(said: Path, log_to: Path | None) -> None:
    content = said.read_bytes()
    if content and log_to is not None and log_to.parent.parent.is_dir():
        log_to.parent.mkdir(mode=0o700, exist_ok=True)
        with os.fdopen(os.open(log_to, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "wb") as file:
            file.write(content)
