from hypothesis import given
from hypothesis import strategies as st

from sandbox.engine.attach import Frames


def _frame(kind: int, data: bytes) -> bytes:
    return bytes([kind, 0, 0, 0]) + len(data).to_bytes(4, "big") + data


@given(st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=50)), max_size=20), st.integers(1, 30))
def test_frames_cut_anywhere_then_each_stream_whole(frames: list[tuple[int, bytes]], step: int) -> None:
    raw = b"".join(_frame(kind, data) for kind, data in frames)
    reader = Frames()

    got = [part for at in range(0, len(raw), step) for part in reader.feed(raw[at : at + step])]

    for stream in (1, 2):
        assert b"".join(data for kind, data in got if kind == stream) == b"".join(
            data for kind, data in frames if kind == stream
        )


def test_half_a_frame_then_given_out_at_once() -> None:
    reader = Frames()

    assert reader.feed(_frame(1, b"abcdef")[:11]) == [(1, b"abc")]
    assert reader.feed(b"def") == [(1, b"def")]
