"""Runs the delivered code once more, alone, on a copy of the delivery, and keeps what it made (dimension 3.6).

The code is hostile: it gets a box like an agent's, with nobody behind the gateway's sockets. What it does there is
data; only a box that fails by itself is an exception. Runs after the session and before grading; docs/adr/0015.
"""

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from records.capture import FileEntry
from records.errors import LostError, SandboxError
from records.limits import MIB, Limits
from records.paths import AttemptPaths
from records.rerun import Rerun
from runner.entrypoint import Entry, entry_point, is_code
from runner.makefile import recipe
from runner.rerun_box import RerunBox
from runner.withheld import is_result
from sandbox.names import clean_name
from sandbox.protocol import Sandbox

ENV: Final = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MPLBACKEND": "Agg",
    "TZ": "UTC",
    "LC_ALL": "C.UTF-8",
}
"""Fixed, so that two runs of the same code agree."""
TRIES: Final = 2
"""Boxes that may fail on our side before the rerun is given up."""
_TEXT_BYTES: Final = MIB // 4
"""Read of a file to find the entry point."""
_DELIVER: Final = "deliver/"


def no_guard(_box: Sandbox) -> AbstractContextManager[None]:
    """Guard nothing."""
    return nullcontext()


@dataclass(frozen=True)
class Rerunner:
    """Makes boxes for delivered code."""

    make_box: Callable[[Path], Sandbox]
    """Takes a host folder for the gateway's sockets, which stays empty."""
    limits: Limits
    guard: Callable[[Sandbox], AbstractContextManager[None]] = no_guard
    """Held while a box lives, so that a stop of the run can kill it."""

    def rerun(self, paths: AttemptPaths) -> Rerun:
        """Run the delivered code of an attempt and write rerun.json and rerun/.

        Raises: SandboxError: our boxes failed, as often as they were tried; nothing is written. OSError: the disk.
        """
        delivered = delivered_files(paths)
        with _part(paths) as part:
            record = self._record(delivered, part / "files", part / "copied")
            (part / "files").mkdir(exist_ok=True)
            (part / "rerun.json").write_text(record.to_json(indent=1) + "\n", encoding="utf-8")
            shutil.rmtree(paths.rerun_files, ignore_errors=True)
            if record.files:
                (part / "files").rename(paths.rerun_files)
            (part / "rerun.json").rename(paths.rerun)
        return record

    def _record(self, delivered: Mapping[str, Path], made: Path, copied: Path) -> Rerun:
        """Return what became of the code; what it made lies in `made`."""
        if not any(is_code(path) for path in delivered):
            return Rerun(end="no_code", why="no Python, shell, Makefile or notebook file was delivered")
        entry = entry_point({path: _text(path, file) for path, file in delivered.items()})
        for left in reversed(range(TRIES)):
            shutil.rmtree(copied, ignore_errors=True)
            shutil.rmtree(made, ignore_errors=True)
            try:
                return self._in_box(entry, delivered, made, copied)
            except SandboxError as error:
                if isinstance(error, LostError) and error.agent_caused:
                    return _ended(entry, f"what ran ended its container: {error}")
                if not left:
                    raise
        raise AssertionError("at least one try is made")

    def _in_box(self, entry: Entry | None, delivered: Mapping[str, Path], made: Path, copied: Path) -> Rerun:
        withheld = tuple(path for path in delivered if is_result(path))
        with tempfile.TemporaryDirectory(prefix="fincosmos-rerun-") as sockets:
            box = self.make_box(Path(sockets))
            with self.guard(box), _closed(box):
                box.start()
                inside = RerunBox(box, self.limits, ENV)
                box.thaw()
                put = inside.put({path: file for path, file in delivered.items() if path not in withheld})
                not_parsed = inside.not_parsed([path for path in delivered if path.endswith(".py")])
                if entry is None:
                    box.freeze()
                    return Rerun(
                        end="no_entry", why="nothing says how the code is started", not_parsed=not_parsed, notes=put
                    )
                entry = _fitting(entry, inside, delivered)
                started = time.monotonic()
                result, notes = inside.run(entry, self.limits.rerun_s)
                left_s = self.limits.rerun_s - (time.monotonic() - started)
                given_back = bool(withheld) and result.exit_code not in (0, None) and left_s > 1
                if given_back:
                    box.thaw()
                    put = (*put, *inside.put({path: delivered[path] for path in withheld}))
                    result, notes = inside.run(entry, left_s)
                report = inside.copy_out(copied)
                given = delivered if given_back else {p: f for p, f in delivered.items() if p not in withheld}
                files = _made_by_run(report.files, given, copied, made)
        return Rerun(
            end="timed_out" if result.timed_out else "exited",
            entry=entry.file,
            kind=entry.kind,
            why=entry.why,
            argv=entry.argv,
            cwd=entry.cwd,
            env=ENV,
            exit_code=None if result.timed_out else result.exit_code,
            duration_s=round(result.duration_s, 3),
            stdout=result.stdout.decode(errors="replace"),
            stderr=result.stderr.decode(errors="replace"),
            stdout_missing=result.stdout_missing,
            stderr_missing=result.stderr_missing,
            not_parsed=not_parsed,
            withheld=withheld,
            given_back=given_back,
            files=files,
            notes=(*put, *notes, *report.notes),
            truncated=report.truncated,
        )


def delivered_files(paths: AttemptPaths) -> dict[str, Path]:
    """Return the last version of each delivered file, path below deliver/ -> file, oldest turns first overridden."""
    found: dict[str, Path] = {}
    turns = paths.public / "turns"
    numbers = sorted(int(folder.name) for folder in turns.iterdir() if folder.name.isdigit()) if turns.is_dir() else []
    for number in numbers:
        root = paths.deliver(number)
        for folder, _, names in os.walk(root):
            for name in names:
                file = Path(folder) / name
                if file.is_file() and not file.is_symlink():
                    found[file.relative_to(root).as_posix()] = file
    return dict(sorted(found.items()))


def _text(path: str, file: Path) -> str:
    """Return the head of a file where the entry point may stand in it."""
    name = PurePosixPath(path).name.lower()
    if not (is_code(path) or name.startswith("readme")) or name.endswith(".ipynb"):
        return ""
    with file.open("rb") as handle:
        return handle.read(_TEXT_BYTES).decode(errors="replace")


def _fitting(entry: Entry, inside: RerunBox, delivered: Mapping[str, Path]) -> Entry:
    """Return the entry with the command that this container can run."""
    if entry.kind == "notebook":
        name = PurePosixPath(entry.file).name
        argv, how = inside.notebook_command(name)
        return Entry(entry.kind, entry.file, argv, f"{entry.why}; {how}", entry.cwd)
    if entry.argv[0] == "make" and not inside.has("make"):
        script = recipe(_text(entry.file, delivered[entry.file]), entry.argv[-1])
        why = f"{entry.why}; the container has no make, the target's commands are run by bash"
        return Entry(entry.kind, entry.file, ("bash", "-e", "-c", script), why, entry.cwd)
    return entry


def _ended(entry: Entry | None, note: str) -> Rerun:
    """Return the record of code that took its container down; nothing can be copied out of that."""
    return Rerun(
        end="box_ended",
        entry=entry.file if entry else "",
        kind=entry.kind if entry else None,
        why=entry.why if entry else "",
        argv=entry.argv if entry else (),
        cwd=entry.cwd if entry else "",
        env=ENV,
        notes=(note,),
    )


def _made_by_run(
    after: tuple[FileEntry, ...], given: Mapping[str, Path], copied: Path, made: Path
) -> tuple[FileEntry, ...]:
    """Move what the run made or changed to `made`; return it."""
    before = {clean_name(tuple(os.fsencode(part) for part in path.split("/"))): file for path, file in given.items()}
    kept = []
    for entry in after:
        source = before.get(entry.path.removeprefix(_DELIVER)) if entry.path.startswith(_DELIVER) else None
        if source is not None and source.stat().st_size == entry.size and _sha256(source) == entry.sha256:
            continue
        target = made / entry.path
        target.parent.mkdir(parents=True, exist_ok=True)
        (copied / entry.path).rename(target)
        kept.append(entry)
    return tuple(kept)


def _sha256(file: Path) -> str:
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


@contextmanager
def _closed(box: Sandbox) -> Iterator[None]:
    try:
        yield
    finally:
        box.close()


@contextmanager
def _part(paths: AttemptPaths) -> Iterator[Path]:
    """Yield a folder on the same disk, gone afterwards; what a kill left of an earlier one goes first."""
    part = paths.root / ".rerun.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)
