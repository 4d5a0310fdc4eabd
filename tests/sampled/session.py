"""A whole session of the reference agent and the rules user outside a box: same session code, a folder for a sandbox."""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

import structlog

from adapters.instruction import Instruction
from adapters.oneshot import OneShotAdapter
from gateway.settings import Shape
from generator import generate, offline_conditions
from offline.fmp.app import Service
from records.capture import CopyReport, FileEntry
from records.limits import DEFAULT_LIMITS
from records.paths import AttemptPaths
from records.session import EndEvent
from records.strategy import Strategy
from records.task import Task
from runner.session import Parts, run_session
from runner.stop import Stop
from runner.store import AttemptStore, file_sha256
from runner.wiring import rules_user, today
from sandbox.protocol import DELIVER, WORKSPACE, ExecResult, StopProof
from tests.sampled.service import serving

ROOT = Path(__file__).resolve().parents[2]
AGENT = ROOT / "images" / "reference"
CODE = ("images/reference", "generator", "simulator", "adapters", "records")
"""What a delivery depends on, besides the data and this package."""
LIMIT_S = 600.0
"""A session outside a box shares the machine with other work; its turns may take longer than a task allows."""


def code_sha256() -> str:
    """Return the first 16 hexadecimal digits of a hash of the code that makes a session."""
    digest = hashlib.sha256()
    here = Path(__file__).resolve().parent
    folders = [*(ROOT / name for name in CODE), here, ROOT / "offline"]
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix not in (".py", ".json", ".txt", ".jsonl") or "__pycache__" in path.parts:
                continue
            if folder == here and path.name not in ("service.py", "session.py"):
                continue
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


@dataclass
class Folder:
    """A workspace on the host in place of a box."""

    workspace: Path
    address: str
    id: str = "folder"
    spent_s: list[float] = field(default_factory=list)

    def start(self) -> None:
        """Make the workspace."""
        self.workspace.mkdir(parents=True)

    def thaw(self) -> None:
        """Nothing sleeps here."""

    def exec(
        self,
        argv: list[str],
        *,
        timeout_s: float,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        cwd: PurePosixPath = WORKSPACE,
        stdout_path: Path | None = None,
        stderr_path: Path | None = None,
    ) -> ExecResult:
        """Run one command and wait for it."""
        given = {**os.environ, "FMP_MCP_URL": self.address, "REFERENCE_WORKSPACE": str(self.workspace), **(env or {})}
        given |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        begin = time.monotonic()
        done = subprocess.run(
            argv, input=stdin, capture_output=True, env=given, cwd=self.workspace, timeout=timeout_s, check=False
        )
        spent = time.monotonic() - begin
        self.spent_s.append(spent)
        if stderr_path is not None and done.stderr:
            stderr_path.write_bytes(done.stderr)
        return ExecResult(done.returncode, timed_out=False, duration_s=spent, stdout=done.stdout, stderr=done.stderr)

    def freeze(self) -> StopProof:
        """The command has ended."""
        return StopProof(survivors=(), swept=0, duration_s=0.0)

    def copy_out(self, source: PurePosixPath, destination: Path) -> CopyReport:
        """Copy the delivered files."""
        assert source == DELIVER
        delivered = self.workspace / "deliver"
        if not delivered.exists():
            destination.mkdir(parents=True)
            return CopyReport()
        shutil.copytree(delivered, destination, ignore=shutil.ignore_patterns("__pycache__"))
        files = [path for path in sorted(destination.rglob("*")) if path.is_file()]
        return CopyReport(
            files=tuple(
                FileEntry(
                    path=path.relative_to(destination).as_posix(), size=path.stat().st_size, sha256=file_sha256(path)
                )
                for path in files
            )
        )

    def archive(self, source: PurePosixPath, destination: Path) -> CopyReport:
        """Keep nothing: all that a workspace holds here was delivered."""
        del source, destination
        return CopyReport()

    def cancel(self) -> None:
        """Nothing runs on."""

    def close(self) -> None:
        """Remove the workspace."""
        shutil.rmtree(self.workspace, ignore_errors=True)


def task_of(seed: int) -> tuple[Task, Strategy]:
    """Return one offline task of the released set, its turns as long as a busy machine needs."""
    task, strategy = generate(seed, conditions=offline_conditions())
    return task, strategy


def hold(seed: int, root: Path, api: Service, *, shape: Shape = "flat") -> EndEvent:
    """Run one session into `root`, an attempt's folder that does not exist yet."""
    task, strategy = task_of(seed)
    patient = task.model_copy(update={"conditions": task.conditions.model_copy(update={"turn_limit_s": LIMIT_S})})
    store = AttemptStore(AttemptPaths(root))
    store.create(task, strategy)
    with serving(api, store.paths.calls, shape) as address:
        folder = Folder(root.parent / f"{root.name}.workspace", address)
        shutil.rmtree(folder.workspace, ignore_errors=True)
        limit = task.conditions.turn_limit_s
        instruction = Instruction(today=today(offline=True), turn_limit_s=limit, web=False).render()
        argv = (sys.executable, str(AGENT / "agent.py"))
        return run_session(
            Parts(
                session=f"sampled{seed}",
                task=patient,
                sandbox=folder,
                adapter=OneShotAdapter(name="reference", argv=argv, instruction=instruction),
                user=rules_user(task, strategy, store, DEFAULT_LIMITS),
                store=store,
                now=lambda: datetime.now(UTC),
                log=structlog.get_logger(),
                stop=Stop(),
            )
        )
