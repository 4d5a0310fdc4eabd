from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sandbox.capped import CappedStream

MARK = b" bytes missing here]\n"


def _kept(chunks: list[bytes], limit: int) -> tuple[bytes, int]:
    stream = CappedStream(limit)
    for chunk in chunks:
        stream.write(chunk)
    return stream.result()


def test_within_the_cap_then_everything() -> None:
    assert _kept([b"abc", b"", b"def"], 100) == (b"abcdef", 0)
    assert _kept([b"x" * 50, b"y" * 50], 100) == (b"x" * 50 + b"y" * 50, 0)


def test_one_byte_over_then_head_tail_and_the_count() -> None:
    kept, missing = _kept([b"a" * 50 + b"b" + b"c" * 50], 100)

    assert missing == 1
    assert kept == b"a" * 50 + b"\n[1 bytes missing here]\n" + b"c" * 50


@given(st.lists(st.binary(max_size=400), max_size=30), st.integers(16, 300))
def test_any_chunks_then_a_prefix_a_suffix_and_an_exact_count(chunks: list[bytes], limit: int) -> None:
    whole = b"".join(chunks)

    kept, missing = _kept(chunks, limit)

    if len(whole) <= limit:
        assert (kept, missing) == (whole, 0)
    else:
        marker = f"\n[{missing}".encode() + MARK
        head, tail = next(
            (kept[:at], kept[at + len(marker) :])
            for at in _places(kept, marker)
            if _fits(kept, at, marker, whole, missing)
        )
        assert whole.startswith(head)
        assert whole.endswith(tail)
        assert len(head) + len(tail) + missing == len(whole)
        assert limit - 6 <= len(head) + len(tail) <= limit


def _places(kept: bytes, marker: bytes) -> list[int]:
    return [at for at in range(len(kept)) if kept.startswith(marker, at)]


def _fits(kept: bytes, at: int, marker: bytes, whole: bytes, missing: int) -> bool:
    return len(kept) - len(marker) + missing == len(whole) and whole.startswith(kept[:at])


@given(st.text(min_size=200, max_size=400), st.integers(16, 150))
def test_text_then_no_character_is_cut(text: str, limit: int) -> None:
    kept, _ = _kept([text.encode("utf-8", errors="replace")], limit)

    kept.decode()


def test_on_disk_then_live_while_it_runs_and_final_when_closed(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with CappedStream(100, path) as stream:
        stream.write(b"a" * 60)
        assert path.read_bytes() == b"a" * 60
        stream.write(b"b" * 60)
        assert path.read_bytes() == b"a" * 60 + b"b" * 40
        assert stream.total == 120

    assert path.read_bytes() == stream.result()[0]
    assert b"[20" + MARK in path.read_bytes()


def test_many_tiny_writes_then_memory_stays_near_the_cap() -> None:
    stream = CappedStream(1000)
    for _ in range(50_000):
        stream.write(b"x")

    assert len(stream._tail) <= 1000
    assert stream.result()[1] == 49_000
