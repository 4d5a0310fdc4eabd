import contextlib
import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.keep import Caps, Entry, FolderKeeper, Readable
from sandbox.names import clean_name
from sandbox.tree import open_below, read_tree

NAMES = st.binary(min_size=1, max_size=40).filter(
    lambda name: b"/" not in name and b"\0" not in name and name not in {b".", b".."}
)
CAPS = Caps(total_bytes=1000, files=20)


def _bytes(data: bytes) -> contextlib.AbstractContextManager[Readable]:
    return contextlib.nullcontext(io.BytesIO(data))


def _keep(keeper: FolderKeeper, name: bytes, data: bytes = b"x") -> None:
    keeper.take(Entry(tuple(name.split(b"/")), "file", size=len(data)), lambda: _bytes(data))


@given(st.lists(NAMES, min_size=2, max_size=2, unique=True))
def test_different_names_then_different_clean_names(names: list[bytes]) -> None:
    first, second = (clean_name((name,)) for name in names)

    assert first != second
    for name in (first, second):
        name.encode()
        assert "/" not in name
        assert name not in {".", "..", ""}
        assert name.isprintable() or not any(ord(character) < 32 for character in name)


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        (b"plain.csv", "plain.csv"),
        ("änderung.csv".encode(), "änderung.csv"),
        (b"a\nb", "a%0Ab"),
        (b"a%0Ab", "a%250Ab"),
        (b"95%.csv", "95%.csv"),
        (b"\xff", "%FF"),
        (b"a\\b", "a%5Cb"),
    ],
)
def test_name_then_its_clean_form(raw: bytes, clean: str) -> None:
    assert clean_name((raw,)) == clean


def test_names_of_a_tar_that_climb_then_held_inside(tmp_path: Path) -> None:
    keeper = FolderKeeper(tmp_path / "out", CAPS)
    keeper.take(Entry((b"..", b"..", b"etc", b"x"), "file", size=1), lambda: _bytes(b"x"))

    assert keeper.finish().files[0].path == "%2E%2E/%2E%2E/etc/x"
    assert not (tmp_path / "etc").exists()


def test_name_too_long_for_the_host_once_escaped_then_cut_with_a_hash() -> None:
    name = clean_name((b"\xff" * 200,))

    assert len(name.encode()) <= 255
    assert name != clean_name((b"\xff" * 201,))


def test_same_name_twice_then_the_first_stays(tmp_path: Path) -> None:
    keeper = FolderKeeper(tmp_path / "out", CAPS)
    _keep(keeper, b"a", b"first")
    _keep(keeper, b"a", b"second")

    report = keeper.finish()

    assert (tmp_path / "out/a").read_bytes() == b"first"
    assert (len(report.files), report.truncated) == (1, True)
    assert report.notes[0].startswith("a: not kept")


def test_file_where_a_folder_is_named_then_a_note(tmp_path: Path) -> None:
    keeper = FolderKeeper(tmp_path / "out", CAPS)
    _keep(keeper, b"a")
    _keep(keeper, b"a/b")

    assert [entry.path for entry in keeper.finish().files] == ["a"]


def test_caps_then_bytes_and_files_stop_with_notes(tmp_path: Path) -> None:
    keeper = FolderKeeper(tmp_path / "bytes", Caps(total_bytes=10, files=20))
    _keep(keeper, b"a", b"123456")
    _keep(keeper, b"b", b"123456")
    _keep(keeper, b"c", b"1234")
    report = keeper.finish()

    assert [entry.path for entry in report.files] == ["a", "c"]
    assert report.notes == ("b: not kept, its 6 bytes go past the cap of 10 bytes",)
    assert report.truncated


def test_many_refusals_then_counted(tmp_path: Path) -> None:
    keeper = FolderKeeper(tmp_path / "out", CAPS)
    for number in range(300):
        keeper.take(Entry((b"l%d" % number,), "other", what="fifo"), lambda: _bytes(b""))

    assert len(keeper.finish().notes) == 201
    assert keeper.finish().notes[-1] == "and 100 more notes of this kind"


@pytest.mark.parametrize(
    ("target", "kept"),
    [
        (b"real", True),
        (b"./sub/../real", True),
        (b"../real", False),
        (b"/real", False),
        (b"link", False),
        (b"sub", False),
    ],
)
def test_link_then_copied_only_when_it_means_a_kept_file(tmp_path: Path, target: bytes, kept: bool) -> None:
    keeper = FolderKeeper(tmp_path / "out", CAPS)
    _keep(keeper, b"real", b"data")
    _keep(keeper, b"sub/other")
    keeper.take(Entry((b"link",), "link", target=target), lambda: _bytes(b""))

    report = keeper.finish()

    assert ("link" in {entry.path for entry in report.files}) is kept
    assert not (tmp_path / "out/link").is_symlink()
    assert bool(report.notes) is not kept


def test_file_that_grows_while_it_is_read_then_its_stated_size(tmp_path: Path) -> None:
    keeper = FolderKeeper(tmp_path / "out", CAPS)
    keeper.take(Entry((b"a",), "file", size=3), lambda: _bytes(b"123456"))

    assert keeper.finish().files[0].size == 3


def test_folder_behind_a_link_then_not_opened(tmp_path: Path) -> None:
    (tmp_path / "root/real").mkdir(parents=True)
    (tmp_path / "root/link").symlink_to("real")
    handle = os.open(tmp_path / "root", os.O_RDONLY)
    try:
        assert open_below(handle, Path("/link")) is None
        assert open_below(handle, Path("/none/x")) is None
        opened = open_below(handle, Path("/real"))
        assert opened is not None
        os.close(opened)
    finally:
        os.close(handle)


def test_tree_of_two_hundred_folders_deep_then_cut_with_a_note(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(200):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    root = os.open(tmp_path, os.O_RDONLY)
    keeper = FolderKeeper(tmp_path.parent / "deep-out", CAPS)
    try:
        read_tree(root, keeper)
    finally:
        os.close(root)

    report = keeper.finish()
    assert report.truncated
    assert "not kept below 64 folders" in report.notes[0]
