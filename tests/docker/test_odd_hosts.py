"""Boxes where less is there than usual: an image with nothing in it, a runner without root."""

import io
import secrets
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from records.limits import MIB
from sandbox.engine import box as box_module
from sandbox.engine import workspace
from sandbox.engine.engine import Engine
from sandbox.engine.forwarder import forwarder_folder
from sandbox.protocol import DELIVER
from tests.boxes import BASE, SMALL, Boxes, shell

pytestmark = pytest.mark.docker


@pytest.fixture
def bare_image(engine: Engine) -> Iterator[str]:
    """Yield an image that holds one static program and nothing else: no shell, no C library, no folders."""
    program = (forwarder_folder(engine.client, BASE) / "busybox").read_bytes()
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as archive:
        head = tarfile.TarInfo("busybox")
        head.size, head.mode = len(program), 0o755
        archive.addfile(head, io.BytesIO(program))
    name = f"fincosmos-test-{secrets.token_hex(4)}"
    engine.client.api.import_image_from_data(layer.getvalue(), repository=name, tag="1")
    yield f"{name}:1"
    engine.client.images.remove(f"{name}:1", force=True)


def test_image_without_shell_or_c_library_then_forwarders_and_stop_work(
    boxes: Boxes, bare_image: str, tmp_path: Path
) -> None:
    box = boxes.new(image=bare_image)
    box.start()
    box.thaw()
    assert box._stopper is not None

    assert box.exec(["/busybox", "nc", "127.0.0.1", "8801"], timeout_s=10).stdout == b"gw"
    assert box.exec(["/busybox", "nc", "127.0.0.1", "8802"], timeout_s=10).stdout == b"web"
    assert box.exec(["sh"], timeout_s=10).exit_code == 127
    assert box.exec(["/busybox", "touch", "deliver/made"], timeout_s=10).exit_code == 0
    box.exec(["/busybox", "sh", "-c", "(while :; do :; done) >/dev/null 2>&1 </dev/null &"], timeout_s=10)
    box._stopper.by_host = False
    proof = box.freeze()

    assert (proof.swept, proof.survivors) == (1, ())
    box._stopper.by_host = True
    assert [entry.path for entry in box.copy_out(DELIVER, tmp_path / "out").files] == ["made"]
    box.close()


@pytest.fixture
def soft(monkeypatch: pytest.MonkeyPatch, boxes: Boxes) -> Boxes:
    monkeypatch.setattr(workspace, "workspace_cap", lambda: "soft")
    monkeypatch.setattr(box_module, "_near_view", lambda container_id, init_pid: None)
    return boxes


def test_without_root_then_a_soft_cap_that_is_reported_and_holds(soft: Boxes, tmp_path: Path) -> None:
    box = soft.thawed(SMALL.model_copy(update={"workspace_bytes": 8 * MIB}))
    assert box.workspace_cap == "soft"
    assert shell(box, "echo fine > deliver/note; id -u; cat deliver/note").split() == ["1000", "fine"]

    one_file = box.exec(["sh", "-c", "head -c 20000000 /dev/zero > deliver/big; stat -c %s deliver/big"], timeout_s=30)
    assert int(one_file.stdout) <= 8 * MIB
    many = "rm deliver/big; for i in 1 2 3 4 5 6; do head -c 4000000 /dev/zero > f$i; done; sleep 300"
    result = box.exec(["sh", "-c", many], timeout_s=200)

    assert not result.timed_out
    assert result.exit_code is None
    assert b"workspace over its cap of 8388608 bytes" in result.stderr
    assert box.freeze().survivors == ()
    report = box.copy_out(DELIVER, tmp_path / "out")
    assert [(entry.path, entry.size) for entry in report.files] == [("note", 5)]


def test_without_root_then_removed_with_its_volume(soft: Boxes, engine: Engine) -> None:
    box = soft.thawed()
    mounts = engine.client.api.inspect_container(box.id)["Mounts"]
    volume = next(mount["Name"] for mount in mounts if mount["Type"] == "volume")

    box.close()

    assert volume not in {found["Name"] for found in engine.client.api.volumes()["Volumes"] or []}
