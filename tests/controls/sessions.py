"""Whole sessions of the reference agent with the simulated user, outside a box, against the offline data service."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from gateway.process import RunningGateway, start_gateway
from gateway.settings import GatewayConfig, SessionSpec, WebPolicy
from generator import generate, offline_conditions
from offline.data import ensure
from offline.fmp import start_fmp
from records.decision import Decision
from records.paths import AttemptPaths
from records.session import AgentEvent, EndEvent, EndReason, UserEvent
from records.strategy import Strategy
from records.task import Task
from simulator import UserSimulator, build_view, end_reason
from tests.controls.files import entries
from tests.controls.forward import forwarded
from tests.controls.places import ROOT, digest, made_once

AGENT = ROOT / "images" / "reference"
KEY = "controls-offline-key"
STATE = "state.json"
"""What the agent kept about its sources; the report is written again from it."""


def now() -> datetime:
    """Return the time of an event."""
    return datetime.now(UTC)


@contextmanager
def services(scratch: Path) -> Iterator[RunningGateway]:
    """Run data service and gateway while the block runs."""
    with (
        start_fmp(ensure(), KEY) as fmp,
        start_gateway(GatewayConfig(fmp_base_url=fmp.base_url), key=KEY, log_path=scratch / "gateway.log") as gateway,
    ):
        yield gateway


def recorded(seed: int) -> Path:
    """Return the attempt of one seed's session, made when it is not there; it ended satisfied.

    The last turn holds all that was delivered; earlier turns hold nothing, so that one folder is the delivery.
    """
    code = [*AGENT.glob("*.py"), *(ROOT / "simulator").rglob("*.py"), *(ROOT / "generator").rglob("*.py")]
    return made_once(f"reference-{seed}", digest(code, "1"), lambda place: _record(seed, place))


def _record(seed: int, place: Path) -> None:
    task, strategy = generate(seed, conditions=offline_conditions())
    paths = AttemptPaths(place)
    for folder in (paths.public, paths.sealed):
        folder.mkdir(parents=True)
    paths.task.write_text(task.to_json(indent=1), encoding="utf-8")
    paths.strategy.write_text(strategy.to_json(indent=1), encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="controls-") as name:
        scratch = Path(name)
        with services(scratch) as gateway:
            sockets = gateway.client.add_session(
                SessionSpec(
                    session=f"seed-{seed}",
                    socket_dir=str(scratch / "sockets"),
                    calls_path=str(paths.calls),
                    bodies_dir=str(scratch / "bodies"),
                    channels=("fmp-mcp",),
                    web=WebPolicy(mode="offline"),
                )
            )
            with forwarded(sockets.gw) as port:
                _converse(task, strategy, paths, scratch / "workspace", f"http://127.0.0.1:{port}/mcp")
            gateway.client.remove_session(f"seed-{seed}")


def _converse(task: Task, strategy: Strategy, paths: AttemptPaths, workspace: Path, address: str) -> None:
    workspace.mkdir()
    user = UserSimulator(task, strategy)
    events: list[UserEvent | AgentEvent | EndEvent] = [UserEvent(turn=0, at=now(), text=task.opening)]
    message, deliver = task.opening, workspace / "deliver"
    for turn in range(1, task.conditions.max_turns + 1):
        started = now()
        text = _one_turn(address, workspace, message)
        paths.turn(turn).mkdir(parents=True)
        if deliver.exists():
            shutil.copytree(deliver, paths.deliver(turn))
        files = entries(paths.deliver(turn))
        events.append(AgentEvent(turn=turn, started_at=started, ended_at=now(), text=text, exit_code=0, files=files))
        decision: Decision = user.reply(build_view(events, deliver=paths.deliver)).decision  # type: ignore[arg-type]
        if decision.message:
            events.append(UserEvent(turn=turn, at=now(), text=decision.message))
        if (reason := end_reason(decision)) is not None:
            events.append(EndEvent(at=now(), reason=reason))
            break
        message = decision.message
    last = events[-1]
    if not isinstance(last, EndEvent) or last.reason is not EndReason.SATISFIED:
        raise RuntimeError(f"session of task {task.id}: expected the user to close it, found {last}")
    for earlier in range(1, turn):
        shutil.rmtree(paths.deliver(earlier), ignore_errors=True)
    kept = json.loads(next((workspace / ".reference").glob("*.json")).read_text(encoding="utf-8"))
    (paths.root / STATE).write_text(json.dumps(kept), encoding="utf-8")
    lines = "".join(event.to_json() + "\n" for event in events)
    paths.session.write_text(lines, encoding="utf-8")


def _one_turn(address: str, workspace: Path, message: str) -> str:
    env = {**os.environ, "FMP_MCP_URL": address, "REFERENCE_WORKSPACE": str(workspace)}
    done = subprocess.run(
        [sys.executable, str(AGENT / "agent.py")], input=message.encode(), capture_output=True, env=env, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"the reference agent ended with {done.returncode}: {done.stderr.decode()[-800:]}")
    reply: str = json.loads(done.stdout.decode().splitlines()[-1])["message"]
    return reply
