"""A box leaves nothing behind, however it ends; and a sweep takes our leftovers only."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from records.errors import LostError, PrerequisiteError, SandboxError, StartError
from sandbox.engine import loopdev
from sandbox.engine.engine import Engine
from sandbox.engine.hostconfig import LABEL_OWNER
from sandbox.engine.owner import this_owner
from sandbox.engine.sweep import sweep
from sandbox.engine.workspace import images_dir
from tests.boxes import BASE, Boxes, shell

pytestmark = pytest.mark.docker


def _ours(engine: Engine, owner: str) -> tuple[list[str], list[str]]:
    """Return the containers and volumes of one owner."""
    marked = {"label": [f"{LABEL_OWNER}={owner}"]}
    containers = [str(found["Id"]) for found in engine.client.api.containers(all=True, filters=marked)]
    volumes = engine.client.api.volumes(filters=marked)["Volumes"] or []
    return containers, [str(found["Name"]) for found in volumes]


def _devices(name: str) -> list[Path]:
    return [device for device, backing in loopdev.attached(images_dir()) if name in backing.name]


def _gone(name: str) -> bool:
    for _ in range(200):
        if not _devices(name):
            return True
        time.sleep(0.02)
    return False


def test_closed_then_container_volume_and_device_are_gone(boxes: Boxes, engine: Engine) -> None:
    box = boxes.thawed()
    inspected = engine.client.api.inspect_container(box.id)
    volume = next(mount["Name"] for mount in inspected["Mounts"] if mount["Type"] == "volume")
    assert _devices(box.name)
    assert volume in _ours(engine, this_owner())[1]

    box.close()
    box.close()

    assert box.id not in _ours(engine, this_owner())[0]
    assert volume not in _ours(engine, this_owner())[1]
    assert _gone(box.name)
    assert list(images_dir().glob(f"*{box.name}*")) == []
    with pytest.raises(LostError, match="closed"):
        box.thaw()


def test_image_not_built_then_prerequisite_and_nothing_left(boxes: Boxes, engine: Engine) -> None:
    box = boxes.new(image="fincosmos/none:1")

    with pytest.raises(PrerequisiteError, match=r"image 'fincosmos/none:1' is not built; run: runner images build"):
        box.start()

    assert _gone(box.name)
    assert not [name for name in engine.client.api.containers(all=True) if box.name in str(name["Names"])]


def test_gateway_folder_missing_then_start_error_and_nothing_left(boxes: Boxes, tmp_path: Path) -> None:
    boxes.gateway.folder, kept = tmp_path / "none", boxes.gateway.folder
    box = boxes.new()
    boxes.gateway.folder = kept

    with pytest.raises(StartError, match="none"):
        box.start()

    assert _gone(box.name)


def test_cancelled_from_another_thread_then_the_command_ends_as_lost(boxes: Boxes) -> None:
    box = boxes.thawed()
    timer = threading.Timer(0.5, box.cancel)
    timer.start()

    with pytest.raises(LostError, match="cancelled"):
        box.exec(["sleep", "300"], timeout_s=200)

    timer.join()
    box.close()
    assert _gone(box.name)


def test_cancelled_while_frozen_then_closed(boxes: Boxes) -> None:
    box = boxes.new()
    box.start()

    box.cancel()
    with pytest.raises(LostError, match="cancelled"):
        box.thaw()
    box.close()

    assert _gone(box.name)


def test_lifetime_over_then_lost_with_the_reason(boxes: Boxes) -> None:
    box = boxes.thawed(lifetime_s=1)

    with pytest.raises(LostError, match="longest legal life"):
        box.exec(["sleep", "60"], timeout_s=50)


def test_forwarder_dead_then_lost_with_the_reason(boxes: Boxes) -> None:
    box = boxes.thawed()
    assert box._stopper is not None
    listed = box._stopper.container.client.api.top(box.id, ps_args="-eo pid,args")["Processes"]
    os.kill(next(int(pid) for pid, args in listed if "TCP4-LISTEN:8802" in args), signal.SIGKILL)

    with pytest.raises(LostError, match="a forwarder in it died") as lost:
        box.exec(["sleep", "60"], timeout_s=50)

    assert lost.value.agent_caused


def test_container_removed_under_us_then_lost(boxes: Boxes, engine: Engine) -> None:
    box = boxes.thawed()
    engine.client.api.remove_container(box.id, force=True, v=True)

    with pytest.raises(LostError):
        box.exec(["true"], timeout_s=5)
    with pytest.raises(LostError):
        box.freeze()
    box.close()


def test_command_while_frozen_then_refused_with_next_step(boxes: Boxes) -> None:
    box = boxes.new()
    box.start()

    with pytest.raises(SandboxError, match="call thaw first"):
        box.exec(["true"], timeout_s=5)


KILLED_RUNNER = """
import sys, pathlib
from sandbox.engine.engine import connect
from sandbox.engine.owner import this_owner
from sandbox.protocol import SandboxSpec
box = connect().sandbox(SandboxSpec(image=sys.argv[1], run="r", session="s", attempt=1, gateway_dir=pathlib.Path(sys.argv[2]), lifetime_s=600))
box.start()
print(this_owner(), box.name, flush=True)
sys.stdin.read()
"""


def test_killed_runner_then_swept_and_nothing_else(boxes: Boxes, engine: Engine) -> None:
    ours = boxes.thawed()
    foreign = engine.client.containers.create(BASE, ["true"], labels={"somebody": "else"})
    try:
        with subprocess.Popen(
            [sys.executable, "-c", KILLED_RUNNER, BASE, str(boxes.gateway.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
            text=True,
        ) as runner:
            assert runner.stdout is not None
            owner, name = runner.stdout.readline().split()
            assert sweep(engine.client).removed == ()
            assert len(_ours(engine, owner)[0]) == 1
            runner.kill()

        swept = sweep(engine.client)

        assert f"container {name}" in swept.removed
        assert swept.remaining == ()
        assert _ours(engine, owner) == ([], [])
        assert _gone(name)
        assert shell(ours, "echo alive") == "alive\n"
        foreign.reload()
    finally:
        foreign.remove(force=True)
