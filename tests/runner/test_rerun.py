"""The rerun of delivered code, on a box that plays one: what is copied in, kept, retried and sealed."""

import io
import json
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from records.capture import Manifest
from records.errors import GradingError, LostError, StartError
from records.limits import DEFAULT_LIMITS
from records.paths import AttemptPaths
from records.rerun import Rerun
from runner.rerun import Rerunner, delivered_files
from runner.stop import Stop
from runner.store import AttemptStore
from runner.supply import supply_rerun
from sandbox.fake import Call, FakeSandbox, Outcome
from sandbox.protocol import Sandbox
from tests.runner.fakes import ScriptedSandbox, ScriptedUser, attempt, decision

FILES = {"bt.py": b"print()", "prices.csv": b"p", "trades.csv": b"t"}


def untar(call: Call) -> Outcome:
    with tarfile.open(fileobj=io.BytesIO(call.stdin)) as tar:
        tar.extractall(call.cwd, filter="data")
    return Outcome()


def shell(call: Call) -> Outcome:
    return Outcome(exit_code=1)


@dataclass
class Boxes:
    """Makes fake boxes in which python3 does what a test says; remembers them and what delivered code found."""

    act: Callable[[Call], Outcome]
    spoils: list[dict[str, object]] = field(default_factory=list)
    """What is wrong with the first boxes."""
    made: list[FakeSandbox] = field(default_factory=list)
    found: list[list[str]] = field(default_factory=list)

    def __call__(self, folder: Path) -> Sandbox:
        assert list(folder.iterdir()) == []
        changes = self.spoils[len(self.made)] if len(self.made) < len(self.spoils) else {}
        box = FakeSandbox({"python3": self._python, "tar": untar, "sh": shell}, **changes)  # type: ignore[arg-type]
        self.made.append(box)
        return box

    def _python(self, call: Call) -> Outcome:
        if call.argv[1] == "-I":
            return Outcome(stdout=b"")
        self.found.append(sorted(path.name for path in call.cwd.iterdir()))
        return self.act(call)


def writes(call: Call) -> Outcome:
    (call.cwd / "trades.csv").write_bytes(b"again")
    return Outcome(stdout=b"done")


def attempt_with(root: Path, files: dict[str, bytes] = FILES) -> AttemptPaths:
    paths = AttemptPaths(root / "attempt-1")
    for name, body in files.items():
        file = paths.deliver(1) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
    paths.public.mkdir(parents=True, exist_ok=True)
    return paths


def test_results_are_withheld_and_what_the_code_made_is_kept(tmp_path: Path) -> None:
    boxes, paths = Boxes(writes), attempt_with(tmp_path)

    record = Rerunner(boxes, DEFAULT_LIMITS).rerun(paths)

    assert boxes.found == [["bt.py", "prices.csv"]]
    assert (record.end, record.exit_code, record.entry, record.withheld) == ("exited", 0, "bt.py", ("trades.csv",))
    assert [entry.path for entry in record.files] == ["deliver/trades.csv"]
    assert (paths.rerun_files / "deliver/trades.csv").read_bytes() == b"again"
    assert Rerun.model_validate_json(paths.rerun.read_bytes()) == record
    assert boxes.made[0].events[-1] == "close"


def test_environment_is_fixed_and_carries_nothing_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FMP_API_KEY", "secret")
    boxes = Boxes(writes)

    Rerunner(boxes, DEFAULT_LIMITS).rerun(attempt_with(tmp_path))

    env = boxes.made[0].calls[-1].env
    assert env["PYTHONHASHSEED"] == "0"
    assert "secret" not in json.dumps(dict(env))


def test_code_that_fails_without_its_results_then_a_second_run_with_them(tmp_path: Path) -> None:
    def act(call: Call) -> Outcome:
        return Outcome(exit_code=0 if (call.cwd / "trades.csv").exists() else 1)

    boxes = Boxes(act)

    record = Rerunner(boxes, DEFAULT_LIMITS).rerun(attempt_with(tmp_path))

    assert boxes.found == [["bt.py", "prices.csv"], ["bt.py", "prices.csv", "trades.csv"]]
    assert (record.exit_code, record.given_back, record.files) == (0, True, ())


def test_no_code_then_no_box(tmp_path: Path) -> None:
    boxes = Boxes(writes)

    record = Rerunner(boxes, DEFAULT_LIMITS).rerun(attempt_with(tmp_path, {"trades.csv": b"t"}))

    assert (record.end, boxes.made) == ("no_code", [])


def test_box_of_ours_fails_once_then_another_one(tmp_path: Path) -> None:
    boxes = Boxes(writes, [{"fails_to_start": True}])

    assert Rerunner(boxes, DEFAULT_LIMITS).rerun(attempt_with(tmp_path)).exit_code == 0
    assert len(boxes.made) == 2


@pytest.mark.parametrize(("spoil", "error"), [({"fails_to_start": True}, StartError), ({"dies_at_call": 2}, LostError)])
def test_boxes_of_ours_fail_again_then_an_error_and_nothing_is_written(
    tmp_path: Path, spoil: dict[str, object], error: type[Exception]
) -> None:
    paths = attempt_with(tmp_path)

    with pytest.raises(error):
        Rerunner(Boxes(writes, [spoil, spoil]), DEFAULT_LIMITS).rerun(paths)

    assert not paths.rerun.exists()
    assert [path.name for path in paths.root.iterdir()] == ["public"]


def test_code_takes_its_box_down_then_that_is_its_result(tmp_path: Path) -> None:
    boxes = Boxes(writes, [{"dies_at_call": 3, "dies_by_agent": True}])

    record = Rerunner(boxes, DEFAULT_LIMITS).rerun(attempt_with(tmp_path))

    assert (record.end, record.entry, record.files) == ("box_ended", "bt.py", ())
    assert len(boxes.made) == 1


def test_later_turns_write_over_earlier_ones_and_links_are_left_out(tmp_path: Path) -> None:
    paths = attempt_with(tmp_path)
    for turn, name, body in ((2, "bt.py", b"new"), (10, "late.csv", b"l")):
        paths.deliver(turn).mkdir(parents=True)
        (paths.deliver(turn) / name).write_bytes(body)
    (paths.deliver(10) / "link").symlink_to("/etc/passwd")

    found = delivered_files(paths)

    assert {name: file.read_bytes() for name, file in found.items()} == FILES | {"bt.py": b"new", "late.csv": b"l"}


def test_attempt_runs_the_code_before_it_is_sealed(tmp_path: Path) -> None:
    box = ScriptedSandbox(delivered=dict(FILES))
    one = attempt(tmp_path, box, ScriptedUser([decision("close", "thanks")]))
    again = Rerunner(Boxes(writes), DEFAULT_LIMITS).rerun

    type(one)(**{**vars(one), "rerun": again}).run()

    sealed = {entry.path for entry in Manifest.model_validate_json(one.paths.manifest.read_bytes()).files}
    assert {"rerun.json", "rerun/deliver/trades.csv"} <= sealed


@pytest.mark.parametrize("fault", [StartError("no engine"), OSError("disk full")])
def test_rerun_that_fails_on_our_side_then_the_session_stays_measured(tmp_path: Path, fault: Exception) -> None:
    def fails(paths: AttemptPaths) -> Rerun:
        raise fault

    one = attempt(tmp_path, ScriptedSandbox(), ScriptedUser([decision("close", "thanks")]))

    end = type(one)(**{**vars(one), "rerun": fails}).run()

    assert end.reason.is_valid
    assert one.paths.manifest.exists()
    assert not one.paths.rerun.exists()


def test_stop_while_the_code_runs_then_the_session_keeps_its_end(tmp_path: Path) -> None:
    stop = Stop()
    one = attempt(tmp_path, ScriptedSandbox(delivered=dict(FILES)), ScriptedUser([decision("close")]), stop=stop)

    def act(call: Call) -> Outcome:
        stop.trip()
        call.stop.wait(10)
        return Outcome()

    again = Rerunner(Boxes(act), DEFAULT_LIMITS, lambda box: stop.kills("x", box.cancel)).rerun
    end = type(one)(**{**vars(one), "rerun": again}).run()

    assert end.reason.is_valid
    assert not one.paths.rerun.exists()


def test_missing_rerun_is_made_up_for_and_the_folder_sealed_anew(tmp_path: Path) -> None:
    one = attempt(tmp_path, ScriptedSandbox(delivered=dict(FILES)), ScriptedUser([decision("close", "thanks")]))
    one.run()
    before = Manifest.model_validate_json(one.paths.manifest.read_bytes())

    assert supply_rerun(one.paths, Rerunner(Boxes(writes), DEFAULT_LIMITS))
    assert not supply_rerun(one.paths, Rerunner(Boxes(writes), DEFAULT_LIMITS))

    after = Manifest.model_validate_json(one.paths.manifest.read_bytes())
    assert after.sealed_sha256 == before.sealed_sha256
    files = {entry.path: entry.sha256 for entry in after.files}
    assert files.items() > {entry.path: entry.sha256 for entry in before.files}.items()
    assert "rerun.json" in files


def test_capture_that_is_not_what_was_sealed_then_no_rerun_is_added(tmp_path: Path) -> None:
    one = attempt(tmp_path, ScriptedSandbox(delivered=dict(FILES)), ScriptedUser([decision("close", "thanks")]))
    one.run()
    (one.paths.deliver(1) / "prices.csv").write_bytes(b"changed")

    with pytest.raises(GradingError, match="expected the files of its manifest, found others"):
        supply_rerun(one.paths, Rerunner(Boxes(writes), DEFAULT_LIMITS))
    assert not one.paths.rerun.exists()


def test_sealing_again_keeps_the_salt(tmp_path: Path) -> None:
    one = attempt(tmp_path, ScriptedSandbox(), ScriptedUser([decision("close", "thanks")]))
    one.run()

    assert AttemptStore(one.paths).seal() == Manifest.model_validate_json(one.paths.manifest.read_bytes())
