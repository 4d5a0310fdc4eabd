"""A hostile tree is copied without a link followed, a device opened or a cap passed; by both ways of reading."""

import io
import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from records.limits import MIB
from sandbox.engine.box import DockerSandbox
from sandbox.protocol import DELIVER, WORKSPACE
from tests.boxes import SMALL, Boxes, python, shell

pytestmark = pytest.mark.docker

TREE = """
import os, socket
os.chdir("/workspace/deliver")
open("plain.csv", "w").write("a,b\\n")
os.mkdir("sub"); open("sub/deep.txt", "w").write("deep")
os.link("plain.csv", "twin.csv")
os.symlink("plain.csv", "inside.csv")
os.symlink("/etc/passwd", "passwd")
os.symlink("../../etc/passwd", "sub/passwd")
os.symlink("/", "rootdir")
os.symlink("loop", "loop")
os.mkfifo("fifo")
socket.socket(socket.AF_UNIX).bind("sock")
open("suid", "w").write("x"); os.chmod("suid", 0o6755)
open("closed", "w").write("secret"); os.chmod("closed", 0)
open(b"line\\nbreak", "w").write("n")
open(b"bad\\xff\\xfename", "w").write("b")
open("95%.csv", "w").write("p")
open("a%0Ab", "w").write("q")
open("-rf", "w").write("d")
open("n" * 255, "w").write("long")
open(b"\\xff" * 200, "w").write("grows")
here = "deep"
os.makedirs("/".join(["d"] * 80)); open("/".join(["d"] * 80) + "/bottom", "w").write("bottom")
with open("zz-sparse", "wb") as f: f.truncate(1 << 40)
open("zzz-after", "w").write("after")
"""


@pytest.fixture(scope="module")
def hostile(boxes: Boxes) -> DockerSandbox:
    box = boxes.thawed(SMALL.model_copy(update={"deliver_bytes": 4 * MIB}))
    assert python(box, TREE) == ""
    box.freeze()
    return box


@pytest.fixture(params=["through the host", "through the engine"])
def reader(request: pytest.FixtureRequest, hostile: DockerSandbox) -> Iterator[str]:
    assert hostile._stopper is not None
    hostile._stopper.by_host = request.param == "through the host"
    yield request.param
    hostile._stopper.by_host = True


def test_hostile_tree_then_only_plain_files_with_clean_names(
    hostile: DockerSandbox, reader: str, tmp_path: Path
) -> None:
    report = hostile.copy_out(DELIVER, tmp_path / "out")

    on_disk = {
        os.path.relpath(Path(folder) / name, tmp_path / "out")
        for folder, _, names in os.walk(tmp_path / "out")
        for name in names
    }
    assert {entry.path for entry in report.files} == on_disk
    expected = {
        "plain.csv": "a,b\n", "twin.csv": "a,b\n", "inside.csv": "a,b\n", "sub/deep.txt": "deep", "suid": "x",
        "closed": "secret", "line%0Abreak": "n", "bad%FF%FEname": "b", "95%.csv": "p", "a%250Ab": "q", "-rf": "d",
        "n" * 255: "long",
    }  # fmt: skip
    for name, text in expected.items():
        path = tmp_path / "out" / name
        assert path.read_text(encoding="utf-8") == text
        assert stat.S_IMODE(path.lstat().st_mode) == 0o644
    assert all(path.is_file() and not path.is_symlink() for path in map((tmp_path / "out").joinpath, on_disk))
    assert not any("passwd" in name or "rootdir" in name or "fifo" in name or "sock" in name for name in on_disk)
    assert report.truncated


def test_hostile_tree_then_every_refusal_has_a_note(hostile: DockerSandbox, reader: str, tmp_path: Path) -> None:
    notes = "\n".join(hostile.copy_out(DELIVER, tmp_path / "out").notes)

    for name in ("passwd", "sub/passwd", "rootdir", "loop", "fifo", "zz-sparse"):
        assert f"{name}: not kept" in notes
    assert "1099511627776 bytes go past the cap of 4194304" in notes


def test_file_behind_a_sparse_one_then_kept_through_the_host(hostile: DockerSandbox, tmp_path: Path) -> None:
    report = hostile.copy_out(DELIVER, tmp_path / "out")

    assert "zzz-after" in {entry.path for entry in report.files}


def test_archive_then_the_same_refusals(hostile: DockerSandbox, reader: str, tmp_path: Path) -> None:
    report = hostile.archive(WORKSPACE, tmp_path / "w.tar.zst")

    data = zstandard.ZstdDecompressor().stream_reader((tmp_path / "w.tar.zst").read_bytes()).read()
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        members = archive.getmembers()
        assert {member.name for member in members} == {entry.path for entry in report.files}
        assert all(member.isreg() and member.mode == 0o644 for member in members)
        extracted = archive.extractfile("deliver/plain.csv")
        assert extracted is not None
        assert extracted.read() == b"a,b\n"
    assert "lost+found" not in {member.name for member in members}
    assert report.truncated


def test_deliver_folder_replaced_by_a_link_then_nothing_is_copied(boxes: Boxes, tmp_path: Path) -> None:
    box = boxes.thawed()
    shell(box, "rmdir deliver && ln -s /etc deliver")
    box.freeze()

    for by_host in (True, False):
        assert box._stopper is not None
        box._stopper.by_host = by_host
        report = box.copy_out(DELIVER, tmp_path / f"out{by_host}")
        assert report.files == ()
        assert list((tmp_path / f"out{by_host}").iterdir()) == []


def test_deliver_folder_gone_then_empty(boxes: Boxes, tmp_path: Path) -> None:
    box = boxes.thawed()
    shell(box, "rmdir deliver")
    box.freeze()

    for by_host in (True, False):
        assert box._stopper is not None
        box._stopper.by_host = by_host
        report = box.copy_out(DELIVER, tmp_path / f"out{by_host}")
        assert (report.files, report.truncated) == ((), False)


def test_more_files_than_the_cap_then_the_first_ones_and_a_note(boxes: Boxes, tmp_path: Path) -> None:
    box = boxes.thawed(SMALL.model_copy(update={"deliver_files": 10}))
    shell(box, "cd deliver; for i in $(seq 100 150); do echo $i > f$i; done")
    box.freeze()

    report = box.copy_out(DELIVER, tmp_path / "out")

    assert [entry.path for entry in report.files] == [f"f{number}" for number in range(100, 110)]
    assert report.truncated
    assert any("more than 10 files" in note for note in report.notes)
