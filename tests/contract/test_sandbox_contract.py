"""What every sandbox promises, run on the fake and on the real one. Known differences: none."""

import io
import subprocess
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path, PurePosixPath

import pytest
import zstandard

from records.errors import LostError, SandboxError
from records.limits import Limits
from sandbox.engine.engine import connect
from sandbox.fake import Call, FakeSandbox, Outcome
from sandbox.protocol import DELIVER, WORKSPACE, Sandbox
from tests.boxes import SMALL, boxes_on

MakeBox = Callable[[Limits], Sandbox]


def _local(call: Call) -> Outcome:
    """Run a program of this machine in the fake's folder; it is told to stop like an agent's is."""
    with subprocess.Popen(
        call.argv, cwd=call.cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={"PATH": "/usr/bin:/bin", **call.env}, start_new_session=True,
    ) as process:  # fmt: skip
        while True:
            try:
                stdout, stderr = process.communicate(None if process.stdin is None else call.stdin, timeout=0.02)
            except subprocess.TimeoutExpired:
                if call.stop.is_set():
                    process.kill()
            else:
                code = process.returncode
                return Outcome(stdout, stderr, 137 if code < 0 else code)


@pytest.fixture(params=["fake", pytest.param("docker", marks=pytest.mark.docker)])
def make_box(request: pytest.FixtureRequest) -> Iterator[MakeBox]:
    """Yield a maker of boxes that are not started; both kinds run real programs."""
    with ExitStack() as stack:
        if request.param == "fake":
            programs = dict.fromkeys(("sh", "cat", "python3", "sleep", "true", "false"), _local)

            def fake(limits: Limits) -> Sandbox:
                box = FakeSandbox(programs=programs, limits=limits)
                stack.callback(box.close)
                return box

            yield fake
            return
        engine = stack.enter_context(closing(connect()))
        boxes = stack.enter_context(boxes_on(engine))
        yield boxes.new


@pytest.fixture
def box(make_box: MakeBox) -> Sandbox:
    """Return a box in which a turn has begun."""
    made = make_box(SMALL)
    made.start()
    made.thaw()
    return made


def test_started_then_frozen_until_thawed(make_box: MakeBox) -> None:
    box = make_box(SMALL)
    box.start()

    with pytest.raises(SandboxError, match="thaw"):
        box.exec(["true"], timeout_s=5)
    box.thaw()
    assert box.exec(["true"], timeout_s=5).exit_code == 0
    assert box.id


def test_command_then_streams_apart_and_its_exit_code(box: Sandbox) -> None:
    result = box.exec(["sh", "-c", "echo out; echo err >&2; exit 3"], timeout_s=10)

    assert (result.stdout, result.stderr, result.exit_code, result.timed_out) == (b"out\n", b"err\n", 3, False)
    assert (result.stdout_missing, result.stderr_missing) == (0, 0)


def test_missing_program_then_127_and_no_error(box: Sandbox) -> None:
    result = box.exec(["no-such-program", "x"], timeout_s=10)

    assert (result.exit_code, result.stdout, result.timed_out) == (127, b"", False)
    assert b"no-such-program" in result.stderr


def test_large_prompt_to_a_program_that_talks_while_it_reads_then_all_arrives(box: Sandbox) -> None:
    prompt = bytes(range(256)) * 4096

    result = box.exec(["cat"], timeout_s=20, stdin=prompt)

    assert result.stdout == prompt


def test_prompt_to_a_program_that_never_reads_then_no_hang(box: Sandbox) -> None:
    result = box.exec(["sh", "-c", "exec <&-; echo done"], timeout_s=10, stdin=b"x" * 1_000_000)

    assert (result.exit_code, result.stdout) == (0, b"done\n")


def test_no_prompt_then_input_is_at_its_end(box: Sandbox) -> None:
    assert box.exec(["cat"], timeout_s=10).stdout == b""


def test_environment_and_working_directory_then_as_asked(box: Sandbox) -> None:
    box.exec(["sh", "-c", "mkdir -p sub/dir"], timeout_s=10)

    result = box.exec(
        ["sh", "-c", 'echo "$MARK"; basename "$PWD"'], timeout_s=10, env={"MARK": "a b=c"}, cwd=WORKSPACE / "sub/dir"
    )

    assert result.stdout == b"a b=c\ndir\n"


def test_more_output_than_the_cap_then_head_and_tail_on_disk_and_in_memory(make_box: MakeBox, tmp_path: Path) -> None:
    box = make_box(SMALL.model_copy(update={"stream_bytes": 10_000}))
    box.start()
    box.thaw()
    script = "echo first; head -c 300000 /dev/zero | tr '\\0' x; echo last; echo little >&2"

    result = box.exec(["sh", "-c", script], timeout_s=20, stdout_path=tmp_path / "out", stderr_path=tmp_path / "err")

    assert result.stdout.startswith(b"first\nxxx")
    assert result.stdout.endswith(b"xxx\nlast\n" if b"xxx\nlast" in result.stdout else b"xxxlast\n")
    assert result.stdout_missing == 300_011 - 10_000
    assert f"[{result.stdout_missing} bytes missing here]".encode() in result.stdout
    assert (tmp_path / "out").read_bytes() == result.stdout
    assert (tmp_path / "err").read_bytes() == result.stderr == b"little\n"


def test_time_over_then_killed_and_said_so(make_box: MakeBox) -> None:
    box = make_box(SMALL.model_copy(update={"stop_grace_s": 0.2}))
    box.start()
    box.thaw()

    result = box.exec(["sh", "-c", "trap '' INT TERM; echo begun; while :; do sleep 0.1; done"], timeout_s=0.5)

    assert (result.exit_code, result.timed_out, result.stdout) == (None, True, b"begun\n")


def test_turn_over_then_nothing_survives_and_the_next_turn_works(box: Sandbox) -> None:
    box.exec(["sh", "-c", "echo kept > note"], timeout_s=10)

    proof = box.freeze()
    assert (proof.survivors, proof.oom_kills) == ((), 0)
    assert box.freeze().survivors == ()
    with pytest.raises(SandboxError, match="thaw"):
        box.exec(["true"], timeout_s=5)
    box.thaw()
    assert box.exec(["cat", "note"], timeout_s=5).stdout == b"kept\n"


def test_delivered_files_then_copied_with_hashes(box: Sandbox, tmp_path: Path) -> None:
    box.exec(
        ["sh", "-c", "cd deliver; mkdir sub; printf abc > a.csv; printf d > sub/d; ln -s /etc/passwd p; mkfifo f"],
        timeout_s=10,
    )
    box.freeze()

    report = box.copy_out(DELIVER, tmp_path / "deliver")

    assert [(entry.path, entry.size) for entry in report.files] == [("a.csv", 3), ("sub/d", 1)]
    assert report.files[0].sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (tmp_path / "deliver/a.csv").read_bytes() == b"abc"
    assert len(report.notes) == 2
    assert not report.truncated


def test_folder_that_is_not_there_then_an_empty_copy(box: Sandbox, tmp_path: Path) -> None:
    box.freeze()

    report = box.copy_out(PurePosixPath("/workspace/nowhere"), tmp_path / "none")

    assert (report.files, report.notes, report.truncated) == ((), (), False)


def test_copy_while_it_runs_then_refused_with_next_step(box: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="freeze"):
        box.copy_out(DELIVER, tmp_path / "none")


def test_workspace_then_one_archive_of_plain_files(box: Sandbox, tmp_path: Path) -> None:
    box.exec(["sh", "-c", "printf abc > top; chmod 4755 top; printf d > deliver/d; ln -s top link"], timeout_s=10)
    box.freeze()

    report = box.archive(WORKSPACE, tmp_path / "w.tar.zst")

    data = zstandard.ZstdDecompressor().stream_reader((tmp_path / "w.tar.zst").read_bytes()).read()
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        assert {(member.name, member.mode, member.size) for member in archive} == {
            ("top", 0o644, 3),
            ("deliver/d", 0o644, 1),
        }
    assert {entry.path for entry in report.files} == {"top", "deliver/d"}
    assert any(note.startswith("link: not kept") for note in report.notes)


def test_cancelled_then_the_running_command_is_lost(box: Sandbox) -> None:
    timer = threading.Timer(0.3, box.cancel)
    timer.start()

    with pytest.raises(LostError, match="cancelled"):
        box.exec(["sleep", "60"], timeout_s=50)

    timer.join()
    with pytest.raises(LostError, match="cancelled"):
        box.freeze()
    box.close()


def test_closed_twice_then_quiet_and_everything_else_lost(box: Sandbox, tmp_path: Path) -> None:
    box.close()
    box.close()

    for call in (
        box.thaw,
        box.freeze,
        lambda: box.exec(["true"], timeout_s=5),
        lambda: box.copy_out(DELIVER, tmp_path),
    ):
        with pytest.raises(LostError, match="closed"):
            call()


def test_closed_before_it_started_then_quiet(make_box: MakeBox) -> None:
    make_box(SMALL).close()
