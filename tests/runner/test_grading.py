"""The evaluator's two commands: what each may see, and how its results come back."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from records.errors import GradingError
from runner.grading import COMPARE_FILES, JUDGE_FILES, MEASURE_FILES, SEALED_FILES, Grader, compare, measure
from sandbox.job import Job, JobResult

STRATEGY = '{"nonce": "canary"}'


def _ended(exit_code: int | None = 0, *, stderr: bytes = b"", oom: bool = False) -> JobResult:
    return JobResult(exit_code, exit_code is None, oom, 0.5, b"", stderr)


def _writes_all(job: Job) -> JobResult:
    """Write every expected result, as the evaluator does."""
    for mount in job.mounts:
        if mount.writable:
            for name in (*MEASURE_FILES, *JUDGE_FILES["rules"], *COMPARE_FILES, *SEALED_FILES):
                (mount.source / name).write_text(name, encoding="utf-8")
    return _ended()


@dataclass
class FakeJobs:
    """Remembers what it was asked for, and what each mount held at that moment."""

    act: Callable[[Job], JobResult] = _writes_all
    asked: list[Job] = field(default_factory=list)
    seen: dict[str, str] = field(default_factory=dict)
    modes: dict[str, tuple[int, int]] = field(default_factory=dict)

    def run(self, job: Job) -> JobResult:
        self.asked.append(job)
        for mount in job.mounts:
            found = mount.source.stat()
            self.modes[str(mount.target)] = (found.st_mode & 0o777, found.st_uid)
            files = [mount.source] if mount.source.is_file() else sorted(mount.source.rglob("*"))
            self.seen |= {
                f"{mount.target}:{path.name}": path.read_text(encoding="utf-8") for path in files if path.is_file()
            }
        return self.act(job)


@pytest.fixture
def attempt(tmp_path: Path) -> Path:
    for name in ("public/turns/1", "sealed", "graded/1"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "public/turns/1/message.md").write_text("hello", encoding="utf-8")
    (tmp_path / "sealed/strategy.json").write_text(STRATEGY, encoding="utf-8")
    (tmp_path / "graded/1/spec.json").write_text("{}", encoding="utf-8")
    return tmp_path


def _compare(jobs: FakeJobs, attempt: Path) -> None:
    compare(
        Grader(jobs, "evaluator:1"),
        capture=attempt / "public",
        measured=attempt / "graded/1",
        strategy=attempt / "sealed/strategy.json",
        out=attempt / "graded/1",
        sealed_out=attempt / "sealed",
    )


def test_measure_then_it_sees_the_capture_alone_and_its_three_files_come_back(attempt: Path) -> None:
    jobs = FakeJobs()

    run = measure(Grader(jobs, "evaluator:1"), capture=attempt / "public", out=attempt / "graded/2")

    (job,) = jobs.asked
    assert job.argv == (
        "python3",
        "-m",
        "evaluator",
        "measure",
        "--judge",
        "rules",
        "--capture",
        "/capture",
        "--out",
        "/out",
    )
    assert {str(mount.target): mount.writable for mount in job.mounts} == {"/capture": False, "/out": True}
    assert "canary" not in "".join(jobs.seen.values())
    assert sorted(path.name for path in (attempt / "graded/2").iterdir()) == sorted([*MEASURE_FILES, "findings.json"])
    assert (run.form, run.confined_by, run.duration_s) == ("container", ("container",), 0.5)


def test_compare_then_it_sees_the_strategy_and_scores_and_verdicts_part(attempt: Path) -> None:
    jobs = FakeJobs()

    _compare(jobs, attempt)

    assert STRATEGY in jobs.seen.values()
    assert {str(mount.target): mount.writable for mount in jobs.asked[0].mounts} == {
        "/capture": False,
        "/measured": False,
        "/sealed/strategy.json": False,
        "/out": True,
        "/sealed-out": True,
    }
    assert sorted(path.name for path in (attempt / "graded/1").iterdir()) == ["compared.json", "spec.json"]
    assert sorted(path.name for path in (attempt / "sealed").iterdir()) == sorted([*SEALED_FILES, "strategy.json"])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can hand files to another user")
def test_files_that_only_root_can_read_then_copies_for_the_evaluator_alone(attempt: Path) -> None:
    (attempt / "sealed/strategy.json").chmod(0o600)
    (attempt / "public/turns").chmod(0o700)
    jobs = FakeJobs()

    _compare(jobs, attempt)

    assert STRATEGY in jobs.seen.values()
    assert "hello" in jobs.seen.values()
    assert jobs.modes["/sealed/strategy.json"] == (0o400, 1000)
    assert jobs.modes["/capture"] == (0o500, 1000)
    assert jobs.modes["/out"] == (0o700, 1000)
    assert (attempt / "sealed/strategy.json").stat().st_mode & 0o777 == 0o600


def test_end_of_grading_then_no_copy_of_the_strategy_is_left(attempt: Path) -> None:
    (attempt / "sealed/strategy.json").chmod(0o600)
    jobs = FakeJobs()

    _compare(jobs, attempt)

    inside = [mount.source for mount in jobs.asked[0].mounts if not mount.source.is_relative_to(attempt)]
    assert inside
    assert [path for path in inside if path.exists()] == []


@pytest.mark.parametrize(
    ("ended", "sentence"),
    [
        (
            _ended(1, stderr=b"bodies/ab: no such body"),
            r"measure ended with exit code 1: bodies/ab: no such body; the cap",
        ),
        (_ended(None), r"measure did not end within 600 s"),
        (_ended(137, oom=True), r"measure needed more than 1536 MiB"),
    ],
)
def test_evaluator_that_fails_then_grading_error_and_nothing_is_written(
    attempt: Path, ended: JobResult, sentence: str
) -> None:
    jobs = FakeJobs(act=lambda _job: ended)

    with pytest.raises(GradingError, match=sentence):
        measure(Grader(jobs, "evaluator:1"), capture=attempt / "public", out=attempt / "graded/2")

    assert not (attempt / "graded/2").exists()


def test_compare_that_fails_then_its_words_stay_sealed_until_it_ends_well(attempt: Path) -> None:
    failing = FakeJobs(act=lambda _job: _ended(1, stderr=b"KeyError: 'stock_selection/mom_12_1'"))

    with pytest.raises(
        GradingError, match=r"exit code 1: what it said is in sealed/compare-stderr\.txt; the"
    ) as failed:
        _compare(failing, attempt)

    words = attempt / "sealed/compare-stderr.txt"
    assert "mom_12_1" not in str(failed.value)
    assert words.read_bytes() == b"KeyError: 'stock_selection/mom_12_1'"
    assert words.stat().st_mode & 0o777 == 0o600
    _compare(FakeJobs(), attempt)
    assert not words.exists()


def test_result_that_is_a_link_then_refused(attempt: Path) -> None:
    def links(job: Job) -> JobResult:
        _writes_all(job)
        out = next(mount.source for mount in job.mounts if mount.writable)
        (out / "spec.json").unlink()
        (out / "spec.json").symlink_to("/etc/passwd")
        return _ended()

    with pytest.raises(GradingError, match=r"no readable spec.json \(Too many levels of symbolic links\)"):
        measure(Grader(FakeJobs(act=links), "e"), capture=attempt / "public", out=attempt / "graded/2")


def test_result_that_is_a_fifo_then_refused_without_waiting(attempt: Path) -> None:
    def fifo(job: Job) -> JobResult:
        _writes_all(job)
        out = next(mount.source for mount in job.mounts if mount.writable)
        (out / "spec.json").unlink()
        os.mkfifo(out / "spec.json")
        return _ended()

    with pytest.raises(GradingError, match=r"spec\.json is no regular file"):
        measure(Grader(FakeJobs(act=fifo), "e"), capture=attempt / "public", out=attempt / "graded/2")


def test_missing_result_then_grading_error_names_it(attempt: Path) -> None:
    with pytest.raises(GradingError, match=r"no readable spec.json \(No such file"):
        measure(Grader(FakeJobs(act=lambda _job: _ended()), "e"), capture=attempt / "public", out=attempt / "graded/2")


def test_capture_that_is_not_there_then_one_sentence_and_no_job(tmp_path: Path) -> None:
    jobs = FakeJobs()

    with pytest.raises(GradingError, match=r"measure needs .*/public, which is not there"):
        measure(Grader(jobs, "e"), capture=tmp_path / "public", out=tmp_path / "graded")

    assert jobs.asked == []
