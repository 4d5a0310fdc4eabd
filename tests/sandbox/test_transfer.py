import io
import tarfile
from pathlib import Path

import pytest

from sandbox.engine.transfer import SKIP_BYTES, _Stream, feed_archive
from sandbox.keep import Caps, FolderKeeper


def _tar(*members: tuple[str, bytes, bytes, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", errors="surrogateescape") as archive:
        for name, kind, data, target in members:
            head = tarfile.TarInfo(name)
            head.type, head.size, head.linkname = kind, len(data), target
            archive.addfile(head, io.BytesIO(data))
    return buffer.getvalue()


def _read(data: bytes, keeper: FolderKeeper) -> None:
    feed_archive(_Stream(iter([data[at : at + 700] for at in range(0, len(data), 700)])), "deliver", keeper)


def test_archive_of_the_engine_then_files_below_the_folder(tmp_path: Path) -> None:
    keeper = FolderKeeper(tmp_path / "out", Caps(10_000, 10))
    _read(
        _tar(
            ("deliver", tarfile.DIRTYPE, b"", ""),
            ("deliver/a", tarfile.REGTYPE, b"a" * 1500, ""),
            ("deliver/hard", tarfile.LNKTYPE, b"", "deliver/a"),
            ("deliver/out", tarfile.SYMTYPE, b"", "../../etc/passwd"),
            ("deliver/dev", tarfile.CHRTYPE, b"", ""),
            ("../escape", tarfile.REGTYPE, b"e", ""),
            ("elsewhere/x", tarfile.REGTYPE, b"e", ""),
        ),
        keeper,
    )

    report = keeper.finish()

    assert [(entry.path, entry.size) for entry in report.files] == [("a", 1500), ("hard", 1500)]
    assert {note.split(":")[0] for note in report.notes} == {"out", "dev"}


def test_folder_that_is_a_link_itself_then_nothing_and_a_note(tmp_path: Path) -> None:
    keeper = FolderKeeper(tmp_path / "out", Caps(10_000, 10))
    _read(_tar(("deliver", tarfile.SYMTYPE, b"", "/etc")), keeper)

    report = keeper.finish()

    assert report.files == ()
    assert report.notes == ("deliver: not a folder but a link, nothing was copied",)


def test_huge_file_over_the_cap_then_the_reading_ends_there(tmp_path: Path) -> None:
    head = tarfile.TarInfo("deliver/big")
    head.size = SKIP_BYTES + 1
    asked = 0

    class Endless(io.RawIOBase):
        """Gives the head, then zeros for ever."""

        def read(self, size: int = -1, /) -> bytes:
            nonlocal asked
            first = asked == 0
            asked += size
            return head.tobuf() if first else bytes(size)

    keeper = FolderKeeper(tmp_path / "out", Caps(10_000, 10))
    feed_archive(Endless(), "deliver", keeper)

    report = keeper.finish()
    assert asked < 1_000_000
    assert report.truncated
    assert any("were not read" in note for note in report.notes)


def test_archive_that_breaks_off_then_an_error(tmp_path: Path) -> None:
    keeper = FolderKeeper(tmp_path / "out", Caps(10_000, 10))

    with pytest.raises(tarfile.TarError):
        _read(_tar(("deliver/a", tarfile.REGTYPE, b"a" * 5000, ""))[:2000], keeper)
