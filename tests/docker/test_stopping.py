"""Whatever the agent leaves running is first seen alive from outside, then gone before anything is copied."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.engine.box import DockerSandbox
from sandbox.engine.stop import Stopper
from sandbox.protocol import DELIVER
from tests.boxes import SMALL, Boxes, shell

pytestmark = pytest.mark.docker

LEFT_RUNNING = {
    "ignores every signal it can": "(trap '' INT TERM HUP QUIT; while :; do sleep 1; done) >/dev/null 2>&1 </dev/null &",
    "forked twice into its own session": "(setsid sh -c 'sleep 300 &' >/dev/null 2>&1 </dev/null &)",
    "writes on and on": "(while :; do date +%N >> deliver/log; done) >/dev/null 2>&1 </dev/null &",
    "kills whoever would kill it": "(while :; do kill -9 -1; done) >/dev/null 2>&1 </dev/null &",
}


def _stopper(box: DockerSandbox) -> Stopper:
    assert box._stopper is not None
    return box._stopper


def _until(claim: Callable[[], bool]) -> None:
    for _ in range(500):
        if claim():
            return
        time.sleep(0.01)
    pytest.fail("never came true")


@pytest.mark.parametrize("script", list(LEFT_RUNNING.values()), ids=list(LEFT_RUNNING))
def test_left_running_then_seen_alive_then_gone(boxes: Boxes, tmp_path: Path, script: str) -> None:
    box = boxes.thawed()
    assert box.exec(["bash", "-c", script], timeout_s=10).exit_code in {0, 137}
    assert _stopper(box).alive() != ()

    proof = box.freeze()

    assert proof.swept > 0
    assert proof.survivors == ()
    assert _stopper(box).alive() == ()
    first = box.copy_out(DELIVER, tmp_path / "first")
    time.sleep(0.2)
    assert box.copy_out(DELIVER, tmp_path / "second") == first


@pytest.mark.parametrize("near", [True, False], ids=["host's table", "engine's list"])
def test_without_root_then_our_shell_inside_ends_everything(boxes: Boxes, near: bool) -> None:
    box = boxes.thawed()
    stopper = _stopper(box)
    stopper.by_host = False
    if not near:
        stopper.near = None
    for name in ("ignores every signal it can", "forked twice into its own session", "writes on and on"):
        shell(box, LEFT_RUNNING[name])
    assert len(stopper.alive()) >= 3

    proof = box.freeze()

    assert proof.swept >= 3
    assert stopper.alive() == ()


def test_both_views_agree_on_what_is_alive(boxes: Boxes) -> None:
    box = boxes.thawed()
    stopper = _stopper(box)
    shell(box, "(sleep 301 >/dev/null 2>&1 </dev/null &)")
    near = stopper.alive()
    view, stopper.near = stopper.near, None
    far = stopper.alive()
    stopper.near = view

    assert [line.split(maxsplit=1)[1] for line in near] == ["sleep 301"]
    assert [line.split(maxsplit=1)[1] for line in far] == ["sleep 301"]


def test_nothing_moves_while_frozen(boxes: Boxes) -> None:
    box = boxes.thawed()
    stopper = _stopper(box)
    shell(box, LEFT_RUNNING["writes on and on"])
    log = Path(f"/proc/{stopper.init_pid}/root/workspace/deliver/log")
    _until(lambda: log.exists() and log.stat().st_size > 0)
    before = log.stat().st_size
    _until(lambda: log.stat().st_size > before)

    stopper.container.pause()
    frozen = log.stat().st_size
    time.sleep(0.3)
    assert log.stat().st_size == frozen
    stopper.container.unpause()

    _until(lambda: log.stat().st_size > frozen)


def test_timeout_then_interrupted_and_its_last_words_kept(boxes: Boxes) -> None:
    box = boxes.thawed()

    result = box.exec(["sh", "-c", "trap 'echo last words; exit 7' INT; sleep 60 & wait"], timeout_s=0.5)

    assert (result.exit_code, result.timed_out, result.stdout) == (7, True, b"last words\n")


def test_timeout_of_one_that_ignores_it_then_killed_after_the_grace(boxes: Boxes) -> None:
    box = boxes.thawed()

    result = box.exec(["sh", "-c", "trap '' INT TERM; echo here; while :; do sleep 1; done"], timeout_s=0.5)

    assert (result.exit_code, result.timed_out, result.stdout) == (None, True, b"here\n")
    assert result.duration_s >= SMALL.stop_grace_s


def test_command_over_while_a_child_holds_its_output_then_not_timed_out(boxes: Boxes) -> None:
    box = boxes.thawed()

    result = box.exec(["sh", "-c", "sleep 300 & echo done; exit 3"], timeout_s=1.0)

    assert (result.exit_code, result.timed_out, result.stdout) == (3, False, b"done\n")
    assert box.freeze().swept == 1


def test_the_forwarder_lives_through_a_stop(boxes: Boxes) -> None:
    box = boxes.thawed()
    shell(box, LEFT_RUNNING["ignores every signal it can"])
    box.freeze()
    box.thaw()

    assert "gw" in shell(box, "busybox nc 127.0.0.1 8801")
    assert "web" in shell(box, "busybox nc 127.0.0.1 8802")
