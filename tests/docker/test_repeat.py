"""The same offline session in two runs leaves the same files, byte for byte, but for what `EXCUSED` names."""

import io
import re
import shutil
import tarfile
from pathlib import Path

import pytest

from records.paths import AttemptPaths
from reports.collect import CellView, RunView
from tests.launched import cell, launched
from tests.leaks import unpacked, walk

pytestmark = pytest.mark.docker
SEED = 6
TIME = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"
HASH = rb"[0-9a-f]{64}"
HOLDS_TIMES = rb"(?:deliver/)?sources\.csv"
"""Delivered files that say when data were fetched; their hashes differ with the times."""
HASHED = (rb'("path":\s*"' + HOLDS_TIMES + rb'",\s*"size":\s*\d+,\s*"sha256":\s*")' + HASH, rb"\1HASH")
TOLD = [
    (TIME, b"TIME"),
    (rb"(exit code \d+ after )[0-9.]+( s)", rb"\1SECONDS\2"),
    (rb"(Measured: )[0-9.]+( s in)", rb"\1SECONDS\2"),
    (rb'("time_s":\s*)[0-9.]+', rb"\1SECONDS"),
]
"""What judgements repeat of the above: quoted stamps, and how long turns and code took."""

EXCUSED: dict[str, list[tuple[bytes, bytes]]] = {
    "public/session.jsonl": [(rb'("(?:at|started_at|ended_at)":")' + TIME, rb"\1TIME"), HASHED],
    "public/calls.jsonl": [
        (rb'("at":")' + TIME, rb"\1TIME"),
        (rb'("session":")s[0-9a-f]{12}', rb"\1SESSION"),
        (rb'("seconds":)[0-9.e-]+', rb"\1SECONDS"),
    ],
    "public/capture.json": [HASHED],
    "sources.csv": [(TIME, b"TIME")],
    "public/rerun.json": [(rb'("duration_s":\s*)[0-9.]+', rb"\1SECONDS")],
    **dict.fromkeys(("measured.json", "judgements.json", "feedback.json", "findings.json"), TOLD),
    "sealed/manifest-salt": [(rb"[0-9a-f]{32}", b"SALT")],
}
"""Time stamps, durations, the session's id, the manifest's random salt and what is derived from them; by file, in full
or by its last name."""


def contents(paths: AttemptPaths) -> dict[str, bytes]:
    """Return every file of an attempt by its path, excused fields blanked; the archive's members as files."""
    found = {}
    for path in walk(paths.root):
        name = str(path.relative_to(paths.root))
        if not path.is_file():
            continue
        if path == paths.workspace:
            found |= {f"{name}/{member}": blanked(member, body) for member, body in members(path).items()}
        elif path == paths.manifest:
            found[name] = b"\n".join(sorted(re.findall(rb'"path":\s*"[^"]+"', path.read_bytes())))
        else:
            found[name] = blanked(name, path.read_bytes())
    # Calls made side by side are logged in the order of their answers.
    calls = "public/calls.jsonl"
    if calls in found:
        found[calls] = b"\n".join(sorted(found[calls].splitlines()))
    return found


def members(archive: Path) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(unpacked(archive))) as tar:
        return {member.name: read.read() for member in tar if (read := tar.extractfile(member))}


def blanked(name: str, body: bytes) -> bytes:
    """Return a file's bytes without the fields that may differ."""
    for pattern, instead in (*EXCUSED.get(name, ()), *EXCUSED.get(name.rsplit("/", 1)[-1], ())):
        body = re.sub(pattern, instead, body)
    return body


def kept(one: CellView) -> dict[str, bytes]:
    assert one.last is not None
    assert one.grade is not None
    return contents(one.last.paths)


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> RunView:
    return launched(tmp_path_factory.mktemp("again") / "run", str(SEED))


@pytest.mark.parametrize("agent", ["reference", "null"])
def test_same_session_in_another_run_leaves_the_same_bytes(controls: RunView, again: RunView, agent: str) -> None:
    first, second = kept(cell(controls, agent, SEED)), kept(cell(again, agent, SEED))

    graded = {name.rsplit("/", 1)[-1] for name in first if name.startswith("graded/")}
    assert graded >= {"spec.json", "measured.json", "compared.json", "grade.json", "feedback.json"}
    assert ("deliver/report.md" in " ".join(first)) == (agent == "reference")
    assert set(first) == set(second)
    assert [name for name in first if first[name] != second[name]] == []


def test_runs_differ_in_what_is_excused_and_only_there(controls: RunView, again: RunView) -> None:
    """Otherwise a blank that swallows too much, or two looks at one run, would pass the test above."""
    first, second = (cell(run, "reference", SEED).last for run in (controls, again))
    assert first is not None
    assert second is not None

    assert first.paths.session.read_bytes() != second.paths.session.read_bytes()
    assert first.paths.calls.read_bytes() != second.paths.calls.read_bytes()
    assert blanked("public/session.jsonl", b'{"at":"2026-01-01T00:00:00Z","text":"a"}') == b'{"at":"TIME","text":"a"}'
    assert blanked("graded/v/grade.json", b'{"at":"2026-01-01T00:00:00Z"}') == b'{"at":"2026-01-01T00:00:00Z"}'


@pytest.mark.parametrize("name", ["public/session.jsonl", "public/calls.jsonl", "public/turns/2/deliver/prices.csv"])
def test_one_changed_letter_is_seen(controls: RunView, tmp_path: Path, name: str) -> None:
    one = cell(controls, "reference", SEED).last
    assert one is not None
    copy = AttemptPaths(tmp_path / "attempt")
    shutil.copytree(one.paths.root, copy.root)
    changed = (copy.root / name).read_bytes().replace(b"AMD", b"AMX", 1)
    (copy.root / name).write_bytes(changed)

    first, second = contents(one.paths), contents(copy)
    assert [each for each in first if first[each] != second[each]] == [name]
