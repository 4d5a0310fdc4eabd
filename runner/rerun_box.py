"""What is done inside the box of a rerun: copy the delivery in, try to parse its code, run it, copy out what is there."""

import io
import json
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from records.capture import CopyReport
from records.limits import MIB, Limits
from runner.entrypoint import Entry
from sandbox.protocol import DELIVER, WORKSPACE, ExecResult, Sandbox

CHUNK: Final = 8 * MIB
STEP_S: Final = 60.0
"""For one of our own commands in the box."""
MAX_PARSED: Final = 200
_REASON_CHARS: Final = 200

PARSE: Final = """
import ast, json, os, sys, warnings
warnings.simplefilter("ignore")
for name in sys.argv[1:]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        # A file that brings the parser down takes only this process with it.
        try:
            ast.parse(open(name, "rb").read(), name)
            os.write(writer, b"ok")
        except BaseException as error:
            os.write(writer, f"{type(error).__name__}: {error}".encode("utf-8", "replace")[:800])
        os._exit(0)
    os.close(writer)
    said = b""
    while part := os.read(reader, 4096):
        said += part
    os.close(reader)
    os.waitpid(child, 0)
    if said != b"ok":
        print(json.dumps([name, said.decode("utf-8", "replace") or "the parser was brought down"]), flush=True)
"""
"""Arguments: files. Prints [file, reason] per line for each that does not parse."""

CELLS: Final = """
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    cells = json.load(file)["cells"]
names = {"__name__": "__main__", "__builtins__": __builtins__}
for number, cell in enumerate(cells, start=1):
    text = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
    if cell["cell_type"] != "code" or text.lstrip().startswith("%%"):
        continue
    lines = ["pass" if line.lstrip()[:1] in ("%", "!") and not line[:1].isspace() else line for line in text.splitlines()]
    exec(compile("\\n".join(lines), f"cell {number}", "exec"), names)
"""
"""Runs a notebook's code cells in one name space; lines of notebook magic are left out."""


@dataclass(frozen=True)
class RerunBox:
    """A started box in which delivered code is run."""

    box: Sandbox
    limits: Limits
    env: Mapping[str, str]

    def put(self, files: Mapping[str, Path]) -> tuple[str, ...]:
        """Copy files into the box's deliver/, in parts of a few MiB; a file there is written over. Returns notes."""
        notes: list[str] = []
        small: list[tuple[str, Path]] = []
        size = 0
        for path, file in files.items():
            length = file.stat().st_size
            if length > CHUNK:
                notes += self._put_large(path, file)
                continue
            if size + length > CHUNK:
                notes += self._put_small(small)
                small, size = [], 0
            small.append((path, file))
            size += length
        return (*notes, *self._put_small(small))

    def _put_small(self, files: Sequence[tuple[str, Path]]) -> tuple[str, ...]:
        if not files:
            return ()
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for path, file in files:
                head = tarfile.TarInfo(path)
                head.size, head.mode = file.stat().st_size, 0o644
                with file.open("rb") as source:
                    tar.addfile(head, source)
        return _not_copied(self._own(["tar", "-x", "--no-same-owner", "-f", "-"], packed.getvalue()))

    def _put_large(self, path: str, file: Path) -> tuple[str, ...]:
        self._own(["sh", "-c", 'mkdir -p "$(dirname "$1")" && : > "$1"', "sh", f"./{path}"])
        with file.open("rb") as source:
            while chunk := source.read(CHUNK):
                if notes := _not_copied(self._own(["sh", "-c", 'cat >> "$1"', "sh", f"./{path}"], chunk)):
                    return notes
        return ()

    def _own(self, argv: list[str], stdin: bytes = b"") -> ExecResult:
        """Run one of our own commands in deliver/."""
        return self.box.exec(argv, timeout_s=STEP_S, stdin=stdin, cwd=DELIVER)

    def has(self, program: str) -> bool:
        """Return whether the container has a program."""
        return self._own(["sh", "-c", f"command -v {program}"]).exit_code == 0

    def not_parsed(self, files: Sequence[str]) -> dict[str, str]:
        """Return the Python files that do not parse, each with the reason; only the first 200 are looked at."""
        if not files:
            return {}
        done = self._own(["python3", "-I", "-c", PARSE, *files[:MAX_PARSED]])
        return {
            name: " ".join(reason.split())[:_REASON_CHARS]
            for name, reason in map(json.loads, _lines(done.stdout))
            if name in files
        }

    def notebook_command(self, name: str) -> tuple[tuple[str, ...], str]:
        """Return the command that runs a notebook here, and how that is done in words."""
        if self._own(["python3", "-I", "-c", "import nbconvert, ipykernel"]).exit_code == 0:
            argv = ("python3", "-m", "nbconvert", "--to", "notebook", "--execute", "--output", "/tmp/executed", name)  # noqa: S108
            return argv, "run by nbconvert"
        return ("python3", "-c", CELLS, name), "the container has no nbconvert, its code cells are run as one script"

    def run(self, entry: Entry, timeout_s: float) -> tuple[ExecResult, tuple[str, ...]]:
        """Run the entry point, end all it left behind and freeze the box; return the result and notes."""
        result = self.box.exec(list(entry.argv), timeout_s=timeout_s, env=self.env, cwd=DELIVER / entry.cwd)
        proof = self.box.freeze()
        notes = (f"not done within {timeout_s:.0f} s, killed",) if result.timed_out else ()
        if proof.oom_kills:
            notes = (*notes, f"{proof.oom_kills} processes were killed at the memory limit")
        if proof.swept:
            notes = (*notes, f"{proof.swept} processes still ran after the end and were killed")
        return result, notes

    def copy_out(self, destination: Path) -> CopyReport:
        """Copy the whole workspace of the frozen box to the host."""
        return self.box.copy_out(WORKSPACE, destination)


def _not_copied(done: ExecResult) -> tuple[str, ...]:
    """Return a note where files could not be copied in: the turns of a delivery may contradict each other."""
    if done.exit_code == 0:
        return ()
    return (f"not all files could be copied in: {' '.join(done.stderr.decode(errors='replace').split())[:300]}",)


def _lines(output: bytes) -> Iterator[bytes]:
    return (line for line in output.splitlines() if line.startswith(b"["))


def rerun_limits(limits: Limits) -> Limits:
    """Return the limits of the box in which delivered code is run again."""
    return limits.model_copy(
        update={
            "memory_bytes": limits.rerun_memory_bytes,
            "cpus": limits.rerun_cpus,
            "stream_bytes": limits.rerun_output_bytes,
        }
    )
