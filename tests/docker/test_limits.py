"""Each limit holds, and holds because of the limit: the same stub first goes past it under one four times higher."""

import threading

import pytest

from records.limits import MIB, Limits
from sandbox.engine.box import DockerSandbox
from sandbox.protocol import ExecResult
from tests.boxes import SMALL, Boxes, python, shell

pytestmark = pytest.mark.docker

FORKS = """
import os, signal, sys, time
made = 0
try:
    while made < int(sys.argv[1]):
        if os.fork() == 0:
            time.sleep(30); os._exit(0)
        made += 1
except OSError as e:
    print("refused", e.errno, flush=True)
print("made", made, flush=True)
"""
BOMB = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n"
CHASER = "import os, time\nwhile True:\n    try: os.fork() and time.sleep(0.02)\n    except OSError: time.sleep(0.02)\n"
"""Every process forks for ever, but leaves the machine's processors to the tests beside it."""
ALLOCATE = """
import sys
kept = []
for step in range(int(sys.argv[1])):
    kept.append(b"x" * (8 << 20))
    print("mib", 8 * (step + 1), flush=True)
print("done", flush=True)
"""
FILL = """
import sys
written = 0
try:
    with open(sys.argv[1] + "/filler", "wb", buffering=0) as f:
        while written < int(sys.argv[2]) << 20:
            written += f.write(bytes(1 << 20))
except OSError as e:
    print("refused", e.errno)
print("mib", written >> 20)
"""
INODES = """
import sys
made = 0
try:
    while made < int(sys.argv[1]):
        open(f"/workspace/f{made}", "x").close(); made += 1
except OSError as e:
    print("refused", e.errno)
print("made", made)
"""
HEARTBEAT = "import time\nfor beat in range(100):\n    open('/workspace/beat', 'w').write(str(beat)); time.sleep(0.02)\nprint('beats', beat + 1)"
ENOSPC, EAGAIN = "28", "11"


def _four_times(limits: Limits) -> Limits:
    names = ("pids", "memory_bytes", "workspace_bytes", "workspace_inodes", "tmp_bytes")
    return limits.model_copy(update={name: 4 * getattr(limits, name) for name in names})


@pytest.fixture
def low(boxes: Boxes) -> DockerSandbox:
    return boxes.thawed()


@pytest.fixture(scope="module")
def high(boxes: Boxes) -> DockerSandbox:
    return boxes.thawed(_four_times(SMALL))


class Neighbour:
    """A session beside the hostile one, busy all the while."""

    def __init__(self, box: DockerSandbox) -> None:
        self.box = box
        self.result: ExecResult | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        self.result = self.box.exec(["python3", "-c", HEARTBEAT], timeout_s=60)

    def assert_unharmed(self) -> None:
        self._thread.join()
        assert self.result is not None
        assert (self.result.exit_code, self.result.stdout) == (0, b"beats 100\n")
        proof = self.box.freeze()
        assert (proof.survivors, proof.oom_kills) == ((), 0)


@pytest.fixture
def neighbour(boxes: Boxes) -> Neighbour:
    return Neighbour(boxes.thawed())


def _number(text: str, word: str) -> int:
    return int([line.split()[1] for line in text.splitlines() if line.startswith(f"{word} ")][-1])


def test_processes_over_the_limit_are_refused(high: DockerSandbox, low: DockerSandbox) -> None:
    wanted = str(SMALL.pids + 20)

    assert _number(python(high, FORKS, wanted), "made") > SMALL.pids
    out = python(low, FORKS, wanted)
    assert f"refused {EAGAIN}" in out
    assert _number(out, "made") < SMALL.pids
    assert low.freeze().survivors == ()
    assert high.freeze().survivors == ()
    high.thaw()


def test_fork_bomb_then_swept_as_data_and_the_neighbour_unharmed(low: DockerSandbox, neighbour: Neighbour) -> None:
    result = low.exec(["python3", "-c", BOMB], timeout_s=0.3)

    assert result.timed_out
    proof = low.freeze()
    assert proof.survivors == ()
    neighbour.assert_unharmed()
    low.thaw()
    assert shell(low, "echo still here") == "still here\n"


def test_endless_forks_without_root_then_swept_from_inside(boxes: Boxes) -> None:
    box = boxes.thawed(SMALL.model_copy(update={"pids": 48}))
    assert box._stopper is not None
    box._stopper.by_host = False
    box.exec(["sh", "-c", 'python3 -c "$0" >/dev/null 2>&1 </dev/null &', CHASER], timeout_s=30)

    proof = box.freeze()

    assert proof.swept > 0
    assert proof.survivors == ()


def test_memory_over_the_limit_then_killed_with_evidence_and_the_neighbour_unharmed(
    high: DockerSandbox, low: DockerSandbox, neighbour: Neighbour
) -> None:
    steps = str(2 * SMALL.memory_bytes // (8 * MIB))

    assert python(high, ALLOCATE, steps).endswith("done\n")
    result = low.exec(["python3", "-c", ALLOCATE, steps], timeout_s=60)
    assert result.exit_code == 137
    assert not result.timed_out
    assert 0 < _number(result.stdout.decode(), "mib") * MIB < SMALL.memory_bytes
    assert low.freeze().oom_kills >= 1
    neighbour.assert_unharmed()
    low.thaw()
    assert python(low, "import socket; print(socket.create_connection(('127.0.0.1', 8801)).recv(9))") == "b'gw'\n"
    assert low.freeze().oom_kills == 0
    assert high.freeze().oom_kills == 0
    high.thaw()


@pytest.mark.parametrize(("folder", "cap"), [("/workspace", SMALL.workspace_bytes), ("/tmp", SMALL.tmp_bytes)])
def test_disk_filler_then_no_space_and_the_neighbour_unharmed(
    high: DockerSandbox, low: DockerSandbox, neighbour: Neighbour, folder: str, cap: int
) -> None:
    wanted = str(2 * cap // MIB)

    assert _number(python(high, FILL, folder, wanted), "mib") * MIB > cap
    out = python(low, FILL, folder, wanted)
    assert f"refused {ENOSPC}" in out
    assert _number(out, "mib") * MIB <= cap
    assert low.freeze().survivors == ()
    neighbour.assert_unharmed()


def test_inode_filler_then_no_space(high: DockerSandbox, low: DockerSandbox) -> None:
    wanted = str(SMALL.workspace_inodes + 200)

    assert _number(python(high, INODES, wanted), "made") > SMALL.workspace_inodes
    out = python(low, INODES, wanted)
    assert f"refused {ENOSPC}" in out
    assert _number(out, "made") <= SMALL.workspace_inodes + 32


def test_processor_quota_is_set(low: DockerSandbox, boxes: Boxes) -> None:
    config = boxes.engine.client.api.inspect_container(low.id)["HostConfig"]

    assert config["NanoCpus"] == SMALL.cpus * 1e9
    assert config["PidsLimit"] == SMALL.pids
    assert config["MemorySwap"] == SMALL.memory_bytes
