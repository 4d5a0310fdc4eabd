import threading
from pathlib import Path

import pytest

from records.errors import LostError, StartError
from sandbox.fake import Call, FakeSandbox, Outcome
from sandbox.protocol import DELIVER


def _deliver(call: Call) -> Outcome:
    call.path(DELIVER).joinpath("report.md").write_bytes(call.stdin)
    return Outcome(stdout=call.env["SAY"].encode())


def test_program_then_it_sees_input_environment_and_files(tmp_path: Path) -> None:
    box = FakeSandbox({"agent": _deliver})
    box.start()
    box.thaw()

    result = box.exec(["agent", "-x"], timeout_s=5, stdin=b"hello", env={"SAY": "hi"})
    box.freeze()

    assert result.stdout == b"hi"
    assert box.calls[0].argv == ["agent", "-x"]
    assert box.copy_out(DELIVER, tmp_path / "out").files[0].path == "report.md"
    assert box.host(DELIVER / "report.md").read_text(encoding="utf-8") == "hello"
    assert box.events == ["start", "thaw", "exec", "freeze", "copy_out"]
    box.close()


def test_told_to_die_at_the_second_call_then_lost() -> None:
    box = FakeSandbox({"agent": lambda call: Outcome()}, dies_at_call=2)
    box.start()
    box.thaw()
    box.exec(["agent"], timeout_s=5)

    with pytest.raises(LostError):
        box.exec(["agent"], timeout_s=5)
    with pytest.raises(LostError):
        box.freeze()
    box.close()


def test_told_not_to_start_then_start_error() -> None:
    with pytest.raises(StartError):
        FakeSandbox(fails_to_start=True).start()


def test_program_that_minds_the_deadline_then_its_own_words() -> None:
    def patient(call: Call) -> Outcome:
        assert call.stop.wait(10)
        return Outcome(stdout=b"stopped", exit_code=130)

    box = FakeSandbox({"agent": patient})
    box.start()
    box.thaw()
    result = box.exec(["agent"], timeout_s=0.05)

    assert (result.timed_out, result.exit_code, result.stdout) == (True, 130, b"stopped")
    box.close()


def test_program_that_fails_then_the_test_sees_why() -> None:
    def broken(call: Call) -> Outcome:
        raise ValueError("a mistake in the test's program")

    box = FakeSandbox({"agent": broken})
    box.start()
    box.thaw()

    with pytest.raises(ValueError, match="a mistake"):
        box.exec(["agent"], timeout_s=5)
    box.close()
    assert threading.active_count() < 20
