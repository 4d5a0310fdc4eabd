"""Run the evaluator's two commands, each seeing only what it may: in a container, or without an engine as a process.

One function starts both forms. What it wrote is taken over file by file from a folder of its own, since the evaluator
reads what an agent made: regular files of expected names only, nothing that is a link.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from records.errors import GradingError
from records.limits import DEFAULT_LIMITS, MIB, Limits
from runner.confined import Confined, run_confined
from runner.judging import JudgeKind
from sandbox.job import AGENT_USER, Job, JobEngine, JobResult, Mount

AGENT_UID: Final = int(AGENT_USER.split(":", maxsplit=1)[0])
PROGRAM: Final = ("python3", "-m", "evaluator")
MEASURE_FILES: Final = ("spec.json", "measured.json", "judgements.json")
JUDGE_FILES: Final[dict[JudgeKind, tuple[str, ...]]] = {
    "none": (),
    "rules": ("findings.json",),
    "llm": ("questions.json",),
}
"""What `measure` writes on top: the findings of rules, or the questions to a model."""
COMPARE_FILES: Final = ("compared.json",)
SEALED_FILES: Final = ("compare-judgements.json", "compare-evidence.json")
SEALED_QUESTION_FILES: Final = ("compare-questions.json",)
COMPARE_WORDS: Final = "compare-stderr.txt"
MAX_RESULT_BYTES: Final = 64 * MIB
"""Of one result file; the largest seen is under 1 MiB."""
MESSAGE_CHARS: Final = 600


@dataclass(frozen=True)
class Grader:
    """Where the evaluator runs."""

    jobs: JobEngine | None
    """None: no engine, run as a child process."""
    image: str = ""
    """The evaluator's image; unused without an engine."""
    limits: Limits = DEFAULT_LIMITS


@dataclass(frozen=True)
class EvaluatorRun:
    """How one command of the evaluator was run, for grade.json."""

    form: Literal["container", "process"]
    confined_by: tuple[str, ...]
    """What held it: `container`, or of a process what `runner.confined` names."""
    duration_s: float


@dataclass(frozen=True)
class _Bind:
    """A file or folder of the host as one option of the command line."""

    option: str
    source: Path
    target: PurePosixPath
    results: tuple[str, ...] = ()
    """Names of the files to take over; empty for what is only read."""


def measure(grader: Grader, *, capture: Path, out: Path, judge: JudgeKind = "rules") -> EvaluatorRun:
    """Measure an attempt's public tree into spec.json, measured.json and judgements.json, with no strategy in reach.

    Args: judge: 'rules' writes findings.json too; 'llm' leaves the dimensions of meaning open and writes questions.json.
    Raises: GradingError: the evaluator failed, or did not write a result; the capture is untouched.
    """
    return run_evaluator(
        grader,
        "measure",
        (
            _Bind("--capture", capture, PurePosixPath("/capture")),
            _Bind("--out", out, PurePosixPath("/out"), (*MEASURE_FILES, *JUDGE_FILES[judge])),
        ),
        options=("--judge", judge),
    )


def ask_compare(grader: Grader, *, capture: Path, strategy: Path, sealed_out: Path) -> EvaluatorRun:
    """Write the questions on a strategy's items to `sealed_out`, for a model judge. Raises GradingError as `compare`."""
    return run_evaluator(
        grader,
        "compare",
        (
            _Bind("--capture", capture, PurePosixPath("/capture")),
            _Bind("--strategy", strategy, PurePosixPath("/sealed/strategy.json")),
            _Bind("--questions-out", sealed_out, PurePosixPath("/sealed-out"), SEALED_QUESTION_FILES),
        ),
        words=strategy.with_name(COMPARE_WORDS),
    )


def compare(
    grader: Grader,
    *,
    capture: Path,
    measured: Path,
    strategy: Path,
    out: Path,
    sealed_out: Path,
    answers: Path | None = None,
) -> EvaluatorRun:
    """Compare a measured attempt with its strategy: scores to `out`, verdicts and quotes to `sealed_out`.

    Args: answers: what a model judge found on the strategy's items; None: the rules read claims and statements.
    Raises: GradingError: the evaluator failed, or did not write a result; its words, which may quote the strategy, then
    lie beside the strategy and the error only names their file. Nothing else is changed.
    """
    given = () if answers is None else (_Bind("--answers", answers, PurePosixPath("/sealed/compare-findings.json")),)
    return run_evaluator(
        grader,
        "compare",
        (
            _Bind("--capture", capture, PurePosixPath("/capture")),
            *given,
            _Bind("--measured", measured, PurePosixPath("/measured")),
            _Bind("--strategy", strategy, PurePosixPath("/sealed/strategy.json")),
            _Bind("--out", out, PurePosixPath("/out"), COMPARE_FILES),
            _Bind("--sealed-out", sealed_out, PurePosixPath("/sealed-out"), SEALED_FILES),
        ),
        words=strategy.with_name(COMPARE_WORDS),
    )


def run_evaluator(
    grader: Grader,
    command: Literal["measure", "compare"],
    binds: tuple[_Bind, ...],
    *,
    options: tuple[str, ...] = (),
    words: Path | None = None,
) -> EvaluatorRun:
    """Run one command in whichever form there is and take over its results.

    Args: options: further words of the command line; words: where standard error of a failed command goes; None: into the error itself.
    """
    for bind in binds:
        if not bind.results and not bind.source.exists():
            raise GradingError(f"{command} needs {bind.source}, which is not there; capture the session first")
    uid = AGENT_UID if grader.jobs is not None else Confined.uid()
    with _staged(binds, uid) as staged:
        if grader.jobs is None:
            done, confined_by = _as_process((command, *options), staged, grader.limits)
            form: Literal["container", "process"] = "process"
        else:
            done, confined_by, form = _in_container(grader, (command, *options), staged), ("container",), "container"
        _refuse(done, command, grader.limits, words)
        for bind, there in zip(binds, staged, strict=True):
            for name in bind.results:
                _take_over(there.source / name, bind.source / name)
    return EvaluatorRun(form, confined_by, done.duration_s)


def _in_container(grader: Grader, command: tuple[str, ...], binds: tuple[_Bind, ...]) -> JobResult:
    """Run in the evaluator's image, as its user, or as ours when we are not root and could not hand files over."""
    if grader.jobs is None:
        raise GradingError("no engine to run the evaluator's image; start one: scripts/engine.sh")
    arguments = [part for bind in binds for part in (bind.option, str(bind.target))]
    return grader.jobs.run(
        Job(
            image=grader.image,
            argv=(*PROGRAM, *command, *arguments),
            timeout_s=grader.limits.evaluator_s,
            mounts=tuple(Mount(bind.source, bind.target, writable=bool(bind.results)) for bind in binds),
            user=AGENT_USER if os.geteuid() == 0 else f"{os.geteuid()}:{os.getegid()}",
            memory_bytes=grader.limits.evaluator_memory_bytes,
            labels={"fincosmos.job": f"evaluator {command[0]}"},
        )
    )


def _as_process(
    command: tuple[str, ...], binds: tuple[_Bind, ...], limits: Limits
) -> tuple[JobResult, tuple[str, ...]]:
    """Run with this Python, as confined as this machine allows."""
    arguments = [part for bind in binds for part in (bind.option, str(bind.source))]
    return run_confined(
        ("-m", "evaluator", *command, *arguments),
        timeout_s=limits.evaluator_s,
        memory_bytes=limits.evaluator_memory_bytes,
    )


def _refuse(done: JobResult, command: str, limits: Limits, words: Path | None) -> None:
    """Raise GradingError unless the command ended well."""
    if words is not None:
        words.unlink(missing_ok=True)
    if done.exit_code == 0:
        return
    said = " ".join(done.stderr.decode(errors="replace").split())[-MESSAGE_CHARS:]
    if words is not None and said:
        with os.fdopen(os.open(words, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(done.stderr)
        said = f"what it said is in {words.parent.name}/{words.name}"
    if done.timed_out:
        why = f"did not end within {limits.evaluator_s:.0f} s"
    elif done.oom_killed:
        why = f"needed more than {limits.evaluator_memory_bytes // MIB} MiB"
    else:
        why = f"ended with exit code {done.exit_code}"
    raise GradingError(
        f"evaluator {command} {why}: {said or 'it said nothing'}; the capture is kept, run: runner grade"
    )


@contextmanager
def _staged(binds: tuple[_Bind, ...], uid: int) -> Iterator[tuple[_Bind, ...]]:
    """Yield the same binds with sources that `uid` can read, or write where results are due; gone afterwards.

    Only a folder of a 0711 root holds them, so a mode of 0700 below it keeps everyone else out.
    """
    with tempfile.TemporaryDirectory(prefix="fincosmos-grading-") as name:
        root = Path(name)
        root.chmod(0o711)
        staged = []
        for number, bind in enumerate(binds):
            place = root / str(number)
            if bind.results:
                place.mkdir(mode=0o700)
                _give(place, uid)
            elif _readable(bind.source, uid, from_root=uid != AGENT_UID):
                place = bind.source.resolve()
            else:
                _copy_for(bind.source, place, uid)
            staged.append(_Bind(bind.option, place, bind.target, bind.results))
        yield tuple(staged)


def _readable(source: Path, uid: int, *, from_root: bool) -> bool:
    """Return whether `uid` can read all of a file or tree; a mount hides its parents' modes, a process meets them."""
    if os.geteuid() != 0:
        return True
    entries = [source, *source.rglob("*")] if source.is_dir() else [source]
    if from_root:
        entries += source.resolve().parents
    return all(_allows(entry.lstat(), uid, folder=entry.is_dir()) for entry in entries)


def _allows(found: os.stat_result, uid: int, *, folder: bool) -> bool:
    """Return whether a mode lets `uid`, in no group of its own here, read an entry and enter a folder."""
    wanted = 0o5 if folder else 0o4
    shift = 6 if found.st_uid == uid else 0
    return (found.st_mode >> shift) & wanted == wanted


def _copy_for(source: Path, place: Path, uid: int) -> None:
    """Copy a file or a tree for `uid` alone."""
    if source.is_dir():
        shutil.copytree(source, place, symlinks=True)
    else:
        shutil.copyfile(source, place)
    for entry in (place, *place.rglob("*")) if place.is_dir() else (place,):
        if entry.is_symlink():
            continue
        entry.chmod(0o500 if entry.is_dir() else 0o400)
        _give(entry, uid)


def _give(path: Path, uid: int) -> None:
    """Make `uid` the owner where we may; otherwise it is ours and the evaluator runs as us."""
    if os.geteuid() == 0:
        os.chown(path, uid, uid)


def _take_over(source: Path, destination: Path) -> None:
    """Copy one result file, refusing anything but a regular file of a sane size."""
    try:
        handle = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as exc:
        raise GradingError(
            f"evaluator wrote no readable {source.name} ({exc.strerror}); the capture is kept, run: runner grade"
        ) from exc
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_RESULT_BYTES:
            raise GradingError(
                f"evaluator result {source.name} is no regular file of at most {MAX_RESULT_BYTES // MIB} MiB; "
                f"the capture is kept, run: runner grade"
            )
        destination.parent.mkdir(parents=True, exist_ok=True)
        destination.write_bytes(file.read(MAX_RESULT_BYTES))
